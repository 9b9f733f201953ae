#pragma once
/// What a person wrote, kept with a run so that the same sweep can be built again.

#include <string>
#include <utility>
#include <vector>

namespace gantry {

struct SpecSource {
  bool one_liner = false;
  std::string path;               ///< the sweep file, absolute; empty for a one-liner
  std::string text;               ///< the file's content
  std::vector<std::string> args;  ///< a one-liner's words, with the lines of files taken in
  std::string base_dir;           ///< absolute; relative names start here
  /// The sources of a sweep file's values, by name: contents of files, and lists of files that
  /// globs matched.
  std::vector<std::pair<std::string, std::string>> data{};
};

}  // namespace gantry
