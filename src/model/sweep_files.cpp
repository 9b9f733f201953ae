#include "model/sweep_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>
#include <unordered_set>

#include "base/hash.hpp"

namespace gantry {

namespace {

double bytes_below(const std::string& folder) {
  namespace fs = std::filesystem;
  double sum = 0;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(
      folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    const auto bytes = entry->is_regular_file(gone) ? entry->file_size(gone) : 0;
    if (!gone) sum += static_cast<double>(bytes);
  }
  return sum;
}

double bytes_on_disk(const std::string& path) {
  struct stat info {};  // one call: there may be a million files
  if (::stat(path.c_str(), &info) != 0) return 0;
  if (S_ISDIR(info.st_mode)) return bytes_below(path);
  return S_ISREG(info.st_mode) ? static_cast<double>(info.st_size) : 0;
}

/// The inputs of tasks, numbered by their first use. Paths of private ones are not kept: there may
/// be a million of them.
struct Inputs {
  Inputs(const Application& application, std::uint32_t tasks) {
    std::vector<std::string> paths;
    for (std::uint32_t task = 1; task <= tasks; ++task) {
      application.at(TaskId(task)).fill_inputs(TaskId(task), paths);
      for (const std::string& path : paths) add(path);
      ends_.push_back(static_cast<std::uint32_t>(read_.size()));
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> read_by(std::uint32_t index) const {
    const std::uint32_t first = index == 0 ? 0 : ends_[index - 1];
    return std::span(read_).subspan(first, ends_[index] - first);
  }
  [[nodiscard]] bool is_shared(std::uint32_t number) const { return readers[number] > 1; }

  std::vector<double> bytes;           ///< of each input
  std::vector<std::uint32_t> readers;  ///< tasks, of each input
  std::map<std::uint32_t, std::string> shared_paths;

 private:
  void add(const std::string& path) {
    const auto [known, is_new] =
        numbers_.try_emplace(hash_bytes(path), static_cast<std::uint32_t>(bytes.size()));
    if (is_new) {
      bytes.push_back(bytes_on_disk(path));
      readers.push_back(0);
    }
    const std::uint32_t number = known->second;
    const auto row = read_.begin() + (ends_.empty() ? 0 : ends_.back());
    if (std::find(row, read_.end(), number) != read_.end()) return;  // named twice
    read_.push_back(number);
    if (++readers[number] == 2) shared_paths.emplace(number, path);
  }

  std::unordered_map<Digest, std::uint32_t> numbers_;
  std::vector<std::uint32_t> read_;  ///< by the first task, then by the second …
  std::vector<std::uint32_t> ends_;  ///< in `read_`, of each task
};

}  // namespace

FileId FileNames::number(const std::string& path) {
  const auto [known, is_new] =
      ids_.try_emplace(path, FileId(static_cast<std::uint32_t>(paths_.size())));
  if (is_new) paths_.push_back(path);
  return known->second;
}

bool round_if_many(std::span<double> values, std::size_t most) {
  std::unordered_set<double> different;
  for (const double value : values)
    if (different.insert(value).second && different.size() > most) break;
  if (different.size() <= most) return false;
  const double step = std::log(1.05);
  for (double& value : values)
    if (value > 0) value = std::exp(std::round(std::log(value) / step) * step);
  return true;
}

TaskFiles::TaskFiles(const Application& application, FileNames& names) {
  // Where all inputs are the same, two tasks show that they are shared.
  const std::uint32_t size = application.size();
  const std::uint32_t looked_at = application.same_inputs() ? std::min(size, 2U) : size;
  const Inputs inputs(application, looked_at);
  if (inputs.bytes.empty()) return;
  std::unordered_map<std::uint32_t, FileId> ids;
  for (const auto& [number, path] : inputs.shared_paths) {
    shared_.push_back({names.number(path), kHome, inputs.bytes[number]});
    ids.emplace(number, shared_.back().file);
  }
  std::vector<double> own(looked_at);
  for (std::uint32_t task = 0; task < looked_at; ++task)
    for (const std::uint32_t number : inputs.read_by(task))
      if (!inputs.is_shared(number)) own[task] += inputs.bytes[number];
  round_if_many(own, kMostSizes);
  std::map<Kind, std::uint32_t> known;
  Kind kind;
  for (std::uint32_t task = 0; task < looked_at; ++task) {
    kind.shared.clear();
    for (const std::uint32_t number : inputs.read_by(task))
      if (inputs.is_shared(number)) kind.shared.push_back(ids.at(number));
    std::ranges::sort(kind.shared);
    kind.private_bytes = own[task];
    const auto [found, is_new] = known.try_emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
    if (is_new) kinds_.push_back(kind);
    of_task_.push_back(found->second);
  }
  if (kinds_.size() == 1) of_task_ = {};
}

}  // namespace gantry
