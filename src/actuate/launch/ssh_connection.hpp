#pragma once
/// The agent's program at the far end of an ssh connection: started without waiting, sent there
/// first when it is missing. Owned by whoever talks to it; ends with this object.

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "actuate/launch/ssh_command.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry {

/// The program that goes to the sites, read once.
struct AgentBinary {
  AgentImage image;
  std::string content;
};
Result<AgentBinary> read_agent_binary();
/// Another one, for machines that whoever names it knows.
Result<AgentBinary> read_agent_binary(const std::string& path);

/// A word that nobody who prints a greeting can know.
Result<std::string> make_token();

class SshConnection {
 public:
  /// Begins to connect; `words` as of remote_start(). `binary` must outlive this.
  static Result<std::unique_ptr<SshConnection>> begin(const SshTarget& target,
                                                      const AgentBinary& binary,
                                                      const std::vector<std::string>& words);
  SshConnection(const SshConnection&) = delete;
  SshConnection& operator=(const SshConnection&) = delete;
  ~SshConnection();

  enum class State { connecting, ready, failed };
  /// Goes on as far as it can without waiting.
  State advance();
  /// How much of the program has gone there.
  [[nodiscard]] std::size_t sent() const { return sent_; }
  /// Reads what ssh has to say to a person, lest it wait for that. To be called now and then.
  void listen();
  /// Why it failed, or what ssh said last.
  [[nodiscard]] std::string why();
  /// Absolute, once it is ready.
  [[nodiscard]] const std::string& scratch() const { return scratch_; }
  /// What is sent here the program reads, and the other way round. REQUIRES: ready, and once.
  UniqueFd take_socket() { return std::move(socket_); }

  /// ssh has ended, as it does when the program there has: which ends when its socket is closed.
  [[nodiscard]] bool has_ended();

  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] bool wants_to_send() const { return sending_; }

 private:
  SshConnection(const AgentBinary& binary, std::string token)
      : binary_(binary), token_(std::move(token)) {}
  /// The next whole line, if it has come; nothing beyond it is read.
  bool read_line(std::string& line);
  State on_line(std::string_view line);
  State fail_with(std::string why);
  void send_program();

  const AgentBinary& binary_;
  std::string token_;
  pid_t pid_ = -1;
  UniqueFd socket_;
  UniqueFd errors_;
  std::string said_;  ///< the end of what ssh wrote to its stderr
  std::string scratch_;
  std::string why_;
  std::size_t sent_ = 0;
  std::size_t skipped_ = 0;  ///< bytes of greetings
  bool sending_ = false;
  State state_ = State::connecting;
};

}  // namespace gantry
