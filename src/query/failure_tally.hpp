#pragma once
/// Which tasks have failed so far, and why. A task counts with its latest end. One thread.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/event.hpp"

namespace gantry::query {

struct FailureGroup {
  FailureCause cause = FailureCause::none;
  std::int32_t code = 0;
  std::uint32_t count = 0;
  TaskId example;
  std::string detail{};  ///< the example's own words, unchanged; may be empty
};

class FailureTally {
 public:
  void add(const AttemptEnded& event);
  /// Tasks whose latest attempt failed, by cause, the most frequent first. Cancelled tasks are not
  /// failures.
  [[nodiscard]] std::vector<FailureGroup> groups() const;
  [[nodiscard]] std::size_t size() const { return failed_.size(); }

 private:
  using Cause = std::pair<FailureCause, std::int32_t>;
  struct Example {
    TaskId task;
    std::string detail;
  };
  std::unordered_map<TaskId, Cause> failed_;
  std::map<Cause, Example> examples_;
};

/// What the attempt says about its failure: the detail of the cause, or the last line of its
/// standard error.
std::string_view failure_detail(const AttemptReport& report);

}  // namespace gantry::query
