#pragma once
/// Everything a person can say about a sweep, as plain values: what the readers in spec/ produce
/// and what Sweep::build checks and turns into tasks.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// One value of `results:` and where it is read.
struct ResultDefinition {
  enum class Source : std::uint8_t { standard_output, json, csv };
  std::string name;
  SourceMark mark{};
  Source source = Source::standard_output;
  SourceText pattern{};  ///< standard output: a regular expression, whose last match counts
  SourceText file{};     ///< JSON and CSV: a template, relative to the working directory
  std::vector<std::string> keys{};  ///< JSON: the way down
  std::string column{};             ///< CSV
  std::uint32_t row = 0;            ///< CSV: from 1; 0 = the last
  bool optional = false;            ///< may be missing
};

/// In place of an amount of memory.
inline constexpr std::string_view kLearn = "learn";

struct SweepDefinition {
  std::string name;
  std::string file;  ///< for messages; empty for a one-liner
  std::string
      base_dir;  ///< absolute: what relative names are relative to, default working directory

  std::vector<SourceText>
      command;  ///< one template an argument; with `shell` a single one for sh -c
  bool shell = false;

  std::vector<ParameterDefinition> parameters;
  std::optional<SampleDefinition> sample;
  std::optional<SourceText> when;  ///< expression: only combinations for which it is not 0
  std::vector<NamedText> derived;  ///< expressions; each sees the ones before it
  std::optional<SourceText> cost;  ///< expression

  std::vector<NamedText> environment;
  SourceText workdir;  ///< template; empty text = base_dir
  std::vector<SourceText> inputs;
  bool values_are_inputs = false;  ///< as far as they name regular files; numbers do not
  std::vector<SourceText> outputs;
  std::vector<bool> outputs_stay{};  ///< of each: `keep: remote`; those beyond the end do not
  std::vector<ResultDefinition> results;

  Resources resources;
  SourceMark resources_mark{};
  Duration timeout{0};
  Checkpoint checkpoint{};
  /// Templates that replace what the constants above say, where the amount depends on parameters.
  struct Varying {
    std::optional<SourceText> cores;
    std::optional<SourceText> memory;
    std::optional<SourceText> walltime;
    std::optional<SourceText> timeout;
  } varying;
  RetryPolicy retry;
};

}  // namespace gantry
