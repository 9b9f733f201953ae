#pragma once
/// An attempt's own folder at another site: it looks there as the study's folder does here, as far
/// as the task has declared what it reads and writes. Pure text.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actuate/launcher.hpp"
#include "agent/protocol.hpp"

namespace gantry {

class Sandbox {
 public:
  /// `base` is the study's folder here, `folder` the sandbox there, both absolute.
  Sandbox(std::string base, std::string folder)
      : base_(std::move(base)), folder_(std::move(folder)) {}

  [[nodiscard]] const std::string& folder() const { return folder_; }

  /// The path below the study's folder; nothing when it lies elsewhere.
  [[nodiscard]] std::optional<std::string> relative(const std::string& path) const;
  /// Where a path of this machine is there; the same when it is not below the study's folder.
  [[nodiscard]] std::string there(const std::string& path) const;

  /// A text that speaks of the sandbox, as if it spoke of the study's folder.
  [[nodiscard]] std::string as_here(std::string text) const;

  /// Makes the message speak of the sandbox: its folder, its outputs, words that name files of the
  /// study, and the inputs that are to be put there. Inputs elsewhere are expected at the same
  /// place on the host. The problem, if the task cannot run there.
  [[nodiscard]] std::optional<std::string> move_into(agent::Start& start,
                                                     const std::vector<TaskFile>& files) const;

 private:
  std::string base_;
  std::string folder_;
};

}  // namespace gantry
