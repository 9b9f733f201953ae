#include "cli/commands/kept_outputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "cli/commands/study.hpp"
#include "cli/terminal/display_text.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {
namespace {

/// Of these the outputs that the chosen tasks make.
std::set<std::string> made_by_study(const store::RunRecord& run, const TaskSelector& tasks,
                                    const KeptOutputs& outputs) {
  std::set<std::string> known;
  for (const auto& output : outputs) known.insert(output.file.path);
  std::set<std::string> theirs;
  const auto study = reload_study(run);
  Task task;
  for (std::uint32_t i = 1; study && i <= run.counts.total; ++i) {
    if (!tasks.contains(TaskId(i))) continue;
    study->sweep.fill_task(TaskId(i), task);
    for (const auto& path : task.outputs)
      if (known.contains(path)) theirs.insert(path);
  }
  return theirs;
}

/// "3 outputs (1 MiB)".
std::string amount_text(const KeptOutputs& outputs) {
  std::uint64_t bytes = 0;
  for (const auto& output : outputs) bytes += output.file.bytes;
  return fmt::format("{} output{} ({})", outputs.size(), outputs.size() == 1 ? "" : "s",
                     format_bytes(bytes));
}

/// "are kept at lab; gantry fetch brings them home".
std::string fetch_text(const KeptOutputs& outputs, const std::string& words) {
  std::set<std::string> sites;
  for (const auto& output : outputs) sites.insert(one_line(output.file.site));
  const bool one = outputs.size() == 1;
  return fmt::format("{} kept at {}; gantry fetch{} brings {} home", one ? "is" : "are",
                     fmt::join(sites, ", "), words, one ? "it" : "them");
}

}  // namespace

KeptOutputs kept_of(const store::RunRecord& run, const TaskSelector& tasks, KeptOutputs all) {
  const auto made_here = [&](const auto& output) {
    return output.made_by.run == run.id && tasks.contains(output.made_by.task);
  };
  std::set<std::string> theirs;  // a look at every task, which is seldom needed
  if (!std::ranges::all_of(all, made_here)) theirs = made_by_study(run, tasks, all);
  std::erase_if(all, [&](const auto& output) {
    return !made_here(output) && !theirs.contains(output.file.path);
  });
  return all;
}

Result<std::string> kept_text(const store::Store& store, const store::RunRecord& run) {
  TRY_ASSIGN(auto all, store.remote_outputs());
  std::erase_if(all, [](const auto& output) { return output.replaced; });
  if (all.empty()) return std::string();
  const KeptOutputs ours = kept_of(run, TaskSelector(), all);
  if (ours.empty())
    return fmt::format("{} of other runs {}", amount_text(all), fetch_text(all, " --all"));
  TRY_ASSIGN(const auto last, store.last_run());
  const bool is_last = last && last->id == run.id;
  std::string text =
      fmt::format("{} {}", amount_text(ours),
                  fetch_text(ours, is_last ? "" : fmt::format(" --run {}", run.id.value())));
  if (const std::size_t others = all.size() - ours.size(); others > 0)
    text += fmt::format(", with --all also {} of other runs", others);
  return text;
}

}  // namespace gantry::cli
