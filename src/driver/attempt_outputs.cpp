#include "driver/attempt_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/hash.hpp"

namespace gantry::driver {

namespace fs = std::filesystem;

namespace {

/// In one step, also from another file system.
void move_into_place(const fs::path& here, const fs::path& path, std::error_code& error) {
  fs::create_directories(path.parent_path(), error);
  fs::rename(here, path, error);
  if (error != std::errc::cross_device_link) return;
  const fs::path beside =
      path.parent_path() / (".gantry-" + hash_bytes(path.filename().string()).hex());
  error.clear();
  if (fs::copy_file(here, beside, fs::copy_options::overwrite_existing, error))
    fs::rename(beside, path, error);
  std::error_code ignored;
  fs::remove(error ? beside : here, ignored);
}

/// The attempt's folder of arrivals.
void remove_if_empty(const std::vector<FetchedFile>& outputs) {
  std::error_code ignored;
  if (!outputs.empty()) fs::remove(fs::path(outputs.front().here).parent_path(), ignored);
}

}  // namespace

void place_outputs(ReportReceived& received, const Task& task) {
  for (const auto& [here, path] : received.outputs) {
    std::error_code error;
    // Where it belongs was told to the host, and comes back from there.
    const bool declared = std::ranges::find(task.outputs, path) != task.outputs.end();
    if (declared) move_into_place(here, path, error);
    if (declared && !error) continue;
    received.report.cause = FailureCause::missing_output;
    received.report.detail =
        declared ? fmt::format("{}: {}; it lies in {}", path, error.message(), here)
                 : fmt::format("its host has sent {}, which is no output of it", path);
    if (!declared) discard_outputs(received);
    return;
  }
  remove_if_empty(received.outputs);
}

void discard_outputs(const ReportReceived& received) {
  std::error_code ignored;  // it is only rubbish
  for (const auto& output : received.outputs) fs::remove(output.here, ignored);
  remove_if_empty(received.outputs);
}

bool settle_remote_files(const store::Store& store, const Task& task, AttemptEnded& ended) {
  AttemptReport& report = ended.report;
  // A value that could not be read can perhaps be read by another rule.
  if (report.cause != FailureCause::none && report.cause != FailureCause::missing_result) {
    const bool some = !report.remote_files.empty();
    report.remote_files.clear();
    return some;
  }
  for (const auto& path : task.outputs) {
    const auto older = store.remote_output(path);
    if (older && *older) ended.replaces.push_back(path);
  }
  return false;
}

bool is_unknown(const store::Store& store, const AttemptReport& report) {
  return !report.remote_files.empty() &&
         std::ranges::none_of(report.remote_files, [&](const RemoteFile& file) {
           return store.knows(file).value_or(true);
         });
}

}  // namespace gantry::driver
