#pragma once
/// A parameter sweep: many tasks, made from their number when needed and never all stored. It
/// keeps scratch between calls: one thread at a time.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "model/batch.hpp"
#include "model/outcome.hpp"
#include "model/task.hpp"

namespace gantry {

struct SweepDefinition;

/// name -> value, as text
using ResultValues = std::vector<std::pair<std::string, std::string>>;

class Sweep {
 public:
  /// Checks everything that can be checked without looking at the disk: names, placeholders, sizes,
  /// lengths, tasks that would write the same file. Errors begin with file:line:column.
  static Result<Sweep> build(SweepDefinition definition);
  Sweep(Sweep&&) noexcept;
  Sweep& operator=(Sweep&&) noexcept;
  ~Sweep();

  [[nodiscard]] const std::string& name() const;
  /// Identifies the study with its points: the same digest means the same tasks in the same order.
  /// Leaves out what does not affect a task's result: resources, retries, timeout, cost.
  [[nodiscard]] Digest digest() const;
  /// The same without the points: it does not change when a person edits the values of parameters.
  [[nodiscard]] Digest study_digest() const;
  /// Identifies the command as written and the names of the parameters. What is learnt about tasks
  /// from their parameters holds for all studies with the same digest.
  [[nodiscard]] Digest program_digest() const;
  /// Number of points. As built, they are tasks 1 … size(), in the order of enumeration.
  [[nodiscard]] std::uint32_t size() const;

  /// No point is a task any more: add_tasks() says which are.
  void clear_tasks();
  /// The tasks from `first` on are these points, in this order. REQUIRES: the points exist, and
  /// `first` is larger than all tasks' numbers.
  void add_tasks(TaskId first, std::span<const PointRange> points);
  /// Hashes the values of the point's parameters, which identify it in an edited study.
  void add_point(std::uint32_t point, Hasher& hasher) const;

  /// REQUIRES, here and below: there is such a task.
  [[nodiscard]] Task task(TaskId id) const;
  /// The same into an existing task, whose memory is used again: for printing a million of them.
  void fill_task(TaskId id, Task& task) const;
  /// The same as task(id).inputs, without making the task.
  void fill_inputs(TaskId id, std::vector<std::string>& paths) const;
  /// Whether all tasks have the same inputs: no parameter occurs in their paths.
  [[nodiscard]] bool same_inputs() const;
  [[nodiscard]] std::vector<Binding> parameters(TaskId id) const;
  /// Relative cost; 1 when the spec gives none.
  [[nodiscard]] double cost(TaskId id) const;
  [[nodiscard]] bool has_cost() const;
  /// The same as task(id).resources, without making the task.
  [[nodiscard]] Resources resources(TaskId id) const;
  /// Whether the memory of some task is to be learnt.
  [[nodiscard]] bool learns_memory() const;
  [[nodiscard]] const RetryPolicy& retry_policy() const;
  /// An error that points at `resources:` where the spec has it.
  [[nodiscard]] tl::unexpected<Error> fail_at_resources(std::string_view message,
                                                        std::string hint) const;

  /// Derived values last.
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  [[nodiscard]] std::vector<std::string> result_names() const;
  /// By result: where and how it is read, whatever it is called.
  [[nodiscard]] std::vector<Digest> result_rules() const;
  /// By result: whether a task may lack it.
  [[nodiscard]] std::vector<bool> optional_results() const;
  /// By result: the file that it is read from, empty for standard output, if `{#}` were `numbered`.
  [[nodiscard]] std::vector<std::string> result_files(TaskId id, TaskId numbered) const;
  /// Reads the `results:` values of a succeeded attempt. The error message names the value and the
  /// place. `whole_stdout` is all of the standard output (report.out.text holds only the end of a
  /// large one). Values in `known` are taken from there.
  [[nodiscard]] Result<ResultValues> extract(const AttemptReport& report,
                                             std::string_view whole_stdout,
                                             const ResultValues& known = {}) const;
  /// True when `extract` looks at the standard output.
  [[nodiscard]] bool reads_stdout() const;

  /// Every input that some task names must be there now; the error points at the place in the file.
  [[nodiscard]] Result<> check_inputs() const;
  /// Parameters that no template and no expression mentions: tasks see them in their environment
  /// only.
  [[nodiscard]] std::vector<std::string> unused_parameters() const;

 private:
  struct Impl;
  explicit Sweep(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gantry
