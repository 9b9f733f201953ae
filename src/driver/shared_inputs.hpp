#pragma once
/// The inputs that several tasks of a study read: they are brought to a site once, for all studies
/// that read them. Known by their paths. Values.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/run/workload.hpp"
#include "model/event.hpp"
#include "model/ids.hpp"
#include "model/sweep.hpp"

namespace gantry::driver {

/// The numbers of files, for all runs of a hub.
class FileNames {
 public:
  FileId number(const std::string& path);
  [[nodiscard]] const std::string& path(FileId file) const { return paths_[file.value()]; }
  [[nodiscard]] std::size_t size() const { return paths_.size(); }

 private:
  std::vector<std::string> paths_;
  std::unordered_map<std::string, FileId> ids_;
};

class SharedInputs {
 public:
  /// None.
  SharedInputs() = default;
  SharedInputs(const Sweep& sweep, FileNames& names);

  /// Tells the workload which tasks read which. Both must outlive it.
  void describe(engine::Workload& workload, const Sweep& sweep) const;
  /// Its name, if several tasks of the study read it.
  [[nodiscard]] std::optional<FileId> find(const std::string& path) const {
    const auto found = ids_.find(path);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  /// Each with its size, for the engine.
  [[nodiscard]] std::vector<FileMade> made() const;

 private:
  [[nodiscard]] std::vector<FileId> read_by(const Task& task) const;

  std::unordered_map<std::string, FileId> ids_;
};

}  // namespace gantry::driver
