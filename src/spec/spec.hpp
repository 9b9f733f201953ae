#pragma once
/// What a person writes -> a Sweep. Two spellings: a YAML file (docs/formats/sweep.md) and a
/// command line with
/// `:::`. Everything is checked before anything runs; errors say file:line:column and what to do.
/// One thread.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/spec_source.hpp"
#include "model/sweep.hpp"

namespace gantry::spec {

/// Of values that come from one file, or from the standard input.
inline constexpr std::size_t kMaxDataFile = std::size_t{256} << 20U;

struct LoadedSweep {
  Sweep sweep;
  SpecSource source;
  std::vector<std::string> warnings;
};

/// Reads all of the standard input; empty when it holds nothing, being a terminal or /dev/null.
using ReadStdin = std::function<Result<std::string>()>;

Result<LoadedSweep> load_sweep(const std::filesystem::path& path);

/// `file_name` is used in messages; names inside are relative to `base_dir` (made absolute).
Result<LoadedSweep> parse_sweep(std::string_view text, const std::string& file_name,
                                const std::filesystem::path& base_dir);

/// The words after `run`: `[--shell] [--timeout=T] [--retries=N] [--] command … ::: values …`.
/// Reads standard input only when the words ask for it (`:::: -`) or name no values at all.
Result<LoadedSweep> parse_one_liner(const std::vector<std::string>& args,
                                    const std::filesystem::path& base_dir,
                                    const ReadStdin& read_stdin = {});

/// The sweep of a stored run. Its inputs may be missing by now: see Sweep::check_inputs().
Result<LoadedSweep> reload(const SpecSource& source);

}  // namespace gantry::spec
