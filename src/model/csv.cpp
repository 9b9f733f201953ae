#include "model/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gantry {

namespace {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF"))
      text_.remove_prefix(3);  // a byte order mark is not part of a name
  }
  [[nodiscard]] bool at_end() const { return text_.empty(); }
  [[nodiscard]] std::size_t line() const { return line_; }

  Result<std::vector<std::string>> record() {
    std::vector<std::string> fields;
    for (;;) {
      TRY_ASSIGN(fields.emplace_back(), field());
      if (text_.starts_with(',')) {
        text_.remove_prefix(1);
        continue;
      }
      if (text_.starts_with("\r\n")) text_.remove_prefix(1);
      if (!text_.empty()) text_.remove_prefix(1);
      ++line_;
      return fields;
    }
  }

 private:
  /// Leaves text_ at ',', at the end of the line or at the end.
  Result<std::string> field() {
    if (!text_.starts_with('"')) {
      const std::size_t end = std::min(text_.find_first_of(",\n"), text_.size());
      std::string_view value = text_.substr(0, end);
      text_.remove_prefix(end);
      if (value.ends_with('\r') && !text_.starts_with(',')) value.remove_suffix(1);
      return std::string(value);
    }
    const std::size_t first_line = line_;
    text_.remove_prefix(1);
    std::string value;
    for (;;) {
      const std::size_t quote = text_.find('"');
      if (quote == std::string_view::npos) {
        return fail(ErrorCode::usage, fmt::format("line {}: a quote is not closed", first_line));
      }
      const auto part = text_.substr(0, quote);
      line_ += static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n'));
      value.append(part);
      text_.remove_prefix(quote + 1);
      if (!text_.starts_with('"')) break;
      value.push_back('"');
      text_.remove_prefix(1);
    }
    if (!text_.empty() && text_[0] != ',' && text_[0] != '\n' && !text_.starts_with("\r\n")) {
      return fail(ErrorCode::usage, fmt::format("line {}: text follows a closing quote", line_));
    }
    return value;
  }

  std::string_view text_;
  std::size_t line_ = 1;
};

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

Result<CsvTable> parse_csv(std::string_view text) {
  CsvTable table;
  CsvReader reader(text);
  while (!reader.at_end()) {
    const std::size_t line = reader.line();
    TRY_ASSIGN(auto fields, reader.record());
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (table.header.empty()) {
      table.header = std::move(fields);
      continue;
    }
    if (fields.size() != table.header.size()) {
      return fail(ErrorCode::usage, fmt::format("line {}: {} fields, but the header has {}", line,
                                                fields.size(), table.header.size()));
    }
    table.rows.push_back(std::move(fields));
  }
  if (table.header.empty()) return fail(ErrorCode::usage, "no header line");
  return table;
}

}  // namespace gantry
