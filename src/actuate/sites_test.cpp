#include "actuate/sites.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/ready_set.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// What a site's launcher was asked, which outlives it.
struct Notes {
  std::vector<News> news;  ///< to be told at the next poll
  std::vector<std::uint64_t> acknowledged;
  std::uint64_t wanted = 0;
  std::uint64_t probed = 0;  ///< bytes
  bool opened = false;
  bool closed = false;
  bool gone = false;
  bool given_up = false;
  int turns_to_close = 0;
  int turns_to_open = 0;
  std::function<void()> closes{};
};

class NotedLauncher final : public Launcher, public HostSource, public Watchable {
 public:
  explicit NotedLauncher(Notes& notes) : notes_(notes) {}
  ~NotedLauncher() override { notes_.gone = true; }
  NotedLauncher(const NotedLauncher&) = delete;
  NotedLauncher& operator=(const NotedLauncher&) = delete;

  Result<bool> open() override {
    notes_.opened = true;
    return notes_.turns_to_open == 0 || --notes_.turns_to_open == 0;
  }
  void start(const LaunchRequest&) override {}
  void cancel(const TaskKey&, HostId) override {}
  void signal(const TaskKey&, HostId, std::int32_t) override {}
  void recall(HostId, std::span<const TaskKey>) override {}
  void acknowledge(HostId, std::uint64_t receipt) override {
    notes_.acknowledged.push_back(receipt);
  }
  Result<> poll(std::vector<News>& news) override {
    std::ranges::move(std::exchange(notes_.news, {}), std::back_inserter(news));
    return {};
  }
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {ready_.fd()}; }
  bool close(std::vector<News>&) override {
    if (notes_.closes) notes_.closes();
    notes_.closed = notes_.turns_to_close == 0 || --notes_.turns_to_close == 0;
    return notes_.closed;
  }

  [[nodiscard]] bool expects_hosts(const Resources&) const override { return true; }
  [[nodiscard]] bool has_given_up() const override { return notes_.given_up; }
  void want(std::uint64_t cores, const std::set<HostId>&) override { notes_.wanted = cores; }
  void glance(std::vector<HostGlance>& hosts) const override { hosts.push_back({.id = HostId(9)}); }

 private:
  Notes& notes_;
  ReadySet ready_;
};

/// Carries nothing.
class NotedMover final : public Mover {
 public:
  explicit NotedMover(Notes& notes) : notes_(notes) {}
  TransferId put(const Put&) override { return TransferId(1); }
  TransferId get(const Get&) override { return TransferId(1); }
  TransferId drop(const Digest&) override { return TransferId(1); }
  TransferId verify(const Digest&) override { return TransferId(1); }
  TransferId remove(const std::string&) override { return TransferId(1); }
  void cancel(TransferId) override {}
  bool probe(std::uint64_t bytes) override {
    notes_.probed += bytes;
    return true;
  }
  Result<> poll(std::vector<MoverEvent>&) override { return {}; }
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {}; }
  bool close() override { return true; }

 private:
  Notes& notes_;
};

constexpr SiteId kLab(1);
constexpr SiteId kCluster(2);
constexpr TimePoint kNow{std::chrono::seconds(1)};

SiteParts site(SiteId id, std::uint32_t host, Notes& notes) {
  SiteParts parts{.facts = {.id = id, .name = "site"}, .hosts = {HostId(host)}};
  auto launcher = std::make_unique<NotedLauncher>(notes);
  NotedLauncher* made = launcher.get();
  parts.launch = {std::move(launcher), made, made};
  if (id != kHome) parts.mover = std::make_unique<NotedMover>(notes);
  return parts;
}

ReportReceived report(std::uint32_t task, std::uint64_t receipt) {
  ReportReceived received;
  received.report.key = {RunId(1), TaskId(task), AttemptId(1)};
  received.receipt = receipt;
  return received;
}

