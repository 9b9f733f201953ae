#pragma once
/// The seam between decisions and the world (APST's env_api): a Launcher runs attempts on the hosts
/// of one site and reports how they end. It knows nothing about how files get there: that is the
/// work of a Mover (actuate/mover.hpp), and a Site (actuate/site.hpp) combines the two. Everything
/// a launcher reports arrives as News from poll(); it never calls back and never waits. One thread:
/// the driver's.

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
  /// The shared file that this is, or belongs to if that is a folder: the engine has brought it to
  /// the site already. Nothing: the file travels with the task.
  std::optional<FileId> shared{};
};

/// Everything that is needed to run one attempt.
struct LaunchRequest {
  TaskKey key;
  HostId host;
  Task task;
  Fingerprint fingerprint;        ///< is returned with the report
  std::string base_dir;           ///< the study's folder; absolute
  std::vector<TaskFile> files{};  ///< files that it reads; none if hosts see home's files
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Starts the site's agents, or finds them running, and asks what they have. Call it again after
  /// each poll() until it returns true: then every host that could be reached, every running
  /// attempt and every unacknowledged report has been reported.
  virtual Result<bool> open() = 0;

  /// Hands an attempt over. The agent queues it until the host has room. A key is used once, unless
  /// the attempt came back (AttemptReturned). Two attempts of one task may exist at once, on
  /// different hosts: neither may write where the other does. A launcher whose hosts share the
  /// folders that tasks write to gives each attempt folders of its own. REQUIRES: the contents of
  /// `files` are in the site's depot.
  virtual void start(const LaunchRequest& request) = 0;
  /// Ends the attempt's process tree (politely first); the report that follows says `cancelled`.
  virtual void cancel(const TaskKey& key, HostId host) = 0;
  /// Sends a signal to the attempt's process tree; kCheckpointSignal stands for the one that its
  /// task declares for checkpoints. Does nothing if the attempt is not running.
  virtual void signal(const TaskKey& key, HostId host, std::int32_t signal) = 0;
  static constexpr std::int32_t kCheckpointSignal = 0;
  /// Asks for attempts that have not started. AttemptReturned follows for each that had not.
  /// Without keys: all attempts on the host, of any run.
  virtual void recall(HostId host, std::span<const TaskKey> keys) = 0;
  /// This report of the host and all before it are safe in the journal, so the agent may forget
  /// them. Without this, a result could be lost between the agent and the journal.
  virtual void acknowledge(HostId host, std::uint64_t receipt) = 0;

  /// Sends what is queued and appends what has arrived to `news`. Times of our own clock are left
  /// out; stamp() fills them in. An error gives up the site.
  virtual Result<> poll(std::vector<News>& news) = 0;
  /// A descriptor that becomes ready when poll() has something to do. May change after poll().
  [[nodiscard]] virtual ReadySet::Wanted waits_for() const = 0;

  /// Sends what is queued and lets the agents go: running tasks continue, idle agents exit. Call it
  /// until it returns true, which may take seconds, and nothing else after that. Appends notices
  /// for a person. Without it, idle agents would be left behind, and batch jobs that cost money.
  virtual bool close(std::vector<News>& news) = 0;
};

/// For launchers whose hosts may come later: jobs in the queue of a batch system, machines that are
/// being connected to or were lost.
class HostSource {
 public:
  virtual ~HostSource() = default;
  /// Whether a host that is not up now may come and could run such a task, as far as is known.
  [[nodiscard]] virtual bool expects_hosts(const Resources& least) const = 0;
  /// Whether hosts were given up for good and no other will come, or come back.
  [[nodiscard]] virtual bool has_given_up() const = 0;
  /// Waiting tasks could use this many more cores at once. A launcher whose hosts have a price gets
  /// no more of them than that, and releases hosts that nobody uses; hosts in `awaited` are in use,
  /// because files are on their way for them.
  virtual void want(std::uint64_t cores, const std::set<HostId>& awaited) = 0;
};

/// For launchers that can show what their hosts do at the moment.
class Watchable {
 public:
  virtual ~Watchable() = default;
  /// Called about once a second.
  virtual void glance(std::vector<HostGlance>& hosts) const = 0;
};

/// A launcher, and its optional interfaces: parts of it, or nullptr.
struct LaunchParts {
  std::unique_ptr<Launcher> launcher;
  HostSource* source = nullptr;
  const Watchable* watched = nullptr;
};

}  // namespace gantry
