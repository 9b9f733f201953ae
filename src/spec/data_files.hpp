#pragma once
/// What a sweep file reads its values from: files, and lists of files. Remembers what it has read;
/// of a stored run, it gives what was read then. Lives during one parse.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace gantry::spec {

class DataFiles {
 public:
  /// By what was asked for.
  using Read = std::vector<std::pair<std::string, std::string>>;

  explicit DataFiles(Read earlier = {}) : earlier_(std::move(earlier)) {}

  Result<std::string> content(const std::filesystem::path& path);
  /// The paths that match the pattern, in their order; none when there is no such file.
  std::vector<std::string> matches(const std::string& pattern);

  [[nodiscard]] Read take() && { return std::move(read_); }

 private:
  [[nodiscard]] const std::string* find(const std::string& what) const;

  Read earlier_;
  Read read_;
};

}  // namespace gantry::spec
