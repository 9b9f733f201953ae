#include "schedule/registry.hpp"

#include <array>
#include <string>

#include "schedule/workqueue.hpp"

namespace gantry::schedule {

namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Scheduler> (*make)();
};

template <class Strategy>
std::unique_ptr<Scheduler> make() {
  return std::make_unique<Strategy>();
}

constexpr std::array kStrategies{
    Entry{"workqueue", make<Workqueue>},
};

}  // namespace

Result<std::unique_ptr<Scheduler>> make_scheduler(std::string_view name) {
  std::string known;
  for (const Entry& entry : kStrategies) {
    if (entry.name == name) return entry.make();
    if (!known.empty()) known += ", ";
    known += entry.name;
  }
  return fail(ErrorCode::usage, "there is no strategy '" + std::string(name) + "'",
              "choose one of: " + known);
}

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kStrategies));
  for (const Entry& entry : kStrategies) names.push_back(entry.name);
  return names;
}

}  // namespace gantry::schedule
