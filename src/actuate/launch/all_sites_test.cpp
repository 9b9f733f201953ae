#include "actuate/launch/all_sites.hpp"

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
  std::vector<News> events;  ///< to be told at the next poll
  std::vector<std::uint64_t> acknowledged;
  std::uint64_t wanted = 0;
  std::uint64_t probed = 0;  ///< bytes
  bool opened = false;
  bool closed = false;
  bool gone = false;
  bool given_up = false;
  int turns_to_wind_up = 0;
  int turns_to_settle = 0;
  std::function<void()> winds_up{};
};

class NotedLauncher final : public Launcher {
 public:
  explicit NotedLauncher(Notes& notes) : notes_(notes) {}
  ~NotedLauncher() override { notes_.gone = true; }
  NotedLauncher(const NotedLauncher&) = delete;
  NotedLauncher& operator=(const NotedLauncher&) = delete;

  Result<> open() override {
    notes_.opened = true;
    return {};
  }
  void want(std::uint64_t cores) override { notes_.wanted = cores; }
  bool probe(SiteId, std::uint64_t bytes) override {
    notes_.probed += bytes;
    return true;
  }
  [[nodiscard]] bool expects_hosts(const Resources&) const override { return true; }
  [[nodiscard]] bool settled() const override {
    return notes_.turns_to_settle == 0 || --notes_.turns_to_settle == 0;
  }
  [[nodiscard]] bool has_given_up() const override { return notes_.given_up; }
  void start(const TaskKey&, HostId, const Task&, const Fingerprint&,
             const std::vector<TaskFile>&) override {}
  void cancel(const TaskKey&, HostId) override {}
  void recall(HostId) override {}
  void acknowledge(std::uint64_t receipt) override { notes_.acknowledged.push_back(receipt); }
  Result<> poll(std::vector<News>& events) override {
    std::ranges::move(std::exchange(notes_.events, {}), std::back_inserter(events));
    return {};
  }
  void glance(Glance& glance) const override { glance.hosts.push_back({.id = HostId(9)}); }
  [[nodiscard]] int wait_fd() const override { return ready_.fd(); }
  [[nodiscard]] bool wants_to_send() const override { return false; }
  bool wind_up() override {
    if (notes_.winds_up) notes_.winds_up();
    return notes_.turns_to_wind_up == 0 || --notes_.turns_to_wind_up == 0;
  }
  void close() override { notes_.closed = true; }

 private:
  Notes& notes_;
  ReadySet ready_;
};

constexpr SiteId kLab(1);
constexpr SiteId kCluster(2);

OtherSite site(SiteId id, std::uint32_t host, Notes& notes) {
  return {id, "site", {HostId(host)}, std::make_unique<NotedLauncher>(notes)};
}

ReportReceived report(std::uint32_t task, std::uint64_t receipt) {
  ReportReceived received;
  received.report.key = {RunId(1), TaskId(task), AttemptId(1)};
  received.receipt = receipt;
  return received;
}

struct Grid {
  Notes home;
  Notes lab;
  std::unique_ptr<ManySites> sites;
  Grid() {
    std::vector<OtherSite> others;
    others.push_back(site(kLab, 2, lab));
    sites = make_all_sites(std::make_unique<NotedLauncher>(home), true, std::move(others));
    EXPECT_TRUE(sites->open());
  }
  std::vector<News> poll() const {
    std::vector<News> events;
    EXPECT_TRUE(sites->poll(events));
    return events;
  }
};

TEST(AllSites, ASiteThatIsAddedIsOpenedAndHeard) {
  Grid grid;
  Notes cluster;
  grid.sites->add(site(kCluster, 3, cluster));
  EXPECT_TRUE(cluster.opened);
  cluster.events.emplace_back(HostUp{{HostId(3), "c", 4, 0, kCluster}});
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.sites->want(7);
  EXPECT_EQ(cluster.wanted, 7U);
}

TEST(AllSites, WhereNothingCanBeLeftOneThatHangsKeepsNobodyWaiting) {
  Notes home;
  Notes lab;
  lab.turns_to_settle = 120;  // a tenth of a second each
  home.events.emplace_back(HostUp{{HostId(1), "here", 1, 0, kHome}});
  std::vector<OtherSite> others;
  others.push_back(site(kLab, 2, lab));
  const auto sites = make_all_sites(std::make_unique<NotedLauncher>(home), true, std::move(others));
  sites->expect_nothing();
  EXPECT_TRUE(sites->open());
  EXPECT_GT(lab.turns_to_settle, 0);
}

