#pragma once
/// Shows other processes the runs that this one drives: writes LiveState to live.json in the state
/// directory, about once a second if something has changed. If it cannot be written, the run
/// continues. Owned by the Hub, used from its thread.

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

/// What to show. All fields must be set.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init)
struct LiveFacts {
  engine::Engine& engine;
  engine::RunView run;  ///< the run whose forecasts are shown
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
  /// Removes the file: the runs are over.
  ~LiveBoard();
  LiveBoard(const LiveBoard&) = delete;
  LiveBoard& operator=(const LiveBoard&) = delete;

  // What only events say.
  // -----------------------------------------------------------------------------------------
  /// The attempt has left its host; its outputs are on their way home.
  void on_computed(const TaskKey& key, HostId host, TimePoint now) {
    homeward_.try_emplace(key, host, now);
  }
  /// The outputs are home, or will not come.
  void on_ended(const TaskKey& key) { homeward_.erase(key); }
  /// The host is lost: it reports its attempts again when it is back.
  void on_vanished(HostId host) {
    std::erase_if(homeward_, [&](const auto& each) { return each.second.first == host; });
  }

  [[nodiscard]] bool is_due(TimePoint now) const;
  void show(const LiveFacts& facts, TimePoint now);
  [[nodiscard]] store::LiveState state_of(const LiveFacts& facts, TimePoint now);
  /// As of the last call.
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
  std::map<TaskKey, std::pair<HostId, TimePoint>> homeward_;  ///< host, and when it left it
  std::string shown_;  ///< the text last written, without its first line
  TimePoint looked_at_ = kNever;
  TimePoint written_at_ = kNever;
  bool written_ = false;
};

}  // namespace gantry::driver
