#include "spec/testbed_file.hpp"

#include <gtest/gtest.h>

#include "spec/mistake_fixture.hpp"

namespace gantry::spec {
namespace {

TEST(TestbedFile, ReadsSitesHostsAndLinks) {
  const auto testbed = parse_testbed(R"(
name: lab
network: 10.231.0.0/16
sites:
  s1: {hosts: 2, slots: 2, speed: 0.5, link: {bandwidth: 8 MB/s, latency: 20ms}}
  s2:
    via: slurm
    hosts: [fast, {name: slow, speed: 0.1}, {speed: 0.2}]
    link: {bandwidth: 100 Mbit/s}
links: [{between: [s2, s1], bandwidth: 50 MB/s, latency: 2ms}]
)",
                                     "t.yaml");
  ASSERT_TRUE(testbed) << testbed.error().message;
  EXPECT_EQ(testbed->name, "lab");
  EXPECT_EQ(testbed->network, "10.231");
  ASSERT_EQ(testbed->sites.size(), 2U);
  const auto& first = testbed->sites[0];
  EXPECT_EQ(first.via, SiteVia::ssh);
  EXPECT_EQ(first.slots, 2U);
  ASSERT_EQ(first.hosts.size(), 2U);
  EXPECT_EQ(first.hosts[1].name, "s1h2");
  EXPECT_EQ(first.hosts[1].speed, 0.5);
  EXPECT_EQ(first.bandwidth, 8e6);
  EXPECT_EQ(first.latency, std::chrono::milliseconds(20));
  const auto& second = testbed->sites[1];
  EXPECT_EQ(second.via, SiteVia::slurm);
  EXPECT_EQ(second.bandwidth, 12.5e6);
  ASSERT_EQ(second.hosts.size(), 3U);
  EXPECT_EQ(second.hosts[0].name, "fast");
  EXPECT_EQ(second.hosts[1].speed, 0.1);
  EXPECT_EQ(second.hosts[2].name, "s2h3");
  ASSERT_EQ(testbed->links.size(), 1U);
  EXPECT_EQ(testbed->links[0].one, 1U);
  EXPECT_EQ(testbed->links[0].other, 0U);
  EXPECT_EQ(testbed->links[0].bandwidth, 50e6);
  EXPECT_EQ(testbed->links[0].latency, std::chrono::milliseconds(2));
}

class TestbedMistake : public testing::TestWithParam<Mistake> {};

TEST_P(TestbedMistake, IsRefusedWithItsPlace) {
  const auto testbed = parse_testbed(GetParam().text, "t.yaml");
  ASSERT_FALSE(testbed);
  EXPECT_EQ(testbed.error().message, GetParam().message);
  if (!GetParam().hint.empty()) {
    EXPECT_EQ(testbed.error().hint, GetParam().hint);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, TestbedMistake,
    testing::Values(
        Mistake{"[]", "t.yaml:1:1: a testbed file is a map with the key sites:"},
        Mistake{"name: x", "t.yaml:1:1: there are no 'sites'"},
        Mistake{"sites: {}", "t.yaml:1:8: 'sites' must be a map of names to sites, not a map"},
        Mistake{"site: {}", "t.yaml:1:1: unknown key 'site' in the testbed",
                "did you mean 'sites'?"},
        Mistake{"name: a-b\nsites: {}", "t.yaml:1:7: 'a-b' cannot be the name of a testbed"},
        Mistake{"network: 192.168.0.0/16\nsites: {}",
                "t.yaml:1:10: 'network' must be one like 10.231.0.0/16, not '192.168.0.0/16'"},
        Mistake{"sites: {home: {hosts: 1}}", "t.yaml:1:9: 'home' is taken"},
        Mistake{"sites:\n  toolongforahost: {hosts: 1}",
                "t.yaml:2:3: 'toolongforahost' cannot be the name of a site"},
        Mistake{"sites:\n  a: {via: pbs, hosts: 1}",
                "t.yaml:2:12: 'via' must be ssh, slurm or sge, not 'pbs'"},
        Mistake{"sites:\n  a: {link: {bandwidth: 1 MB/s}}", "t.yaml:2:3: site 'a' has no 'hosts'"},
        Mistake{"sites:\n  a: {hosts: 201}",
                "t.yaml:2:14: 'hosts' must be a whole number from 1 to 200, not '201'"},
        Mistake{"sites:\n  a: {hosts: [x, x]}", "t.yaml:2:18: a second 'x'"},
        Mistake{"sites:\n  a: {hosts: [a]}", "t.yaml:2:15: a second 'a'"},
        Mistake{"sites:\n  a: {hosts: [{speed: 0}]}",
                "t.yaml:2:23: 'speed' must be a number from 0.01 to 1"},
        Mistake{"sites:\n  a: {hosts: 1, link: {latency: 1s}}",
                "t.yaml:2:23: this link has no 'bandwidth'"},
        Mistake{"sites:\n  a: {hosts: 1, link: {bandwidth: 10 B/s}}",
                "t.yaml:2:35: 'bandwidth' must be an amount like 8 MB/s or 100 Mbit/s, 1 kB/s at "
                "least, not '10 B/s'"},
        Mistake{"sites:\n  a: {hosts: 1, link: {bandwidth: 1 MB/s, latency: 11s}}",
                "t.yaml:2:52: a latency is 10s at most"},
        Mistake{"sites:\n  a: {hosts: 1, link: {bandwidth: 1 MB/s}}\nlinks: [{between: [a, b]}]",
                "t.yaml:3:23: there is no site 'b'"},
        Mistake{"sites:\n  a: {hosts: 1, link: {bandwidth: 1 MB/s}}\nlinks: [{between: [a, a]}]",
                "t.yaml:3:19: a link joins two sites, and two sites have at most one"},
        Mistake{"sites:\n  a: {hosts: 1, link: {bandwidth: 1 MB/s}}\n"
                "  b: {hosts: 1, link: {bandwidth: 1 MB/s}}\nlinks: [{between: [a, b]}]",
                "t.yaml:4:9: this link has no 'bandwidth'"}));

}  // namespace
}  // namespace gantry::spec
