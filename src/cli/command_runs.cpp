// gantry runs: every run of this state directory.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/error_report.hpp"
#include "cli/format.hpp"
#include "cli/stored_run.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

struct RunsOptions {
  bool json = false;
  bool wide = false;
};

Result<int> list_runs(Context& context, const RunsOptions& options) {
  TRY_ASSIGN(const store::Store store, open_store(context));
  TRY_ASSIGN(const auto records, store.runs());
  const auto holder = store::RunLock::holder(context.state_dir);
  if (options.json) {
    for (const auto& record : records) {
      append_run_json(context.out.buffer(), record, holder);
      context.out.settle();
    }
    return kExitOk;
  }
  Table table({{"run", false, false},
               {"name"},
               {"state", false, false},
               {"tasks", false, false},
               {"done", false, false},
               {"failed", false, false},
               {"started"},
               {"from"}},
              context.table_style(options.wide),
              [&](std::string_view line) { context.out.line(line); });
  for (const auto& record : records) {
    const auto state = run_state(record, holder);
    table.add({{std::to_string(record.id.value())},
               {record.name},
               {std::string(state), state == "interrupted" ? Color::yellow : Color::none},
               {std::to_string(record.counts.total)},
               {std::to_string(record.counts.done), Color::green},
               {std::to_string(record.counts.failed),
                record.counts.failed > 0 ? Color::red : Color::none},
               {format_time(record.created)},
               {record.source.one_liner ? "one-liner" : record.source.path}});
  }
  table.finish();
  if (table.rows() == 0) context.note("no runs yet: gantry run starts one");
  return kExitOk;
}

}  // namespace

void add_runs(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunsOptions>();
  CLI::App* command = app.add_subcommand("runs", "List the runs");
  command->add_flag("--json", options->json, "One JSON object a line");
  command->add_flag("--wide", options->wide, "Cut nothing to the terminal's width");
  command->footer(
      "Examples:\n"
      "  gantry runs\n"
      "  gantry results --run 2     a command about an older run");
  command->callback([options, &action] {
    action = [options](Context& context) { return list_runs(context, *options); };
  });
}

}  // namespace gantry::cli
