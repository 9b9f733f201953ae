#include "model/shell_context.hpp"

#include <string>

#include "base/characters.hpp"

namespace gantry {

namespace {
bool begins_word(char previous) {
  return std::string_view(" \t\n;&|()").find(previous) != std::string_view::npos;
}
}  // namespace

void ShellContext::feed(char c) {
  switch (state_) {
    case State::normal:
      feed_normal(c);
      break;
    case State::double_quotes:
      feed_double(c);
      break;
    case State::single_quotes:
      if (c == '\'') {
        state_ = State::normal;
        in_dollar_quotes_ = false;
      }
      break;
    case State::comment:
      if (c == '\n') state_ = State::normal;
      break;
  }
  previous_ = c;
}

void ShellContext::feed_value() {
  previous_ = 'v';
  in_name_ = false;
}

void ShellContext::feed_normal(char c) {
  if (escaped_) {
    escaped_ = false;
    return;
  }
  switch (c) {
    case '\\':
      escaped_ = true;
      break;
    case '\'':
      state_ = State::single_quotes;
      in_dollar_quotes_ = previous_ == '$';
      break;
    case '"':
      state_ = State::double_quotes;
      break;
    case '`':
      in_backticks_ = !in_backticks_;
      break;
    case '#':
      if (begins_word(previous_)) state_ = State::comment;
      break;
    case '<':
      if (previous_ == '<') lost_ = "after a here-document";
      break;
    case '(':
      if (previous_ == '(') lost_ = "after arithmetic in ((…))";
      break;
    case '{':
      if (previous_ == '$') ++braces_;
      break;
    case '}':
      if (braces_ > 0) --braces_;
      break;
    default:
      break;
  }
}

void ShellContext::feed_double(char c) {
  if (escaped_) {
    escaped_ = false;
    return;
  }
  in_name_ = c == '$' || (in_name_ && (is_letter(c) || is_digit(c)));
  if (c == '\\') escaped_ = true;
  if (c == '"') state_ = State::normal;
  if (c == '`' || (c == '(' && previous_ == '$'))
    lost_ = "after a command substitution in double quotes";
  if (c == '{' && previous_ == '$') ++braces_;
  if (c == '}' && braces_ > 0) --braces_;
}

Result<ValueQuoting> ShellContext::quoting() const {
  const auto unsafe = [](std::string_view where) {
    return fail(ErrorCode::usage, std::string(where));
  };
  if (!lost_.empty()) return unsafe(lost_);
  if (state_ == State::comment) return unsafe("in a comment");
  if (escaped_) return unsafe("after a backslash");
  if (in_backticks_) return unsafe("inside backticks");
  if (in_dollar_quotes_) return unsafe("inside $'…'");
  if (braces_ > 0) return unsafe("inside ${…}");
  if (state_ == State::single_quotes) return ValueQuoting::inside_single;
  if (previous_ == '$') return unsafe("after a $");
  if (state_ != State::double_quotes) return ValueQuoting::shell_word;
  return in_name_ ? ValueQuoting::after_name : ValueQuoting::inside_double;
}

}  // namespace gantry
