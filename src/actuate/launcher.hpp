#pragma once
/// The seam between decisions and the world (APST's env_api): a Launcher starts tasks on the hosts
/// of one site and tells what became of them. Everything it says arrives as News from poll();
/// it never calls back. One thread: the driver's.

#include <string>
#include <vector>

#include "actuate/glance.hpp"
#include "actuate/news.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "model/action.hpp"
#include "model/host.hpp"
#include "model/outcome.hpp"
#include "model/task.hpp"

namespace gantry {

/// A file that a task reads, for hosts that do not see this machine's files.
struct TaskFile {
  std::string path;  ///< absolute, here
  Digest content;
  std::uint64_t bytes = 0;
  bool executable = false;
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Brings the site's agents up or finds them running, and asks what is really there. When it
  /// returns, the events waiting in poll() hold the hosts, everything still running (adopted) and
  /// every unacknowledged report.
  virtual Result<> open() = 0;
  /// Before open(): no earlier run can have left anything. Hosts that take long to be reached need
  /// not be waited for when others are there.
  virtual void expect_nothing() {}
  /// Everything that is there has been told, as far as it can be reached. Of a launcher that does
  /// not wait in open().
  [[nodiscard]] virtual bool settled() const { return true; }

  /// A host that is not up may appear, and could run such a task, as far as is known: a job that
  /// waits in the queue of a batch system, a host that is being connected to or was lost.
  [[nodiscard]] virtual bool expects_hosts(const Resources& /*least*/) const { return false; }
  /// Hosts were given up for good, and none that is left will come, or come back.
  [[nodiscard]] virtual bool has_given_up() const { return false; }
  /// Tasks wait that could use so many cores at once, if there were more hosts. Whoever can have
  /// hosts at a price gets no more of them than that, and lets go of those that nobody uses.
  virtual void want(std::uint64_t /*cores*/) {}

  /// Hands a task over. The agent queues it until the host has room. `key` must not have been used
  /// before, unless it was returned (AttemptReturned). `fingerprint` comes back with the report.
  /// Two attempts of one task may be there at once, on different hosts: neither may write where the
  /// other does. A launcher whose hosts share the folders that tasks write to gives each attempt
  /// folders of its own, and brings outputs to their place only of the one whose report is
  /// acknowledged as the result. (The local launcher has one host, where there are no twins.)
  /// `files` are what it reads; they need not be told where files_travel() is false.
  virtual void start(const TaskKey& key, HostId host, const Task& task,
                     const Fingerprint& fingerprint, const std::vector<TaskFile>& files) = 0;
  /// Tasks on the host read and write files of another site, to which theirs are brought.
  [[nodiscard]] virtual bool files_travel(HostId) const { return false; }
  /// Sends a shared file, which may be a folder of many, to a site: from another site, if it says
  /// so, and from home where that fails. FileArrived or MoveFailed answers. REQUIRES (also below):
  /// a host of the site is up, and files travel there.
  virtual void bring(const MoveFile&, const std::vector<TaskFile>&) {}
  virtual void drop(FileId, SiteId) {}
  /// Sends an empty message to an agent of the site, then so many bytes that say nothing, unless
  /// files are on their way there, or such bytes: SiteEchoed tells how long each took, if nothing
  /// comes in between. False: nothing was sent.
  virtual bool probe(SiteId, std::uint64_t /*bytes*/) { return false; }
  /// Ends the attempt's process tree (politely first); the report that follows says `cancelled`.
  virtual void cancel(const TaskKey& key, HostId host) = 0;
  /// Asks for everything back that was handed over and has not started: AttemptReturned events
  /// follow.
  virtual void recall(HostId host) = 0;
  /// This report and all that arrived before it are safe in the journal.
  virtual void acknowledge(std::uint64_t receipt) = 0;

  /// This report is not its task's result: what the attempt has left at its site can go. To be said
  /// before it is acknowledged.
  virtual void refuse(std::uint64_t) {}

  /// Sends what waits to be sent and appends what has arrived to `events`, without waiting. Times
  /// that our clock must tell are left out: stamp() fills them in.
  virtual Result<> poll(std::vector<News>& events) = 0;
  /// A descriptor that becomes readable (or, while wants_to_send(), writable) when poll() has
  /// something to do. May change after poll().
  [[nodiscard]] virtual int wait_fd() const = 0;
  [[nodiscard]] virtual bool wants_to_send() const = 0;
  /// Adds what it knows of its hosts and links, for people who watch. Asked about once a second.
  virtual void glance(Glance&) const {}
  /// Sends what waits to be sent and lets the agents go, without waiting; true when all is done, or
  /// has taken too long. To be called again and again until then. From now on nothing else is asked
  /// but this and close(): whoever closes several lets them wind up together.
  virtual bool wind_up() { return true; }
  /// The same, and waits for it: what runs goes on, idle agents exit.
  virtual void close() = 0;
  /// After close(): what a person should know of how it went, and do about it.
  virtual std::vector<std::string> last_words() { return {}; }
};

}  // namespace gantry
