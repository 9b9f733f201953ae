#pragma once
/// Which files the tasks of a study read, and how large these are: the one rule for runs and for
/// plans. An input that several tasks read is a shared file, which is brought to a site once; an
/// input of one task travels with it. Values.

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/application.hpp"
#include "model/event.hpp"
#include "model/ids.hpp"

namespace gantry {

/// Numbers of shared files, by path. One object for all studies of a hub.
class FileNames {
 public:
  FileId number(const std::string& path);
  [[nodiscard]] const std::string& path(FileId file) const { return paths_[file.value()]; }
  [[nodiscard]] std::size_t size() const { return paths_.size(); }

 private:
  std::vector<std::string> paths_;
  std::unordered_map<std::string, FileId> ids_;
};

/// Rounds positive values to steps of 5% if there are more than `most` different ones: planners
/// work on classes of tasks that are alike. Says whether it did.
bool round_if_many(std::span<double> values, std::size_t most);

class TaskFiles {
 public:
  /// If tasks' own inputs have more different sizes than this, sizes are rounded.
  static constexpr std::size_t kMostSizes = 100;

  /// For tasks that read nothing, or whose hosts see home's files.
  TaskFiles() = default;
  /// Takes sizes from the disk now; a folder is as large as the files in it. Looks at every task
  /// once, unless all are of one node and have the same inputs. Shared files that `names` does not
  /// know yet get numbers in the order of their first use.
  TaskFiles(const Application& application, FileNames& names);

  [[nodiscard]] bool empty() const { return kinds_.empty(); }
  /// All shared files, in the order of their first use.
  [[nodiscard]] const std::vector<FileMade>& shared() const { return shared_; }
  /// The shared files that the task reads, ascending. REQUIRES: !empty(), and the task exists.
  [[nodiscard]] const std::vector<FileId>& shared_by(TaskId task) const {
    return kind(task).shared;
  }
  /// Size of the inputs that only this task reads. REQUIRES: as above.
  [[nodiscard]] double private_bytes(TaskId task) const { return kind(task).private_bytes; }

 private:
  struct Kind {
    std::vector<FileId> shared;
    double private_bytes = 0;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  [[nodiscard]] const Kind& kind(TaskId task) const {
    return kinds_[of_task_.empty() ? 0 : of_task_[task.value() - 1]];
  }

  std::vector<FileMade> shared_;
  std::vector<Kind> kinds_;
  std::vector<std::uint32_t> of_task_;  ///< index in kinds_; empty: all are of the first kind
};

}  // namespace gantry
