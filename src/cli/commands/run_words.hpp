#pragma once
/// Separates gantry's own options from the command that `gantry run` is given: everything after the
/// command's first word belongs to the command, also what looks like an option. Pure.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::cli {

struct RunWords {
  std::vector<std::string> options;  ///< gantry's own
  std::vector<std::string> command;  ///< a one-liner's words, or the sweep file first
  bool marked = false;               ///< the command stood after `--`: never a sweep file
};

/// Tells whether an option, such as "-j" or "--jobs", takes the next word as its value.
using TakesValue = std::function<bool(std::string_view option)>;

/// REQUIRES: `words` are those after `run`.
RunWords split_run_words(std::span<const std::string> words, const TakesValue& takes_value);

/// Where the first word stands that is neither an option nor an option's value; words.size() when
/// there is none.
std::size_t find_first_plain_word(std::span<const std::string> words,
                                  const TakesValue& takes_value);

/// By its name this is a sweep file and not a program: it ends in .yaml or .yml.
bool names_sweep_file(std::string_view word);

}  // namespace gantry::cli
