#pragma once
/// For tests: an engine with one run, number 1, and the queries of both in one place.

#include <memory>
#include <utility>
#include <vector>

#include "engine/engine.hpp"

namespace gantry::engine {

class OneRun : public Engine {
 public:
  static constexpr RunId kId{1};

  OneRun(Workload workload, Policy policy, std::unique_ptr<schedule::Scheduler> strategy = nullptr,
         SiteMap map = {})
      : Engine(std::move(map)) {
    add_run(kId, std::move(workload), policy, std::move(strategy));
  }

  [[nodiscard]] RunView view() const { return run(kId); }
  void resume() { apply(RunResumed{kId}); }
  void resume_only(std::vector<TaskId> tasks) { apply(RunResumed{kId, std::move(tasks)}); }
  void pass_over_numbers(bool any) { apply(HostsUnheard{kId, any}); }

  [[nodiscard]] TaskState state(TaskId task) const { return view().state(task); }
  [[nodiscard]] bool awaits(const TaskKey& key, HostId host) const {
    return view().awaits(key, host);
  }
  [[nodiscard]] const Counts& counts() const { return view().counts(); }
  [[nodiscard]] std::uint64_t waiting_cores() const { return view().waiting_cores(); }
  [[nodiscard]] bool uses(SiteId site) const { return view().uses(site); }
  [[nodiscard]] bool may_move_files(SiteId site) const { return view().may_move_files(site); }
  [[nodiscard]] bool finished() const { return view().finished(); }
  [[nodiscard]] const std::string& draining() const { return view().draining(); }
  [[nodiscard]] std::vector<Resources> stranded() const { return view().stranded(); }
  [[nodiscard]] std::string unplaceable() const { return view().unplaceable(); }
  [[nodiscard]] Eta eta(TimePoint now) const { return view().eta(now); }
  [[nodiscard]] std::optional<Duration> expected(TaskId task, HostId host) const {
    return view().book().times().expected(task, host);
  }
  [[nodiscard]] Duration expected(const TaskKey& key) const { return view().expected(key); }
  [[nodiscard]] const forecast::RunTimeAccuracy& accuracy() const {
    return view().book().accuracy();
  }
  [[nodiscard]] const forecast::GridForecast& seen() const { return view().book().times().seen(); }
  [[nodiscard]] const forecast::LearnedCosts& learned() const {
    return view().book().times().learned();
  }
  [[nodiscard]] const forecast::LearnedMemory& learned_memory() const {
    return view().book().memory().learned();
  }
  [[nodiscard]] const forecast::LearnedOutputs& learned_outputs() const {
    return view().book().outputs();
  }
  [[nodiscard]] std::vector<std::pair<TaskId, TimePoint>> retries(std::size_t most) const {
    return view().retries(most);
  }
  [[nodiscard]] Resources resources(TaskId task) const { return view().resources(task); }
  [[nodiscard]] std::optional<forecast::RunTimeModel::Prediction> expected_outputs(
      TaskId task) const {
    return view().book().expected_outputs(task);
  }
  [[nodiscard]] GivenMemory given_memory(const TaskKey& key) const {
    return view().given_memory(key);
  }
  [[nodiscard]] std::string after_memory(TaskId task) const { return view().after_memory(task); }
  [[nodiscard]] std::vector<FileId> files(TaskId task) const { return view().files(task); }
};

}  // namespace gantry::engine
