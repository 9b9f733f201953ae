#pragma once
/// Expected failures travel as values: Result<T> holds a T or an Error that a person can act on.
/// Asserts are for bugs; a task's failure is data (model/outcome.hpp), not an Error.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace gantry {

enum class ErrorCode {
  usage,    ///< the person's command line or input file is wrong
  io,       ///< the operating system said no: disk full, permission, missing file
  busy,     ///< somebody else holds what we need
  corrupt,  ///< stored data is damaged
  gone,     ///< stored data was removed while it was in use
  version,  ///< stored data or a peer speaks another version
  peer,     ///< an agent or another process broke off or broke the protocol
};

/// `message` says what is wrong (with file:line:column where there is one), `hint` what to do about
/// it.
struct Error {
  ErrorCode code = ErrorCode::io;
  std::string message;
  std::string hint;
};

template <class T = void>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string hint = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(hint)});
}

/// An io Error "<what>: <strerror(errno)>", taken at once.
tl::unexpected<Error> fail_errno(std::string_view what, std::string hint = {});

}  // namespace gantry

#define GANTRY_CONCAT_INNER(a, b) a##b
#define GANTRY_CONCAT(a, b) GANTRY_CONCAT_INNER(a, b)

/// TRY(expr): leave the function with expr's error, if it has one. TRY_ASSIGN(var, expr) keeps the
/// value.
#define TRY(expr)                                                          \
  do {                                                                     \
    if (auto try_result = (expr); !try_result)                             \
      return tl::unexpected<gantry::Error>(std::move(try_result).error()); \
  } while (false)
#define TRY_ASSIGN(var, expr) TRY_ASSIGN_IMPL(GANTRY_CONCAT(try_value_, __LINE__), var, expr)
#define TRY_ASSIGN_IMPL(tmp, var, expr)                                   \
  auto tmp = (expr);                                                      \
  if (!tmp) return tl::unexpected<gantry::Error>(std::move(tmp).error()); \
  var = std::move(*tmp)
