#include "operate/grid_check.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/random.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/parallel.hpp"
#include "driver/grid_launch.hpp"
#include "model/suggest.hpp"
#include "operate/grid_login.hpp"

namespace gantry::operate {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMostSites = 64;   ///< at once
constexpr std::uint32_t kMostHosts = 256;  ///< of a site at once; each has a thread and two ssh
constexpr std::uint64_t kTokenBytes = 64;
constexpr std::uint64_t kFewestPulledBytes = std::uint64_t{256} << 10;
constexpr std::uint64_t kMostPulledBytes = std::uint64_t{16} << 20;
constexpr Duration kPullPatience = std::chrono::seconds(30);

/// For files that are sent. Removed with this.
class OwnFolder {
 public:
  OwnFolder() {
    std::string name = (fs::temp_directory_path() / "gantry-check-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code ignored;  // it is in the system's folder for what may go
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class SiteChecker {
 public:
  /// `measuring`: held by the one site that measures its link, as all of them may share one.
  SiteChecker(RemoteSite site, std::vector<GivingSite> giving, const AgentBinary& binary,
              const GridCheckOptions& options, std::mutex& measuring)
      : site_(std::move(site)),
        giving_(std::move(giving)),
        binary_(binary),
        patience_(options.patience),
        measuring_(measuring) {
    for (const RemoteHost& host : site_.hosts) {
      RemoteSite as_seen = site_;
      as_seen.holder += fmt::format("-{}", host.id.value());
      probes_.push_back(std::make_unique<HostProbe>(as_seen, host, binary, options.patience));
      check_.hosts.push_back({host.name, host.slots, std::nullopt, {}, std::nullopt});
    }
    check_.site = site_.id.value();
  }

  void check(const fs::path& folder) {
    for_each_host([&](std::size_t i) {
      auto facts = probes_[i]->examine();
      if (facts)
        check_.hosts[i].facts = *facts;
      else
        check_.hosts[i].failure = std::move(facts.error());
    });
    const auto first = first_usable();
    if (!first) return;
    if (const auto shared = check_sharing(*first, folder); !shared)
      check_.link_failure = shared.error();
    else if (const auto measured = measure(*first, folder); !measured)
      check_.link_failure = measured.error();
    if (!site_.batch) return;
    auto login = check_login(site_, binary_, patience_);
    if (login)
      check_.login = std::move(*login);
    else
      check_.login_failure = std::move(login.error());
  }

  [[nodiscard]] bool is_usable() const { return first_usable().has_value(); }

  /// Of those sites that have an agent by now.
  void check_pulls(const std::set<SiteId>& there) {
    const auto first = first_usable();
    if (!first) return;
    for (const GivingSite& other : giving_) {
      if (!there.contains(other.id)) continue;
      const auto reached = probes_[*first]->reaches(other.reach);
      check_.pulls.push_back({other.name, other.reach.ssh, check_.hosts[*first].name,
                              reached ? std::nullopt : std::optional(reached.error())});
    }
  }

  /// How fast files come from those that were reached. `other`: the site of that name. Nobody else
  /// may use either of them meanwhile.
  void measure_pulls(const std::function<SiteChecker*(const std::string&)>& other,
                     const fs::path& folder) {
    for (PullCheck& pull : check_.pulls) {
      if (pull.failure) continue;
      const auto giving = std::ranges::find(giving_, pull.site, &GivingSite::name);
      SiteChecker* giver = other(pull.site);
      if (giver == nullptr || giving == giving_.end()) continue;
      auto speed = measure_pull(*giver, giving->reach, folder);
      if (speed)
        pull.bandwidth = *speed;
      else
        pull.failure = std::move(speed.error());
    }
  }

  SiteCheck leave() {
    for_each_host([&](std::size_t i) { probes_[i]->leave(); });
    return std::move(check_);
  }

 private:
  /// The host over which a run's files would go.
  [[nodiscard]] std::optional<std::size_t> first_usable() const {
    for (std::size_t i = 0; i < check_.hosts.size(); ++i)
      if (check_.hosts[i].facts) return i;
    return std::nullopt;
  }

  void for_each_host(const std::function<void(std::size_t)>& work) {
    in_parallel(probes_.size(), kMostHosts, [&](std::size_t i) {
      work(i);
      return true;
    });
  }

  /// One writes, and the others look for it.
  Result<> check_sharing(std::size_t writer, const fs::path& folder) {
    TRY_ASSIGN(const Put token, write_unknown_file(folder / "token", kTokenBytes));
    TRY(probes_[writer]->send(token, std::chrono::seconds(5)));
    for_each_host([&](std::size_t i) {
      if (i == writer || !check_.hosts[i].facts) return;
      const auto found = probes_[i]->finds(token.content);
      if (found) check_.hosts[i].shares_scratch = *found;
    });
    return {};
  }

  Result<> measure(std::size_t index, const fs::path& folder) {
    const std::lock_guard alone(measuring_);
    return measure_link(*probes_[index], folder, check_.hosts[index].facts->round_trip,
                        check_.speed);
  }

  /// Home sends a file there, as large as it can in a second, and it is fetched from there.
  Result<double> measure_pull(SiteChecker& giver, const depot::PeerSite& reach,
                              const fs::path& folder) {
    const auto here = first_usable();
    const auto there = giver.first_usable();
    if (!here || !there) return fail(ErrorCode::peer, "no host of both answers");
    const double second = giver.check_.speed.to_site.value_or(0);
    const auto bytes = static_cast<std::uint64_t>(
        std::clamp(second, double{kFewestPulledBytes}, double{kMostPulledBytes}));
    Duration took{0};
    for (const std::uint64_t size : {kTokenBytes, bytes}) {  // the first opens the way
      TRY_ASSIGN(Put file, write_unknown_file(folder / "pulled", size));
      TRY(giver.probes_[*there]->send(file, kPullPatience));
      file.from = reach;
      TRY_ASSIGN(took, probes_[*here]->pull(file, kPullPatience));
    }
    return static_cast<double>(bytes) / std::max(seconds(took), 1e-6);
  }

  RemoteSite site_;
  std::vector<GivingSite> giving_;  ///< to which its hosts can log in
  const AgentBinary& binary_;
  Duration patience_;
  std::mutex& measuring_;
  std::vector<std::unique_ptr<HostProbe>> probes_;
  SiteCheck check_;
};

Result<std::vector<std::uint32_t>> chosen_sites(const Grid& grid,
                                                const std::vector<std::string>& names) {
  std::vector<std::uint32_t> chosen;
  std::vector<std::string> known;
  for (std::uint32_t i = 1; i < grid.sites.size(); ++i) {
    if (grid.sites[i].access == SiteAccess::none) continue;
    known.push_back(grid.sites[i].name);
    if (names.empty() || std::ranges::find(names, grid.sites[i].name) != names.end())
      chosen.push_back(i);
  }
  for (const auto& name : names)
    if (std::ranges::find(known, name) == known.end())
      return fail(ErrorCode::usage, fmt::format("the grid has no site '{}' with 'via'", name),
                  did_you_mean(name, known));
  if (chosen.empty())
    return fail(ErrorCode::usage, "no site of the grid can be connected to",
                "give a site via: ssh and the names of its hosts");
  return chosen;
}

Result<std::string> unused_holder() {
  std::uint64_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits))
    return fail_errno("getrandom");
  return fmt::format("check-{:016x}", bits);
}

}  // namespace

Result<std::vector<SiteCheck>> check_grid(const Grid& grid, const std::vector<std::string>& names,
                                          const GridCheckOptions& options) {
  TRY_ASSIGN(const auto chosen, chosen_sites(grid, names));
  TRY_ASSIGN(const std::string holder, unused_holder());
  const OwnFolder folder;
  if (folder.path().empty()) return fail_errno("a folder for temporary files");
  driver::SiteAgents agents;
  std::vector<RemoteSite> sites;
  std::vector<std::vector<GivingSite>> giving;
  std::vector<const AgentBinary*> to_send;
  std::uint32_t next_host = 1;
  for (const std::uint32_t index : chosen) {
    TRY_ASSIGN(const AgentBinary* agent, agents.of(grid.sites[index]));
    to_send.push_back(agent);
    sites.push_back(
        seen_from_login(driver::remote_site(grid.sites[index], SiteId(index), next_host)));
    sites.back().holder = holder;
    TRY_ASSIGN(auto others, driver::giving_sites(grid, SiteId(index), agents));
    giving.push_back(std::move(others));
  }
  std::mutex measuring;
  std::deque<SiteChecker> checkers;
  for (std::size_t i = 0; i < sites.size(); ++i)
    checkers.emplace_back(sites[i], giving[i], *to_send[i], options, measuring);
  const auto for_each_site = [&](const auto& work) {
    in_parallel(sites.size(), kMostSites, [&](std::size_t i) {
      work(i);
      return true;
    });
  };
  for_each_site([&](std::size_t i) {
    const fs::path own = folder.path() / std::to_string(i);
    std::error_code ignored;  // told when it is written to
    fs::create_directory(own, ignored);
    checkers[i].check(own);
  });
  std::set<SiteId> there;
  for (std::size_t i = 0; i < sites.size(); ++i)
    if (checkers[i].is_usable()) there.insert(sites[i].id);
  for_each_site([&](std::size_t i) { checkers[i].check_pulls(there); });
  const auto checker_of = [&](const std::string& name) -> SiteChecker* {
    const auto found = std::ranges::find(sites, name, &RemoteSite::name);
    return found == sites.end() ? nullptr
                                : &checkers[static_cast<std::size_t>(found - sites.begin())];
  };
  for (SiteChecker& checker : checkers) checker.measure_pulls(checker_of, folder.path());
  std::vector<SiteCheck> checks(sites.size());
  for_each_site([&](std::size_t i) { checks[i] = checkers[i].leave(); });
  return checks;
}

}  // namespace gantry::operate
