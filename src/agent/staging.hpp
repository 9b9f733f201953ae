#pragma once
/// How a task's inputs get from the site's depot into the attempt's sandbox: whoever makes the
/// agent says how, since the agent knows no depot.

#include <functional>
#include <string>
#include <vector>

#include "agent/protocol.hpp"

namespace gantry::agent {

struct Staging {
  int error = 0;  ///< errno; 0 = all inputs are there
  std::string problem{};
  std::vector<std::string>
      unstaged{};  ///< contents that the depot does not have, or not as it should
};

struct Keeping {
  std::string problem{};  ///< empty: all are where they stay
  std::vector<KeptOutput> kept{};
};

/// All run in a slot's process. Empty: no task has a sandbox here.
struct SandboxKeeper {
  std::function<Staging(const Start&)> stage = {};  ///< before the task
  /// After it: what it read may have been something else. Names the contents.
  std::function<Staging(const Start&)> check = {};
  /// After a task that succeeded: moves what it is to keep out of its sandbox.
  std::function<Keeping(const Start&)> keep = {};
  /// Takes the sandbox away, and all that is in it; false when something is left. The task that the
  /// slot begins at once, if one is at hand, may get the folder.
  std::function<bool(const Start&, const Start* next)> sweep = {};
  std::function<void()> leave = {};  ///< before the slot's process ends
};

}  // namespace gantry::agent
