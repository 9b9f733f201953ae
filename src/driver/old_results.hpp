#pragma once
/// The values of a study's `results:` for tasks that ran when the rules were perhaps others. One
/// thread.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/sweep.hpp"
#include "store/store.hpp"

namespace gantry::driver {

class OldResults {
 public:
  /// Both must outlive this.
  OldResults(const store::Store& store, const Sweep& sweep, std::filesystem::path state_dir);

  /// Nothing when the stored ones are what the study asks for. Else each value that a rule of then
  /// gave is kept, whatever it was called, and the others are read: from the stored output, and
  /// from files as the task left them. The error names what cannot be read.
  Result<std::optional<ResultValues>> of(const Task& task, const store::Reusable& source);

 private:
  struct Rules {
    std::vector<std::string> names;
    std::vector<std::string> digests;
  };
  Result<const Rules*> rules_of(RunId run);
  [[nodiscard]] ResultValues kept(const Rules& theirs, const ResultValues& stored) const;
  Result<ResultValues> read(const Task& task, const store::Reusable& source,
                            const ResultValues& known) const;

  const store::Store& store_;
  const Sweep& sweep_;
  std::filesystem::path state_dir_;
  Rules ours_;
  std::map<RunId, Rules> by_run_;
};

}  // namespace gantry::driver
