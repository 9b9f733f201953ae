#pragma once
/// The seam between decisions and the world (APST's env_api): a Launcher runs attempts on the hosts
/// of one site and tells what becomes of them. It knows nothing of how files get there: that is a
/// Mover's work (actuate/mover.hpp), and a Site (actuate/site.hpp) is one of each. Everything a
/// launcher says arrives as News from poll(); it never calls back and never waits. One thread: the
/// driver's.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "actuate/glance.hpp"
#include "actuate/news.hpp"
#include "base/hash.hpp"
#include "base/ready_set.hpp"
#include "base/result.hpp"
#include "model/task.hpp"

namespace gantry {

/// A file that a task reads, for hosts that do not see this machine's files.
struct TaskFile {
  std::string path;  ///< absolute, here
  Digest content;
  std::uint64_t bytes = 0;
  bool executable = false;
  /// Of a file that the engine has brought to the site before: its name, or that of the folder it
  /// is in. Others travel with the task.
  std::optional<FileId> shared{};
};

/// All that is needed to run one attempt.
struct LaunchRequest {
  TaskKey key;
  HostId host;
  Task task;
  Fingerprint fingerprint;        ///< comes back with the report
  std::string base_dir;           ///< the study's folder; absolute
  std::vector<TaskFile> files{};  ///< what it reads; none where hosts see home's files
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Brings the site's agents up, or finds them running, and asks what is there. To be called again
  /// after each poll() until it is true: then every host that could be reached, every attempt that
  /// still runs (adopted) and every unacknowledged report has been told.
  virtual Result<bool> open() = 0;

  /// Hands an attempt over. The agent queues it until the host has room. Its key must not have been
  /// used before, unless it came back (AttemptReturned). Two attempts of one task may be there at
  /// once, on different hosts: neither may write where the other does. A launcher whose hosts share
  /// the folders that tasks write to gives each attempt folders of its own. REQUIRES: the contents
  /// of `files` are in the site's depot.
  virtual void start(const LaunchRequest& request) = 0;
  /// Ends the attempt's process tree (politely first); the report that follows says `cancelled`.
  virtual void cancel(const TaskKey& key, HostId host) = 0;
  /// Sends the attempt's process tree a signal; kCheckpointSignal: the one that its task declared
  /// for checkpoints. One that does not run is left alone.
  virtual void signal(const TaskKey& key, HostId host, std::int32_t signal) = 0;
  static constexpr std::int32_t kCheckpointSignal = 0;
  /// Asks for attempts back that were handed over and have not started: AttemptReturned follows for
  /// each that had not. No keys: all of the host, whoever's they are.
  virtual void recall(HostId host, std::span<const TaskKey> keys) = 0;
  /// This report of the host, and all that it told before, are safe in the journal: the agent may
  /// forget them. Without it a result could be lost between the agent and the journal.
  virtual void acknowledge(HostId host, std::uint64_t receipt) = 0;

  /// Sends what waits to be sent and appends what has arrived to `news`. Times that our clock must
  /// tell are left out: stamp() fills them in. An error gives up the site.
  virtual Result<> poll(std::vector<News>& news) = 0;
  /// A descriptor that becomes ready when poll() has something to do. May change after poll().
  [[nodiscard]] virtual ReadySet::Wanted waits_for() const = 0;

  /// Lets the agents go once what waits to be sent has been: what runs goes on, idle agents exit.
  /// To be called again and again until it is true, which may take seconds; nothing else is asked
  /// from then on. Appends what a person should know of it. Without it idle agents, and jobs of a
  /// batch system that cost money, would be left behind.
  virtual bool close(std::vector<News>& news) = 0;
};

/// For launchers some of whose hosts may come later: jobs that wait in the queue of a batch system,
/// machines that are being connected to or were lost.
class HostSource {
 public:
  virtual ~HostSource() = default;
  /// A host that is not up may come and could run such a task, as far as is known.
  [[nodiscard]] virtual bool expects_hosts(const Resources& least) const = 0;
  /// Hosts were given up for good, and none that is left will come, or come back.
  [[nodiscard]] virtual bool has_given_up() const = 0;
  /// Tasks wait that could use so many cores at once, if there were more hosts. Whoever can have
  /// hosts at a price gets no more of them than that, and lets go of those that nobody uses;
  /// `awaited` are hosts for which something is on its way.
  virtual void want(std::uint64_t cores, const std::set<HostId>& awaited) = 0;
};

/// For launchers that can show what their hosts do at the moment.
class Watchable {
 public:
  virtual ~Watchable() = default;
  /// Asked about once a second.
  virtual void glance(std::vector<HostGlance>& hosts) const = 0;
};

/// A launcher and what else it can do; these are parts of it, or nullptr.
struct LaunchParts {
  std::unique_ptr<Launcher> launcher;
  HostSource* source = nullptr;
  const Watchable* watched = nullptr;
};

}  // namespace gantry
