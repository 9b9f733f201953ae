#pragma once
/// Where in a person's file something was written, so that every complaint can point at it. Plain
/// values.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gantry {

/// Line and column count from 1; line 0 means "not from a file" (a one-liner).
struct SourceMark {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

/// A piece of text a person wrote. `exact` says that byte n of `text` stands at column + n in the
/// file: false when escapes or line folding lie between.
struct SourceText {
  std::string text;
  SourceMark mark;
  bool exact = false;

  [[nodiscard]] SourceMark at(std::size_t offset) const {
    if (!exact) return mark;
    return {mark.line, mark.column + static_cast<std::uint32_t>(offset)};
  }
};

/// A usage Error "file:line:column: message"; without a line just "file: message", without a file
/// just "message".
tl::unexpected<Error> fail_at(std::string_view file, SourceMark mark, std::string_view message,
                              std::string hint = {});

}  // namespace gantry
