#include "cli/commands/run_words.hpp"

#include <algorithm>

namespace gantry::cli {
namespace {

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

void append(std::vector<std::string>& words, std::span<const std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

}  // namespace

bool names_sweep_file(std::string_view word) {
  return word.ends_with(".yaml") || word.ends_with(".yml");
}

std::size_t find_first_plain_word(std::span<const std::string> words,
                                  const TakesValue& takes_value) {
  std::size_t at = 0;
  while (at < words.size() && is_option(words[at]) && words[at] != "--")
    at += takes_value(words[at]) ? 2 : 1;
  return std::min(at, words.size());
}

RunWords split_run_words(std::span<const std::string> words, const TakesValue& takes_value) {
  RunWords split;
  while (!words.empty()) {
    const std::size_t at = find_first_plain_word(words, takes_value);
    append(split.options, words.first(at));
    words = words.subspan(at);
    if (words.empty()) break;
    const bool marked = words[0] == "--";
    if (marked || !names_sweep_file(words[0])) {
      split.marked = marked && split.command.empty();
      append(split.command, words.subspan(marked ? 1 : 0));
      break;
    }
    // Nothing after a sweep file can belong to a command: `run sweep.yaml -j 4` means what it says.
    split.command.push_back(words[0]);
    words = words.subspan(1);
  }
  return split;
}

}  // namespace gantry::cli
