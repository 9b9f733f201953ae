#pragma once
/// What is asked of the system's ssh: the person's own configuration, agents, keys and jump hosts
/// count, host keys are always checked, and nobody is asked for a password. Pure text.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ssh_text.hpp"

namespace gantry {

struct SshTarget {
  std::string host;      ///< as ssh knows it; empty: this machine, without ssh
  std::string user{};    ///< empty: as ssh knows it
  std::string config{};  ///< another file than ~/.ssh/config; empty: that one
  std::string scratch;   ///< folder of the site's files there; may begin with ~/
};

/// The agent's program as it is to be there.
struct AgentImage {
  std::string name;  ///< tells one build from another
  std::uint64_t bytes = 0;
  std::string machine;  ///< that it is for, as `uname -m` says; empty: whichever there is
};

/// ssh and its arguments; of this machine just a shell.
std::vector<std::string> ssh_words(const SshTarget& target, const std::string& command);

/// What a person types behind ssh to get there: "-F lab.conf -l me far".
std::string ssh_by_hand(const SshTarget& target);

/// For the login shell there, whichever it is: makes the scratch folder, asks for the agent's
/// program ("TOKEN send MACHINE") when it is not there, tells that it is ("TOKEN ready FOLDER"),
/// and becomes that program with `words` behind it, in the scratch folder; without words, a shell
/// that reads commands. Whatever else the login shell prints before does not begin with the token.
std::string remote_start(const SshTarget& target, const AgentImage& image, std::string_view token,
                         const std::vector<std::string>& words);

}  // namespace gantry
