#pragma once
/// From what a person typed, or from what a run remembers, to a sweep.

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/commands/run_words.hpp"
#include "model/sweep.hpp"
#include "spec/spec.hpp"
#include "store/store.hpp"

namespace gantry::cli {

/// What a one-liner may say that a sweep file has keys for. Empty = not said.
struct OneLinerOptions {
  bool shell = false;
  std::optional<std::string> timeout;
  std::optional<std::string> retries;
};

/// `words.command` names a sweep file or is a one-liner. Standard input is read when the one-liner
/// wants it.
Result<spec::LoadedSweep> load_study(const RunWords& words, const OneLinerOptions& options = {});
/// The same of several sweep files, or of one study.
Result<std::vector<spec::LoadedSweep>> load_studies(const RunWords& words,
                                                    const OneLinerOptions& options = {});
/// True when load_study() takes the words for a sweep file.
bool is_sweep_file(const RunWords& words);

/// The sweep of a stored run; an error when it does not give the same tasks any more (a file that
/// it reads its values from has changed).
Result<spec::LoadedSweep> reload_study(const store::RunRecord& record);
/// The same without the rest, for driver::Options::reload.
Result<Sweep> reload_sweep(const store::RunRecord& record);
/// A study that is new here, for driver::Options::load.
Result<Sweep> load_sweep_of(const SpecSource& source);

}  // namespace gantry::cli
