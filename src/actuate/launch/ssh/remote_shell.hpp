#pragma once
/// A shell at a login host, to which commands are sent one after the other over one connection of
/// the system's ssh: login hosts do not like to be logged in to every few seconds. Never waits.
/// Owned by whoever asks.

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "actuate/launch/ssh/ssh_connection.hpp"
#include "base/fd.hpp"
#include "base/ready_set.hpp"

namespace gantry {

class RemoteShell {
 public:
  using Clock = std::chrono::steady_clock;

  struct Answer {
    bool came = false;   ///< else nobody knows what became of the command: `output` says why
    int code = 0;        ///< exit code
    std::string output;  ///< and what it wrote to its standard error
  };

  /// `binary` must outlive this.
  RemoteShell(SshTarget target, const AgentBinary& binary)
      : target_(std::move(target)), binary_(binary) {}

  /// Connects when there is no connection. `command` may have several lines. REQUIRES: !is_busy().
  void ask(std::string command);
  [[nodiscard]] bool is_busy() const { return busy_; }
  /// Goes on as far as it can; the answer, once.
  std::optional<Answer> poll(Clock::time_point now);

  /// The agent's program is there, in this folder; empty as long as nobody knows.
  [[nodiscard]] const std::string& scratch() const { return scratch_; }
  void add_wanted(std::vector<ReadySet::Wanted>& wanted) const;
  void close();

 private:
  std::optional<Answer> lose(std::string why);
  std::optional<Answer> connect(Clock::time_point now);
  std::optional<Answer> talk(Clock::time_point now);
  std::optional<Answer> find_end();

  SshTarget target_;
  const AgentBinary& binary_;
  std::unique_ptr<SshConnection> connection_;
  UniqueFd socket_;  ///< once it is ready
  std::string scratch_;
  std::string command_;
  std::string token_;   ///< ends an answer
  std::string outbox_;  ///< of which `sent_` bytes are gone
  std::size_t sent_ = 0;
  std::string inbox_;
  bool busy_ = false;
  Clock::time_point began_{};                  ///< to connect
  std::optional<Clock::time_point> deadline_;  ///< of the answer
};

}  // namespace gantry
