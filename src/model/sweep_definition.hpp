#pragma once
/// Everything a person can say about a sweep, as plain values: what the readers in spec/ produce
/// and what Sweep::build checks and turns into tasks.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/parameter_values.hpp"
#include "model/sampling.hpp"
#include "model/source_mark.hpp"
#include "model/task.hpp"

namespace gantry {

struct ParameterDefinition {
  std::string name;
  ParameterValues values;
  SourceMark mark{};
  /// Parameters with the same link other than 0 take their values together: zip, `:::+`, columns of
  /// one CSV file.
  std::uint32_t link = 0;
  /// Other names in braces: the "" and "1" of a one-liner.
  std::vector<std::string> aliases{};
};

struct SampleDefinition {
  SampleMethod method = SampleMethod::random;
  std::uint32_t points = 0;
  std::uint64_t seed = 1;
  /// Which parameters are sampled, the others being crossed with the sample. Empty = all.
  std::vector<std::string> parameters;
  SourceMark mark{};
};

/// name -> expression or template.
struct NamedText {
  std::string name;
  SourceText text;
  SourceMark mark{};  ///< of the name
};

struct SweepDefinition {
  std::string name;
  std::string file;      ///< for messages; empty for a one-liner
  std::string base_dir;  ///< absolute: what relative names are relative to, and the default working
                         ///< directory

  std::vector<SourceText>
      command;  ///< one template an argument; with `shell` a single one, run by /bin/sh -c
  bool shell = false;

  std::vector<ParameterDefinition> parameters;
  std::optional<SampleDefinition> sample;

  std::vector<NamedText> environment;
  SourceText workdir;  ///< empty text = base_dir
  std::vector<SourceText> inputs;
  std::vector<SourceText> outputs;

  Resources resources;
  RetryPolicy retry;
  Duration timeout{0};
};

}  // namespace gantry
