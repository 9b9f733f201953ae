#include "base/ssh_text.hpp"

#include <algorithm>

namespace gantry {

std::string shell_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string shell_quoted_path(std::string_view path) {
  if (path == "~") return "\"$HOME\"";
  if (path.starts_with("~/")) return "\"$HOME\"/" + shell_quoted(path.substr(2));
  return shell_quoted(path);
}

bool is_ssh_name(std::string_view name) {
  constexpr std::size_t kLongest = 200;
  const auto is_word = [](std::string_view word) {
    return !word.empty() && word.front() != '-' && word.front() != '.' &&
           std::ranges::all_of(word, [](char c) {
             return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '-' || c == '_' || c == '.';
           });
  };
  if (name.size() > kLongest) return false;
  const std::size_t at = name.find('@');
  if (at == std::string_view::npos) return is_word(name);
  return is_word(name.substr(0, at)) && is_word(name.substr(at + 1));
}

std::vector<std::string> ssh_options() {
  std::vector<std::string> words;
  for (const char* option :
       {"BatchMode=yes", "StrictHostKeyChecking=yes", "ConnectTimeout=10", "ServerAliveInterval=5",
        "ServerAliveCountMax=3", "ForwardX11=no", "ForwardAgent=no", "ClearAllForwardings=yes",
        "RequestTTY=no", "EscapeChar=none"})
    words.insert(words.end(), {"-o", option});
  return words;
}

}  // namespace gantry
