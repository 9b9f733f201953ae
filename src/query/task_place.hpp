#pragma once
/// Where a task of the run in progress is now, or what it waits for, according to live.json;
/// `gantry explain` shows it. Plain values and a pure function.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"
#include "store/live_state.hpp"

namespace gantry::query {

/// The task's host, or one that it could have.
struct HostChoice {
  std::string name{};
  std::string site{};  ///< empty: not known
  std::uint32_t slots = 0;
  std::uint32_t busy = 0;
  double seconds = 0;  ///< learnt time of such a task there; 0 = not known yet
};

/// A file on its way to a site.
struct FileTransfer {
  std::string path{};
  std::string site{};
  bool moves = false;  ///< it is being sent: the two below are known
  double part = 0;     ///< from 0 to 1
  double bytes_per_second = 0;
};

/// An attempt that has a host.
struct TaskAtHost {
  enum class Stage : std::uint8_t {
    awaits_files,  ///< the host is chosen; `files` are on their way there
    next,          ///< with the host's agent, but not started yet
    running,
    coming_home,  ///< it has ended; its outputs are on their way home
  };
  Stage stage = Stage::running;
  HostChoice host{};
  Duration since{0};       ///< how long it has been running or coming home
  store::LiveTask task{};  ///< the attempt's number is 0 while it awaits files
  std::vector<FileTransfer> files{};
  double link_bytes_per_second = 0;  ///< coming home: traffic of the site's link, both ways
  std::uint32_t homeward = 0;        ///< coming home: how many attempts of the site are
  bool was_chosen = false;           ///< there are other hosts
  std::vector<HostChoice> others{};  ///< a few of the fastest other hosts that are up
};

/// A host that is not available.
struct AbsentHost {
  std::string name{};
  std::string site{};
  HostCondition condition = HostCondition::lost;
  std::optional<Duration> since{};  ///< lost: how long ago
  std::string why{};
};

/// The task has no host yet, and waits for a slot.
struct SlotWait {
  std::string draining{};  ///< why nothing more is started; empty: tasks are started
  std::uint64_t slots = 0;
  std::uint64_t busy = 0;
  std::uint32_t staging = 0;  ///< tasks that hold slots while their files are on the way
  std::vector<FileTransfer> transfers{};  ///< files on their way for those tasks
  std::vector<AbsentHost> absent{};       ///< lost or suspended
  std::size_t queued = 0;                 ///< hosts whose jobs wait in a batch system
  std::size_t connecting = 0;             ///< hosts that are being connected to
};

/// Exactly one of the three is set; `at` may have two attempts.
struct TaskPlace {
  std::vector<TaskAtHost> at{};
  std::optional<Duration> tried_again_in{};
  std::optional<SlotWait> slot_wait{};

  std::string scheduler{};  ///< the scheduler that chose the hosts
  bool one_site = false;    ///< the run has only one site, so there is no need to name it

  /// A task whose outputs are coming home counts as running.
  [[nodiscard]] bool is_running() const;
};

/// REQUIRES: the task has not ended. `cost`: the task's relative cost, to which the hosts' paces
/// refer.
TaskPlace place_of(const store::LiveState& live, RunId run, TaskId task, double cost,
                   TimePoint now);

}  // namespace gantry::query
