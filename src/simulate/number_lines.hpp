#pragma once
/// Files of numbers, line by line: what traces and matrices are read from. Blank lines and lines
/// that begin with # are left out. Every complaint says file:line:column. A view: text and name
/// outlive it.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/source_mark.hpp"

namespace gantry::simulate {

inline constexpr std::string_view kBlanks = " \t";

class NumberLines {
 public:
  /// A piece of a line and where it stands.
  struct Word {
    std::string_view text;
    SourceMark mark;
  };

  NumberLines(std::string_view text, std::string_view name);

  /// The next line, cut at each of `separators`, but into `most` words at the most; with kBlanks a
  /// run of separators is one. Empty at the end.
  std::vector<Word> next(std::string_view separators,
                         std::size_t most = std::numeric_limits<std::size_t>::max());
  /// Of the line that was last returned.
  [[nodiscard]] SourceMark line_start() const { return {line_, 1}; }

  [[nodiscard]] Result<double> number(const Word& word, std::string hint = {}) const;
  [[nodiscard]] tl::unexpected<Error> complain(SourceMark at, std::string_view message,
                                               std::string hint = {}) const {
    return fail_at(name_, at, message, std::move(hint));
  }

 private:
  std::string_view text_;  ///< after the line
  std::string_view name_;
  std::uint32_t line_ = 0;
};

}  // namespace gantry::simulate
