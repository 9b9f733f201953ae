#include "engine/run/ready_queue.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gantry::engine {

namespace {

std::uint64_t place_of(TaskId task, bool first) {
  return (std::uint64_t{first ? 0U : 1U} << 32) | task.value();
}
TaskId task_at(std::uint64_t place) {
  return TaskId(static_cast<std::uint32_t>(place));
}

}  // namespace

bool ReadyQueue::Less::operator()(const TaskNeeds& a, const TaskNeeds& b) const {
  const auto key = [](const TaskNeeds& needs) {
    const Resources& r = needs.resources;
    return std::tie(r.cores, r.memory, r.walltime, needs.cost, needs.private_bytes,
                    needs.output_bytes, needs.files);
  };
  return key(a) < key(b);
}

ReadyQueue::Classes::iterator ReadyQueue::class_for(TaskNeeds needs) {
  const auto [known, inserted] = by_needs_.try_emplace(needs);
  if (!inserted) return classes_.find(known->second);
  known->second = schedule::ClassId(++last_id_);
  const bool placeable = placeable_(needs);
  const auto it =
      classes_.emplace_hint(classes_.end(), known->second, Class{std::move(needs), placeable, {}});
  view_.push_back(
      {.id = it->first, .needs = &it->second.needs, .places = &it->second.places, .share = share_});
  return it;
}

void ReadyQueue::push(TaskId task, TaskNeeds needs, bool first) {
  put(place_of(task, first), std::move(needs));
}

void ReadyQueue::put(std::uint64_t place, TaskNeeds needs) {
  Class& c = class_for(std::move(needs))->second;
  // New tasks come in order and go to the end; those that come back belong near the front, where
  // inserting into a deque is cheap.
  if (c.places.empty() || c.places.back() < place)
    c.places.push_back(place);
  else
    c.places.insert(std::ranges::lower_bound(c.places, place), place);
  ++count_;
  if (c.placeable) ++placeable_count_;
}

void ReadyQueue::erase_place(Classes::iterator it, std::deque<std::uint64_t>::iterator place) {
  Class& c = it->second;
  c.places.erase(place);
  --count_;
  if (c.placeable) --placeable_count_;
  if (!c.places.empty()) return;
  by_needs_.erase(c.needs);
  view_.erase(std::ranges::lower_bound(view_, it->first, {}, &schedule::ReadyClass::id));
  classes_.erase(it);
}

void ReadyQueue::remove(TaskId task, const TaskNeeds& needs) {
  const auto known = by_needs_.find(needs);
  if (known != by_needs_.end() && remove_from(classes_.find(known->second), task)) return;
  for (auto it = classes_.begin(); it != classes_.end(); ++it)
    if (remove_from(it, task)) return;
}

bool ReadyQueue::remove_from(Classes::iterator it, TaskId task) {
  auto& places = it->second.places;
  for (const bool first : {false, true}) {
    const auto place = std::ranges::lower_bound(places, place_of(task, first));
    if (place == places.end() || *place != place_of(task, first)) continue;
    erase_place(it, place);
    return true;
  }
  return false;
}

bool ReadyQueue::sort_anew(const std::function<TaskNeeds(TaskId)>& needs_of, std::size_t most) {
  std::vector<std::pair<std::uint64_t, TaskNeeds>> others;
  for (auto it = classes_.begin(); it != classes_.end();) {
    const auto here = it++;  // erased with its last place
    const std::size_t looked = std::min(here->second.places.size(), most);
    most -= looked;
    std::vector<std::uint64_t> leaving;
    for (std::size_t i = 0; i < looked; ++i) {
      const std::uint64_t place = here->second.places[i];
      TaskNeeds needs = needs_of(task_at(place));
      if (needs == here->second.needs) continue;
      others.emplace_back(place, std::move(needs));
      leaving.push_back(place);
    }
    for (const std::uint64_t place : leaving) {
      auto& places = here->second.places;
      erase_place(here, std::ranges::lower_bound(places, place));
    }
  }
  for (auto& [place, needs] : others) put(place, std::move(needs));
  return !others.empty();
}

std::optional<TaskId> ReadyQueue::take(schedule::ClassId id) {
  const auto it = classes_.find(id);
  if (it == classes_.end()) return std::nullopt;
  const TaskId task = task_at(it->second.places.front());
  erase_place(it, it->second.places.begin());
  return task;
}

void ReadyQueue::set_share(double share) {
  if (std::exchange(share_, share) == share) return;
  for (schedule::ReadyClass& each : view_) each.share = share;
}

void ReadyQueue::judge_again() {
  placeable_count_ = 0;
  for (auto& [id, c] : classes_) {
    c.placeable = placeable_(c.needs);
    if (c.placeable) placeable_count_ += c.places.size();
  }
}

void ReadyQueue::sort_again(const std::function<TaskNeeds(TaskId)>& needs_of) {
  std::vector<std::uint64_t> places;
  for (const auto& [id, c] : classes_)
    places.insert(places.end(), c.places.begin(), c.places.end());
  std::ranges::sort(places);
  classes_.clear();
  view_.clear();
  by_needs_.clear();
  placeable_count_ = 0;
  for (const std::uint64_t place : places) {
    Class& c = class_for(needs_of(task_at(place)))->second;
    c.places.push_back(place);
    if (c.placeable) ++placeable_count_;
  }
}

TaskId ReadyQueue::first_of(const schedule::ReadyClass& ready) {
  return task_at(ready.places->front());
}

const TaskNeeds* ReadyQueue::needs(schedule::ClassId id) const {
  const auto it = classes_.find(id);
  return it == classes_.end() ? nullptr : &it->second.needs;
}

TaskId ReadyQueue::front() const {
  const auto it = std::ranges::min_element(
      classes_, {}, [](const auto& entry) { return entry.second.places.front(); });
  return task_at(it->second.places.front());
}

}  // namespace gantry::engine
