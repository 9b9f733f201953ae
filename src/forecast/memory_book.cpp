#include "forecast/memory_book.hpp"

#include <algorithm>

namespace gantry::forecast {

bool MemoryBook::died(TaskId task, std::uint64_t given, std::uint64_t used) {
  const auto [found, is_first] = died_.try_emplace(task);
  Died& died = found->second;
  died.given = std::max(died.given, given);
  died.wanted = std::max(died.wanted, more_memory(died.given, used));
  return is_first;
}

bool MemoryBook::refresh() {
  if (!learned_.is_due()) return false;
  learned_.refresh();
  return true;
}

std::uint64_t MemoryBook::wanted(TaskId task, std::uint64_t share) const {
  const std::uint64_t need = learned_.need(features_(task)).value_or(share);
  const auto died = died_.find(task);
  return died != died_.end() ? std::max(need, died->second.wanted) : need;
}

std::optional<std::uint64_t> MemoryBook::died_with(TaskId task) const {
  const auto died = died_.find(task);
  return died != died_.end() ? std::optional(died->second.given) : std::nullopt;
}

std::vector<MemoryDeath> MemoryBook::deaths() const {
  std::vector<MemoryDeath> deaths;
  for (const auto& [task, died] : died_) deaths.push_back({task, died.given, died.wanted});
  return deaths;
}

GivenMemory MemoryBook::given(TaskId task, std::uint64_t bytes) const {
  GivenMemory given{.bytes = bytes, .died_with = died_with(task).value_or(0)};
  if (learned_.need(features_(task))) given.learnt_from = learned_.used().observations();
  return given;
}

}  // namespace gantry::forecast
