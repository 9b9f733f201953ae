#pragma once
/// Where a task of a run that goes on is now, or what it waits for, as far as live.json tells.
/// Plain values and a pure function.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"
#include "store/live_state.hpp"

namespace gantry::query {

/// A host that the task has, or could have.
struct HostChoice {
  std::string name{};
  std::string site{};  ///< empty: not known
  std::uint32_t slots = 0;
  std::uint32_t busy = 0;
  double seconds = 0;  ///< that such a task takes there, as learnt; 0 = not known yet
};

/// A file on its way to a site.
struct FileTransfer {
  std::string path{};
  std::string site{};
  bool moves = false;  ///< it has its turn on the link: the two below are known
  double part = 0;     ///< from 0 to 1
  double bytes_per_second = 0;
};

/// An attempt at the task, which has a host.
struct TaskAtHost {
  enum class Stage : std::uint8_t {
    awaits_files,  ///< the host is chosen; `files` are on their way there
    next,          ///< with the host's agent, and not started yet
    running,
    coming_home,  ///< it has ended; its outputs are on their way home
  };
  Stage stage = Stage::running;
  HostChoice host{};
  Duration since{0};       ///< for how long it has been running or coming home
  store::LiveTask task{};  ///< its attempt is 0 while it awaits files
  std::vector<FileTransfer> files{};
  double link_bytes_per_second = 0;  ///< coming home: of the site's link, in both directions
  std::uint32_t homeward = 0;        ///< coming home: attempts of the site that are
  bool was_chosen = false;           ///< there are other hosts
  std::vector<HostChoice> others{};  ///< the fastest of them that are up, as learnt; a few
};

/// A host that is not there.
struct AbsentHost {
  std::string name{};
  std::string site{};
  HostCondition condition = HostCondition::lost;
  std::optional<Duration> since{};  ///< lost: for how long
  std::string why{};
};

/// No host has the task.
struct SlotWait {
  std::string draining{};  ///< why nothing more is started; empty: it is
  std::uint64_t slots = 0;
  std::uint64_t busy = 0;
  std::uint32_t staging = 0;              ///< tasks for whose files slots are kept
  std::vector<FileTransfer> transfers{};  ///< of those
  std::vector<AbsentHost> absent{};       ///< lost or suspended
  std::size_t queued = 0;                 ///< hosts whose jobs wait in a batch system
  std::size_t connecting = 0;             ///< hosts
};

/// One of the three; two attempts of a task may have hosts.
struct TaskPlace {
  std::vector<TaskAtHost> at{};
  std::optional<Duration> tried_again_in{};
  std::optional<SlotWait> slot_wait{};

  std::string scheduler{};  ///< which chose the hosts
  bool one_site = false;    ///< the run has no other: nobody needs to be told which it is

  /// Outputs that come home count as running.
  [[nodiscard]] bool is_running() const;
};

/// For a task that has not ended. `cost`: relative, as the paces of hosts are.
TaskPlace place_of(const store::LiveState& live, RunId run, TaskId task, double cost,
                   TimePoint now);

}  // namespace gantry::query
