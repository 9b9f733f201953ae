#include "driver/outdated.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "model/fingerprint.hpp"

namespace gantry::driver {

namespace {

constexpr std::array<std::string_view, 10> kReasons{
    "a result cannot be had from what is stored",
    "an input changed while it ran",
    "an input is missing",
    "an input or the program changed",
    "an input or the program changed, or one was added or left out",
    "asked to run again",
    "its environment changed",
    "its output is not there",
    "recorded by an older gantry",
    "what it was made from is not known",
};
static_assert(kReasons.size() == static_cast<std::size_t>(OutdatedBy::unknown) + 1);

std::string name_in(const Task& task, std::string name) {
  if (name.starts_with(task.workdir + "/")) name.erase(0, task.workdir.size() + 1);
  return name;
}

/// "mesh.dat and 2 more"; empty when no file tells. The digests say only that something changed.
std::string newer_files(const Task& task, TimePoint since) {
  std::vector<std::string> files = implied_inputs(task);
  files.insert(files.begin(), task.inputs.begin(), task.inputs.end());
  files.insert(files.begin(), task.value_files.begin(), task.value_files.end());
  std::erase_if(files, [&](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) != 0 || to_ns(info.st_ctim) <= to_ns(since);
  });
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());  // named, and the program
  if (files.empty()) return {};
  return name_in(task, files[0]) +
         (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more" : "");
}

}  // namespace

std::string reason_text(const OutdatedReason& reason) {
  std::string text(kReasons[static_cast<std::size_t>(reason.by)]);
  return reason.name.empty() ? text : text + ": " + reason.name;
}

void add_outdated(OutdatedTasks& outdated, const OutdatedReason& reason) {
  Outdated& entry = outdated[reason.by];
  if (entry.tasks++ == 0) entry.example = reason.name;
  if (reason.name != entry.example) ++entry.other_names;
}

OutdatedReason what_changed(const Making& before, const Fingerprint& now, const Task& task) {
  const Fingerprint& print = before.print;
  if (print.empty()) return {OutdatedBy::unknown};
  // It is that of the same study: only how it is digested can differ.
  if (print.command != now.command) return {OutdatedBy::older_gantry};
  if (print.environment != now.environment) return {OutdatedBy::environment};
  if (print.inputs.empty())
    return {OutdatedBy::input_meanwhile, name_in(task, before.changed_input)};
  std::string newer = newer_files(task, before.began);
  if (newer.empty()) return {OutdatedBy::input_list};
  return {OutdatedBy::input, std::move(newer)};
}

std::string outdated_text(OutdatedBy by, const Outdated& outdated) {
  std::string text = reason_text({by, outdated.example});
  if (!outdated.example.empty() && by == OutdatedBy::input) text = outdated.example + " changed";
  if (!outdated.example.empty() && by == OutdatedBy::input_meanwhile)
    text = outdated.example + " changed while it ran";
  if (outdated.other_names > 0)
    text += fmt::format(" (something else for {} of them)", outdated.other_names);
  return text;
}

Result<Making> latest_making(const store::Store& store, RunId run, TaskId task) {
  TRY_ASSIGN(auto history, store.history(run, task));
  Making making;
  bool changes_inputs = false;
  for (auto& row : history) {
    if (row.fingerprint.empty()) continue;
    const bool ran = row.kind == "ended";
    changes_inputs |= !making.print.empty() && making.print.inputs.empty();
    making = {row.fingerprint, ran ? row.report.started : row.at, std::move(row.changed_input),
              ran ? row.report.ended : row.at};
    if (changes_inputs) making.ended = TimePoint::max();
  }
  return making;
}

std::string first_missing(const store::Store& store, const std::vector<std::string>& outputs) {
  std::error_code error;
  for (const auto& output : outputs) {
    if (std::filesystem::exists(output, error)) continue;
    const auto elsewhere = store.remote_output(output);
    if (!elsewhere || !*elsewhere) return output;
  }
  return {};
}

}  // namespace gantry::driver
