#pragma once
/// Follows a shell command character by character and knows how a value has to be quoted at each
/// place, or that no quoting would be safe there. Deliberately conservative: what it cannot follow,
/// it refuses. One thread.

#include <string_view>

#include "base/result.hpp"
#include "model/template.hpp"

namespace gantry {

class ShellContext {
 public:
  /// The next character of the command.
  void feed(char c);
  /// A value is put here; it counts as part of a word.
  void feed_value();
  /// How a value put here has to be written. The error says what kind of place this is.
  [[nodiscard]] Result<ValueQuoting> quoting() const;

 private:
  enum class State { normal, single_quotes, double_quotes, comment };
  void feed_normal(char c);
  void feed_double(char c);

  State state_ = State::normal;
  bool escaped_ = false;  ///< the last character was an unquoted backslash
  bool in_name_ = false;  ///< of a $NAME in double quotes
  bool in_backticks_ = false;
  bool in_dollar_quotes_ = false;  ///< $'…': not POSIX, quotes differently
  int braces_ = 0;                 ///< open ${
  std::string_view lost_;          ///< why nothing after this point can be followed
  char previous_ = '\n';
};

}  // namespace gantry
