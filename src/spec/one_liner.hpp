#pragma once
/// The command line with `:::` -> SweepDefinition, keeping GNU parallel's habits:
///
///   sim --seed {seed} --geom {g} ::: seed=1..200 ::: g=a.mdl,b.mdl     crossed, named
///   convert {} {.}.png ::: a.jpg b.jpg                                 unnamed
///   sim {1} {2} ::: a b :::+ 1 2                                       linked
///   sim {} :::: list.txt          sim {} :::: -                        lines of a file, of
///   standard input
///   --shell --timeout=10s --retries=2 -- sim {} | sort ::: a b         options, before `--`

#include <filesystem>
#include <string>
#include <vector>

#include "model/sweep_definition.hpp"
#include "spec/spec.hpp"

namespace gantry::spec {

struct OneLiner {
  SweepDefinition definition;
  /// The words again, with the lines of files and of standard input written out: reads to the same
  /// definition without them.
  std::vector<std::string> args;
  std::vector<std::string> warnings{};
};

Result<OneLiner> read_one_liner(const std::vector<std::string>& args,
                                const std::filesystem::path& base_dir, const ReadStdin& read_stdin);

}  // namespace gantry::spec
