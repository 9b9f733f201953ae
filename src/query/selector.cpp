#include "query/selector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/quantity.hpp"
#include "model/visible_text.hpp"

namespace gantry::query {
namespace {

/// What a person typed, for a message: on one line, and not too long.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 60;
  const bool cut = text.size() > kMost;
  return fmt::format("'{}{}'", one_line(text.substr(0, kMost)), cut ? "..." : "");
}

constexpr const char* kTaskHint = "select tasks by number: all, 7, 1,3,5-8";

/// Reads numbers and marks off a selector and knows where it is.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  bool skip(std::string_view mark) {
    if (!text_.substr(at_).starts_with(mark)) return false;
    at_ += mark.size();
    return true;
  }
  Result<std::uint32_t> number() {
    std::uint32_t value = 0;
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error == std::errc::result_out_of_range) return wrong("the number is too large");
    if (error != std::errc{}) return wrong("a task number is expected");
    if (value == 0) return wrong("tasks are numbered from 1");
    at_ += static_cast<std::size_t>(stop - begin);
    return value;
  }
  tl::unexpected<Error> wrong(std::string_view what) const {
    const std::string found =
        at_end() ? "at the end"
                 : fmt::format("at character {} ('{}')", at_ + 1, one_line(text_.substr(at_, 1)));
    return fail(ErrorCode::usage, fmt::format("selector {}, {}: {}", quoted(text_), found, what),
                kTaskHint);
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<TaskSelector> TaskSelector::parse(std::string_view text) {
  TaskSelector selector;
  if (text == "all") return selector;
  Reader reader(text);
  do {
    TRY_ASSIGN(const std::uint32_t first, reader.number());
    std::uint32_t last = first;
    if (reader.skip("-") || reader.skip("..")) {
      TRY_ASSIGN(last, reader.number());
      if (last < first) return reader.wrong("a range goes from low to high");
    }
    selector.ranges_.push_back({first, last});
  } while (reader.skip(","));
  if (!reader.at_end()) return reader.wrong("expected ',' or '-'");

  auto& ranges = selector.ranges_;
  std::ranges::sort(ranges, {}, &Range::first);
  std::vector<Range> joined;
  for (const auto& range : ranges)
    if (!joined.empty() && range.first <= std::uint64_t{joined.back().last} + 1)
      joined.back().last = std::max(joined.back().last, range.last);
    else
      joined.push_back(range);
  ranges = std::move(joined);
  return selector;
}

Result<TaskSelector> TaskSelector::within(std::uint32_t size) const {
  TaskSelector bounded = *this;
  std::erase_if(bounded.ranges_, [&](const Range& range) { return range.first > size; });
  if (bounded.ranges_.size() < ranges_.size()) {
    const auto& past = ranges_[bounded.ranges_.size()];
    return fail(
        ErrorCode::usage,
        fmt::format("there is no task {}: the run has {}", past.first, count_of(size, "task")),
        kTaskHint);
  }
  for (auto& range : bounded.ranges_) range.last = std::min(range.last, size);
  return bounded;
}

bool TaskSelector::contains(TaskId task) const {
  if (all()) return true;
  const auto after = std::ranges::upper_bound(ranges_, task.value(), {}, &Range::first);
  return after != ranges_.begin() && std::prev(after)->last >= task.value();
}

std::uint64_t TaskSelector::count(std::uint32_t size) const {
  if (all()) return size;
  std::uint64_t sum = 0;
  for (const auto& range : ranges_)
    if (range.first <= size) sum += std::uint64_t{std::min(range.last, size)} - range.first + 1;
  return sum;
}

std::vector<TaskId> TaskSelector::tasks(std::uint32_t size) const {
  std::vector<TaskId> tasks;
  tasks.reserve(count(size));
  const auto add = [&](Range range) {
    for (std::uint64_t i = range.first; i <= std::min(range.last, size); ++i)
      tasks.emplace_back(static_cast<std::uint32_t>(i));
  };
  if (all()) add({1, size});
  for (const auto& range : ranges_) add(range);
  return tasks;
}

Result<RunSelector> parse_run_selector(std::string_view text) {
  using Kind = RunSelector::Kind;
  if (text == "last") return RunSelector{Kind::last, {}};
  if (text == "all") return RunSelector{Kind::all, {}};
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0)
    return fail(ErrorCode::usage, fmt::format("{} names no run", quoted(text)),
                "a run is 'last' or its number; 'gantry runs' lists them");
  return RunSelector{Kind::number, RunId{number}};
}

}  // namespace gantry::query
