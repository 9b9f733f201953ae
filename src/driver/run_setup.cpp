#include "driver/run_setup.hpp"

#include <fmt/format.h>

#include <memory>
#include <unordered_map>
#include <utility>

#include "driver/kept_model.hpp"
#include "driver/old_results.hpp"
#include "driver/outdated.hpp"
#include "driver/reuse.hpp"

namespace gantry::driver {

namespace {

using engine::TaskState;

constexpr schedule::Seconds kPlanEvery = 60;  ///< by schedulers that plan; they adapt it
constexpr std::uint32_t kGroup = 10'000;      ///< events that are made durable together

engine::Workload workload_of(const Sweep& sweep, const SharedInputs& shared, KeptModels& known) {
  engine::Workload workload = engine::workload_of(sweep);
  workload.known_times = std::move(known.times);
  workload.known_memory = std::move(known.memory);
  workload.known_outputs = std::move(known.outputs);
  shared.describe(workload, sweep);
  return workload;
}

class Setup {
 public:
  Setup(store::Store& store, engine::Engine& engine, const Job& job, const Options& options,
        ContentCache& contents, TimePoint now, std::unique_ptr<schedule::Scheduler> scheduler,
        const SharedInputs& shared, KeptModels known)
      : store_(store),
        engine_(engine),
        sweep_(job.sweep),
        weight_(job.weight),
        options_(options),
        contents_(contents),
        now_(now),
        workload_(workload_of(job.sweep, shared, known)),
        scheduler_(std::move(scheduler)),
        run_{RunId{}, false, 0, {}, std::move(known.notices)},
        old_results_(store, job.sweep, options.state_dir) {
    for (const FileMade& file : shared.made()) engine_.apply(file);
  }

  Result<PreparedRun> prepare(const SpecSource& source) {
    TRY_ASSIGN(const auto existing, run_to_continue(store_, sweep_, options_));
    if (existing) {
      open(existing->id);
      TRY_ASSIGN(run_.unheard, store_.given_hosts(run_.id));
      TRY(replay());
      TRY(resume());
    } else {
      TRY(create(source));
      run_.is_new = true;
    }
    run_.unchanged = view().counts().done;
    return std::move(run_);
  }

 private:
  /// The latest success of a task: what it was made of, and where.
  struct Recorded {
    Digest print;
    store::Reusable origin;
  };

  void open(RunId id) {
    run_.id = id;
    engine_.add_run(id, std::move(workload_),
                    {.keep_going = options_.keep_going,
                     .max_fails = options_.max_fails,
                     .hosts_may_come = true,
                     .learn_for = options_.learn_for},
                    std::move(scheduler_), weight_);
  }
  [[nodiscard]] engine::RunView view() const { return engine_.run(run_.id); }

  /// With all that it reuses in one step: the next call finds it by its digest and does not look
  /// for results elsewhere again.
  Result<> create(const SpecSource& source) {
    KnownElsewhere known;
    if (!options_.fresh) {
      TRY_ASSIGN(known, known_elsewhere(store_, sweep_, options_, contents_));
    }
    auto& matches = known.matches;
    run_.outdated = std::move(known.outdated);
    store::RunRecord record;
    record.name = sweep_.name();
    record.digest = sweep_.digest();
    record.source = source;
    record.parameter_names = sweep_.parameter_names();
    record.result_names = sweep_.result_names();
    record.result_rules = recorded_rules(sweep_);
    record.created = record.updated = now_;
    record.counts.total = sweep_.size();
    record.counts.done = record.counts.reused = static_cast<std::uint32_t>(matches.size());
    auto next = matches.begin();
    TRY_ASSIGN(run_.id, store_.create_run(record, [&](RunId id) -> Result<std::optional<Event>> {
      if (!engine_.has_run(id)) open(id);
      if (next == matches.end()) return std::nullopt;
      Match& match = *next++;
      if (!match.results) {
        TRY_ASSIGN(match.results, store_.results_of(match.source));
      }
      Event event = TaskReused{id,
                               match.task,
                               match.source.run,
                               match.source.task,
                               match.source.attempt,
                               sweep_.parameters(match.task),
                               std::move(*match.results),
                               match.print,
                               now_};
      engine_.apply(event);
      return event;
    }));
    return {};
  }

  Result<> replay() {
    recorded_.assign(sweep_.size() + 1, {});
    return store_.replay(run_.id, [&](const Event& event) {
      engine_.apply(event);
      if (const auto* ended = std::get_if<AttemptEnded>(&event)) {
        const auto task = ended->report.key.task.value();
        if (task > sweep_.size()) return;
        if (ended->report.cause == FailureCause::none)
          recorded_[task] = {combine(ended->fingerprint), {run_.id, ended->report.key.task, {}}};
      } else if (const auto* reused = std::get_if<TaskReused>(&event)) {
        if (reused->task.value() <= sweep_.size())
          recorded_[reused->task.value()] = {
              combine(reused->fingerprint),
              {reused->from_run, reused->from_task, reused->from_attempt}};
      }
    });
  }

  Result<> resume() {
    const bool chosen = options_.only_failed || !options_.only.empty();
    if (chosen) {
      auto tasks = options_.only;
      for (std::uint32_t i = 1; options_.only_failed && i <= sweep_.size(); ++i) {
        const auto state = view().state(TaskId(i));
        if (state == TaskState::failed || state == TaskState::cancelled) tasks.emplace_back(i);
      }
      for (const TaskId task : tasks) {
        if (view().state(task) == TaskState::done) TRY(invalidate(task, {OutdatedBy::asked}));
      }
      engine_.apply(RunResumed{run_.id, std::move(tasks)});
    } else {
      TRY(check_unchanged());
      engine_.apply(RunResumed{run_.id});
    }
    return {};
  }

