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

/// The standard library calls it an error of input or output.
bool is_full(const fs::path& folder, const fs::path& file) {
  std::error_code unknown;
  const auto bytes = fs::file_size(file, unknown);
  return !unknown && fs::space(folder, unknown).available < bytes && !unknown;
}

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
  else if (error == std::errc::io_error && is_full(path.parent_path(), here))
    error = std::make_error_code(std::errc::no_space_on_device);
  std::error_code ignored;
  fs::remove(error ? beside : here, ignored);
}

/// The attempt's folder of arrivals.
void remove_if_empty(const fs::path& folder) {
  std::error_code ignored;
  if (!folder.empty()) fs::remove(folder, ignored);
}

fs::path folder_of(const std::vector<FetchedFile>& outputs) {
  return outputs.empty() ? fs::path() : fs::path(outputs.front().here).parent_path();
}

}  // namespace

std::string place_outputs(ReportReceived& received, const Task& task, store::Store& store) {
  if (received.report.cause != FailureCause::none) {
    discard_outputs(received);
    return {};
  }
  const fs::path folder = folder_of(received.outputs);
  while (!received.outputs.empty()) {
    const auto& [here, path] = received.outputs.back();
    // Where it belongs was told to the host, and comes back from there.
    if (std::ranges::find(task.outputs, path) == task.outputs.end()) {
      received.report.cause = FailureCause::missing_output;
      received.report.detail = fmt::format("its host has sent {}, which is no output of it", path);
      discard_outputs(received);
      return {};
    }
    std::error_code error;
    move_into_place(here, path, error);
    if (error) return fmt::format("{}: {}", path, error.message());
    store.await_on_disk(path);
    received.outputs.pop_back();
  }
  remove_if_empty(folder);
  return {};
}

void discard_outputs(const ReportReceived& received) {
  std::error_code ignored;  // it is only rubbish
  for (const auto& output : received.outputs) fs::remove(output.here, ignored);
  remove_if_empty(folder_of(received.outputs));
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

std::optional<std::uint64_t> bytes_at_home(const Task& task, const AttemptReport& report) {
  if (report.cause != FailureCause::none) return std::nullopt;
  std::optional<std::uint64_t> bytes;
  for (const auto& path : task.outputs) {
    // Also of a task that ran here, so that it teaches nothing else than one that ran there.
    if (std::ranges::find(task.staying, path) != task.staying.end()) continue;
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error) return std::nullopt;
    bytes = bytes.value_or(0) + size;
  }
  return bytes;
}

bool is_unknown(const store::Store& store, const AttemptReport& report) {
  return !report.remote_files.empty() &&
         std::ranges::none_of(report.remote_files, [&](const RemoteFile& file) {
           return store.knows(file).value_or(true);
         });
}

}  // namespace gantry::driver
