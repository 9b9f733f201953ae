#pragma once
/// What a launcher wants to know of a task when its report comes, perhaps to another gantry than
/// the one that started it: where its outputs belong here. Travels behind the fingerprint in the
/// tag.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gantry {

struct OutputNote {
  std::vector<std::string> outputs;  ///< absolute, here
  std::vector<std::string> collect;
  std::vector<std::string> staying{};  ///< of the outputs
  std::string base{};                  ///< the study's folder here, below which all of them are

  static void fields(auto& wire, auto& m) {
    wire(m.outputs, m.collect);
    // An older gantry wrote neither of the others.
    if (wire.more(true)) wire(m.staying);
    if (wire.more(true)) wire(m.base);
  }

  void append_to(std::string& tag) const;
  /// Nothing when the tag holds none that can be read.
  static std::optional<OutputNote> find_in(std::string_view tag);
};

}  // namespace gantry
