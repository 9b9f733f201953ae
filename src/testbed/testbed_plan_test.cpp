#include "testbed/testbed_plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

namespace gantry::testbed {
namespace {

TestbedSpec plan_spec() {
  return {
      "lab",
      "",
      {{"s1", SiteVia::ssh, 2, {{"s1h1", 0.5}, {"s1h2", 0.25}}, 8e6, std::chrono::milliseconds(20)},
       {"s2", SiteVia::slurm, 1, {{"s2h1", 1}}, 1e9, {}}}};
}

std::vector<std::string> lines_of(const std::vector<Argv>& commands) {
  std::vector<std::string> lines;
  for (const auto& argv : commands) lines.push_back(fmt::format("{}", fmt::join(argv, " ")));
  return lines;
}

TEST(TestbedPlan, GivesNamesAndAddresses) {
  const auto plan = make_testbed_plan(plan_spec(), "10.231");
  EXPECT_EQ(plan.core, "gantry-lab-core");
  EXPECT_EQ(plan.home_address, "10.231.0.1");
  ASSERT_EQ(plan.sites.size(), 2U);
  EXPECT_EQ(plan.sites[1].netns, "gantry-lab-s2");
  EXPECT_EQ(plan.sites[1].gateway, "10.231.2.1");
  // The first four addresses join home and the core, the next four the first site and the core.
  EXPECT_EQ(plan.sites[1].core_end, "10.231.0.9");
  EXPECT_EQ(plan.sites[1].site_end, "10.231.0.10");
  const HostPlan& host = plan.sites[0].hosts[1];
  EXPECT_EQ(host.address, "10.231.1.12");
  EXPECT_EQ(host.netns, "gantry-lab-s1h2");
  EXPECT_DOUBLE_EQ(host.cores, 2 * 0.25);  // slots x speed
}

TEST(TestbedPlan, NoAddressIsGivenTwiceInTheLargest) {
  TestbedSpec spec{"all", "", {}};
  for (int i = 0; i < 60; ++i) {
    TestbedSite site{fmt::format("s{}", i), SiteVia::ssh, 1, {}, 1e6, {}};
    for (int j = 0; j < (i == 59 ? 200 : 2); ++j)
      site.hosts.push_back({fmt::format("s{}h{}", i, j), 1});
    spec.sites.push_back(std::move(site));
  }
  const auto plan = make_testbed_plan(spec, "10.1");
  std::set<std::string> seen{plan.home_address, plan.core_address};
  std::size_t given = 2;
  for (const auto& site : plan.sites) {
    seen.insert({site.gateway, site.core_end, site.site_end});
    given += 3 + site.hosts.size();
    for (const auto& host : site.hosts) seen.insert(host.address);
  }
  EXPECT_EQ(seen.size(), given);
  EXPECT_EQ(plan.sites[59].site_end, "10.1.0.242");
  EXPECT_EQ(plan.sites[59].hosts[199].address, "10.1.60.210");
}

TEST(TestbedPlan, CommandsMakeNamespacesBeforeTheyUseThem) {
  const auto commands = network_commands(make_testbed_plan(plan_spec(), "10.231"));
  std::set<std::string> made;
  for (const auto& argv : commands) {
    if (argv[1] == "netns" && argv[2] == "add") {
      EXPECT_TRUE(made.insert(argv[3]).second);
    }
    for (const auto& word : argv) {
      if (word.starts_with("gantry-lab-")) {
        EXPECT_TRUE(made.contains(word)) << word;
      }
    }
  }
  EXPECT_EQ(made.size(), 6U);  // the core, two sites, three hosts
}

TEST(TestbedPlan, LinksHaveTheirRateInBothDirections) {
  const auto lines = lines_of(network_commands(make_testbed_plan(plan_spec(), "10.231")));
  // 8 MB/s: the bucket holds 10 ms of it, the queue 100 ms more. A slow link's bucket holds a
  // packet of any size.
  EXPECT_THAT(lines,
              testing::IsSupersetOf(
                  {"tc -n gantry-lab-core qdisc replace dev to-s1 root tbf rate 8000000bps "
                   "burst 80000b limit 880000b",
                   "tc -n gantry-lab-s1 qdisc replace dev wan root tbf rate 8000000bps burst "
                   "80000b limit 880000b"}));
}

TEST(TestbedPlan, APlugIsAPortOfTheSitesBridge) {
  const auto plan = make_testbed_plan(plan_spec(), "10.231");
  const auto place = find_host(plan, "s1h2");
  ASSERT_TRUE(place);
  EXPECT_EQ(lines_of({plug_command(*place->site, *place->host, false)})[0],
            "ip -n gantry-lab-s1 link set h2 down");
}

TEST(TestbedPlan, UnknownNamesAreAnsweredWithNearOnes) {
  const auto plan = make_testbed_plan(plan_spec(), "10.231");
  EXPECT_EQ(find_host(plan, "s1h").error().hint, "did you mean 's1h1'?");
  EXPECT_EQ(find_site(plan, "zzzzz").error().hint, "the sites are s1, s2");
}

}  // namespace
}  // namespace gantry::testbed
