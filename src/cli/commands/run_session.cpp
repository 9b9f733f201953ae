#include "cli/commands/run_session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "cli/commands/attempt_output.hpp"
#include "cli/commands/joined_run.hpp"
#include "cli/commands/result_rows.hpp"
#include "cli/commands/run_text.hpp"
#include "cli/commands/study.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/json_line.hpp"
#include "cli/terminal/progress_text.hpp"
#include "driver/outdated.hpp"
#include "model/quantity.hpp"
#include "query/stored_run.hpp"
#include "query/task_list.hpp"
#include "spec/grid_file.hpp"
#include "store/live_state.hpp"

namespace gantry::cli {
namespace {

constexpr std::size_t kRowsShown = 15;
constexpr std::size_t kGroupsShown = 8;
constexpr std::size_t kDetailColumns = 200;
/// Finding the first rows must not read a million.
constexpr std::uint32_t kTasksSearched = 5000;

Result<> print_results(Context& context, const query::StoredRun& ended) {
  const auto& counts = ended.record.counts;
  if (ended.record.result_names.empty() || counts.done == 0) return {};
  ResultWriter writer(ResultFormat::table, ended.record, false, context.table_style(),
                      [&](std::string_view line) { context.out.line(line); });
  std::size_t shown = 0;
  for (std::uint32_t i = 1; i <= std::min(counts.total, kTasksSearched) && shown < kRowsShown;
       ++i) {
    TRY_ASSIGN(const auto row, ended.store.task(ended.record.id, TaskId{i}));
    if (!row || query::state_of(&*row) != query::TaskState::done) continue;
    writer.add(*row);
    ++shown;
  }
  writer.finish();
  if (counts.done > shown)
    context.out.line(paint(fmt::format("... {} more: gantry results", counts.done - shown),
                           Color::dim, context.terminal.color_stdout));
  context.out.flush();
  return {};
}

/// `run`: of several; 0: the last one, which needs no naming.
void print_failures(Context& context, const query::FailureTally& failures, RunId run) {
  const auto groups = failures.groups();
  if (groups.empty()) return;
  for (std::size_t i = 0; i < std::min(groups.size(), kGroupsShown); ++i) {
    const auto& group = groups[i];
    std::string line = fmt::format("  {}: {}, e.g. task {}", describe(group.cause, group.code, ""),
                                   count_of(group.count, "task"), group.example.value());
    if (!group.detail.empty()) line += ": " + fit(one_line(group.detail), kDetailColumns, false);
    context.complain(line);
  }
  if (groups.size() > kGroupsShown)
    context.err.line(fmt::format("  ... and {} more causes", groups.size() - kGroupsShown));
  const std::string which = run == RunId{} ? "" : fmt::format(" --run {}", run.value());
  context.note(
      fmt::format("next: gantry explain {0}{1}; gantry log {0}{1}; gantry retry{1} --failed",
                  groups.front().example.value(), which));
}

/// A Ctrl-C while the last task ended interrupts nothing.
bool is_unfinished(const driver::Summary& summary) {
  return summary.interrupted && summary.counts.done + summary.counts.failed < summary.counts.total;
}

void print_summary(Context& context, const driver::Summary& summary, RunReporter& reporter,
                   bool several) {
  const double took = seconds(summary.elapsed);
  std::string line = fmt::format("run {}: ", summary.run.value());
  // Some tasks of many: first what became of these.
  const RunTally& tally = reporter.tally(summary.run);
  if (reporter.chosen())
    line += fmt::format("{} succeeded and {} failed this time; of all tasks ", tally.succeeded,
                        tally.failures.size());
  line += fmt::format("{} in {}", counts_text(summary.counts, summary.unchanged),
                      format_duration(summary.elapsed));
  const std::size_t ended = tally.succeeded + tally.failures.size();
  if (ended > 0 && took > 0)
    line += fmt::format(" ({})", format_rate(static_cast<double>(ended) / took));
  context.note(line);
  for (const auto& [reason, outdated] : summary.outdated) {
    if (outdated.tasks == outdated.told) continue;
    context.note(fmt::format("  {} ran again: {}", count_of(outdated.tasks, "task"),
                             one_line(driver::outdated_text(reason, outdated))));
  }
  for (const auto& [path, count] : summary.changed)
    context.complain(fmt::format("  {} changed while {} ran: the next gantry run makes {} again",
                                 path, count_of(count, "task"), count == 1 ? "it" : "them"));
  if (summary.cut > 0)
    context.complain(fmt::format("  only the end of the output of {} was kept: the disk was full",
                                 count_of(summary.cut, "task")));
  print_failures(context, tally.failures, several ? summary.run : RunId{});
  if (is_unfinished(summary))
    context.note(fmt::format("stopped: {}. Run the same command again to go on.",
                             summary.why.empty() ? "interrupted" : one_line(summary.why)));
}

void print_where(Context& context, bool has_results) {
  context.note(fmt::format("{}output of task N: gantry log N",
                           has_results ? "results: gantry results; " : ""));
  context.note(fmt::format("state: {}", one_line(context.state_dir.string())));
}

Result<> print_remote_outputs(Context& context, const query::StoredRun& ended) {
  TRY_ASSIGN(const auto outputs,
             query::outputs_at_sites(ended.store, ended.record, reload_application));
  const std::string text = remote_output_text(ended.record, outputs);
  if (!text.empty()) context.note(text);
  return {};
}

void json_summary(Context& context, const driver::Summary& summary) {
  const auto& counts = summary.counts;
  JsonLine line(context.out.buffer());
  line.text("event", "summary").number("run", summary.run.value());
  line.number("total", counts.total).number("done", counts.done).number("failed", counts.failed);
  line.number("cancelled", counts.cancelled).number("executed", summary.executed);
  line.number("unchanged", summary.unchanged).number("cut_outputs", summary.cut);
  line.real("seconds", seconds(summary.elapsed)).flag("interrupted", is_unfinished(summary));
  line.text("why", summary.why);
  line.objects("again", summary.outdated, [](JsonLine& entry, const auto& outdated) {
    entry.number("tasks", outdated.second.tasks);
    entry.text("why", driver::outdated_text(outdated.first, outdated.second));
  });
  line.objects("changed_inputs", summary.changed, [](JsonLine& entry, const auto& changed) {
    entry.text("path", changed.first).number("tasks", changed.second);
  });
  line.close();
  context.out.flush();
}

Result<> report_end(Context& context, const driver::Summary& summary, RunReporter& reporter,
                    const ReportOptions& options, bool one_liner, bool several) {
  if (options.json) {
    json_summary(context, summary);
    return {};
  }
  TRY_ASSIGN(const query::StoredRun ended,
             query::open_run(context.state_dir, std::to_string(summary.run.value())));
  TRY(reporter.print_rest(ended.store, summary.run));
  context.out.flush();
  if (options.quiet) return {};
  if (several && !ended.record.result_names.empty())
    context.out.line(one_line(ended.record.name) + ":");
  TRY(print_results(context, ended));
  print_summary(context, summary, reporter, several);
  TRY(print_remote_outputs(context, ended));
  if (!one_liner) print_where(context, !ended.record.result_names.empty());
  return {};
}

/// Without its grid a run does not hear of tasks that a gantry which was killed had at sites, and
/// starts them once more.
void warn_of_tasks_at_sites(Context& context) {
  const auto left = store::read_left_live(context.state_dir);
  if (!left) return;
  std::set<std::string> sites;
  for (const store::LiveHost& host : left->hosts)
    if (!host.tasks.empty() && host.site < left->sites.size() &&
        left->sites[host.site].name != kHomeSite)
      sites.insert(one_line(left->sites[host.site].name));
  if (sites.empty()) return;
  context.note(
      fmt::format("gantry: warning: tasks were at {} when gantry was killed and may still run "
                  "there; without --grid {} they start again here",
                  fmt::join(sites, ", "), one_line(left->grid)));
}

/// "50%" of the cores, at least one; other text as it is.
std::string cores_of(const std::string& text) {
  const auto percent =
      text.ends_with('%') ? parse_number(text.substr(0, text.size() - 1)) : std::nullopt;
  if (!percent || *percent <= 0 || *percent > 1e5) return text;
  return std::to_string(std::max(1L, std::lround(driver::cores_here() * *percent / 100)));
}

/// The values of a task, as GNU parallel tags lines.
std::string tag_of(const Application& application, TaskId task) {
  std::string tag;
  for (const auto& [name, value] : application.parameters(task)) {
    if (!tag.empty()) tag += ' ';
    tag += one_line(value);
  }
  return tag;
}

/// What a shell would be given to run the same.
std::string command_of(const Application& application, TaskId task) {
  const auto argv = application.task(task).argv;
  const bool shell = argv.size() == 3 && argv[0] == "/bin/sh" && argv[1] == "-c";
  return shell ? one_line(argv[2]) : shell_quote(argv);
}

ReportOptions report_options(const SessionOptions& options, const Study& study) {
  ReportOptions report;
  report.json = options.json;
  report.quiet = options.quiet;
  report.progress = !options.no_progress;
  // GNU parallel's habit for one-liners; a study with results is about those.
  const bool by_default = study.source.one_liner && study.application.result_names().empty();
  const bool asked = options.output || options.keep_order || options.tag;
  report.output = !options.json && !options.no_output && (asked || by_default);
  report.print.keep_order = options.keep_order;
  if (options.tag)
    report.print.tag = [&application = study.application](TaskId task) {
      return tag_of(application, task);
    };
  return report;
}

}  // namespace

CLI::Option* add_jobs_option(CLI::App& command, std::uint32_t& jobs) {
  return command.add_option("-j,--jobs", jobs, "Cores to use, or a part of them (default: 100%)")
      ->type_name("N[%]")
      ->transform(cores_of)
      ->check(CLI::Range(1U, 4096U).description(""));
}

void add_session_options(CLI::App& command, SessionOptions& options) {
  add_jobs_option(command, options.how.jobs);
  command.add_option("--grid", options.grid, "Also run on the sites of a grid file")
      ->type_name("FILE");
  command.add_flag("--keep-going", options.how.keep_going, "Continue even if all first tasks fail");
  command.add_option("--max-fails", options.how.max_fails, "Start nothing more after N failures")
      ->type_name("N")
      ->check(CLI::Range(1U, 100'000'000U).description(""));
  command
      .add_option("--scheduler", options.scheduler, "workqueue, best (default with --grid), ...")
      ->type_name("NAME");
  command.add_flag("--no-duplicates", options.no_duplicates,
                   "Never start a slow task on a second host");
  command
      .add_option("--learn-for", options.learn_for, "Stop learning after this time (experiments)")
      ->type_name("TIME");
  command.add_flag("-q,--quiet", options.quiet, "Print no progress, notices or summary");
  command.add_flag("--json", options.json, "Events as JSON Lines on standard output");
  command.add_flag("--no-progress", options.no_progress,
                   "Print failures and the summary, no progress");
  CLI::Option* output =
      command.add_flag("--output", options.output, "Print what tasks print (one-liners do)");
  command.add_flag("--no-output", options.no_output, "Do not print what tasks print")
      ->excludes(output);
  command.add_flag("-k,--keep-order", options.keep_order, "Print output in task order");
  command.add_flag("--tag", options.tag, "Print a task's values before each line");
  command.add_option("--joblog", options.job_log, "Write a job log, as GNU parallel does")
      ->type_name("FILE");
}

namespace {

/// Where tasks run, and how failures are met, is up to the gantry that runs already.
Result<> check_joinable(const SessionOptions& options) {
  for (const auto& [said, name] :
       {std::pair{options.grid.has_value(), "--grid"}, std::pair{options.how.jobs > 0, "-j"},
        std::pair{options.how.keep_going, "--keep-going"},
        std::pair{options.how.max_fails > 0, "--max-fails"},
        std::pair{!options.scheduler.empty(), "--scheduler"},
        std::pair{options.no_duplicates, "--no-duplicates"},
        std::pair{options.learn_for.has_value(), "--learn-for"}})
    if (said)
      return fail(ErrorCode::usage, fmt::format("{} does not go with --join", name),
                  "a study that joins has the sites and options of the gantry that runs already");
  return {};
}

Result<std::vector<driver::Summary>> join_or_drive(Context& context,
                                                   const std::vector<driver::Job>& jobs,
                                                   const driver::Options& how,
                                                   const driver::Observer& observer) {
  TRY_ASSIGN(auto summaries, run_joined(context, jobs, observer));
  return summaries ? std::move(*summaries) : driver::drive(jobs, how, observer, context.clock);
}

/// What tells of single tasks goes with a single study.
Result<> check_single(const SessionOptions& options) {
  for (const auto& [said, name] :
       {std::pair{options.output, "--output"}, std::pair{options.keep_order, "--keep-order"},
        std::pair{options.tag, "--tag"}, std::pair{!options.job_log.empty(), "--joblog"}})
    if (said)
      return fail(ErrorCode::usage, fmt::format("{} goes with one study", name),
                  "run the studies one by one, or leave it out");
  return {};
}

}  // namespace

Result<int> run_session(Context& context, std::vector<Study>& studies,
                        const std::vector<double>& weights, const SessionOptions& options) {
  const bool several = studies.size() > 1;
  if (several) TRY(check_single(options));
  if (options.join) TRY(check_joinable(options));
  const Study& study = studies.front();
  driver::Options how = options.how;
  how.state_dir = context.state_dir;
  how.job_log = options.job_log;
  if (options.grid) {
    TRY_ASSIGN(how.grid, spec::load_grid(*options.grid));
    for (const GridSite& site : how.grid->sites)
      if (site.access == SiteAccess::none && site.name != kHomeSite && !options.quiet)
        context.note(
            fmt::format("gantry: warning: site '{}' has no 'via': only plans use it", site.name));
  }
  if (!how.grid && !options.quiet) warn_of_tasks_at_sites(context);
  how.scheduler = options.scheduler;
  if (how.scheduler.empty())
    how.scheduler = how.grid ? schedule::kGridStrategy : schedule::kDefaultStrategy;
  how.duplicates = !options.no_duplicates;
  if (options.learn_for) {
    const auto time = parse_duration(*options.learn_for);
    if (!time || *time <= Duration{0})
      return fail(ErrorCode::usage,
                  fmt::format("--learn-for must be a time, not '{}'", one_line(*options.learn_for)),
                  "write --learn-for 30s or 5m");
    how.learn_for = *time;
  }
  how.reload = reload_application;
  how.load = load_application;
  how.read_grid = spec::load_grid;
  ReportOptions report = report_options(options, study);
  report.chosen = report.print.chosen = how.only_failed || !how.only.empty();
  std::optional<JobLog> job_log;
  if (!options.job_log.empty()) {
    TRY_ASSIGN(job_log, JobLog::create(
                            options.job_log,
                            [&application = study.application](TaskId task) {
                              return command_of(application, task);
                            },
                            study.source.one_liner ? "" : study.source.path));
    report.job_log = &*job_log;
  }
  std::vector<driver::Job> jobs;
  for (std::size_t i = 0; i < studies.size(); ++i)
    jobs.push_back({studies[i].application, studies[i].source, weights[i]});
  RunReporter reporter(context, report, jobs);
  const auto summaries = options.join
                             ? join_or_drive(context, jobs, how, reporter.observer())
                             : driver::drive(jobs, how, reporter.observer(), context.clock);
  reporter.stop();
  if (!summaries) return tl::unexpected(summaries.error());
  bool all_done = true;
  for (const driver::Summary& summary : *summaries) {
    const bool last = &summary == &summaries->back();
    TRY(report_end(context, summary, reporter, report, study.source.one_liner || !last, several));
    all_done = all_done && summary.counts.done == summary.counts.total;
  }
  return all_done ? kExitOk : kExitTasksFailed;
}

}  // namespace gantry::cli
