#pragma once
/// The inputs that several tasks of a study read: they are brought to a site once. Known by their
/// paths; made once for a run on several sites. A value.

#include <string>
#include <unordered_map>
#include <vector>

#include "engine/run/workload.hpp"
#include "model/ids.hpp"
#include "model/sweep.hpp"

namespace gantry::driver {

class SharedInputs {
 public:
  /// None.
  SharedInputs() = default;
  explicit SharedInputs(const Sweep& sweep);

  [[nodiscard]] const std::string& path(FileId file) const { return paths_[file.value()]; }
  [[nodiscard]] std::size_t size() const { return paths_.size(); }

  /// Tells the workload which tasks read which. Both must outlive it.
  void describe(engine::Workload& workload, const Sweep& sweep) const;

 private:
  [[nodiscard]] std::vector<FileId> read_by(const Task& task) const;

  std::vector<std::string> paths_;
  std::unordered_map<std::string, FileId> ids_;
};

}  // namespace gantry::driver
