#pragma once
/// The trials of an experiment that have ended, as a CSV file that grows by one trial at a time: an
/// experiment that was interrupted, or killed, goes on from there. One process at a time, any one
/// thread at a time.

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "simulate/experiment.hpp"

namespace gantry::simulate {

class TrialFile {
 public:
  /// Makes the file, or reads what is known. `pin` is one line that says what all trials in it have
  /// in common: a file with another one is refused (usage), as is one that somebody else writes to
  /// (busy). What a killed writer left at the end is dropped.
  static Result<TrialFile> open(const std::filesystem::path& path, const Experiment& experiment,
                                std::string_view pin);

  [[nodiscard]] bool knows(std::size_t point, std::uint32_t repetition) const {
    return numbers_.contains({point, repetition});
  }
  /// Those that were read and those that were added since.
  [[nodiscard]] const std::vector<TrialOutcome>& trials() const { return trials_; }

  /// The trial is in the file when this returns; it may be lost with the machine's power.
  Result<> append(const TrialOutcome& trial);

 private:
  TrialFile(std::filesystem::path path, const Experiment& experiment);

  /// The length of what is whole.
  Result<std::size_t> read(std::string_view text, std::size_t first_line);
  Result<TrialOutcome> trial_in(const std::vector<std::string_view>& rows, std::size_t line) const;
  void keep(TrialOutcome trial);

  std::filesystem::path path_;
  std::vector<std::string> points_;
  std::vector<std::string> schedulers_;
  UniqueFd fd_;
  std::vector<TrialOutcome> trials_;
  std::set<std::pair<std::size_t, std::uint32_t>> numbers_;
};

}  // namespace gantry::simulate