  /// A finished task counts as long as its command, environment and inputs are what they were, and
  /// its outputs are there.
  Result<> check_unchanged() {
    TRY(find_newer());
    Task task;
    for (std::uint32_t i = 1; i <= sweep_.size(); ++i) {
      if (view().state(TaskId(i)) != TaskState::done) continue;
      sweep_.fill_task(TaskId(i), task);
      const auto print = contents_.fingerprint(task);
      if (!print) {
        TRY(invalidate(TaskId(i), {OutdatedBy::input_missing, print.error().message}));
      } else if (const auto output = first_missing(store_, task.outputs); !output.empty()) {
        TRY(invalidate(TaskId(i), {OutdatedBy::output_missing, output}));
      } else if (combine(*print) != recorded_[i].print) {
        TRY_ASSIGN(const auto made, latest_making(store_, run_.id, TaskId(i)));
        TRY_ASSIGN(const bool holds,
                   contents_.holds(made.print, made.began, task, *print, {}, made.ended));
        if (!holds) TRY(invalidate(TaskId(i), what_changed(made, *print, task)));
      } else if (const auto* newer = newer_than(recorded_[i])) {
        TRY(adopt(task, *print, *newer));
      }
    }
    return {};
  }

  /// What other runs have done since this one was driven last: --fresh and `retry` make results of
  /// tasks that are done here, too.
  Result<> find_newer() {
    TRY_ASSIGN(const auto last, store_.last_run());
    if (!last || last->id == run_.id) return {};
    return store_.for_each_reusable({},
                                    [&](const Fingerprint& print, const store::Reusable& source) {
                                      if (!source.unread && !print.inputs.empty())
                                        newest_.try_emplace(combine(print), source);
                                    });
  }

  /// Nothing when ours is the newest.
  [[nodiscard]] const store::Reusable* newer_than(const Recorded& ours) const {
    const auto found = newest_.find(ours.print);
    if (found == newest_.end()) return nullptr;
    const store::Reusable& newest = found->second;
    if (newest.run == run_.id || newest.holder() == run_.id) return nullptr;
    // A copy whose original was removed does not tell how old it is.
    const bool same = newest.run == ours.origin.run && newest.task == ours.origin.task &&
                      newest.attempt == ours.origin.attempt;
    return same || newest.attempt == AttemptId{} ? nullptr : &newest;
  }

  Result<> adopt(const Task& task, const Fingerprint& print, const store::Reusable& source) {
    auto results = old_results_.of(task, source);
    if (!results) {
      return invalidate(task.id, {OutdatedBy::result, results.error().message});
    }
    if (!*results) {
      TRY_ASSIGN(*results, store_.results_of(source));
    }
    TRY(record(TaskInvalidated{
        run_.id, task.id, fmt::format("run {} has a newer result", source.run.value()), now_}));
    return record(TaskReused{run_.id, task.id, source.run, source.task, source.attempt,
                             sweep_.parameters(task.id), std::move(**results), print, now_});
  }

  Result<> invalidate(TaskId task, const OutdatedReason& reason) {
    add_outdated(run_.outdated, reason);
    return record(TaskInvalidated{run_.id, task, reason_text(reason), now_});
  }

  /// In groups, so that a million of them do not wait in memory.
  Result<> record(Event event) {
    engine_.apply(event);
    TRY(store_.append(run_.id, std::move(event)));
    if (++recorded_events_ % kGroup == 0) return store_.commit();
    return {};
  }

  store::Store& store_;
  engine::Engine& engine_;
  const Sweep& sweep_;
  double weight_;
  const Options& options_;
  ContentCache& contents_;
  TimePoint now_;
  engine::Workload workload_;                       ///< until the run is open
  std::unique_ptr<schedule::Scheduler> scheduler_;  ///< likewise
  PreparedRun run_;
  std::uint32_t recorded_events_ = 0;
  std::vector<Recorded> recorded_;  ///< by task
  std::unordered_map<Digest, store::Reusable> newest_;
  OldResults old_results_;
};

}  // namespace

Result<std::optional<store::RunRecord>> run_to_continue(const store::Store& store,
                                                        const Sweep& sweep,
                                                        const Options& options) {
  if (options.continue_run.value() == 0) {
    if (options.fresh) return std::nullopt;
    return store.last_run_with(sweep.digest());
  }
  TRY_ASSIGN(auto record, store.run(options.continue_run));
  if (!record) {
    return fail(ErrorCode::usage, fmt::format("there is no run {}", options.continue_run.value()),
                "`gantry runs` lists them");
  }
  return record;
}

Result<PreparedRun> prepare_run(store::Store& store, engine::Engine& engine, const Job& job,
                                const Options& options, ContentCache& contents, TimePoint now,
                                const SharedInputs& shared) {
  TRY_ASSIGN(auto scheduler,
             schedule::make_scheduler(options.scheduler,
                                      {.interval = kPlanEvery,
                                       .adaptive = true,
                                       .second_attempts = options.grid && options.duplicates}));
  return Setup(store, engine, job, options, contents, now, std::move(scheduler), shared,
               kept_models(store, job.sweep))
      .prepare(job.source);
}

}  // namespace gantry::driver
