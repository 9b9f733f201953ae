#include "driver/run_setup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "driver/kept_model.hpp"
#include "driver/old_results.hpp"
#include "driver/outdated.hpp"
#include "driver/recovery.hpp"
#include "driver/reuse.hpp"

namespace gantry::driver {

namespace {

using engine::TaskState;

constexpr schedule::Seconds kPlanEvery = 60;  ///< by schedulers that plan; they adapt it
constexpr std::uint32_t kGroup = 10'000;      ///< events that are made durable together
constexpr std::size_t kLookedUpAtOnce = std::size_t{1} << 20U;

engine::Workload workload_of(const Application& application, const TaskFiles& files,
                             KeptModels& known) {
  engine::Workload workload = engine::workload_of(application, files);
  workload.known_times = std::move(known.times);
  workload.known_memory = std::move(known.memory);
  workload.known_outputs = std::move(known.outputs);
  return workload;
}

class Setup {
 public:
  Setup(store::Store& store, engine::Engine& engine, const Job& job, const Options& options,
        ContentCache& contents, TimePoint now, std::unique_ptr<schedule::Scheduler> scheduler,
        const TaskFiles& files, KeptModels known)
      : store_(store),
        engine_(engine),
        application_(job.application),
        weight_(job.weight),
        options_(options),
        contents_(contents),
        now_(now),
        workload_(workload_of(job.application, files, known)),
        scheduler_(std::move(scheduler)),
        run_{RunId{}, false, 0, {}, std::move(known.notices)},
        old_results_(store, job.application, options.state_dir) {
    for (const FileMade& file : files.shared()) engine_.apply(file);
  }

  Result<PreparedRun> prepare(const SpecSource& source, const std::optional<ContinuedRun>& ours) {
    if (ours) {
      open(ours->record.id);
      TRY_ASSIGN(run_.unheard, store_.given_hosts(run_.id));
      if (ours->edited) TRY(edit(source, *ours));
      TRY(replay());
      TRY(resume());
    } else {
      TRY(create(source));
    }
    run_.unchanged = view().counts().done;
    return std::move(run_);
  }

 private:
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
    TRY_ASSIGN(auto matches, find_results(TaskId(1)));
    store::RunRecord record = describe({}, source);
    record.name = application_.name();
    record.parameter_names = application_.parameter_names();
    record.result_names = application_.result_names();
    record.result_rules = recorded_rules(application_);
    record.created = record.updated = now_;
    record.counts.done = record.counts.reused = static_cast<std::uint32_t>(matches.size());
    TRY_ASSIGN(const RunId id, store_.create_run(record, first_events(TaskId(1), matches)));
    open(id);
    for (const Event& event : opening(id, TaskId(1))) engine_.apply(event);
    TaskReused event;
    event.run = id;
    for (const Match& match : matches) {
      event.task = match.task;
      engine_.apply(event);
    }
    run_.is_new = true;
    return {};
  }

  /// What the person has added are new tasks, for which other runs may have results.
  Result<> edit(const SpecSource& source, const ContinuedRun& ours) {
    const TaskId first(*ours.edited + 1);
    TRY_ASSIGN(auto matches, find_results(first));
    store::RunRecord record = describe(ours.record, source);
    const std::uint32_t added = application_.size() - *ours.edited;
    if (added > 0) {
      run_.notices.push_back(
          fmt::format("run {} goes on with {}", run_.id.value(),
                      added == 1 ? "1 new task" : fmt::format("{} new tasks", added)));
    }
    return store_.edit_run(record, first_events(first, matches));
  }

  /// `run` as the study is now.
  [[nodiscard]] store::RunRecord describe(store::RunRecord run, const SpecSource& source) const {
    run.digest = application_.digest();
    run.study = application_.study_digest();
    run.source = source;
    run.counts.total = application_.size();
    return run;
  }

  Result<std::vector<Match>> find_results(TaskId first) {
    if (options_.fresh) return std::vector<Match>{};
    TRY_ASSIGN(auto known, known_elsewhere(store_, application_, first, options_, contents_));
    run_.outdated = std::move(known.outdated);
    return std::move(known.matches);
  }

