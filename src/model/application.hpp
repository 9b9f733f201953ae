#pragma once
/// What a run computes: nodes, each a command template with its points, and the batches of tasks
/// that they have so far. A sweep is one node with one batch of all its points. Sweeps keep scratch
/// between calls: one thread at a time.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "model/batch.hpp"
#include "model/sweep.hpp"

namespace gantry {

struct Node {
  std::string name;
  Sweep sweep;
};

class Application {
 public:
  /// One node, all of whose points are tasks.
  explicit Application(Sweep sweep);
  /// Without tasks: see add() and add_rest(). An error if there is no node, if two have the same
  /// name, or if they have too many points.
  static Result<Application> build(std::string name, std::vector<Node> nodes);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// As Sweep's, over all nodes; those of a single node are those of its sweep.
  [[nodiscard]] Digest digest() const;
  [[nodiscard]] Digest study_digest() const;
  [[nodiscard]] Digest program_digest() const;

  // Batches.
  // ------------------------------------------------------------------------------------------------
  /// Adds these points of the node as the next tasks. Nothing, and nothing changes, if the node
  /// lacks one of them or there are too many tasks. REQUIRES: none of them is a task of this
  /// iteration.
  std::optional<Batch> add(NodeId node, const PointOrder& points, std::uint32_t iteration = 0);
  /// Adds the points that are not tasks yet, one batch per node, in the order of nodes.
  void add_rest();
  [[nodiscard]] const std::vector<Batch>& batches() const { return batches_.all(); }
  /// Of the batch with this index, for TasksAdded.
  [[nodiscard]] EnumeratedPoints points(std::size_t batch) const;

  /// Numbers the tasks as the run's journal does. If the journal's points are from before the last
  /// edit of the study, `numbering` applies: what numbering() returned at that edit. Returns false
  /// and changes nothing unless each point of each node is exactly one task in its iteration.
  [[nodiscard]] bool number_tasks(std::span<const AddedBatch> batches, const PointOrder& numbering);
  /// The points of tasks 1, 2 …; empty if there is one node, in the order of enumeration.
  [[nodiscard]] PointOrder numbering() const;
  /// The tasks of `before` keep their numbers, points that it lacks follow. False, and nothing
  /// changes, if this lacks a point of `before`. REQUIRES: both have the same study_digest().
  [[nodiscard]] bool continue_tasks_of(const Application& before);

  // Tasks.
  // ------------------------------------------------------------------------------------------------
  /// They have the numbers 1 … size().
  [[nodiscard]] std::uint32_t size() const { return batches_.task_count(); }
  /// REQUIRES, here and below: 1 <= id <= size().
  [[nodiscard]] NodeId node_of(TaskId id) const {
    return nodes_.size() == 1 ? NodeId(0) : batches_.find(id).value_or(TaskOrigin{}).node;
  }
  /// What makes the task: its functions take the same number.
  [[nodiscard]] const Sweep& at(TaskId id) const { return nodes_[node_of(id).value()].sweep; }
  [[nodiscard]] Task task(TaskId id) const { return at(id).task(id); }
  void fill_task(TaskId id, Task& task) const { at(id).fill_task(id, task); }
  [[nodiscard]] std::vector<Binding> parameters(TaskId id) const { return at(id).parameters(id); }
  /// Whether every node gives the cost of its tasks: costs of some cannot be compared with others.
  [[nodiscard]] bool has_cost() const;
  /// 1 unless has_cost().
  [[nodiscard]] double cost(TaskId id) const { return has_cost() ? at(id).cost(id) : 1; }
  [[nodiscard]] bool learns_memory() const;
  /// Whether all tasks surely have the same inputs.
  [[nodiscard]] bool same_inputs() const;

  /// Of all nodes, each name once, in the order of nodes.
  [[nodiscard]] std::vector<std::string> parameter_names() const;
  [[nodiscard]] std::vector<std::string> result_names() const;

  [[nodiscard]] Result<> check_inputs() const;
  /// An error that points at `resources:`, if there is a single node.
  [[nodiscard]] tl::unexpected<Error> fail_at_resources(std::string_view message,
                                                        std::string hint) const;

 private:
  Application() = default;
  [[nodiscard]] Sweep& sweep(const Batch& batch) { return nodes_[batch.node.value()].sweep; }
  /// REQUIRES: the batch follows the last one, and the points exist.
  void append(const Batch& batch, PointOrder points);
  void clear();
  /// Points of the node that are no tasks of its first iteration.
  [[nodiscard]] PointOrder rest_of(NodeId node) const;
  [[nodiscard]] Digest digest_of(Digest (Sweep::*one)() const) const;

  std::string name_;
  std::vector<Node> nodes_;
  Batches batches_;
  std::vector<PointOrder> points_;  ///< by batch
};

}  // namespace gantry
