#include "depot/pull_protocol.hpp"

#include <algorithm>

#include "base/ssh_text.hpp"
#include "depot/file_tools.hpp"

namespace gantry::depot {

namespace {

bool is_scratch(std::string_view path) {
  // A line of text to a shell, a log or a person.
  if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return false;
  return path.starts_with("~/") ? is_below(path.substr(2)) : is_absolute_path(path);
}

}  // namespace

bool is_usable(const PeerSite& peer) {
  return is_ssh_name(peer.ssh) && is_scratch(peer.scratch) && is_plain_name(peer.agent) &&
         peer.agent.starts_with("gantry-agent-");
}

std::vector<std::string> peer_words(const PeerSite& peer, const std::string& token) {
  // One line without '!', which csh would expand even within quotes.
  const std::string script = "cd " + shell_quoted_path(peer.scratch) + " && test -x bin/" +
                             peer.agent + " || { echo 'Gantry has nothing in its scratch folder " +
                             "there (is it another machine, or another user?)' >&2; exit 1; }; " +
                             "exec bin/" + peer.agent + " give . " + token;
  std::vector<std::string> words{"ssh", "-T"};
  const auto options = ssh_options();
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", peer.ssh, "exec sh -c " + shell_quoted(script)});
  return words;
}

std::string giver_greeting(std::string_view token) {
  return std::string(token) + " gives\n";
}

}  // namespace gantry::depot
