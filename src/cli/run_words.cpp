#include "cli/run_words.hpp"

#include <algorithm>
#include <iterator>

namespace gantry::cli {
namespace {

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

auto from(const std::vector<std::string>& words, std::size_t at) {
  return std::next(words.begin(), static_cast<std::ptrdiff_t>(at));
}

}  // namespace

bool names_sweep_file(std::string_view word) {
  return word.ends_with(".yaml") || word.ends_with(".yml");
}

std::size_t find_first_plain_word(const std::vector<std::string>& words,
                                  const TakesValue& takes_value) {
  std::size_t at = 0;
  while (at < words.size() && is_option(words[at]) && words[at] != "--")
    at += takes_value(words[at]) ? 2 : 1;
  return std::min(at, words.size());
}

RunWords split_run_words(const std::vector<std::string>& words, const TakesValue& takes_value) {
  const std::size_t at = find_first_plain_word(words, takes_value);
  RunWords split;
  split.options.assign(words.begin(), from(words, at));
  if (at == words.size()) return split;
  split.marked = words[at] == "--";
  if (split.marked || !names_sweep_file(words[at])) {
    split.command.assign(from(words, at + (split.marked ? 1 : 0)), words.end());
    return split;
  }
  // Nothing after a sweep file can belong to a command: `run sweep.yaml -j 4` means what it says.
  RunWords rest = split_run_words({from(words, at + 1), words.end()}, takes_value);
  split.command.push_back(words[at]);
  split.command.insert(split.command.end(), rest.command.begin(), rest.command.end());
  split.options.insert(split.options.end(), rest.options.begin(), rest.options.end());
  return split;
}

}  // namespace gantry::cli
