// gantry runs: every run of this state directory.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/commands/run_text.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/format.hpp"
#include "model/quantity.hpp"
#include "query/run_status.hpp"
#include "query/stored_run.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

struct RunsOptions {
  bool json = false;
  bool wide = false;
};

/// Where the study was written, short enough for a terminal and with the file's name whole.
std::string origin_text(const SpecSource& source, bool wide, bool utf8) {
  constexpr std::size_t kRoom = 24;
  if (source.one_liner) return "one-liner";
  if (wide) return source.path;
  std::error_code error;
  const auto here = std::filesystem::current_path(error);
  const std::filesystem::path path(source.path);
  std::string text = error ? source.path : path.lexically_proximate(here).string();
  if (text.size() > source.path.size()) text = source.path;
  if (display_width(text) > kRoom) text = (utf8 ? "…/" : ".../") + path.filename().string();
  return text;
}

void print_runs(Context& context, const RunsOptions& options,
                const std::vector<store::RunRecord>& records, std::optional<int> holder) {
  // Seldom, and a terminal is narrow.
  const bool cancelled = std::ranges::any_of(
      records, [](const store::RunRecord& record) { return record.counts.cancelled > 0; });
  std::vector<Column> columns{{"run", false, false},   {"name"},
                              {"state", false, false}, {"tasks", false, false},
                              {"done", false, false},  {"failed", false, false}};
  if (cancelled) columns.push_back({"cancelled", false, false});
  columns.push_back({"started", false, false});
  columns.push_back({"from"});
  Table table = context.table(std::move(columns), options.wide);
  for (const auto& record : records) {
    const query::RunPhase phase = query::phase_of(record, holder);
    std::vector<Cell> cells{{std::to_string(record.id.value())},
                            {record.name},
                            {std::string(to_string(phase)),
                             phase == query::RunPhase::interrupted ? Color::yellow : Color::none},
                            {std::to_string(record.counts.total)},
                            {std::to_string(record.counts.done), Color::green},
                            {std::to_string(record.counts.failed),
                             record.counts.failed > 0 ? Color::red : Color::none}};
    if (cancelled) cells.emplace_back(std::to_string(record.counts.cancelled));
    cells.emplace_back(options.wide ? format_time(record.created)
                                    : format_time_short(record.created, RealClock().now()));
    cells.emplace_back(origin_text(record.source, options.wide, context.terminal.utf8));
    table.add(std::move(cells));
  }
  table.finish();
  if (table.rows() == 0) context.note("no runs yet: gantry run starts one");
}

/// A table has no room for it, and it is seldom so.
void note_outlived(Context& context, RunId run, const query::AgentView::Tally& left) {
  std::string text;
  if (left.running > 0)
    text = fmt::format("{} task{} without a gantry", left.running,
                       left.running == 1 ? " runs" : "s run");
  if (left.unseen > 0)
    text += fmt::format("{}{} may still run at {}", text.empty() ? "" : ", ",
                        count_of(left.unseen, "task"), sites_text(left));
  if (!text.empty())
    context.note(fmt::format("run {}: {}; gantry status {} says what to do", run.value(), text,
                             run.value()));
}

Result<int> list_runs(Context& context, const RunsOptions& options) {
  TRY_ASSIGN(const store::Store store, query::open_store(context.state_dir));
  TRY_ASSIGN(const auto records, store.runs());
  const auto holder = store::RunLock::holder(context.state_dir);
  const query::AgentView agent(context.state_dir);
  if (!options.json) print_runs(context, options, records, holder);
  for (const auto& record : records) {
    TRY_ASSIGN(const auto status,
               query::status_of(store, agent, record, holder, RealClock{}.now()));
    if (!options.json) {
      note_outlived(context, record.id, status.outlived);
      continue;
    }
    append_run_json(context.out.buffer(), record, status);
    context.out.settle();
  }
  return kExitOk;
}

}  // namespace

void add_runs(CLI::App& app, Action& action) {
  const auto [command, options] = add_command(app, action, "runs", "List the runs", list_runs);
  command->add_flag("--json", options->json, "One JSON object per line");
  command->add_flag("--wide", options->wide, "Do not cut lines to the terminal's width");
  command->footer(
      "Examples:\n"
      "  gantry runs\n"
      "  gantry results --run 2     a command about an older run");
}

}  // namespace gantry::cli
