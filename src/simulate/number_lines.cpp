#include "simulate/number_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/decimal.hpp"

namespace gantry::simulate {

NumberLines::NumberLines(std::string_view text, std::string_view name) : text_(text), name_(name) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // a byte order mark
}

std::vector<NumberLines::Word> NumberLines::next(std::string_view separators, std::size_t most) {
  std::vector<Word> words;
  while (words.empty() && !text_.empty()) {
    std::string_view line = text_.substr(0, text_.find('\n'));
    text_.remove_prefix(std::min(line.size() + 1, text_.size()));
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t start = line.find_first_not_of(kBlanks);
    if (start == std::string_view::npos || line[start] == '#') continue;
    for (std::size_t begin = 0; begin <= line.size() && words.size() < most;) {
      const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
      const std::string_view part = line.substr(begin, end - begin);
      const std::size_t first = std::min(part.find_first_not_of(kBlanks), part.size());
      const std::size_t last = std::max(part.find_last_not_of(kBlanks) + 1, first);
      if (first < last || separators != kBlanks)
        words.push_back({part.substr(first, last - first),
                         {line_, static_cast<std::uint32_t>(begin + first + 1)}});
      begin = end + 1;
    }
  }
  return words;
}

Result<double> NumberLines::number(const Word& word, std::string hint) const {
  constexpr std::size_t kQuotedWidth = 40;
  if (const auto value = parse_number(word.text)) return *value;
  const bool whole = word.text.size() <= kQuotedWidth;
  return complain(
      word.mark,
      fmt::format("\"{}{}\" is not a number", word.text.substr(0, kQuotedWidth), whole ? "" : "…"),
      std::move(hint));
}

}  // namespace gantry::simulate
