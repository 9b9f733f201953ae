#include "driver/outdated.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "model/fingerprint.hpp"

namespace gantry::driver {

namespace {

constexpr std::string_view kChanged = "an input or the program changed";
constexpr std::string_view kChangedMeanwhile = "an input changed while it ran";

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

std::string Reason::text() const {
  return example.empty() ? what : what + ": " + example;
}

void add_outdated(OutdatedTasks& outdated, const Reason& reason) {
  Outdated& entry = outdated[reason.what];
  if (entry.tasks++ == 0) entry.example = reason.example;
  if (reason.example != entry.example) ++entry.other_names;
}

Reason what_changed(const Making& before, const Fingerprint& now, const Task& task) {
  const Fingerprint& print = before.print;
  if (print.empty()) return {"what it was made from is not known"};
  // It is that of the same study: only how it is digested can differ.
  if (print.command != now.command) return {"recorded by an older gantry"};
  if (print.environment != now.environment) return {"its environment changed"};
  if (print.inputs.empty()) return changed_meanwhile(name_in(task, before.changed_input));
  std::string newer = newer_files(task, before.began);
  if (newer.empty()) return {std::string(kChanged) + ", or one was added or left out"};
  return {std::string(kChanged), std::move(newer)};
}

Reason changed_meanwhile(std::string path) {
  return {std::string(kChangedMeanwhile), std::move(path)};
}

std::string outdated_text(const std::string& what, const Outdated& outdated) {
  std::string text = what;
  if (!outdated.example.empty()) {
    text = what == kChanged            ? outdated.example + " changed"
           : what == kChangedMeanwhile ? outdated.example + " changed while it ran"
                                       : Reason{what, outdated.example}.text();
  }
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
    changes_inputs |= !making.changed_input.empty();
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
