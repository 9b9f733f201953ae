#include "simulate/etc/etc_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/fd.hpp"
#include "model/decimal.hpp"
#include "model/source_mark.hpp"

namespace gantry::simulate {

namespace {

/// Room for every time with 30 digits.
constexpr std::size_t kMaxEtcBytes = std::size_t{128} << 20U;
constexpr std::size_t kQuotedWidth = 40;  // of a bad word in a complaint
constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kFormatHint = "docs/formats/etc.md describes both formats";

/// A piece of a line and where it stands.
struct Word {
  std::string_view text;
  SourceMark mark;
};

std::string_view without_mark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

/// Without the blanks around it.
Word trimmed(std::string_view line, std::size_t begin, std::size_t end, std::uint32_t number) {
  const std::string_view part = line.substr(begin, end - begin);
  const std::size_t first = std::min(part.find_first_not_of(kBlanks), part.size());
  const std::size_t last = part.find_last_not_of(kBlanks) + 1;  // 0 when there are only blanks
  const auto column = static_cast<std::uint32_t>(begin + first + 1);
  return {first < last ? part.substr(first, last - first) : std::string_view{}, {number, column}};
}

/// Goes through a text line by line, or word by word; knows where it is.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(without_mark(text)) {}

  [[nodiscard]] std::uint32_t line() const { return line_; }

  /// What stands between the commas of the next line that is not blank, but never more than `limit`
  /// of them. Empty at the end.
  std::vector<Word> next_fields(std::size_t limit) {
    std::vector<Word> fields;
    while (fields.empty() && next_line()) {
      if (rest_.find_first_not_of(kBlanks) == std::string_view::npos) continue;
      std::size_t begin = 0;
      while (begin <= rest_.size() && fields.size() < limit) {
        const std::size_t end = std::min(rest_.find(',', begin), rest_.size());
        fields.push_back(trimmed(rest_, begin, end, line_));
        begin = end + 1;
      }
    }
    return fields;
  }

  /// What stands between blanks and line ends. Nothing at the end.
  std::optional<Word> next_word() {
    for (;;) {
      const std::size_t first = rest_.find_first_not_of(kBlanks, at_);
      if (first != std::string_view::npos) {
        at_ = std::min(rest_.find_first_of(kBlanks, first), rest_.size());
        return trimmed(rest_, first, at_, line_);
      }
      if (!next_line()) return std::nullopt;
    }
  }

 private:
  bool next_line() {
    if (text_.empty()) return false;
    rest_ = text_.substr(0, text_.find('\n'));
    text_.remove_prefix(std::min(rest_.size() + 1, text_.size()));
    at_ = 0;
    ++line_;
    return true;
  }

  std::string_view text_;  ///< after the line
  std::string_view rest_;  ///< the line
  std::size_t at_ = 0;     ///< of the line
  std::uint32_t line_ = 0;
};

Result<double> read_time(const std::string& file, const Word& word) {
  const auto value = parse_number(word.text);
  if (!value) {
    const bool whole = word.text.size() <= kQuotedWidth;
    std::string hint;
    if (word.text.find(',') != std::string_view::npos)
      hint = "a file of comma-separated values needs a name that ends in .csv";
    return fail_at(
        file, word.mark,
        fmt::format("'{}{}' is not a time", word.text.substr(0, kQuotedWidth), whole ? "" : "…"),
        std::move(hint));
  }
  if (const auto problem = etc_time_problem(*value)) return fail_at(file, word.mark, *problem);
  return *value;
}

struct BraunHeader {
  std::size_t tasks = 0;
  std::size_t machines = 0;
};

std::optional<std::size_t> parse_count(std::string_view text) {
  const auto value = parse_number(text);
  if (!value || *value < 0 || *value > kMaxEtcTime || *value != std::floor(*value))
    return std::nullopt;
  return static_cast<std::size_t>(*value);
}

/// Reads the first line, and leaves the first word after it in `word`.
Result<BraunHeader> read_header(const std::string& file, TextReader& reader,
                                std::optional<Word>& word) {
  const SourceMark mark = word->mark;
  std::vector<std::size_t> counts;
  for (; word && word->mark.line == mark.line && counts.size() < 4; word = reader.next_word()) {
    const auto count = parse_count(word->text);
    if (!count) break;
    counts.push_back(*count);
  }
  const bool whole_line = !word || word->mark.line != mark.line;
  const bool good = counts.size() == 2 || (counts.size() == 3 && counts[2] == 0);
  if (!whole_line || !good) {
    return fail_at(file, mark,
                   "the first line must give the numbers of tasks and machines, such as '512 16' "
                   "or '512 16 0'",
                   std::string(kFormatHint));
  }
  // The sizes say how much may be read.
  if (auto problem = EtcMatrix::size_problem(counts[0], counts[1]))
    return fail_at(file, mark, *problem);
  return BraunHeader{counts[0], counts[1]};
}

}  // namespace

Result<EtcMatrix> parse_etc_braun(std::string_view text, const std::string& file_name) {
  TextReader reader(text);
  std::optional<Word> word = reader.next_word();
  if (!word) return fail_at(file_name, {}, "the file is empty", std::string(kFormatHint));
  TRY_ASSIGN(const BraunHeader header, read_header(file_name, reader, word));
  const std::size_t wanted = header.tasks * header.machines;
  std::vector<double> times;
  for (; word; word = reader.next_word()) {
    if (times.size() == wanted)
      return fail_at(file_name, word->mark,
                     fmt::format("more than {} x {} times", header.tasks, header.machines));
    TRY_ASSIGN(times.emplace_back(), read_time(file_name, *word));
  }
  if (times.size() != wanted)
    return fail_at(file_name, {reader.line(), 1},
                   fmt::format("the file ends after {} of {} x {} times", times.size(),
                               header.tasks, header.machines));
  return EtcMatrix::make(header.tasks, header.machines, std::move(times));
}

Result<EtcMatrix> parse_etc_csv(std::string_view text, const std::string& file_name) {
  TextReader reader(text);
  const auto next = [&reader] { return reader.next_fields(kMaxEtcMachines + 1); };
  auto fields = next();
  const std::size_t machines = fields.size();
  const auto is_name = [](const Word& word) { return !parse_number(word.text); };
  if (std::all_of(fields.begin(), fields.end(), is_name)) fields = next();
  if (fields.empty())
    return fail_at(file_name, {}, "there is no line with times", std::string(kFormatHint));
  std::vector<double> times;
  std::size_t tasks = 0;
  for (; !fields.empty(); fields = next()) {
    if (fields.size() != machines)
      return fail_at(
          file_name, fields[0].mark,
          fmt::format("{} columns, but the lines before have {}", fields.size(), machines));
    if (auto problem = EtcMatrix::size_problem(++tasks, machines))
      return fail_at(file_name, fields[0].mark, *problem);
    for (const Word& field : fields) {
      TRY_ASSIGN(times.emplace_back(), read_time(file_name, field));
    }
  }
  return EtcMatrix::make(tasks, machines, std::move(times));
}

Result<EtcMatrix> load_etc(const std::filesystem::path& path) {
  auto text = read_file(path, kMaxEtcBytes);
  if (!text) return fail(ErrorCode::usage, text.error().message);
  const bool csv = path.extension() == ".csv" || path.extension() == ".CSV";
  return csv ? parse_etc_csv(*text, path.string()) : parse_etc_braun(*text, path.string());
}

}  // namespace gantry::simulate
