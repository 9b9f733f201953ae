#pragma once
/// One site: a launcher, and a mover if its hosts do not see home's files. Whatever kinds these
/// are, the Site makes sure that a task's files are there before it starts, and that its outputs
/// are home before its report is passed on. Owned by Sites, used from its thread; never waits.

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
  ArrivalFolders folders{};        ///< only with a mover
  /// Advice about a problem, for a person. May be empty, and may return nothing.
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
  /// Whether the site does not see home's files, so that they have to be moved.
  [[nodiscard]] bool files_travel() const { return mover_ != nullptr; }

  // As in Launcher.
  // -------------------------------------------------------------------------------------------

  Result<bool> open() { return launcher_->open(); }
  /// First sends the files that only this task reads, and hands the attempt over when they are
  /// there. If the depot has lost a shared file, reports FileGone and returns the attempt.
  void start(LaunchRequest request);
  void cancel(const TaskKey& key, HostId host);
  void signal(const TaskKey& key, HostId host, std::int32_t signal);
  void recall(HostId host, std::span<const TaskKey> keys);
  void acknowledge(HostId host, std::uint64_t receipt);
  /// The report does not count: what the attempt left there can be removed. Call it before
  /// acknowledge().
  void refuse(HostId host, std::uint64_t receipt);
  Result<> poll(std::vector<News>& news);
  [[nodiscard]] ReadySet::Wanted waits_for() const;
  bool close(std::vector<News>& news);

  // Files and links. REQUIRES: files_travel().
  // -------------------------------------------------------------------------------------------

  /// Brings a shared file, or a folder of files, to the site: from another site if `move` says so,
  /// and from home if that fails. FileArrived or MoveFailed answers.
  void bring(const MoveFile& move, const std::vector<TaskFile>& files) {
    depot_->bring(move, files);
  }
  void drop(FileId file) { depot_->drop(file); }
  /// As in Mover; SiteEchoed answers.
  bool probe(std::uint64_t bytes) { return mover_ && mover_->probe(bytes); }

  // Hosts that may come, and what people see.
  // -------------------------------------------------------------------------------------------

  [[nodiscard]] bool expects_hosts(const Resources& least) const {
    return source_ != nullptr && source_->expects_hosts(least);
  }
  [[nodiscard]] bool has_given_up() const { return source_ != nullptr && source_->has_given_up(); }
  void want(std::uint64_t cores);
  void glance(Glance& glance) const;

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  /// An attempt that waits for the files that only it reads.
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
  /// Polls the mover; events of the depot say why files do not come.
  void poll_files(std::vector<News>& news);

  // site_starts.cpp
  /// Finds which files are missing. False if a shared one is, which is reported as FileGone.
  bool find_files(const LaunchRequest& request, std::set<Digest>& missing);
  void hand_over_ready();
  void give_back(const std::function<bool(const Waiting&)>& concerns);
  void release_files(const TaskKey& key);
  /// Starts nothing there for a while: it would fail quickly in the same way.
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
  std::set<HostId> resting_;  ///< those of up_ that take no work, as the launcher says
  std::map<TaskKey, Waiting> waiting_;
  std::map<TaskKey, std::vector<TaskFile>> in_use_;  ///< of attempts that were handed over
  std::map<HostId, std::vector<Delivered>> delivered_;
  std::string pause_why_;  ///< empty: there is no pause
  SteadyTime pause_end_{};
  bool pause_told_ = false;
  std::vector<News> heard_;
  std::vector<News> news_;  ///< the Site's own
  ReadySet ready_;
};

}  // namespace gantry
