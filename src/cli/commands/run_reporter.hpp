#pragma once
/// What a person (or with --json a program) sees of a run while it goes on: progress on standard
/// error, tasks' output and JSON events on standard output. Called from drive(), in its thread.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/commands/job_log.hpp"
#include "cli/commands/task_printer.hpp"
#include "cli/context.hpp"
#include "cli/terminal/redraw_block.hpp"
#include "driver/driver.hpp"
#include "query/failure_tally.hpp"

namespace gantry::cli {

struct ReportOptions {
  bool json = false;
  bool quiet = false;
  bool progress = true;
  bool output = false;  ///< print what tasks print
  bool chosen = false;  ///< only some tasks run, as a person asked
  PrintOptions print;
  JobLog* job_log = nullptr;
};

/// How the tasks of a run have ended in this call.
struct RunTally {
  query::FailureTally failures{};
  std::size_t succeeded = 0;
};

class RunReporter {
 public:
  /// `context` and the jobs must outlive this. Options that tell of single tasks need a single job.
  RunReporter(Context& context, ReportOptions options, std::span<const driver::Job> jobs);

  /// Refers to this object.
  driver::Observer observer();
  /// Takes the block of progress away; call when drive() has returned, whatever it said.
  void stop();
  /// What tasks printed and was not shown yet.
  Result<> print_rest(const store::Store& store, RunId run);

  [[nodiscard]] bool chosen() const { return options_.chosen; }
  [[nodiscard]] const RunTally& tally(RunId run) { return tallies_[run]; }

 private:
  void on_progress(const driver::Progress& progress);
  void on_ended(const AttemptEnded& event, driver::AfterEnd after);
  void flush_job_log();
  void on_notice(const std::string& text);
  void on_waiting(std::uint32_t tasks, Duration elapsed);
  void announce(const driver::Progress& progress);
  void announce(RunId run);
  void show_failure(const AttemptEnded& event, driver::AfterEnd after);
  void json_ended(const AttemptEnded& event, bool again);
  [[nodiscard]] bool live() const;

  Context& context_;
  ReportOptions options_;
  std::span<const driver::Job> jobs_;
  RedrawBlock block_;
  std::map<RunId, RunTally> tallies_;
  std::vector<RunId> announced_;        ///< the jobs' runs, as far as they are known
  std::map<RunId, std::string> names_;  ///< of several runs
  TaskPrinter printer_;
  std::uint32_t failures_shown_ = 0;
  std::uint32_t retries_shown_ = 0;
  Duration last_line_at_{0};
  Duration last_draw_at_{-1};
};

}  // namespace gantry::cli