  /// That the tasks from `first` on come to the run.
  [[nodiscard]] std::vector<Event> opening(RunId run, TaskId first) const {
    std::vector<Event> events;
    const auto& batches = application_.batches();
    for (std::size_t i = 0; i < batches.size(); ++i)
      if (batches[i].first >= first)
        events.emplace_back(TasksAdded{run, batches[i], application_.points(i), now_});
    if (!events.empty()) events.emplace_back(RunClosed{run, now_});
    return events;
  }

  /// The same, and what it reuses for them. `matches` must outlive what is returned.
  store::Store::NextEvent first_events(TaskId first, std::vector<Match>& matches) {
    return [this, first, &matches, events = std::vector<Event>{},
            next = std::size_t{0}](RunId run) mutable -> Result<std::optional<Event>> {
      if (next == 0) events = opening(run, first);
      const std::size_t step = next++;
      if (step < events.size()) return events[step];
      if (step - events.size() == matches.size()) return std::nullopt;
      return reused(run, matches[step - events.size()]);
    };
  }

  Result<Event> reused(RunId run, Match& match) {
    if (!match.results) {
      TRY_ASSIGN(match.results, store_.results_of(match.source));
    }
    return TaskReused{run,
                      match.task,
                      match.source.run,
                      match.source.task,
                      match.source.attempt,
                      application_.parameters(match.task),
                      std::move(*match.results),
                      match.print,
                      now_};
  }

  Result<> replay() {
    TRY_ASSIGN(auto recovered, recover(store_, engine_, run_.id, application_.size()));
    // When it cannot be written now, the next call reads as much as this one did.
    static_cast<void>(keep_if_worth(store_, engine_, run_.id, recovered));
    prints_ = std::move(recovered.prints);
    if (recovered.damaged)
      run_.notices.push_back(fmt::format(
          "the snapshot of run {} is damaged; its whole journal was read", run_.id.value()));
    return {};
  }