struct NotedGrid {
  Notes home;
  Notes lab;
  std::unique_ptr<Sites> sites;
  NotedGrid() {
    std::vector<SiteParts> others;
    others.push_back(site(kLab, 2, lab));
    sites = std::make_unique<Sites>(site(kHome, 1, home), HomeUse::runs_tasks, std::move(others));
    EXPECT_TRUE(sites->open(Leftovers::possible, kNow).value());
  }
  std::vector<News> poll() const {
    std::vector<News> news;
    EXPECT_TRUE(sites->poll(kNow, news));
    return news;
  }
};

TEST(Sites, ASiteThatIsAddedIsOpenedAndHeard) {
  NotedGrid grid;
  Notes cluster;
  grid.sites->add(site(kCluster, 3, cluster));
  EXPECT_TRUE(cluster.opened);
  cluster.news.emplace_back(HostUp{{HostId(3), "c", 4, 0, kCluster}});
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.sites->want(7);
  EXPECT_EQ(cluster.wanted, 7U);
}

TEST(Sites, OnesThatHangAreWaitedForOnlySoLong) {
  Notes home;
  Notes lab;
  lab.turns_to_open = 1000;
  home.news.emplace_back(HostUp{{HostId(1), "here", 1, 0, kHome}});
  std::vector<SiteParts> others;
  others.push_back(site(kLab, 2, lab));
  Sites sites(site(kHome, 1, home), HomeUse::runs_tasks, std::move(others));
  const auto is_open = [&](Leftovers leftovers, int seconds) {
    return sites.open(leftovers, kNow + std::chrono::seconds(seconds)).value();
  };
  EXPECT_FALSE(is_open(Leftovers::none, 0));
  EXPECT_FALSE(is_open(Leftovers::none, 6)) << "nobody is there yet";
  std::vector<News> news;
  ASSERT_TRUE(sites.poll(kNow, news));
  EXPECT_FALSE(is_open(Leftovers::none, 4));
  EXPECT_TRUE(is_open(Leftovers::none, 6));
  EXPECT_FALSE(is_open(Leftovers::possible, 19)) << "something of an earlier run may be there";
  EXPECT_TRUE(is_open(Leftovers::possible, 21));
}

TEST(Sites, EventsBearOurTimeAndNoneComesFromTheFuture) {
  NotedGrid grid;
  const TimePoint later = kNow + std::chrono::hours(1);
  grid.lab.news.emplace_back(AttemptStarted{{RunId(1), TaskId(1), AttemptId(1)}, HostId(2), later});
  grid.lab.news.emplace_back(HostLoaded{.host = HostId(2), .share = 1, .at = from_ns(5)});
  const auto news = grid.poll();
  ASSERT_THAT(news, SizeIs(2));
  EXPECT_EQ(find_in<AttemptStarted>(news[0])->at, kNow);
  EXPECT_EQ(find_in<HostLoaded>(news[1])->at, from_ns(5));
  EXPECT_EQ(find_in<HostLoaded>(news[1])->heard, kNow);
}

TEST(Sites, ALinkIsProbedByWhoeverHasIt) {
  NotedGrid grid;
  grid.sites->probe(kLab, 5);
  EXPECT_EQ(grid.lab.probed, 5U);
  grid.sites->leave(kLab);
  grid.sites->probe(kLab, 7);
  EXPECT_EQ(grid.lab.probed, 5U);
  EXPECT_EQ(grid.home.probed, 0U);
}

TEST(Sites, ASiteThatRestsIsAskedForNoHosts) {
  NotedGrid grid;
  grid.sites->rest(kLab);
  grid.sites->want(7);
  EXPECT_EQ(grid.lab.wanted, 0U);
  EXPECT_EQ(grid.home.wanted, 7U);
}

TEST(Sites, SitesCloseTogether) {
  NotedGrid grid;
  Notes cluster;
  grid.sites->add(site(kCluster, 3, cluster));
  std::string turns;
  grid.lab.turns_to_close = cluster.turns_to_close = 3;
  grid.lab.closes = [&] { turns += "l"; };
  cluster.closes = [&] { turns += "c"; };
  std::vector<News> last;
  grid.sites->close(last);
  EXPECT_EQ(turns, "lclclc") << "nobody waits for one of them";
  EXPECT_TRUE(grid.home.closed && grid.lab.closed && cluster.closed);
}

