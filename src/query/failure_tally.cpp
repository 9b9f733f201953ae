#include "query/failure_tally.hpp"

#include <algorithm>
#include <tuple>

#include "base/characters.hpp"

namespace gantry::query {
namespace {

/// A program may be killed by any signal or end with any code, not by more than these.
constexpr std::size_t kMostExamples = 1000;
constexpr std::size_t kMostDetail = 800;  ///< bytes

}  // namespace

std::string_view failure_detail(const AttemptReport& report) {
  return report.detail.empty() ? last_line(report.err.text) : report.detail;
}

void FailureTally::add(const AttemptEnded& event) {
  const auto& report = event.report;
  if (report.cause == FailureCause::none || report.cause == FailureCause::cancelled) {
    failed_.erase(report.key.task);
    return;
  }
  const Cause cause{report.cause, report.code};
  failed_[report.key.task] = cause;
  const auto example = examples_.find(cause);
  // One that has failed again, or not after all, is told of as it is now.
  const bool known = example != examples_.end() && example->second.task != report.key.task &&
                     failed_.contains(example->second.task) &&
                     failed_.at(example->second.task) == cause;
  if (!known && (example != examples_.end() || examples_.size() < kMostExamples))
    examples_[cause] = {report.key.task,
                        std::string(failure_detail(report).substr(0, kMostDetail))};
}

std::vector<FailureGroup> FailureTally::groups() const {
  std::map<Cause, FailureGroup> by_cause;
  for (const auto& [task, cause] : failed_) {
    FailureGroup& group = by_cause[cause];
    ++group.count;
    // The lowest number, so that the same failures always read the same.
    if (group.example.value() == 0 || task < group.example) group.example = task;
  }
  std::vector<FailureGroup> groups;
  for (auto& [cause, group] : by_cause) {
    std::tie(group.cause, group.code) = cause;
    const auto example = examples_.find(cause);
    if (example != examples_.end() && failed_.contains(example->second.task) &&
        failed_.at(example->second.task) == cause) {
      group.example = example->second.task;
      group.detail = example->second.detail;
    }
    groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(groups, std::greater{}, &FailureGroup::count);
  return groups;
}

}  // namespace gantry::query
