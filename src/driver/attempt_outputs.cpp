#include "driver/attempt_outputs.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace gantry::driver {

namespace fs = std::filesystem;

void place_outputs(ReportReceived& received) {
  for (const auto& [here, path] : received.outputs) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    fs::rename(here, path, error);
    if (!error) continue;
    received.report.cause = FailureCause::missing_output;
    received.report.detail = path + ": " + error.message();
    return;
  }
}

void discard_outputs(const ReportReceived& received) {
  std::error_code ignored;  // it is only rubbish
  for (const auto& output : received.outputs) fs::remove(output.here, ignored);
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