TEST(Sites, AJobOfASiteThatLeavesIsNotWaitedFor) {
  NotedGrid grid;
  Host job;
  job.id = HostId(2);
  grid.lab.news.emplace_back(HostQueued{job, from_ns(1)});
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.sites->leave(kLab);
  const auto events = grid.poll();
  ASSERT_THAT(events, SizeIs(1));
  const auto* awaited = find_in<HostQueued>(events.front());
  ASSERT_NE(awaited, nullptr);
  EXPECT_EQ(awaited->host.id, HostId(2));
  EXPECT_EQ(awaited->since, kNever);
}

TEST(Sites, ASiteThatLeavesIsClosedAndItsHostsVanishWithoutAWord) {
  NotedGrid grid;
  grid.lab.news.emplace_back(HostUp{{HostId(2), "a", 4, 0, kLab}});
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.lab.turns_to_close = 2;
  grid.sites->leave(kLab);
  const auto events = grid.poll();
  EXPECT_FALSE(grid.lab.gone) << "nobody waits until it is closed";
  ASSERT_THAT(events, SizeIs(1));
  const auto* vanished = find_in<HostDown>(events.front());
  ASSERT_NE(vanished, nullptr);
  EXPECT_EQ(vanished->host, HostId(2));
  EXPECT_EQ(vanished->why, "");
  EXPECT_THAT(grid.poll(), IsEmpty());
  EXPECT_TRUE(grid.lab.closed && grid.lab.gone);
  Glance glance;
  grid.sites->glance(glance);
  EXPECT_THAT(glance.hosts, SizeIs(1)) << "home's";
  // What nobody should ask any more does no harm.
  grid.sites->leave(kLab);
  grid.sites->drop(FileId(0), kLab);
  grid.sites->want(3);
  grid.sites->bring({FileId(0), kHome, kLab}, {});
  const auto answer = grid.poll();
  ASSERT_THAT(answer, SizeIs(1));
  EXPECT_NE(find_in<MoveFailed>(answer.front()), nullptr);
  std::vector<News> last;
  grid.sites->close(last);
}

TEST(Sites, ReportsOfTheOthersAreAcknowledgedAfterOneHasLeft) {
  NotedGrid grid;
  grid.home.news.emplace_back(report(1, 10));
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.lab.news.emplace_back(report(2, 20));
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.sites->leave(kLab);
  grid.home.news.emplace_back(report(3, 11));
  const auto events = grid.poll();
  ASSERT_THAT(events, SizeIs(1));
  grid.sites->acknowledge(std::get<ReportReceived>(events.front()).receipt);
  EXPECT_THAT(grid.home.acknowledged, ElementsAre(11U));
  EXPECT_THAT(grid.lab.acknowledged, IsEmpty());
}

TEST(Sites, HostsAreGivenUpWhenNoSiteIsLeftThatMayLendAny) {
  Notes home;
  Notes lab;
  Notes cluster;
  std::vector<SiteParts> others;
  others.push_back(site(kLab, 1, lab));
  others.push_back(site(kCluster, 2, cluster));
  const auto sites =
      std::make_unique<Sites>(site(kHome, 3, home), HomeUse::only_listens, std::move(others));
  ASSERT_TRUE(sites->open(Leftovers::possible, kNow));
  cluster.given_up = true;
  EXPECT_FALSE(sites->has_given_up());  // the lab may come back
  sites->rest(kLab);
  EXPECT_TRUE(sites->has_given_up());
  sites->leave(kLab);
  EXPECT_TRUE(sites->has_given_up());
  sites->rest(kCluster);  // a person did: whoever drains all sites may add others
  EXPECT_FALSE(sites->has_given_up());
}

}  // namespace
}  // namespace gantry
