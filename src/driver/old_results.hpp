#pragma once
/// The values of a study's `results:` for tasks that ran when the rules were perhaps others. One
/// thread.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/application.hpp"
#include "store/store.hpp"

namespace gantry::driver {

/// By result: how it is read, and whether a task may lack it, as a run's record has it. Empty where
/// nodes differ.
std::vector<std::string> recorded_rules(const Application& application);

class OldResults {
 public:
  /// Both must outlive this.
  OldResults(const store::Store& store, const Application& application,
             std::filesystem::path state_dir);

  /// Nothing when the stored ones are what the study asks for. Else each value that a rule of then
  /// gave is kept, whatever it was called, and the others are read: from the stored output, and
  /// from files as the task left them. The error names what cannot be read; an optional value is
  /// known to be missing only if it was looked for then.
  Result<std::optional<ResultValues>> of(const Task& task, const store::Reusable& source);

 private:
  struct Rules {
    std::vector<std::string> names;
    std::vector<std::string> recorded;
    std::vector<bool> optional{};  ///< only of ours
    bool mixed = false;            ///< of several nodes: a task may have had only some of them
  };
  /// What is known without reading, and which of the study's results have to be read.
  struct Kept {
    ResultValues values;
    std::vector<std::size_t> open;
  };
  Result<const Rules*> rules_of(RunId run);
  [[nodiscard]] const Rules& ours(TaskId task) const {
    return ours_[application_.node_of(task).value()];
  }
  static Kept kept(const Rules& ours, const Rules& theirs, const ResultValues& stored);
  Result<ResultValues> read(const Task& task, const store::Reusable& source,
                            const Kept& known) const;
  /// The files of the results that have to be read, with their contents.
  Result<ResultValues> left_files(const Task& task, const AttemptReport& report,
                                  const std::vector<std::size_t>& open) const;

  const store::Store& store_;
  const Application& application_;
  std::filesystem::path state_dir_;
  std::vector<Rules> ours_;  ///< by node
  std::map<RunId, Rules> by_run_;
};

}  // namespace gantry::driver
