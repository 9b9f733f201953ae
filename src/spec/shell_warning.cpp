#include "spec/shell_warning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "model/template.hpp"

namespace gantry::spec {

namespace {

constexpr std::string_view kSpecial = " \t\n$`\"'\\;&|<>()*?[]{}#~!";

/// The text that `sh -c` reads, if the command is one.
std::string_view script_of(const std::vector<SourceText>& command) {
  constexpr std::array<std::string_view, 5> kShells{"sh", "bash", "dash", "ksh", "zsh"};
  if (command.empty()) return {};
  std::string_view program = command[0].text;
  program.remove_prefix(program.rfind('/') + 1);
  if (std::find(kShells.begin(), kShells.end(), program) == kShells.end()) return {};
  for (std::size_t i = 1; i + 1 < command.size(); ++i) {
    const std::string_view option = command[i].text;
    if (!option.starts_with('-') || option.starts_with("--")) return {};
    if (option.find('c') != std::string_view::npos) return command[i + 1].text;
  }
  return {};
}

/// The names in braces, without those of doubled braces.
std::vector<std::string_view> placeholders(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = text.find('{'); at < text.size(); at = text.find('{', at + 1)) {
    if (text.substr(at + 1).starts_with('{')) {
      ++at;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos) break;
    if (const auto found = parse_placeholder(text.substr(at + 1, end - at - 1)))
      names.push_back(found->name);
  }
  return names;
}

bool goes_by(const ParameterDefinition& parameter, std::string_view name) {
  return parameter.name == name || std::find(parameter.aliases.begin(), parameter.aliases.end(),
                                             name) != parameter.aliases.end();
}

}  // namespace

std::vector<std::string> shell_warnings(const SweepDefinition& definition) {
  std::vector<std::string> warnings;
  const std::string_view script = definition.shell ? "" : script_of(definition.command);
  const auto used = placeholders(script);
  // A placeholder alone stands for whole commands: that is what it is for.
  if (used.size() == 1 && script.find('}') + 1 == script.size() && script.starts_with('{'))
    return warnings;
  for (const auto& parameter : definition.parameters) {
    const bool stands_there = std::any_of(
        used.begin(), used.end(), [&](std::string_view name) { return goes_by(parameter, name); });
    // Looks at every value of a list: only where it matters.
    const bool special = stands_there && std::any_of(kSpecial.begin(), kSpecial.end(), [&](char c) {
                           return parameter.values.may_contain(c);
                         });
    if (!special) continue;
    warnings.push_back(fmt::format(
        "the shell of this command reads the values of '{0}' as its own text, unquoted; write "
        "\"$GANTRY_PARAM_{0}\" there, or let a sweep file's shell: true quote them",
        parameter.name));
  }
  return warnings;
}

std::vector<std::string> shell_word_warnings(const SweepDefinition& definition) {
  constexpr std::array<std::string_view, 11> kWords{"|",  "|&", ">",    ">>", "<", "&&",
                                                    "||", ";",  "2>&1", "2>", "&"};
  for (const auto& word : definition.command) {
    if (std::find(kWords.begin(), kWords.end(), word.text) == kWords.end()) continue;
    const std::string name = definition.parameters.empty() ? "arg1" : definition.parameters[0].name;
    return {
        fmt::format("no shell reads this command: '{}' is passed to {} as it stands; for a "
                    "shell write sh -c 'COMMAND \"$GANTRY_PARAM_{}\" {} ...', or a sweep file "
                    "with shell: true",
                    word.text, definition.command[0].text, name, word.text)};
  }
  return {};
}

}  // namespace gantry::spec
