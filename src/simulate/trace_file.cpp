#include "simulate/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "base/fd.hpp"
#include "model/decimal.hpp"
#include "model/source_mark.hpp"

namespace gantry::simulate {

namespace {

constexpr double kBytesPerMegabit = 1e6 / 8;
constexpr std::size_t kQuotedWidth = 40;  // of a bad word in a complaint

/// Larger numbers would overflow when they are added up; with smaller ones nothing would ever end.
constexpr double kMostTime = 1e12;
constexpr double kMostValue = 1e12;
constexpr double kLeastValue = 1e-9;

/// A piece of a line and where it stands.
struct Word {
  std::string_view text;
  SourceMark mark;
};

/// Goes through the lines of a text; knows where it is.
class LineReader {
 public:
  LineReader(std::string_view text, std::string_view name) : text_(text), name_(name) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // a byte order mark
  }

  /// The next line that is neither blank nor a comment, cut at each of `separators`; with blanks as
  /// separators a run of them is one. Empty at the end.
  std::vector<Word> next(std::string_view separators) {
    while (!text_.empty()) {
      std::string_view line = text_.substr(0, text_.find('\n'));
      text_.remove_prefix(std::min(line.size() + 1, text_.size()));
      ++line_;
      if (line.ends_with('\r')) line.remove_suffix(1);
      const std::size_t first = line.find_first_not_of(kBlanks);
      if (first != std::string_view::npos && line[first] != '#') return split(line, separators);
    }
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> complain(SourceMark at, std::string_view message) const {
    return fail_at(name_, at, message);
  }
  [[nodiscard]] SourceMark line_start() const { return {line_, 1}; }

  [[nodiscard]] Result<double> number(const Word& word) const {
    if (const auto value = parse_number(word.text)) return *value;
    const bool whole = word.text.size() <= kQuotedWidth;
    return complain(word.mark, fmt::format("\"{}{}\" is not a number",
                                           word.text.substr(0, kQuotedWidth), whole ? "" : "…"));
  }

 private:
  static constexpr std::string_view kBlanks = " \t";

  [[nodiscard]] std::vector<Word> split(std::string_view line, std::string_view separators) const {
    std::vector<Word> words;
    std::size_t begin = 0;
    while (begin <= line.size()) {
      const std::size_t end = std::min(line.find_first_of(separators, begin), line.size());
      std::size_t first = begin;
      std::size_t last = end;
      while (first < last && kBlanks.find(line[first]) != std::string_view::npos) ++first;
      while (last > first && kBlanks.find(line[last - 1]) != std::string_view::npos) --last;
      if (first < last || separators != kBlanks) {
        const auto column = static_cast<std::uint32_t>(first + 1);
        words.push_back({line.substr(first, last - first), {line_, column}});
      }
      begin = end + 1;
    }
    return words;
  }

  std::string_view text_;
  std::string_view name_;
  std::uint32_t line_ = 0;
};

/// Reads the lines of two numbers that are left: time and value.
Result<std::vector<TraceStep>> read_steps(LineReader& reader, std::string_view separators,
                                          std::vector<Word> words) {
  std::vector<TraceStep> steps;
  for (; !words.empty(); words = reader.next(separators)) {
    if (words.size() != 2) {
      return reader.complain(words[0].mark,
                             fmt::format("a time and a value are wanted, not {} {}", words.size(),
                                         words.size() == 1 ? "number" : "numbers"));
    }
    TraceStep step;
    TRY_ASSIGN(step.time, reader.number(words[0]));
    TRY_ASSIGN(step.value, reader.number(words[1]));
    const auto problem = trace_step_problem(steps.empty() ? nullptr : &steps.back(), step);
    if (problem) return reader.complain(words[0].mark, *problem);
    if (step.time > kMostTime)
      return reader.complain(
          words[0].mark, fmt::format("the time {} is more than {} seconds", step.time, kMostTime));
    if (step.value > kMostValue)
      return reader.complain(words[1].mark,
                             fmt::format("the value {} is more than {}", step.value, kMostValue));
    if (step.value > 0 && step.value < kLeastValue)
      return reader.complain(words[1].mark, fmt::format("the value {} is neither 0 nor at least {}",
                                                        step.value, kLeastValue));
    steps.push_back(step);
  }
  if (steps.empty()) return reader.complain({}, "there is no line with a time and a value");
  return steps;
}

/// Trace::make with the file's name before its complaint.
Result<Trace> make_trace(const LineReader& reader, SourceMark at, std::vector<TraceStep> steps,
                         std::optional<double> period) {
  auto trace = Trace::make(std::move(steps), period);
  if (!trace) return reader.complain(at, trace.error().message);
  return trace;
}

}  // namespace

Result<Trace> parse_trace_csv(std::string_view text, std::string_view name,
                              std::optional<double> period) {
  LineReader reader(text, name);
  std::vector<Word> words = reader.next(",");
  if (words.size() == 2 && words[0].text == "time" && words[1].text == "value") {
    words = reader.next(",");
  }
  TRY_ASSIGN(auto steps, read_steps(reader, ",", std::move(words)));
  return make_trace(reader, {}, std::move(steps), period);
}

Result<std::vector<HostTrace>> parse_planetlab(std::string_view text, std::string_view name,
                                               const PlanetLabOptions& options) {
  assert(options.step > 0 && options.load_scale >= 0);
  LineReader reader(text, name);
  std::vector<HostTrace> hosts;
  for (auto words = reader.next(","); !words.empty(); words = reader.next(",")) {
    if (words.size() < 2 || words[0].text.empty()) {
      return reader.complain(words[0].mark, "a host's name and its load in percent are wanted");
    }
    std::vector<TraceStep> steps;
    for (std::size_t i = 1; i < words.size(); ++i) {
      TRY_ASSIGN(const double load, reader.number(words[i]));
      if (load < 0 || load > 100) {
        return reader.complain(words[i].mark, fmt::format("a load of {}% cannot be", load));
      }
      const double left = 1 - std::min(1.0, load / 100 * options.load_scale);
      steps.push_back({static_cast<double>(i - 1) * options.step, left});
    }
    const double period = static_cast<double>(steps.size()) * options.step;
    TRY_ASSIGN(auto trace, make_trace(reader, reader.line_start(), std::move(steps), period));
    hosts.push_back({std::string(words[0].text), std::move(trace)});
  }
  if (hosts.empty()) return reader.complain({}, "there is no host");
  return hosts;
}

Result<Trace> parse_bandwidth(std::string_view text, std::string_view name,
                              const BandwidthOptions& options) {
  assert(options.time_scale > 0 && options.value_scale >= 0);
  LineReader reader(text, name);
  auto words = reader.next(" \t");
  TRY_ASSIGN(auto steps, read_steps(reader, " \t", std::move(words)));
  for (TraceStep& step : steps) {
    step.time *= options.time_scale;
    step.value *= kBytesPerMegabit * options.value_scale;
  }
  std::optional<double> period;
  if (steps.size() > 1) {
    const double span = steps.back().time - steps.front().time;
    period = steps.back().time + span / static_cast<double>(steps.size() - 1);
  }
  return make_trace(reader, {}, std::move(steps), period);
}

Result<Trace> load_trace_csv(const std::filesystem::path& path, std::optional<double> period) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_trace_csv(text, path.string(), period);
}

Result<std::vector<HostTrace>> load_planetlab(const std::filesystem::path& path,
                                              const PlanetLabOptions& options) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_planetlab(text, path.string(), options);
}

Result<Trace> load_bandwidth(const std::filesystem::path& path, const BandwidthOptions& options) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_bandwidth(text, path.string(), options);
}

}  // namespace gantry::simulate
