#pragma once
/// From what a person typed, or from what a run remembers, to an application.

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/commands/run_words.hpp"
#include "model/application.hpp"
#include "model/spec_source.hpp"
#include "store/store.hpp"

namespace gantry::cli {

/// An application that a person wrote down.
struct Study {
  Application application;
  SpecSource source;
  std::vector<std::string> warnings;
};

/// What a one-liner may say that a sweep file has keys for. Empty = not said.
struct OneLinerOptions {
  bool shell = false;
  std::optional<std::string> timeout;
  std::optional<std::string> retries;
};

/// `words.command` names a sweep file or is a one-liner. Standard input is read when the one-liner
/// wants it.
Result<Study> load_study(const RunWords& words, const OneLinerOptions& options = {});
/// The same of several sweep files, or of one study.
Result<std::vector<Study>> load_studies(const RunWords& words, const OneLinerOptions& options = {});
/// True when load_study() takes the words for a sweep file.
bool is_sweep_file(const RunWords& words);

/// The study of a stored run; an error when it does not give the same tasks any more (a file that
/// it reads its values from has changed).
Result<Study> reload_study(const store::RunRecord& record);
/// The same without the rest, for driver::Options::reload.
Result<Application> reload_application(const store::RunRecord& record);
/// A study that is new here, for driver::Options::load.
Result<Application> load_application(const SpecSource& source);

}  // namespace gantry::cli
