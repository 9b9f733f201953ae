#include "actuate/launch/ssh/ssh_command.hpp"

#include <fmt/format.h>

#include "model/shell_words.hpp"

namespace gantry {

std::vector<std::string> ssh_words(const SshTarget& target, const std::string& command) {
  if (target.host.empty()) return {"/bin/sh", "-c", command};
  std::vector<std::string> words{"ssh", "-T"};
  if (!target.config.empty()) words.insert(words.end(), {"-F", target.config});
  const auto options = ssh_options();
  words.insert(words.end(), options.begin(), options.end());
  if (!target.user.empty()) words.insert(words.end(), {"-l", target.user});
  // What looks like an option is none: it is refused by ssh as a host.
  words.insert(words.end(), {"--", target.host, command});
  return words;
}

std::string ssh_by_hand(const SshTarget& target) {
  std::string text;
  if (!target.config.empty()) text += "-F " + quote_shell_word(target.config) + " ";
  if (!target.user.empty()) text += "-l " + quote_shell_word(target.user) + " ";
  return text + quote_shell_word(target.host);
}

std::string remote_start(const SshTarget& target, const AgentImage& image, std::string_view token,
                         const std::vector<std::string>& words) {
  // A login shell: it is the person's profile that knows where a cluster's commands are.
  std::string become = words.empty() ? "exec sh -l" : "exec \"$A\"";
  for (const auto& word : words) become += " " + shell_quoted(word);
  // One line without '!', which csh would expand even within quotes.
  const std::string script = fmt::format(
      "umask 077; S={scratch}; mkdir -p \"$S/bin\" && cd \"$S\" || exit 1; A=\"bin/{name}\"; "
      "test -x \"$A\" || {{ echo \"{token} send $(uname -m)\"; head -c {bytes} >\"$A.$$\" && "
      "test \"$(wc -c <\"$A.$$\")\" -eq {bytes} && chmod 700 \"$A.$$\" && mv \"$A.$$\" \"$A\" || "
      "{{ rm -f \"$A.$$\"; echo \"{token} failed\"; exit 1; }}; }}; "
      "echo \"{token} ready $(pwd)\"; {become}",
      fmt::arg("scratch", shell_quoted_path(target.scratch)), fmt::arg("name", image.name),
      fmt::arg("bytes", image.bytes), fmt::arg("token", token), fmt::arg("become", become));
  return "exec sh -c " + shell_quoted(script);
}

}  // namespace gantry
