#pragma once
/// Which tasks and which run a person means: `all`, `1,3,5-8` for tasks; `last`, `all` or a number
/// for runs. Ranges stay ranges: `1-4000000000` costs nothing. Pure, any thread.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/ids.hpp"

namespace gantry::query {

class TaskSelector {
 public:
  /// Every task.
  TaskSelector() = default;
  /// The error names the place in `text` and what was expected there.
  static Result<TaskSelector> parse(std::string_view text);

  /// The same tasks, limited to a run of `size`. A single number past the end is an error; a range
  /// is cut.
  [[nodiscard]] Result<TaskSelector> within(std::uint32_t size) const;

  [[nodiscard]] bool all() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(TaskId task) const;
  /// How many tasks it selects in a run of `size`.
  [[nodiscard]] std::uint64_t count(std::uint32_t size) const;
  /// The tasks in ascending order, each once. REQUIRES: made by within(size).
  [[nodiscard]] std::vector<TaskId> tasks(std::uint32_t size) const;

 private:
  struct Range {
    std::uint32_t first;
    std::uint32_t last;
  };
  std::vector<Range> ranges_;  ///< ascending, disjoint; empty = all
};

struct RunSelector {
  enum class Kind { last, all, number } kind = Kind::last;
  RunId id{};
};

Result<RunSelector> parse_run_selector(std::string_view text);

}  // namespace gantry::query
