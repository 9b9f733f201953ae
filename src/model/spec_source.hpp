#pragma once
/// What a person wrote, kept with a run so that the same sweep can be built again.

#include <string>
#include <utility>
#include <vector>

namespace gantry {

struct SpecSource {
  bool one_liner = false;
  std::string path;               ///< of the sweep file, absolute; empty for a one-liner
  std::string text;               ///< the file's content
  std::vector<std::string> args;  ///< a one-liner's words, with the lines of files taken in
  std::string base_dir;           ///< absolute; what relative names are relative to
  /// What a sweep file's values were read from, by name: the content of files, the lists of globs.
  std::vector<std::pair<std::string, std::string>> data{};
};

}  // namespace gantry
