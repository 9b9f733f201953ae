// gantry clean: forgets runs and their output.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <set>

#include "actuate/launch/local/local_launcher.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/run_text.hpp"
#include "cli/commands/study.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "model/quantity.hpp"
#include "operate/orphan_cancel.hpp"
#include "query/stored_run.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

namespace fs = std::filesystem;

struct CleanOptions {
  std::string run;
  std::int64_t keep = -1;
  bool yes = false;
};

Result<std::vector<store::RunRecord>> chosen_runs(const Context& context,
                                                  const CleanOptions& options) {
  if (options.run.empty() && options.keep < 0)
    return fail(
        ErrorCode::usage, "say which runs to remove",
        "gantry clean 3, gantry clean all, or gantry clean --keep 5 for all but the last five");
  TRY_ASSIGN(auto runs,
             query::open_runs(context.state_dir, options.keep < 0 ? options.run : "all"));
  auto& records = runs.records;
  if (options.keep >= 0) {
    const auto keep = std::min(static_cast<std::size_t>(options.keep), records.size());
    std::ranges::sort(records, {}, &store::RunRecord::driven);
    records.resize(records.size() - keep);
    std::ranges::sort(records, {}, &store::RunRecord::id);
  }
  return std::move(records);
}

Result<bool> is_agreed(Context& context, const std::vector<store::RunRecord>& records, bool yes) {
  if (yes) return true;
  std::string list;
  for (const auto& record : records)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", record.id.value(),
                        one_line(record.name));
  if (isatty(STDIN_FILENO) != 1 || !context.terminal.stderr_is_tty)
    return fail(ErrorCode::usage,
                "removing runs cannot be undone: this needs --yes when no terminal is there to ask",
                fmt::format("it would remove run {}", fit(list, 200, false)));
  context.note(fmt::format("Remove run {}, with all results and output?", fit(list, 400, false)));
  context.err.write("Type yes to do it: ");
  context.err.flush();
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes" || answer == "y";
}

/// Tasks at sites are out of reach here; once their run is removed, nobody takes in what they make.
Result<> warn_of_unseen(Context& context, const std::vector<store::RunRecord>& records) {
  TRY_ASSIGN(const store::Store store, query::open_store(context.state_dir));
  const query::AgentView agent(context.state_dir);
  for (const auto& record : records) {
    TRY_ASSIGN(const auto left, agent.count(store, record.id));
    if (left.unseen > 0)
      context.note(fmt::format("run {}: {} may still run at {}; first {} ends {}",
                               record.id.value(), count_of(left.unseen, "task"), sites_text(left),
                               cancel_command(record.id, "", left.grid),
                               left.unseen == 1 ? "it" : "them"));
  }
  return {};
}

/// Tasks that outlived their gantry would write into what we remove. Without an agent there are
/// none.
/// True when some were ended.
Result<bool> end_leftovers(const Context& context, const std::vector<store::RunRecord>& records) {
  if (!agent_is_running(context.state_dir)) return false;
  driver::Options how;
  how.state_dir = context.state_dir;
  how.reload = reload_application;
  std::vector<store::Request> requests;
  requests.reserve(records.size());
  for (const auto& record : records) requests.push_back({0, record.id, true, {}});
  return operate::cancel_undriven(requests, how, context.clock);
}

/// Removes `folder` but for the files that runs still refer to. Its name is where packs' names
/// begin.
void remove_output(const fs::path& folder, const std::set<std::string>& needed,
                   std::error_code& error) {
  const std::string prefix = folder.filename().string() + "/";
  const auto first = needed.lower_bound(prefix);
  if (first == needed.end() || !first->starts_with(prefix)) {
    fs::remove_all(folder, error);
    return;
  }
  std::vector<fs::path> unneeded;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!needed.contains(prefix + entry.path().filename().string()))
      unneeded.push_back(entry.path());
  }
  for (const auto& path : unneeded) {
    if (!error) fs::remove_all(path, error);
  }
}

/// Folders output/run-N of runs that the store does not know, also those an interrupted clean left
/// behind.
void remove_stray_output(Context& context, const std::vector<store::RunRecord>& left,
                         const std::set<std::string>& needed) {
  std::error_code error;
  std::vector<fs::path> strays;
  for (const auto& entry : fs::directory_iterator(context.state_dir / "output", error)) {
    const std::string name = entry.path().filename().string();
    std::uint32_t id = 0;
    if (!name.starts_with("run-")) continue;
    const auto [end, wrong] = std::from_chars(name.data() + 4, name.data() + name.size(), id);
    if (wrong != std::errc{} || end != name.data() + name.size()) continue;
    const bool known = std::ranges::any_of(
        left, [&](const store::RunRecord& record) { return record.id.value() == id; });
    if (!known) strays.push_back(entry.path());
  }
  for (const auto& stray : strays) {
    remove_output(stray, needed, error);
    if (error)
      context.report({ErrorCode::io,
                      fmt::format("cannot remove {}: {}", stray.string(), error.message()), ""});
  }
}

Result<int> clean(Context& context, const CleanOptions& options) {
  TRY_ASSIGN(const auto records, chosen_runs(context, options));
  if (records.empty()) {
    context.note("nothing to remove");
    return kExitOk;
  }
  {  // Asked before the person is, so that nobody agrees to what cannot be done.
    TRY_ASSIGN(const auto probe, store::RunLock::acquire(context.state_dir));
  }
  TRY(warn_of_unseen(context, records));
  TRY_ASSIGN(const bool agreed, is_agreed(context, records, options.yes));
  if (!agreed) {
    context.note("nothing was removed");
    return kExitOk;
  }
  TRY_ASSIGN(const bool ended_some, end_leftovers(context, records));
  TRY_ASSIGN(const auto lock, store::RunLock::acquire(context.state_dir));
  TRY_ASSIGN(store::Store store, query::open_store(context.state_dir, store::Access::read_write));
  for (const auto& record : records) TRY(store.remove_run(record.id));
  TRY_ASSIGN(const auto left, store.runs());
  TRY_ASSIGN(const auto needed, store.packs_of_removed_runs());
  remove_stray_output(context, left, needed);
  context.note(fmt::format("removed {}{}", count_of(records.size(), "run"),
                           ended_some ? "; tasks that still ran were ended" : ""));
  return kExitOk;
}

}  // namespace

void add_clean(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "clean", "Remove runs with their results and output", clean);
  auto* run =
      command->add_option("RUN", options->run, "A run's number, last or all")->type_name("");
  command->add_option("--keep", options->keep, "Remove all but the last N runs")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000).description(""))
      ->excludes(run);
  command->add_flag("-y,--yes", options->yes, "Do not ask");
  command->footer(
      "Refused while a run is in progress in the same state directory. Files that tasks\n"
      "wrote are not touched. Results that other runs have reused are kept for them.\n"
      "\n"
      "Examples:\n"
      "  gantry clean 3\n"
      "  gantry clean --keep 5 --yes");
}

}  // namespace gantry::cli
