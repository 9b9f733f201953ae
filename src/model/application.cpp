#include "model/application.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "model/parameter_space.hpp"
#include "model/point_order.hpp"

namespace gantry {

namespace {

/// False if there are no such points.
bool exist(const PointOrder& points, std::uint32_t size) {
  return std::ranges::all_of(points, [&](const PointRange& range) {
    return range.first <= size && range.count <= size - range.first;
  });
}

/// False if one of them was taken. REQUIRES: they exist.
bool take(const PointOrder& points, std::vector<bool>& taken) {
  for (const PointRange& range : points) {
    for (std::uint32_t point = range.first; point < range.first + range.count; ++point) {
      if (taken[point]) return false;
      taken[point] = true;
    }
  }
  return true;
}

std::vector<std::string> union_of(const std::vector<Node>& nodes,
                                  std::vector<std::string> (Sweep::*names_of)() const) {
  std::vector<std::string> names;
  for (const Node& node : nodes)
    for (std::string& name : (node.sweep.*names_of)())
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  return names;
}

}  // namespace

Application::Application(Sweep sweep) : name_(sweep.name()) {
  nodes_.push_back({name_, std::move(sweep)});
  clear();
  add_rest();
}

Result<Application> Application::build(std::string name, std::vector<Node> nodes) {
  if (nodes.empty()) return fail(ErrorCode::usage, "an application needs a node");
  std::set<std::string> names;
  std::uint64_t points = 0;
  for (const Node& node : nodes) {
    if (!names.insert(node.name).second)
      return fail(ErrorCode::usage, fmt::format("two nodes are called '{}'", node.name),
                  "give each a name of its own");
    points += node.sweep.size();
  }
  if (points > kMaxTasks)
    return fail(ErrorCode::usage,
                fmt::format("{} tasks are too many; the most is {}", points, kMaxTasks),
                "split the application");
  Application application;
  application.name_ = std::move(name);
  application.nodes_ = std::move(nodes);
  application.clear();
  return application;
}

Digest Application::digest_of(Digest (Sweep::*one)() const) const {
  if (nodes_.size() == 1) return (nodes_.front().sweep.*one)();
  Hasher hasher;
  hasher.add("application 1").add(name_);
  for (const Node& node : nodes_) hasher.add(node.name).add((node.sweep.*one)());
  return hasher.digest();
}

Digest Application::digest() const {
  return digest_of(&Sweep::digest);
}
Digest Application::study_digest() const {
  return digest_of(&Sweep::study_digest);
}
Digest Application::program_digest() const {
  return digest_of(&Sweep::program_digest);
}

void Application::append(const Batch& batch, PointOrder points) {
  batches_.add(batch);
  sweep(batch).add_tasks(batch.first, points);
  points_.push_back(std::move(points));
}

void Application::clear() {
  batches_ = {};
  points_.clear();
  for (Node& node : nodes_) node.sweep.clear_tasks();
}

std::optional<Batch> Application::add(NodeId node, const PointOrder& points,
                                      std::uint32_t iteration) {
  const std::uint64_t count = count_points(points);
  if (node.value() >= nodes_.size() || !exist(points, nodes_[node.value()].sweep.size()) ||
      count + size() > kMaxTasks)
    return std::nullopt;
  const Batch batch{node, iteration, TaskId(size() + 1), static_cast<std::uint32_t>(count)};
  append(batch, points);
  return batch;
}

PointOrder Application::rest_of(NodeId node) const {
  const std::uint32_t size = nodes_[node.value()].sweep.size();
  if (points_.empty()) return {{0, size}};
  std::vector<bool> taken(size);
  for (std::size_t i = 0; i < points_.size(); ++i)
    if (const Batch& batch = batches()[i]; batch.node == node && batch.iteration == 0)
      take(points_[i], taken);
  PointOrder rest;
  for (std::uint32_t point = 0; point < size; ++point)
    if (!taken[point]) append_point(rest, point);
  return rest;
}

void Application::add_rest() {
  for (NodeId node(0); node.value() < nodes_.size(); node = NodeId(node.value() + 1))
    if (const auto rest = rest_of(node); count_points(rest) > 0) add(node, rest);
}

EnumeratedPoints Application::points(std::size_t batch) const {
  return {nodes_[batches()[batch].node.value()].sweep.digest(), points_[batch]};
}

bool Application::number_tasks(std::span<const AddedBatch> batches, const PointOrder& numbering) {
  const std::uint64_t numbered = count_points(numbering);
  Batches next;
  std::vector<PointOrder> orders;
  std::map<std::pair<NodeId, std::uint32_t>, std::vector<bool>> taken;  // by node and iteration
  std::vector<std::uint32_t> counts(nodes_.size());
  for (const auto& [batch, points] : batches) {
    const auto* journalled = std::get_if<EnumeratedPoints>(&points);
    if (journalled == nullptr || batch.node.value() >= nodes_.size() || !next.add(batch))
      return false;
    const Sweep& its = sweep(batch);
    std::uint32_t& before = counts[batch.node.value()];
    if (batch.first.value() <= numbered) {
      orders.push_back(part_of(numbering, batch.first.value() - 1, batch.count));
    } else if (journalled->sweep == its.digest()) {
      orders.push_back(journalled->order);
    } else {
      orders.push_back({{before, batch.count}});
    }
    before += batch.count;
    auto& its_taken = taken[{batch.node, batch.iteration}];
    its_taken.resize(its.size());
    if (!exist(orders.back(), its.size()) || count_points(orders.back()) != batch.count ||
        !take(orders.back(), its_taken))
      return false;
  }
  if (numbered > next.task_count()) return false;
  for (NodeId node(0); node.value() < nodes_.size(); node = NodeId(node.value() + 1)) {
    auto& its_taken = taken[{node, 0}];
    its_taken.resize(nodes_[node.value()].sweep.size());
    if (std::ranges::find(its_taken, false) != its_taken.end()) return false;
  }
  clear();
  for (std::size_t i = 0; i < orders.size(); ++i) append(next.all()[i], std::move(orders[i]));
  return true;
}

PointOrder Application::numbering() const {
  PointOrder all;
  for (const PointOrder& points : points_) {
    for (const PointRange& range : points) {
      const bool follows = !all.empty() && all.back().first + all.back().count == range.first;
      if (follows) {
        all.back().count += range.count;
      } else {
        all.push_back(range);
      }
    }
  }
  if (nodes_.size() == 1 && all.size() == 1 && all.front().first == 0) all.clear();
  return all;
}

bool Application::continue_tasks_of(const Application& before) {
  if (nodes_.size() != before.nodes_.size()) return false;
  std::vector<std::vector<std::uint32_t>> positions;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    auto found = positions_in(nodes_[i].sweep, before.nodes_[i].sweep);
    if (!found) return false;
    positions.push_back(std::move(*found));
  }
  clear();
  for (std::size_t i = 0; i < before.points_.size(); ++i) {
    const Batch& batch = before.batches()[i];
    append(batch, moved(before.points_[i], positions[batch.node.value()]));
  }
  add_rest();
  return true;
}

bool Application::has_cost() const {
  return std::ranges::all_of(nodes_, [](const Node& node) { return node.sweep.has_cost(); });
}

bool Application::learns_memory() const {
  return std::ranges::any_of(nodes_, [](const Node& node) { return node.sweep.learns_memory(); });
}

bool Application::same_inputs() const {
  return nodes_.size() == 1 && nodes_.front().sweep.same_inputs();
}

std::vector<std::string> Application::parameter_names() const {
  return union_of(nodes_, &Sweep::parameter_names);
}

std::vector<std::string> Application::result_names() const {
  return union_of(nodes_, &Sweep::result_names);
}

Result<> Application::check_inputs() const {
  for (const Node& node : nodes_) TRY(node.sweep.check_inputs());
  return {};
}

tl::unexpected<Error> Application::fail_at_resources(std::string_view message,
                                                     std::string hint) const {
  if (nodes_.size() == 1) return nodes_.front().sweep.fail_at_resources(message, std::move(hint));
  return fail(ErrorCode::usage, std::string(message), std::move(hint));
}

}  // namespace gantry
