#include "simulate/trace_file.hpp"

#include <fmt/format.h>

#include "base/fd.hpp"
#include "simulate/number_lines.hpp"

namespace gantry::simulate {

namespace {

using Word = NumberLines::Word;

constexpr double kBytesPerMegabit = 1e6 / 8;
constexpr double kPlanetLabStep = 300;  ///< seconds between two samples

/// Larger numbers would overflow when they are added up; with smaller ones nothing would ever end.
constexpr double kMostTime = 1e12;
constexpr double kMostValue = 1e12;
constexpr double kLeastValue = 1e-9;

/// Reads the lines of two numbers that are left: time and value.
Result<std::vector<TraceStep>> read_steps(NumberLines& reader, std::string_view separators,
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
Result<Trace> make_trace(const NumberLines& reader, SourceMark at, std::vector<TraceStep> steps,
                         std::optional<double> period) {
  auto trace = Trace::make(std::move(steps), period);
  if (!trace) return reader.complain(at, trace.error().message);
  return trace;
}

}  // namespace

Result<Trace> parse_trace_csv(std::string_view text, std::string_view name) {
  NumberLines reader(text, name);
  std::vector<Word> words = reader.next(",");
  if (words.size() == 2 && words[0].text == "time" && words[1].text == "value") {
    words = reader.next(",");
  }
  TRY_ASSIGN(auto steps, read_steps(reader, ",", std::move(words)));
  return make_trace(reader, {}, std::move(steps), std::nullopt);
}

Result<std::vector<HostTrace>> parse_planetlab(std::string_view text, std::string_view name) {
  NumberLines reader(text, name);
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
      steps.push_back({static_cast<double>(i - 1) * kPlanetLabStep, 1 - load / 100});
    }
    const double period = static_cast<double>(steps.size()) * kPlanetLabStep;
    TRY_ASSIGN(auto trace, make_trace(reader, reader.line_start(), std::move(steps), period));
    hosts.push_back({std::string(words[0].text), std::move(trace)});
  }
  if (hosts.empty()) return reader.complain({}, "there is no host");
  return hosts;
}

Result<Trace> parse_bandwidth(std::string_view text, std::string_view name) {
  NumberLines reader(text, name);
  auto words = reader.next(kBlanks);
  TRY_ASSIGN(auto steps, read_steps(reader, kBlanks, std::move(words)));
  for (TraceStep& step : steps) step.value *= kBytesPerMegabit;
  std::optional<double> period;
  if (steps.size() > 1) {
    const double span = steps.back().time - steps.front().time;
    period = steps.back().time + span / static_cast<double>(steps.size() - 1);
  }
  return make_trace(reader, {}, std::move(steps), period);
}

Result<Trace> load_trace_csv(const std::filesystem::path& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_trace_csv(text, path.string());
}

}  // namespace gantry::simulate
