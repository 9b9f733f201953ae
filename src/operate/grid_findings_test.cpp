#include "operate/grid_findings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gantry::operate {
namespace {

using namespace std::chrono_literals;

struct Lab {
  Grid grid;
  SiteCheck check;

  Lab() {
    grid.sites.resize(2);
    grid.sites[1].name = "lab";
    grid.sites[1].scratch = "/s";
    grid.links = {{.from = 0, .to = 1, .bandwidth = 10e6}};
    check.site = 1;
    HostCheck host;
    host.name = "far";
    host.facts = HostFacts{.cores = 4,
                           .free_cores = 4,
                           .memory = 1,
                           .free_memory = 1,
                           .free_disk = 10'000'000'000,
                           .total_disk = 20'000'000'000};
    check.hosts.push_back(host);
    check.speed = {.to_site = 9e6, .from_site = 11e6};
  }
  [[nodiscard]] std::vector<Finding> found() const { return findings(grid, check); }
};

TEST(GridFindings, NothingIsSaidOfAHostThatIsWell) {
  EXPECT_TRUE(Lab().found().empty());
}

TEST(GridFindings, ASiteThatCannotLogInToAnotherGetsAdvice) {
  Lab lab;
  lab.check.pulls = {
      {"big", "big-login", "far", std::nullopt},
      {"small", "s1", "far", Error{ErrorCode::peer, "Permission denied (publickey).", "a key"}},
      {"odd", "s2", "far", Error{ErrorCode::peer, "it broke", ""}}};
  const auto found = lab.found();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_FALSE(found[0].is_problem);
  EXPECT_EQ(found[0].host, "far");
  EXPECT_EQ(found[0].what,
            "it cannot fetch files from site small; they will come from home (ssh s1: Permission "
            "denied (publickey).)");
  EXPECT_EQ(found[0].fix, "there: a key");
  EXPECT_EQ(found[1].fix, "there: make `ssh -o BatchMode=yes s2 true` work");
}

TEST(GridFindings, ALinkBetweenSitesMayBeOtherThanDeclared) {
  Lab lab;
  lab.grid.sites.emplace_back().name = "big";
  lab.grid.links.push_back({.from = 1, .to = 2, .bandwidth = 100e6});
  lab.check.pulls = {{"big", "big-login", "far", std::nullopt, 60e6}};
  EXPECT_TRUE(lab.found().empty());
  lab.check.pulls[0].bandwidth = 10e6;
  ASSERT_EQ(lab.found().size(), 1U);
  EXPECT_FALSE(lab.found()[0].is_problem);
  EXPECT_EQ(lab.found()[0].what, "files come from site big at 10 MB/s, but 100 MB/s is declared");
}

TEST(GridFindings, AClusterThatTakesNoJobs) {
  Lab lab;
  lab.grid.sites[1].access = SiteAccess::slurm;
  lab.grid.sites[1].batch.queue = "shrt";
  lab.grid.sites[1].batch.login = "far";
  lab.check.login = LoginCheck{.queues = {"long", "short"}};
  const auto only = [&] {
    EXPECT_FALSE(takes_jobs(lab.grid.sites[1], lab.check));
    const auto found = lab.found();
    EXPECT_EQ(found.size(), 1U);
    EXPECT_TRUE(found.at(0).is_problem);
    return found.at(0).what + "; " + found.at(0).fix;
  };
  EXPECT_EQ(only(), "there is no partition 'shrt'; did you mean 'short'?");
  lab.grid.sites[1].batch.queue = "short,long";
  EXPECT_TRUE(takes_jobs(lab.grid.sites[1], lab.check));
  lab.check.login->refused = "Invalid account";
  EXPECT_EQ(only(),
            "Slurm takes no job like this: Invalid account; correct partition, account, walltime, "
            "slots or directives");
  lab.check.login->missing = {"sbatch"};
  EXPECT_EQ(only().substr(0, 60), "sbatch is not there: it cannot submit jobs of Slurm; try `ss");
  lab.check.login_failure = Error{ErrorCode::peer, "it does not answer", "ssh far"};
  EXPECT_EQ(only(), "it does not answer; ssh far");
}

TEST(GridFindings, QueuesThatAreNotThere) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(unknown_queues("a.q@n1,b.q", {"a.q"}), Names{"b.q"});
  EXPECT_EQ(unknown_queues("a", {}), Names{}) << "nobody knows which there are";
  EXPECT_EQ(unknown_queues("", {"a"}), Names{}) << "the system's default";
}

TEST(GridFindings, AHostThatWasNotReachedIsAProblem) {
  Lab lab;
  lab.check.hosts[0].facts.reset();
  lab.check.hosts[0].failure = {ErrorCode::peer, "no way", "find one"};
  const auto found = lab.found();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_problem);
  EXPECT_EQ(found[0].what, "no way");
  EXPECT_EQ(found[0].fix, "find one");
}

TEST(GridFindings, AFullDiskIsAProblemAndAnAlmostFullOneAdvice) {
  Lab lab;
  lab.check.hosts[0].facts->free_disk = 0;
  ASSERT_EQ(lab.found().size(), 1U);
  EXPECT_TRUE(lab.found()[0].is_problem);
  lab.check.hosts[0].facts->free_disk = 1'000'000;
  ASSERT_EQ(lab.found().size(), 1U);
  EXPECT_FALSE(lab.found()[0].is_problem);
}

TEST(GridFindings, AClockOfTwoSecondsIsNearEnough) {
  Lab lab;
  lab.check.hosts[0].facts->clock_ahead = -2s;
  EXPECT_TRUE(lab.found().empty());
  lab.check.hosts[0].facts->clock_ahead = -7s;
  ASSERT_EQ(lab.found().size(), 1U);
  EXPECT_NE(lab.found()[0].what.find("7 s behind"), std::string::npos);
}

TEST(GridFindings, ABandwidthBetweenBothWaysIsRight) {
  Lab lab;
  lab.check.speed = {.to_site = 1e6, .from_site = 100e6};
  EXPECT_TRUE(lab.found().empty());
  lab.grid.links[0].bandwidth = 201e6;
  EXPECT_EQ(lab.found().size(), 1U);
  lab.grid.links[0].bandwidth = 0.49e6;
  EXPECT_EQ(lab.found().size(), 1U);
}

TEST(GridFindings, AHostThatSharesNothingIsAProblem) {
  Lab lab;
  lab.check.hosts[0].shares_scratch = false;
  ASSERT_EQ(lab.found().size(), 1U);
  EXPECT_TRUE(lab.found()[0].is_problem);
}

}  // namespace
}  // namespace gantry::operate
