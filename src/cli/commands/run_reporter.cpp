#include "cli/commands/run_reporter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/attempt_output.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/json_line.hpp"
#include "cli/terminal/progress_text.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kFailuresShown = 10;
constexpr Duration kLineEvery = 10s;
/// A little less than the driver's tenth of a second: its calls jitter.
constexpr Duration kDrawEvery = 90ms;

std::string parameters_text(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", one_line(name), one_line(value));
  return text;
}

}  // namespace

RunReporter::RunReporter(Context& context, ReportOptions options, std::span<const driver::Job> jobs)
    : context_(context),
      options_(std::move(options)),
      jobs_(jobs),
      block_(context.err, [fd = context.err.fd()] { return Terminal::columns(fd); }),
      printer_(context, options_.print, jobs.front().application.size()) {}

driver::Observer RunReporter::observer() {
  return {[this](const driver::Progress& progress) { on_progress(progress); },
          [this](const AttemptEnded& event, driver::AfterEnd after) { on_ended(event, after); },
          [this](const std::string& text) { on_notice(text); },
          [this](std::uint32_t tasks, Duration elapsed) { on_waiting(tasks, elapsed); }};
}

void RunReporter::stop() {
  block_.clear();
  flush_job_log();
  context_.out.flush();
  context_.err.flush();
}

Result<> RunReporter::print_rest(const store::Store& store, RunId run) {
  return options_.output ? printer_.finish(store, run) : Result<>{};
}

void RunReporter::flush_job_log() {
  if (options_.job_log == nullptr) return;
  const auto written = options_.job_log->flush();
  if (written) return;
  block_.clear();
  context_.report(written.error());
}

bool RunReporter::live() const {
  return options_.progress && !options_.quiet && context_.terminal.stderr_is_tty;
}

void RunReporter::announce(const driver::Progress& progress) {
  if (announced_.size() == jobs_.size()) return;
  if (progress.runs.empty()) return announce(progress.run);
  for (const driver::RunProgress& each : progress.runs) {
    if (announced_.size() == jobs_.size()) return;
    if (jobs_.size() > 1) names_[each.run] = each.name;
    announce(each.run);
  }
}

void RunReporter::announce(RunId run) {
  const driver::Job& job = jobs_[announced_.size()];
  announced_.push_back(run);
  if (!options_.json) return;
  JsonLine(context_.out.buffer())
      .text("event", "started")
      .number("run", run.value())
      .text("name", job.application.name())
      .number("tasks", job.application.size())
      .text("state_dir", context_.state_dir.string())
      .close();
}

void RunReporter::on_progress(const driver::Progress& progress) {
  if (announced_.empty()) last_line_at_ = Duration{0};  // what was waited for has a time of its own
  announce(progress);
  flush_job_log();
  if (options_.output) printer_.on_progress(progress.run, [this] { block_.clear(); });
  context_.out.flush();
  if (live()) {
    if (last_draw_at_ >= Duration{0} && progress.elapsed - last_draw_at_ < kDrawEvery) return;
    last_draw_at_ = progress.elapsed;
    block_.draw(progress_block(progress, {Terminal::columns(context_.err.fd()),
                                          context_.terminal.utf8, context_.terminal.color_stderr}));
    return;
  }
  if (!options_.progress || options_.quiet || progress.elapsed - last_line_at_ < kLineEvery) return;
  last_line_at_ = progress.elapsed;
  context_.note(progress_line(progress));
}

void RunReporter::on_ended(const AttemptEnded& event, driver::AfterEnd after) {
  const bool again = after != driver::AfterEnd::over;
  const RunId run = event.report.key.run;
  if (announced_.empty() && jobs_.size() == 1) announce(run);
  if (std::ranges::find(announced_, run) == announced_.end()) return;  // it has joined: not ours
  RunTally& tally = tallies_[run];
  tally.failures.add(event);
  if (event.report.cause == FailureCause::none) ++tally.succeeded;
  if (options_.json) json_ended(event, again);
  const bool tried = event.report.cause != FailureCause::cancelled || was_started(event.report);
  if (options_.job_log != nullptr && tried) options_.job_log->add(event.report);
  if (options_.output) {
    if (!options_.print.keep_order) block_.clear();
    printer_.on_ended(event.report, again);
  }
  const bool failed =
      event.report.cause != FailureCause::none && event.report.cause != FailureCause::cancelled;
  if (failed && !options_.quiet) show_failure(event, after);
}

void RunReporter::on_notice(const std::string& text) {
  if (options_.quiet) return;
  block_.clear();
  context_.note("gantry: " + one_line(text));
}

void RunReporter::on_waiting(std::uint32_t tasks, Duration elapsed) {
  if (!options_.progress || options_.quiet) return;
  const std::string line = fmt::format("waiting for {} of other runs, {}", count_of(tasks, "task"),
                                       format_duration(elapsed));
  if (live()) return block_.draw({line});
  if (elapsed - last_line_at_ < kLineEvery) return;
  last_line_at_ = elapsed;
  context_.note(line);
}

void RunReporter::show_failure(const AttemptEnded& event, driver::AfterEnd after) {
  const bool again = after != driver::AfterEnd::over;
  std::uint32_t& shown = again ? retries_shown_ : failures_shown_;
  if (shown > kFailuresShown) return;
  block_.clear();
  if (shown++ == kFailuresShown)
    return context_.note(again ? "... more attempts failed and will be tried again"
                               : "... more failures; see gantry tasks --failed");
  const auto& report = event.report;
  const auto name = names_.find(report.key.run);
  std::string line =
      fmt::format("{}task {}: {}", name != names_.end() ? one_line(name->second) + ": " : "",
                  report.key.task.value(), describe(report.cause, report.code, ""));
  if (const std::string detail = one_line(query::failure_detail(report)); !detail.empty())
    line += ": " + detail;
  if (!event.parameters.empty()) line += fmt::format("  ({})", parameters_text(event.parameters));
  if (after == driver::AfterEnd::again) line += "; will be tried again";
  context_.complain(line);
}

void RunReporter::json_ended(const AttemptEnded& event, bool again) {
  const auto& report = event.report;
  const bool ok = report.cause == FailureCause::none;
  JsonLine line(context_.out.buffer());
  line.text("event", "task").number("run", report.key.run.value());
  line.number("task", report.key.task.value());
  line.number("attempt", report.key.attempt.value()).flag("ok", ok).flag("again", again);
  line.text("cause", to_string(report.cause)).number("code", report.code);
  line.text("detail", report.detail).text("host", event.host_name);
  line.text("started", format_time_iso(report.started));
  line.text("ended", format_time_iso(report.ended));
  line.real("seconds", seconds(report.ended - report.started));
  line.real("expected_seconds", seconds(event.expected));
  line.real("user_seconds", seconds(report.usage.user));
  line.real("system_seconds", seconds(report.usage.system));
  line.number("max_rss", report.usage.max_rss).scalars("parameters", event.parameters);
  line.scalars("results", event.results).close();
  context_.out.settle();
}

}  // namespace gantry::cli
