#include "engine/run/attempts.hpp"

namespace gantry::engine {

namespace {

template <class Map, class Key>
auto* value_of(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found != map.end() ? &found->second : nullptr;
}

}  // namespace

const Outstanding* Attempts::find(const AttemptKey& key) const {
  const Outstanding* first = value_of(first_, key.first);
  if (first == nullptr || first->attempt == key.second) return first;
  const Outstanding* twin = value_of(twins_, key.first);
  return twin != nullptr && twin->attempt == key.second ? twin : nullptr;
}

Outstanding* Attempts::find(const AttemptKey& key) {
  return const_cast<Outstanding*>(std::as_const(*this).find(key));
}

const Outstanding* Attempts::first(TaskId task) const {
  return value_of(first_, task);
}

Outstanding* Attempts::first(TaskId task) {
  return value_of(first_, task);
}

Outstanding* Attempts::twin(TaskId task) {
  return value_of(twins_, task);
}

bool Attempts::is_running(TaskId task) const {
  const Outstanding* twin = value_of(twins_, task);
  return first_.at(task).running || (twin != nullptr && twin->running);
}

std::vector<AttemptKey> Attempts::on(HostId host) const {
  std::vector<AttemptKey> there;
  for (const auto& [task, attempt] : first_)
    if (attempt.host == host) there.emplace_back(task, attempt.attempt);
  for (const auto& [task, attempt] : twins_)
    if (attempt.host == host) there.emplace_back(task, attempt.attempt);
  std::ranges::sort(there);
  return there;
}

void Attempts::add(TaskId task, const Outstanding& attempt) {
  HostQueue& queue = queues_[attempt.host];
  ++queue.handed_over;
  queue.recalled = false;  // not this one
  if (!first_.try_emplace(task, attempt).second) twins_.emplace(task, attempt);
}

void Attempts::start(Outstanding& attempt, TimePoint at) {
  unqueue(attempt);
  attempt.started = at;
  attempt.running = true;
}

Outstanding Attempts::remove(const AttemptKey& key) {
  const auto first = first_.find(key.first);
  Outstanding gone = first->second;
  if (auto twin = twins_.extract(key.first); twin.empty())
    first_.erase(first);
  else if (twin.mapped().attempt == key.second)
    gone = twin.mapped();
  else
    first->second = twin.mapped();
  unqueue(gone);
  return gone;
}

void Attempts::unqueue(const Outstanding& attempt) {
  HostQueue* queue = value_of(queues_, attempt.host);
  if (queue != nullptr && !attempt.running && queue->handed_over > 0) --queue->handed_over;
}

bool Attempts::recall(HostId host) {
  HostQueue* queue = value_of(queues_, host);
  return queue != nullptr && queue->handed_over > 0 && !std::exchange(queue->recalled, true);
}

void Attempts::reset_recall(HostId host) {
  if (HostQueue* queue = value_of(queues_, host)) queue->recalled = false;
}

std::optional<Outstanding> Attempts::remove_leftover(const AttemptKey& key) {
  const auto gone = leftovers_.extract(key);
  return gone.empty() ? std::nullopt : std::optional(gone.mapped());
}

std::vector<AttemptKey> Attempts::leftovers_on(HostId host) const {
  std::vector<AttemptKey> there;
  for (const auto& [key, attempt] : leftovers_)
    if (attempt.host == host) there.push_back(key);
  return there;
}

const Outstanding* Attempts::find_any(const AttemptKey& key) const {
  const Outstanding* leftover = value_of(leftovers_, key);
  return leftover != nullptr ? leftover : find(key);
}

Outstanding* Attempts::find_any(const AttemptKey& key) {
  return const_cast<Outstanding*>(std::as_const(*this).find_any(key));
}

void Attempts::tell_to_end(TaskId task, Outstanding& attempt) {
  if (!std::exchange(attempt.ending, true)) told_.emplace_back(task, attempt.attempt);
}

std::vector<std::pair<AttemptKey, HostId>> Attempts::take_told() {
  std::vector<std::pair<AttemptKey, HostId>> told;
  for (const AttemptKey& key : std::exchange(told_, {}))
    if (const Outstanding* attempt = find_any(key)) told.emplace_back(key, attempt->host);
  return told;
}

}  // namespace gantry::engine
