#include "spec/shell_warning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <span>
#include <string_view>

#include "model/shell_commands.hpp"
#include "model/template.hpp"
#include "model/wrappers.hpp"

namespace gantry::spec {

namespace {

constexpr std::string_view kSpecial = " \t\n$`\"'\\;&|<>()*?[]{}#~!";

/// Appends the texts that the command hands to a shell: that of `sh -c`, and what `eval` reads.
void add_scripts(std::span<const std::string> words, std::vector<std::string>& scripts) {
  words = words.subspan(behind_wrappers(words));
  if (!words.empty() && words[0] == "eval") {
    scripts.push_back(fmt::format("{}", fmt::join(words.subspan(1), " ")));
  } else if (const auto text = shell_text(words); !text.empty()) {
    scripts.emplace_back(text);
  }
}

/// Where values stand as they are and a shell reads them. The text of `shell: true` itself is not
/// among them: values are quoted there.
std::vector<std::string> scripts_of(const SweepDefinition& definition) {
  std::vector<std::string> scripts;
  if (definition.shell) {
    for (const auto& command : shell_commands(definition.command[0].text))
      add_scripts(command.words, scripts);
  } else {
    std::vector<std::string> words;
    for (const auto& word : definition.command) words.push_back(word.text);
    add_scripts(words, scripts);
  }
  return scripts;
}

/// A placeholder alone stands for whole commands: that is what it is for.
bool is_placeholder_alone(std::string_view script) {
  return script.starts_with('{') && script.find('}') + 1 == script.size();
}

bool goes_by(const ParameterDefinition& parameter, std::string_view name) {
  return parameter.name == name || std::find(parameter.aliases.begin(), parameter.aliases.end(),
                                             name) != parameter.aliases.end();
}

}  // namespace

std::vector<std::string> shell_warnings(const SweepDefinition& definition) {
  std::vector<std::string> warnings;
  const auto scripts = scripts_of(definition);
  std::vector<std::string_view> used;
  for (const auto& script : scripts)
    if (!is_placeholder_alone(script))
      std::ranges::copy(placeholder_names(script), std::back_inserter(used));
  for (const auto& parameter : definition.parameters) {
    const bool stands_there = std::any_of(
        used.begin(), used.end(), [&](std::string_view name) { return goes_by(parameter, name); });
    // Looks at every value of a list: only where it matters.
    const bool special = stands_there && std::any_of(kSpecial.begin(), kSpecial.end(), [&](char c) {
                           return parameter.values.may_contain(c);
                         });
    if (!special) continue;
    warnings.push_back(fmt::format(
        "the shell{1} reads the values of '{0}' as its own text, unquoted; write "
        "\"$GANTRY_PARAM_{0}\" there{2}",
        parameter.name, definition.shell ? " inside this command" : " of this command",
        definition.shell ? "" : ", or let --shell (shell: true in a sweep file) quote them"));
  }
  return warnings;
}

std::vector<std::string> shell_word_warnings(const SweepDefinition& definition) {
  constexpr std::array<std::string_view, 11> kWords{"|",  "|&", ">",    ">>", "<", "&&",
                                                    "||", ";",  "2>&1", "2>", "&"};
  if (definition.shell) return {};
  for (const auto& word : definition.command) {
    if (std::find(kWords.begin(), kWords.end(), word.text) == kWords.end()) continue;
    return {
        fmt::format("no shell runs this command: '{}' is passed to {} as it is; with --shell a "
                    "shell does, and values are quoted for it",
                    word.text, definition.command[0].text)};
  }
  return {};
}

bool reads_variable(std::string_view text, std::string_view name) {
  const std::string variable = fmt::format("GANTRY_PARAM_{}", name);
  for (std::size_t at = text.find(variable); at != std::string_view::npos;
       at = text.find(variable, at + 1)) {
    const std::string_view after = text.substr(at + variable.size());
    if (after.empty() ||
        (std::isalnum(static_cast<unsigned char>(after[0])) == 0 && after[0] != '_'))
      return true;
  }
  return false;
}

}  // namespace gantry::spec
