#pragma once
/// The agent's program at the far end of an ssh connection: started without waiting, sent there
/// first when it is missing. Owned by whoever talks to it; ends with this object.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "actuate/launch/ssh/ssh_command.hpp"
#include "base/far_program.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace gantry {

/// The program that goes to the sites, read once.
struct AgentBinary {
  AgentImage image;
  std::string content;
};
Result<AgentBinary> read_agent_binary();
/// Another one, for machines that whoever names it knows.
Result<AgentBinary> read_agent_binary(const std::string& path);

class SshConnection {
 public:
  /// Begins to connect; `words` as of remote_start(). `binary` must outlive this.
  static Result<std::unique_ptr<SshConnection>> begin(const SshTarget& target,
                                                      const AgentBinary& binary,
                                                      const std::vector<std::string>& words);
  enum class State { connecting, ready, failed };
  /// Goes on as far as it can without waiting.
  State advance();
  /// ssh itself gives up a little earlier, and says why.
  static constexpr Duration kPatience = std::chrono::seconds(20);
  /// How long it may take until it is ready. Longer than `usual` while the program is on its way:
  /// ssh takes more of it at once than a slow line carries, so that nobody can see it move.
  [[nodiscard]] Duration patience(Duration usual = kPatience) const;
  /// Reads what ssh has to say to a person, lest it wait for that. To be called now and then.
  void listen() { ssh_.listen(); }
  /// Why it failed, or what ssh said last.
  [[nodiscard]] std::string why();
  /// Absolute, once it is ready.
  [[nodiscard]] const std::string& scratch() const { return scratch_; }
  /// What is sent here the program reads, and the other way round. REQUIRES: ready, and once.
  UniqueFd take_socket() { return std::move(ssh_.socket()); }

  /// ssh has ended, as it does when the program there has: which ends when its socket is closed.
  [[nodiscard]] bool has_ended() { return ssh_.has_ended(); }

  [[nodiscard]] int fd() const { return ssh_.socket().get(); }
  [[nodiscard]] bool wants_to_send() const { return sending_; }

 private:
  SshConnection(const AgentBinary& binary, std::string token, FarProgram ssh)
      : binary_(binary), token_(std::move(token)), ssh_(std::move(ssh)) {}
  /// The next whole line, if it has come; nothing beyond it is read.
  bool read_line(std::string& line);
  State on_line(std::string_view line);
  State fail_with(std::string why);
  void send_program();

  const AgentBinary& binary_;
  std::string token_;
  FarProgram ssh_;
  std::string scratch_;
  std::string why_;
  std::size_t sent_ = 0;
  std::size_t skipped_ = 0;  ///< bytes of greetings
  bool asked_for_program_ = false;
  bool sending_ = false;
  State state_ = State::connecting;
};

}  // namespace gantry
