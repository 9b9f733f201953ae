#pragma once
/// An expression cut into tokens, with what people write (`and`, `not`, `**`, "text") told apart.
/// Also refuses what muparser would take in a sense nobody meant, such as `=`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/source_mark.hpp"

namespace gantry {

struct ExpressionToken {
  enum class Kind : std::uint8_t { number, name, text, op };
  Kind kind = Kind::op;
  std::string text;        ///< of `text` the content; operators in muparser's spelling
  std::size_t offset = 0;  ///< in the source
};

Result<std::vector<ExpressionToken>> tokenize_expression(const SourceText& source,
                                                         const std::string& file);

/// ==, !=, <, <=, > or >=
bool is_comparison(const ExpressionToken& token);

}  // namespace gantry
