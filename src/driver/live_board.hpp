#pragma once
/// Shows others what goes on in the runs that this process drives: writes LiveState to a file of
/// the state directory, about once a second and when something has changed. That it cannot be
/// written ends nothing. Owned by the session, used from its thread.

#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actuate/glance.hpp"
#include "driver/driver.hpp"
#include "engine/engine.hpp"
#include "model/sweep_files.hpp"
#include "store/live_state.hpp"

namespace gantry::driver {

/// What is to be shown. Made whole, or not at all.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
struct LiveFacts {
  engine::Engine& engine;
  engine::RunView run;  ///< whose forecasts are shown
  Glance glance;        ///< what hosts and links do now
  const FileNames& shared;
  const Options& options;
  const Grid* grid;  ///< nullptr: this machine alone
  const std::set<SiteId>& leaving;
  const Progress& progress;
  const std::map<HostId, std::uint32_t>& done;  ///< attempts that ended, by host
};

class LiveBoard {
 public:
  explicit LiveBoard(const std::filesystem::path& state_dir) : path_(store::live_path(state_dir)) {}
  /// Nothing is shown any more.
  ~LiveBoard();
  LiveBoard(const LiveBoard&) = delete;
  LiveBoard& operator=(const LiveBoard&) = delete;

  // What only events tell.
  // -----------------------------------------------------------------------------------------
  /// The attempt has left its host; what it made is on its way home.
  void on_computed(const TaskKey& key, HostId host, TimePoint now) {
    homeward_.try_emplace(key, host, now);
  }
  /// It is home, or does not come.
  void on_ended(const TaskKey& key) { homeward_.erase(key); }
  /// What the host has told it tells again when it is back.
  void on_vanished(HostId host) {
    std::erase_if(homeward_, [&](const auto& each) { return each.second.first == host; });
  }

  [[nodiscard]] bool is_due(TimePoint now) const;
  void show(const LiveFacts& facts, TimePoint now);
  [[nodiscard]] store::LiveState state_of(const LiveFacts& facts, TimePoint now);
  /// As they were when somebody looked last.
  [[nodiscard]] std::span<const SiteGlance> sites() const { return sites_; }

 private:
  using Traffic = std::deque<std::pair<TimePoint, std::uint64_t>>;  ///< when, bytes so far

  void add_sites(const LiveFacts& facts, const Glance& glance, TimePoint now,
                 store::LiveState& state);
  void list_arrivals(const LiveFacts& facts, HostId id, std::size_t most,
                     store::LiveHost& host) const;
  [[nodiscard]] double rate(const SiteGlance& site, TimePoint now);
  void write(const std::string& text);

  std::filesystem::path path_;
  std::vector<SiteGlance> sites_;
  std::map<SiteId, Traffic> traffic_;                         ///< over the last seconds
  std::map<TaskKey, std::pair<HostId, TimePoint>> homeward_;  ///< since when
  std::string shown_;                                         ///< without its first line
  TimePoint looked_at_ = kNever;
  TimePoint written_at_ = kNever;
  bool written_ = false;
};

}  // namespace gantry::driver
