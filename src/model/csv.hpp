#pragma once
/// CSV as RFC 4180 describes it: quoted fields, "" for a quote, CRLF or LF, a header line.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gantry {

struct CsvTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< each as long as the header

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
};

/// Blank lines are left out; a row that is not as long as the header is an error that names its
/// line.
Result<CsvTable> parse_csv(std::string_view text);

}  // namespace gantry
