#pragma once
/// A parameter sweep: many tasks, made from their index when needed and never all stored.
/// Immutable after it was built; several threads may read one at once.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "model/outcome.hpp"
#include "model/task.hpp"

namespace gantry {

/// name -> value, as JSON-able text
using ResultValues = std::vector<std::pair<std::string, std::string>>;

class Sweep {
 public:

  [[nodiscard]] const std::string& name() const;
  /// Identifies the whole expanded study: same digest, same tasks under the same numbers.
  [[nodiscard]] Digest digest() const;
  [[nodiscard]] std::uint32_t size() const;

  /// REQUIRES: 1 <= id <= size().
  [[nodiscard]] Task task(TaskId id) const;
  [[nodiscard]] std::vector<Binding> parameters(TaskId id) const;
  /// Relative cost; 1 when the spec gives none.
  [[nodiscard]] double cost(TaskId id) const;
  [[nodiscard]] bool has_cost() const;
  /// What task(id).resources says, without making the task.
  [[nodiscard]] Resources resources(TaskId id) const;
  [[nodiscard]] const RetryPolicy& retry_policy() const;

  [[nodiscard]] std::vector<std::string> parameter_names() const;
  [[nodiscard]] std::vector<std::string> result_names() const;
  /// Reads the `results:` values of a succeeded attempt. The error message names the value and the place.
  /// `whole_stdout` is all of the standard output (report.out.text holds only the end of a large one).
  [[nodiscard]] Result<ResultValues> extract(const AttemptReport& report,
                                                     std::string_view whole_stdout) const;
  /// True when `extract` looks at the standard output.
  [[nodiscard]] bool reads_stdout() const;
};

}  // namespace gantry
