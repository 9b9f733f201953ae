#include "driver/undriven_runs.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "driver/attempt_outputs.hpp"
#include "driver/attempt_results.hpp"

namespace gantry::driver {

namespace {

using engine::TaskState;

engine::Engine replaying_engine(RunId run, std::uint32_t tasks) {
  engine::Engine engine;
  engine.add_run(run, {.count = tasks}, {});
  return engine;
}

bool is_open(TaskState state) {
  return state != TaskState::done && state != TaskState::failed && state != TaskState::cancelled;
}

}  // namespace

bool is_meant(const store::Request& request, const TaskKey& key) {
  return request.run == key.run &&
         (request.all || std::ranges::find(request.tasks, key.task) != request.tasks.end());
}

Result<std::string> UndrivenRuns::take(ReportReceived& received, const std::string& host_name,
                                       TimePoint now, bool last) {
  const TaskKey key = received.report.key;
  running_.erase(key);
  TRY_ASSIGN(Run * run, find(key.run));
  if (run == nullptr || !run->view().awaits(key, received.host)) {
    discard_outputs(received);
    return "";
  }
  if (!run->study) {
    discard_outputs(received);
  } else if (auto why = place_outputs(received, run->study->task(key.task), store_); !why.empty()) {
    if (!last) return why;
    received.report.cause = FailureCause::missing_output;
    received.report.detail = std::move(why);
    discard_outputs(received);
  }
  AttemptEnded ended;
  ended.report = std::move(received.report);
  ended.host = received.host;
  ended.host_name = host_name;
  ended.fingerprint = received.fingerprint;
  if (run->study) {
    ended.parameters = run->study->parameters(key.task);
    read_results(options_.state_dir, *run->study, ended);
    settle_remote_files(store_, run->study->task(key.task), ended);
  } else if (ended.report.cause == FailureCause::none) {
    // Nobody can tell its parameters and results any more: it must run again.
    ended.report.cause = FailureCause::missing_result;
    ended.report.detail = run->no_study;
  }
  TRY(record(*run, std::move(ended), now));
  return "";
}

Result<bool> UndrivenRuns::knows(RunId id) {
  TRY_ASSIGN(const Run* run, find(id));
  return run != nullptr;
}

Result<const Application*> UndrivenRuns::study(RunId id) {
  TRY_ASSIGN(const Run* run, find(id));
  return run != nullptr && run->study ? &*run->study : nullptr;
}

Result<bool> UndrivenRuns::cancel(const store::Request& request, Sites& sites, TimePoint now) {
  TRY_ASSIGN(Run * run, find(request.run));
  bool some_run = false;
  for (const auto& [key, host] : running_) {
    if (!is_meant(request, key)) continue;
    sites.cancel(key, host);
    some_run = true;
  }
  if (run == nullptr) return false;
  const auto waits = [&](TaskId task) { return is_open(run->view().state(task)); };
  const auto& counts = run->view().counts();
  const bool some_wait =
      request.all ? counts.done + counts.failed + counts.cancelled < counts.total
                  : std::ranges::any_of(request.tasks, [&](TaskId task) {
                      return task.value() >= 1 && task.value() <= counts.total && waits(task);
                    });
  if (!some_wait && !some_run) return false;
  TRY(record(*run, CancelRequested{request.run, request.all, request.tasks, now}, now));
  return true;
}

Result<UndrivenRuns::Run*> UndrivenRuns::find(RunId id) {
  auto found = runs_.find(id);
  if (found == runs_.end()) {
    TRY_ASSIGN(auto record, store_.run(id));
    std::optional<Run> run;
    if (record) {
      TRY_ASSIGN(run, load(std::move(*record)));
    }
    found = runs_.emplace(id, std::move(run)).first;
  }
  return found->second ? &*found->second : nullptr;
}

Result<UndrivenRuns::Run> UndrivenRuns::load(store::RunRecord record) const {
  const std::uint32_t tasks = record.counts.total;
  const RunId id = record.id;
  Run run{std::move(record), replaying_engine(id, tasks), {}, {}};
  // Whoever went on with the run made the cancelled tasks pending again, which is not journalled.
  const bool cancels_hold = run.record.counts.cancelled > 0;
  TRY(store_.replay(run.record.id, [&](const Event& event) {
    if (std::holds_alternative<CancelRequested>(event) && !cancels_hold) return;
    run.journal.apply(event);
  }));
  auto study = options_.reload(run.record);
  if (study) {
    run.study.emplace(std::move(*study));
  } else {
    run.no_study = std::move(study).error().message;
  }
  return run;
}

/// Its status is what follows from its journal.
Result<> UndrivenRuns::record(Run& run, Event event, TimePoint now) {
  run.journal.apply(event);
  TRY(store_.append(run.record.id, std::move(event)));
  const auto& c = run.view().counts();
  const auto state =
      c.done + c.failed == c.total ? store::RunState::finished : store::RunState::open;
  return store_.update_run(run.record.id, state,
                           {c.total, c.done, c.reused, c.failed, c.cancelled, 0}, {}, 0, now);
}

}  // namespace gantry::driver
