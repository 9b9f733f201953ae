#include "model/source_mark.hpp"

#include <fmt/format.h>

namespace gantry {

tl::unexpected<Error> fail_at(std::string_view file, SourceMark mark, std::string_view message,
                              std::string hint) {
  std::string text;
  if (mark.line != 0) {
    text = fmt::format("{}:{}:{}: {}", file, mark.line, mark.column, message);
  } else if (!file.empty()) {
    text = fmt::format("{}: {}", file, message);
  } else {
    text = std::string(message);
  }
  return fail(ErrorCode::usage, std::move(text), std::move(hint));
}

}  // namespace gantry
