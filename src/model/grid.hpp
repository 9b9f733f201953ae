#pragma once
/// The machines a person can reach, as the grid file describes them: sites with hosts and one
/// shared storage each, and the links between them. Home, the site where the person's files are, is
/// always the first.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "model/source_mark.hpp"

namespace gantry {

inline constexpr std::string_view kHomeSite = "home";

/// A file of `time,value` lines, relative to the declared value: how it changes over time. Empty =
/// constant.
using TraceFile = std::string;

struct GridHosts {
  std::string name;  ///< name of one host, or prefix of the names of several
  std::uint32_t count = 1;
  std::uint32_t slots = 1;
  bool slots_declared = false;  ///< otherwise a real host has one per core
  double speed = 1.0;           ///< relative: work is divided by it
  std::uint64_t memory = 0;     ///< bytes; 0 = not declared
  TraceFile availability{};
  Duration queue_wait{0};  ///< batch site: wait before the hosts are lent
  Duration lent_for{0};    ///< batch site: how long they are lent; 0 = for good
};

/// The name of the i-th host, from 0.
[[nodiscard]] inline std::string host_name(const GridHosts& hosts, std::uint32_t i) {
  const bool is_beginning = hosts.name.ends_with('-');
  if (hosts.count == 1 && !is_beginning) return hosts.name;
  return hosts.name + (is_beginning ? "" : "-") + std::to_string(i + 1);
}

/// How a site is really reached.
enum class SiteAccess : std::uint8_t {
  none,   ///< it is only described: for plans
  ssh,    ///< every host by ssh
  slurm,  ///< its login host by ssh; its hosts are jobs of Slurm
  sge,    ///< the same with Grid Engine
};
[[nodiscard]] inline bool lends_by_jobs(SiteAccess access) {
  return access == SiteAccess::slurm || access == SiteAccess::sge;
}

/// What to ask a batch system for with each job.
struct GridBatch {
  std::string login{};  ///< as ssh knows it; empty: this machine
  std::string queue{};  ///< or partition; empty: the system's default
  std::string account{};
  Duration walltime{0};                     ///< 0: the system's default
  Duration idle = std::chrono::minutes(1);  ///< an idle job is given back after this time
  std::vector<std::string> directives{};    ///< further options
  /// Not 0: each task is a job, and this many may be in the queue.
  std::uint32_t jobs = 0;
  double rate = 1;  ///< submissions per second
};

struct GridSite {
  std::string name;
  std::uint64_t depot = 0;  ///< bytes that its shared storage may hold; 0 = no limit
  std::vector<GridHosts> hosts;
  SourceMark mark{};  ///< place of its name in the file
  SiteAccess access = SiteAccess::none;
  std::string user{};        ///< for ssh; empty: as ssh knows it
  std::string ssh_config{};  ///< a file to use instead of ~/.ssh/config
  std::string scratch{};     ///< folder for Gantry's files there
  std::string agent{};       ///< agent program for its machines; empty: this machine's
  GridBatch batch{};         ///< if lends_by_jobs(access)
  /// Files and folders here, and their declared copies at the site. Absolute.
  std::vector<std::pair<std::string, std::string>> staged{};
};

/// Whether the site is declared to have this file (an absolute path), or the folder that it is in.
[[nodiscard]] inline bool is_staged(const GridSite& site, std::string_view path) {
  return std::ranges::any_of(site.staged, [&](const auto& known) {
    return path == known.first || path.starts_with(known.first + "/");
  });
}

enum class LinkSharing : std::uint8_t {
  fifo,  ///< one transfer per stream at a time, in order
  fair,  ///< all transfers share the bandwidth equally
};

/// A link is probed when it has carried no file for this long, unless the grid file says otherwise.
inline constexpr Duration kProbeAfter = std::chrono::seconds(60);

struct GridLink {
  std::uint32_t from = 0;  ///< index of a site; the link serves both directions
  std::uint32_t to = 0;
  double bandwidth = 0;  ///< bytes per second
  Duration latency{0};
  LinkSharing sharing = LinkSharing::fifo;
  std::uint32_t streams = 1;  ///< transfers at once on a fifo link, each with the full bandwidth
  TraceFile trace{};
  Duration probe_after = kProbeAfter;  ///< for links of home; 0 = never
  bool assumed = false;                ///< the grid file does not describe it
  /// The ssh name of a host of one site, as used on hosts of the other; empty: they cannot log in.
  std::string to_at_from{};  ///< a host of `to`, as used at `from`
  std::string from_at_to{};  ///< a host of `from`, as used at `to`
};

struct Grid {
  std::vector<GridSite> sites;  ///< home first
  std::vector<GridLink> links;
  std::string file{};  ///< path of the grid file, for messages
};

}  // namespace gantry