  Result<> resume() {
    const bool chosen = options_.only_failed || !options_.only.empty();
    if (chosen) {
      auto tasks = options_.only;
      for (std::uint32_t i = 1; options_.only_failed && i <= application_.size(); ++i) {
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
    // --fresh and `retry` of other runs make results of tasks that are done here, too.
    TRY_ASSIGN(const auto last, store_.last_run());
    const bool others_ran = last && last->id != run_.id;
    std::vector<Done> unchanged;
    Task task;
    for (std::uint32_t i = 1; i <= application_.size(); ++i) {
      if (view().state(TaskId(i)) != TaskState::done) continue;
      application_.fill_task(TaskId(i), task);
      const auto print = contents_.fingerprint(task);
      if (!print) {
        TRY(invalidate(TaskId(i), {OutdatedBy::input_missing, print.error().message}));
      } else if (const auto output = first_missing(store_, task.outputs); !output.empty()) {
        TRY(invalidate(TaskId(i), {OutdatedBy::output_missing, output}));
      } else if (brief(*print) != prints_[i - 1]) {
        TRY_ASSIGN(const auto made, latest_making(store_, run_.id, TaskId(i)));
        TRY_ASSIGN(const bool holds,
                   contents_.holds(made.print, made.began, task, *print, {}, made.ended));
        if (!holds) TRY(invalidate(TaskId(i), what_changed(made, *print, task)));
      } else if (others_ran) {
        unchanged.push_back({TaskId(i), *print});
        if (unchanged.size() == kLookedUpAtOnce) TRY(adopt_newer(unchanged));
      }
    }
    return adopt_newer(unchanged);
  }

  /// A task whose result still holds.
  struct Done {
    TaskId task;
    Fingerprint print;
  };

  /// Takes over what other runs have made of them since; forgets them.
  Result<> adopt_newer(std::vector<Done>& tasks) {
    TRY_ASSIGN(const auto others, results_for(tasks, run_.id));
    // Few tasks are in several runs: only of those it matters whose result is the latest.
    std::vector<Done> shared;
    for (std::size_t i = 0; i < tasks.size(); ++i)
      if (others[i].same) shared.push_back(tasks[i]);
    tasks.clear();
    TRY_ASSIGN(const auto latest, results_for(shared, {}));
    for (std::size_t i = 0; i < shared.size(); ++i) {
      TRY_ASSIGN(const bool newer, is_newer(shared[i].task, latest[i].same));
      if (newer) TRY(adopt(application_.task(shared[i].task), shared[i].print, *latest[i].same));
    }
    return {};
  }

  [[nodiscard]] Result<std::vector<store::Store::Earlier>> results_for(
      const std::vector<Done>& tasks, RunId except) const {
    std::vector<Fingerprint> prints(tasks.size());
    std::ranges::transform(tasks, prints.begin(), &Done::print);
    return store_.earlier_results(prints, except);
  }

  /// Than what this run has for the task.
  [[nodiscard]] Result<bool> is_newer(TaskId task,
                                      const std::optional<store::Reusable>& latest) const {
    if (!latest || latest->unread || latest->run == run_.id || latest->holder() == run_.id)
      return false;
    // A copy whose original was removed does not tell how old it is.
    if (latest->attempt == AttemptId{}) return false;
    TRY_ASSIGN(const auto history, store_.history(run_.id, task));
    const auto ours = std::find_if(history.rbegin(), history.rend(), [](const auto& row) {
      return row.kind == "ended" || row.kind == "reused";
    });
    return ours == history.rend() || ours->from.run != latest->run ||
           ours->from.task != latest->task || ours->from.attempt != latest->attempt;
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
                             application_.parameters(task.id), std::move(**results), print, now_});
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
  const Application& application_;
  double weight_;
  const Options& options_;
  ContentCache& contents_;
  TimePoint now_;
  engine::Workload workload_;                       ///< until the run is open
  std::unique_ptr<schedule::Scheduler> scheduler_;  ///< likewise
  PreparedRun run_;
  std::uint32_t recorded_events_ = 0;
  store::Prints prints_;  ///< of the latest successes
  OldResults old_results_;
};

/// The last run of this study, if the study still has every point that the run has.
Result<std::optional<ContinuedRun>> run_to_grow(const store::Store& store, Application& application,
                                                const Options& options) {
  TRY_ASSIGN(auto record, store.last_run_of(application.study_digest(), application.name()));
  if (!record) return std::nullopt;
  const auto before = options.reload(*record);
  if (!before || before->study_digest() != application.study_digest()) return std::nullopt;
  if (!application.continue_tasks_of(*before)) return std::nullopt;
  record->numbering = application.numbering();
  return ContinuedRun{std::move(*record), before->size()};
}

}  // namespace

Result<std::optional<ContinuedRun>> run_to_continue(const store::Store& store,
                                                    Application& application,
                                                    const Options& options) {
  std::optional<store::RunRecord> record;
  if (options.continue_run.value() != 0) {
    TRY_ASSIGN(record, store.run(options.continue_run));
    if (!record) {
      return fail(ErrorCode::usage, fmt::format("there is no run {}", options.continue_run.value()),
                  "`gantry runs` lists them");
    }
  } else if (options.fresh) {
    return std::nullopt;
  } else {
    TRY_ASSIGN(record, store.last_run_with(application.digest()));
    if (!record) return run_to_grow(store, application, options);
  }
  if (!application.number_tasks(record->batches, record->numbering)) {
    return fail(ErrorCode::corrupt,
                fmt::format("the tasks of run {} are not those of its study", record->id.value()),
                "'--fresh' begins a new run");
  }
  return ContinuedRun{std::move(*record)};
}

Result<PreparedRun> prepare_run(store::Store& store, engine::Engine& engine, const Job& job,
                                const std::optional<ContinuedRun>& ours, const Options& options,
                                ContentCache& contents, TimePoint now, const TaskFiles& files) {
  TRY_ASSIGN(auto scheduler,
             schedule::make_scheduler(options.scheduler,
                                      {.interval = kPlanEvery,
                                       .adaptive = true,
                                       .second_attempts = options.grid && options.duplicates}));
  return Setup(store, engine, job, options, contents, now, std::move(scheduler), files,
               kept_models(store, job.application))
      .prepare(job.source, ours);
}

}  // namespace gantry::driver
