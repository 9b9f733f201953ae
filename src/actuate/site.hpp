#pragma once
/// One site: a launcher, and a mover where its hosts do not see home's files. Whatever kind each of
/// them is, the Site sees to it that a task's files are there before it starts, and that its
/// outputs are here before its report is told. Owned by Sites, used from its thread; never waits.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actuate/glance.hpp"
#include "actuate/launcher.hpp"
#include "actuate/move/arrivals.hpp"
#include "actuate/move/site_depot.hpp"
#include "actuate/mover.hpp"
#include "model/action.hpp"

namespace gantry {

struct SiteParts {
  SiteFacts facts;
  std::vector<HostId> hosts{};
  LaunchParts launch{};
  std::unique_ptr<Mover> mover{};  ///< none: its hosts see home's files
  ArrivalFolders folders{};        ///< with a mover
  /// What to do about a problem, for people; may be empty, and say nothing.
  std::function<std::string(std::string_view why)> hint{};
};

class Site {
 public:
  explicit Site(SiteParts parts);
  Site(const Site&) = delete;  // its parts know each other
  Site& operator=(const Site&) = delete;

  [[nodiscard]] SiteId id() const { return facts_.id; }
  [[nodiscard]] const std::string& name() const { return facts_.name; }
  [[nodiscard]] const std::vector<HostId>& hosts() const { return hosts_; }
  /// Tasks there read and write files of another site, to which theirs are brought.
  [[nodiscard]] bool files_travel() const { return mover_ != nullptr; }

  // As of Launcher.
  // -------------------------------------------------------------------------------------------

  Result<bool> open() { return launcher_->open(); }
  /// Files that the engine has not seen to go there first; the attempt is handed over when they are
  /// there. A shared file that the depot has lost is told as FileGone, and the attempt comes back.
  void start(LaunchRequest request);
  void cancel(const TaskKey& key, HostId host);
  void signal(const TaskKey& key, HostId host, std::int32_t signal);
  void recall(HostId host, std::span<const TaskKey> keys);
  void acknowledge(HostId host, std::uint64_t receipt);
  /// This report is not its task's result: what the attempt has left there can go. To be said
  /// before it is acknowledged.
  void refuse(HostId host, std::uint64_t receipt);
  Result<> poll(std::vector<News>& news);
  [[nodiscard]] ReadySet::Wanted waits_for() const;
  bool close(std::vector<News>& news);

  // Files and links. REQUIRES: files_travel().
  // -------------------------------------------------------------------------------------------

  /// Brings a shared file, which may be a folder of many, there: from another site, if `move` says
  /// so, and from home where that fails. FileArrived or MoveFailed answers.
  void bring(const MoveFile& move, const std::vector<TaskFile>& files);
  void drop(FileId file);
  /// As of Mover; SiteEchoed answers.
  bool probe(std::uint64_t bytes) { return mover_ && mover_->probe(bytes); }

  // Hosts that may come, and what is to be seen.
  // -------------------------------------------------------------------------------------------

  [[nodiscard]] bool expects_hosts(const Resources& least) const {
    return source_ != nullptr && source_->expects_hosts(least);
  }
  [[nodiscard]] bool has_given_up() const { return source_ != nullptr && source_->has_given_up(); }
  void want(std::uint64_t cores);
  void glance(Glance& glance) const;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  /// An attempt whose own files are not all there yet.
  struct Waiting {
    LaunchRequest request;
    std::set<Digest> missing;
  };
  struct Delivered {
    std::uint64_t receipt = 0;
    TaskKey key;
    LeftThere left{};
  };

  void hear(News each, std::vector<News>& news);
  void on_down(HostId host, std::vector<News>& news);
  void deliver(std::vector<News>& news);
  /// Why they do not come is told by the events of the depot.
  void poll_files(std::vector<News>& news);

  // site_starts.cpp
  /// False when a shared file is not there, which is told.
  bool find_files(const LaunchRequest& request, std::set<Digest>& missing);
  void hand_over_ready();
  void give_back(const std::function<bool(const Waiting&)>& concerns);
  void release_files(const TaskKey& key);
  /// Nothing more is started there for a while: it would fail the same way, and quickly.
  void pause(const std::string& why);
  void end_pause(std::vector<News>& news);
  void tell_paused(const Host& host, std::vector<News>& news) const;

  SiteFacts facts_;
  std::vector<HostId> hosts_;
  std::unique_ptr<Launcher> launcher_;
  HostSource* source_;
  const Watchable* watched_;
  std::unique_ptr<Mover> mover_;
  std::function<std::string(std::string_view)> hint_;
  std::optional<SiteDepot> depot_;
  std::optional<Arrivals> arrivals_;

  std::map<HostId, Host> up_;
  std::set<HostId> resting_;  ///< of these, as the launcher says
  std::map<TaskKey, Waiting> waiting_;
  std::map<TaskKey, std::vector<TaskFile>> in_use_;  ///< of attempts that were handed over
  std::map<HostId, std::vector<Delivered>> delivered_;
  std::string pause_why_;  ///< empty: there is no pause
  SteadyTime pause_end_{};
  bool pause_told_ = false;
  std::vector<News> heard_;
  std::vector<News> news_;  ///< what it says by itself
  ReadySet ready_;
};

}  // namespace gantry
