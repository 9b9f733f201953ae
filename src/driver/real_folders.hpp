#pragma once
/// Where folders really are: two spellings of a path, or two ways to it over links, lead to one
/// place. Fast enough for a million tasks, even if each has a folder of its own. One thread.

#include <limits.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace gantry::driver {

class RealFolders {
 public:
  /// The folder without `.`, `..` and symbolic links, as far as it exists when it is first asked
  /// for; empty for the root. Valid until the next call. REQUIRES: the path is absolute.
  const std::string& of(std::string_view folder);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Names = std::unordered_set<std::string, Hash, std::equal_to<>>;
  struct Folder {
    std::string real{};
    std::uint32_t looks = 0;       ///< how many names below it were looked at one by one
    std::optional<Names> links{};  ///< all names below it that may be links, once they are many
  };
  Folder& known(std::string_view folder);
  void resolve(std::string_view folder, std::string& real);
  /// Whether the name below the folder may be a link.
  static bool may_be_link(Folder& folder, std::string_view name);

  std::unordered_map<std::string, Folder, Hash, std::equal_to<>> known_;  ///< as it is spelt
  std::array<char, PATH_MAX> target_{};                                   ///< scratch
  std::string path_;                                                      ///< scratch
};

}  // namespace gantry::driver
