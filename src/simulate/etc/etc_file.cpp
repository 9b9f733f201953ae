#include "simulate/etc/etc_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/fd.hpp"
#include "model/decimal.hpp"
#include "simulate/number_lines.hpp"

namespace gantry::simulate {

namespace {

using Word = NumberLines::Word;

/// Room for every time with 30 digits.
constexpr std::size_t kMaxEtcBytes = std::size_t{128} << 20U;
constexpr std::string_view kFormatHint = "docs/formats/etc.md describes both formats";

Result<double> read_time(const NumberLines& lines, const Word& word) {
  std::string hint;
  if (word.text.find(',') != std::string_view::npos)
    hint = "a file of comma-separated values needs a name that ends in .csv";
  TRY_ASSIGN(const double time, lines.number(word, std::move(hint)));
  if (const auto problem = etc_time_problem(time)) return lines.complain(word.mark, *problem);
  return time;
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

Result<BraunHeader> read_header(NumberLines& lines) {
  const auto words = lines.next(kBlanks, 4);
  if (words.empty()) return lines.complain({}, "the file is empty", std::string(kFormatHint));
  std::vector<std::size_t> counts;
  for (const Word& word : words) {
    const auto count = parse_count(word.text);
    if (!count) break;
    counts.push_back(*count);
  }
  const bool good = counts.size() == 2 || (counts.size() == 3 && counts[2] == 0);
  if (!good || counts.size() < words.size()) {
    return lines.complain(words[0].mark,
                          "the first line must give the numbers of tasks and machines, such as "
                          "'512 16' or '512 16 0'",
                          std::string(kFormatHint));
  }
  // The sizes say how much may be read.
  if (auto problem = EtcMatrix::size_problem(counts[0], counts[1]))
    return lines.complain(words[0].mark, *problem);
  return BraunHeader{counts[0], counts[1]};
}

}  // namespace

Result<EtcMatrix> parse_etc_braun(std::string_view text, const std::string& file_name) {
  NumberLines lines(text, file_name);
  TRY_ASSIGN(const BraunHeader header, read_header(lines));
  const std::size_t wanted = header.tasks * header.machines;
  std::vector<double> times;
  for (auto words = lines.next(kBlanks, wanted + 1); !words.empty();
       words = lines.next(kBlanks, wanted + 1)) {
    for (const Word& word : words) {
      if (times.size() == wanted)
        return lines.complain(
            word.mark, fmt::format("more than {} x {} times", header.tasks, header.machines));
      TRY_ASSIGN(times.emplace_back(), read_time(lines, word));
    }
  }
  if (times.size() != wanted)
    return lines.complain(lines.line_start(),
                          fmt::format("the file ends after {} of {} x {} times", times.size(),
                                      header.tasks, header.machines));
  return EtcMatrix::make(header.tasks, header.machines, std::move(times));
}

Result<EtcMatrix> parse_etc_csv(std::string_view text, const std::string& file_name) {
  NumberLines lines(text, file_name);
  const auto next = [&lines] { return lines.next(",", kMaxEtcMachines + 1); };
  auto fields = next();
  const std::size_t machines = fields.size();
  const auto is_name = [](const Word& word) { return !parse_number(word.text); };
  if (std::all_of(fields.begin(), fields.end(), is_name)) fields = next();
  if (fields.empty())
    return lines.complain({}, "there is no line with times", std::string(kFormatHint));
  std::vector<double> times;
  std::size_t tasks = 0;
  for (; !fields.empty(); fields = next()) {
    if (fields.size() != machines)
      return lines.complain(fields[0].mark, fmt::format("{} columns, but the lines before have {}",
                                                        fields.size(), machines));
    if (auto problem = EtcMatrix::size_problem(++tasks, machines))
      return lines.complain(fields[0].mark, *problem);
    for (const Word& field : fields) {
      TRY_ASSIGN(times.emplace_back(), read_time(lines, field));
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