TEST(AllSites, ALinkIsProbedByWhoeverHasIt) {
  Grid grid;
  grid.sites->probe(kLab, 5);
  EXPECT_EQ(grid.lab.probed, 5U);
  grid.sites->leave(kLab);
  grid.sites->probe(kLab, 7);
  EXPECT_EQ(grid.lab.probed, 5U);
  EXPECT_EQ(grid.home.probed, 0U);
}

TEST(AllSites, ASiteThatRestsIsAskedForNoHosts) {
  Grid grid;
  grid.sites->rest(kLab);
  grid.sites->want(7);
  EXPECT_EQ(grid.lab.wanted, 0U);
  EXPECT_EQ(grid.home.wanted, 7U);
}

TEST(AllSites, SitesWindUpTogether) {
  Grid grid;
  Notes cluster;
  grid.sites->add(site(kCluster, 3, cluster));
  std::string turns;
  grid.lab.turns_to_wind_up = cluster.turns_to_wind_up = 3;
  grid.lab.winds_up = [&] { turns += "l"; };
  cluster.winds_up = [&] {
    turns += "c";
    EXPECT_FALSE(grid.lab.closed) << "nobody waits for one of them";
  };
  grid.sites->close();
  EXPECT_EQ(turns, "lclclc");
  EXPECT_TRUE(grid.home.closed && grid.lab.closed && cluster.closed);
}

TEST(AllSites, AJobOfASiteThatLeavesIsNotWaitedFor) {
  Grid grid;
  Host job;
  job.id = HostId(2);
  grid.lab.events.emplace_back(HostQueued{job, from_ns(1)});
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.sites->leave(kLab);
  const auto events = grid.poll();
  ASSERT_THAT(events, SizeIs(1));
  const auto* awaited = find_in<HostQueued>(events.front());
  ASSERT_NE(awaited, nullptr);
  EXPECT_EQ(awaited->host.id, HostId(2));
  EXPECT_EQ(awaited->since, kNever);
}

TEST(AllSites, ASiteThatLeavesIsClosedAndItsHostsVanishWithoutAWord) {
  Grid grid;
  grid.lab.events.emplace_back(HostUp{{HostId(2), "a", 4, 0, kLab}});
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.sites->leave(kLab);
  EXPECT_TRUE(grid.lab.closed);
  EXPECT_TRUE(grid.lab.gone);
  const auto events = grid.poll();
  ASSERT_THAT(events, SizeIs(1));
  const auto* vanished = find_in<HostDown>(events.front());
  ASSERT_NE(vanished, nullptr);
  EXPECT_EQ(vanished->host, HostId(2));
  EXPECT_EQ(vanished->why, "");
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
  grid.sites->close();
}

TEST(AllSites, ReportsOfTheOthersAreAcknowledgedAfterOneHasLeft) {
  Grid grid;
  grid.home.events.emplace_back(report(1, 10));
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.lab.events.emplace_back(report(2, 20));
  EXPECT_THAT(grid.poll(), SizeIs(1));
  grid.sites->leave(kLab);
  grid.home.events.emplace_back(report(3, 11));
  const auto events = grid.poll();
  ASSERT_THAT(events, SizeIs(1));
  grid.sites->acknowledge(std::get<ReportReceived>(events.front()).receipt);
  EXPECT_THAT(grid.home.acknowledged, ElementsAre(11U));
  EXPECT_THAT(grid.lab.acknowledged, IsEmpty());
}

TEST(AllSites, HostsAreGivenUpWhenNoSiteIsLeftThatMayLendAny) {
  Notes home;
  Notes lab;
  Notes cluster;
  std::vector<OtherSite> others;
  others.push_back(site(kLab, 1, lab));
  others.push_back(site(kCluster, 2, cluster));
  const auto sites =
      make_all_sites(std::make_unique<NotedLauncher>(home), false, std::move(others));
  ASSERT_TRUE(sites->open());
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
