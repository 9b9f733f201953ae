#include "spec/grid_file.hpp"

#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"
#include "spec/mistake_fixture.hpp"

namespace gantry::spec {
namespace {

TEST(GridFile, ReadsSitesHostsAndLinks) {
  const auto grid = parse_grid(R"(
sites:
  lab:
    hosts: 8
    slots: 4
    speed: 1.5
    memory: 16 GiB
    depot: 100GB
    link: {bandwidth: 10 MB/s, latency: 20ms}
  home: {hosts: 1}
  cluster:
    speed: 3
    hosts:
      - {count: 16, queue_wait: 10m, lent_for: 1h}
      - {name: big, slots: 64, speed: 2}
    link: {bandwidth: 100 Mbit/s, sharing: fair, probe: 5s}
links:
  - {between: [lab, cluster], bandwidth: 1 GB/s, streams: 4}
)",
                               "g.yaml", "/tmp");
  ASSERT_TRUE(grid) << grid.error().message;
  ASSERT_EQ(grid->sites.size(), 3U);
  EXPECT_EQ(grid->sites[0].name, "home");
  EXPECT_EQ(grid->sites[0].hosts.at(0).count, 1U);

  const auto& lab = grid->sites[1];
  EXPECT_EQ(lab.name, "lab");
  EXPECT_EQ(lab.depot, 100'000'000'000U);
  ASSERT_EQ(lab.hosts.size(), 1U);
  EXPECT_EQ(lab.hosts[0].name, "lab-");
  EXPECT_EQ(lab.hosts[0].count, 8U);
  EXPECT_EQ(lab.hosts[0].slots, 4U);
  EXPECT_EQ(lab.hosts[0].speed, 1.5);
  EXPECT_EQ(lab.hosts[0].memory, std::uint64_t{16} << 30);

  const auto& cluster = grid->sites[2];
  ASSERT_EQ(cluster.hosts.size(), 2U);
  EXPECT_EQ(cluster.hosts[0].name, "cluster-1");
  EXPECT_EQ(cluster.hosts[0].speed, 3.0);  // the site's, unless a host says otherwise
  EXPECT_EQ(cluster.hosts[0].queue_wait, std::chrono::minutes(10));
  EXPECT_EQ(cluster.hosts[0].lent_for, std::chrono::hours(1));
  EXPECT_EQ(cluster.hosts[1].name, "big");
  EXPECT_EQ(cluster.hosts[1].slots, 64U);
  EXPECT_EQ(cluster.hosts[1].speed, 2.0);

  ASSERT_EQ(grid->links.size(), 3U);
  EXPECT_EQ(grid->links[0].from, 0U);
  EXPECT_EQ(grid->links[0].to, 1U);
  EXPECT_EQ(grid->links[0].bandwidth, 10e6);
  EXPECT_EQ(grid->links[0].latency, std::chrono::milliseconds(20));
  EXPECT_EQ(grid->links[0].sharing, LinkSharing::fifo);
  EXPECT_EQ(grid->links[0].probe_after, kProbeAfter);
  EXPECT_EQ(grid->links[1].bandwidth, 12.5e6);
  EXPECT_EQ(grid->links[1].probe_after, std::chrono::seconds(5));
  EXPECT_EQ(grid->links[1].sharing, LinkSharing::fair);
  EXPECT_EQ(grid->links[2].from, 1U);
  EXPECT_EQ(grid->links[2].to, 2U);
  EXPECT_EQ(grid->links[2].streams, 4U);
}

TEST(GridFile, FindsTracesBesideTheFile) {
  ScratchDir dir;
  ASSERT_TRUE(write_file_atomic(dir / "cpu.csv", "0,1\n"));
  ASSERT_TRUE(
      write_file_atomic(dir / "g.yaml", "sites: {home: {hosts: 2, availability: cpu.csv}}\n"));
  const auto grid = load_grid(dir / "g.yaml");
  ASSERT_TRUE(grid) << grid.error().message;
  EXPECT_EQ(grid->sites[0].hosts.at(0).availability, (dir / "cpu.csv").string());
}

TEST(GridFile, KnowsClustersAndTheJobsThatAreTheirHosts) {
  const auto grid = parse_grid(
      "sites:\n"
      "  c: {via: slurm, login: head, partition: 'a,b', account: phys, walltime: 1h, pilots: 3, "
      "idle: 90s,\n"
      "      slots: 4, speed: 2, user: me, directives: [--mem=4G, '-C fast']}\n"
      "  g: {via: sge, login: g1, queue: all.q}\n",
      "g.yaml", "/tmp");
  ASSERT_TRUE(grid) << grid.error().message;
  const GridSite& slurm = grid->sites[1];
  EXPECT_EQ(slurm.access, SiteAccess::slurm);
  EXPECT_EQ(slurm.batch.login, "head");
  EXPECT_EQ(slurm.batch.queue, "a,b");
  EXPECT_EQ(slurm.batch.account, "phys");
  EXPECT_EQ(slurm.batch.walltime, std::chrono::hours(1));
  EXPECT_EQ(slurm.batch.idle, std::chrono::seconds(90));
  EXPECT_EQ(slurm.batch.directives, (std::vector<std::string>{"--mem=4G", "-C fast"}));
  EXPECT_EQ(slurm.scratch, "~/.gantry-site");
  EXPECT_EQ(slurm.user, "me");
  ASSERT_EQ(slurm.hosts.size(), 1U);
  EXPECT_EQ(slurm.hosts[0].count, 3U);
  EXPECT_EQ(host_name(slurm.hosts[0], 2), "c-3");
  EXPECT_EQ(slurm.hosts[0].slots, 4U);
  EXPECT_EQ(slurm.hosts[0].lent_for, std::chrono::hours(1));
  const GridSite& sge = grid->sites[2];
  EXPECT_EQ(sge.access, SiteAccess::sge);
  EXPECT_EQ(sge.batch.queue, "all.q");
  EXPECT_EQ(sge.batch.idle, std::chrono::minutes(1));
  EXPECT_EQ(host_name(sge.hosts.at(0), 0), "g-1");
  EXPECT_EQ(sge.hosts[0].slots, 1U);
  EXPECT_TRUE(sge.hosts[0].slots_declared);
}

TEST(GridFile, FilesMayBeThereAlready) {
  const auto grid = parse_grid(
      "sites: {a: {via: ssh, hosts: [x], staged: {data/g.fa: /data/g.fa, sets/: /s, /abs: /b}}}",
      "g.yaml", "/study");
  ASSERT_TRUE(grid) << grid.error().message;
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(grid->sites[1].staged,
            (Pairs{{"/study/data/g.fa", "/data/g.fa"}, {"/study/sets", "/s"}, {"/abs", "/b"}}));
  for (const char* there : {"relative", "/a/../b", "/a/", "/", "\"/a\\nb\"", "-x", "[x]"})
    EXPECT_FALSE(parse_grid(
        std::string("sites: {a: {via: ssh, hosts: [x], staged: {f: ") + there + "}}}", "g", "/"))
        << there;
  EXPECT_FALSE(parse_grid("sites: {home: {hosts: 1, staged: {f: /f}}}", "g.yaml", "/"));
}

TEST(GridFile, SaysWhatIsWrongWithACluster) {
  struct Wrong {
    std::string site;
    std::string where;  ///< what the message points at
    std::string message;
    std::string hint{};
  };
  const std::string before = "sites: {c: ";
  for (const Wrong& wrong : std::vector<Wrong>{
           {"{via: pbs}", "pbs", "'via' must be 'ssh', 'slurm' or 'sge'"},
           {"{via: slurm, login: -oProxyCommand=x}", "-oProxyCommand=x",
            "'-oProxyCommand=x' cannot be the name of a host"},
           {"{via: slurm, login: h, queue: all.q}", "all.q", "Slurm has partitions",
            "say partition: NAME"},
           {"{via: sge, login: h, partition: all.q}", "all.q", "Grid Engine has queues",
            "say queue: NAME"},
           {"{via: slurm, login: h, partition: -x}", "-x", "'-x' cannot be used as 'partition'"},
           {"{via: slurm, login: h, account: a b}", "a b", "'a b' cannot be used as 'account'"},
           {"{via: slurm, login: h, walltime: 1s}", "1s", "a walltime is at least a minute"},
           {"{via: slurm, login: h, idle: 10ms}", "10ms", "'idle' is at least a second"},
           {"{via: slurm, login: h, mode: array}", "array", "'mode' must be 'pilots' or 'jobs'"},
           {"{via: slurm, login: h, jobs: 5}", "5", "'jobs' does not apply in mode 'pilots'"},
           {"{via: slurm, login: h, mode: jobs, pilots: 2}", "2",
            "'pilots' does not apply in mode 'jobs'"},
           {"{via: slurm, login: h, mode: jobs, rate: 0}", "0", "'rate' must be"},
           {"{via: slurm, login: h, pilots: 500, nodes: 3}", "3", "'nodes' must be"},
           {"{via: slurm, login: h, hosts: 2}", "2", "a batch system chooses its hosts itself"},
           {"{via: slurm, login: h, pilots: 0}", "0", "'pilots' must be"},
           {"{via: slurm, login: h, directives: [x]}", "x]", "'x' is not an option of sbatch"},
           {"{via: sge, login: h, directives: [\"-l\\nx\"]}", "\"-l",
            "'-l\nx' is not an option of qsub"},
           {"{via: ssh, hosts: [h], pilots: 2}", "2", "'pilots' needs a batch system",
            "add via: slurm or via: sge to site 'c'"}}) {
    const auto grid = parse_grid(before + wrong.site + "}", "g.yaml", "/tmp");
    ASSERT_FALSE(grid) << wrong.site;
    const auto column = before.size() + wrong.site.find(wrong.where) + 1;
    const std::string expected = "g.yaml:1:" + std::to_string(column) + ": " + wrong.message;
    EXPECT_TRUE(grid.error().message.starts_with(expected))
        << grid.error().message << "\nnot " << expected;
    EXPECT_TRUE(wrong.hint.empty() || grid.error().hint == wrong.hint) << grid.error().hint;
  }
}

TEST(GridFile, ABatchSystemMayBeOnThisMachine) {
  for (const std::string text : {"{via: slurm}", "{via: slurm, login: local}"}) {
    const auto grid = parse_grid("sites: {c: " + text + "}", "g.yaml", "/tmp");
    ASSERT_TRUE(grid) << grid.error().message;
    EXPECT_EQ(grid->sites[1].batch.login, "");
  }
}

TEST(GridFile, TasksMayBeJobs) {
  const auto grid = parse_grid(
      "sites:\n"
      "  c: {via: slurm, login: h, mode: jobs, slots: 4, jobs: 20, rate: 0.5}\n"
      "  d: {via: sge, login: h, mode: jobs}\n"
      "  e: {via: sge, login: h, mode: pilots, pilots: 3, nodes: 2, slots: 8}\n",
      "g.yaml", "/tmp");
  ASSERT_TRUE(grid) << grid.error().message;
  const GridSite& jobs = grid->sites[1];
  EXPECT_EQ(jobs.batch.jobs, 20U);
  EXPECT_EQ(jobs.batch.rate, 0.5);
  ASSERT_EQ(jobs.hosts.size(), 1U);
  EXPECT_EQ(host_name(jobs.hosts[0], 0), "c-jobs");
  EXPECT_EQ(jobs.hosts[0].slots, 80U);  // 20 jobs of 4 cores
  EXPECT_EQ(grid->sites[2].batch.jobs, 100U);
  EXPECT_EQ(grid->sites[2].batch.rate, 1);
  // Six jobs of one node each.
  EXPECT_EQ(grid->sites[3].batch.jobs, 0U);
  EXPECT_EQ(grid->sites[3].hosts[0].count, 6U);
  EXPECT_EQ(grid->sites[3].hosts[0].slots, 8U);
}

TEST(GridFile, AMachineMayBeUsedTwiceInTwoFoldersOrAsTwoUsers) {
  for (const std::string other : {"scratch: /b", "user: eve", "ssh_config: other"}) {
    const auto grid =
        parse_grid("sites: {a: {via: ssh, hosts: [x]}, b: {via: ssh, hosts: [x], " + other + "}}",
                   "g.yaml", "/tmp");
    EXPECT_TRUE(grid) << other << ": " << grid.error().message;
  }
}

class GridErrors : public ::testing::TestWithParam<Mistake> {};

TEST_P(GridErrors, Says) {
  const auto grid = parse_grid(GetParam().text, "g.yaml", "/tmp");
  ASSERT_FALSE(grid);
  EXPECT_EQ(grid.error().message, GetParam().message);
  EXPECT_EQ(grid.error().hint, GetParam().hint);
  EXPECT_EQ(grid.error().code, ErrorCode::usage);
}

INSTANTIATE_TEST_SUITE_P(
    Mistakes, GridErrors,
    ::testing::Values(
        Mistake{"[]", "g.yaml:1:1: a grid file is a map with the key sites:",
                "see docs/formats/grid.md for an example"},
        Mistake{"links: []", "g.yaml:1:1: there are no 'sites'", "add sites: {lab: {hosts: 4}}"},
        Mistake{"sites: {a: {}}", "g.yaml:1:9: no route from home to site 'a'",
                "add link: {bandwidth: 10MB/s} to it"},
        Mistake{"sites: {home: {}}", "g.yaml:1:8: no site has a host", "add hosts: 4 to a site"},
        Mistake{"sites: {home: {hosts: 0}}", "g.yaml:1:8: no site has a host",
                "add hosts: 4 to a site"},
        Mistake{"sites: {home: {hosts: 1, speed: 1e-308}}",
                "g.yaml:1:33: a speed must be from 1e-06 to 1000000",
                "1 is the speed that costs are given for; 2 is twice as fast"},
        Mistake{"sites: {home: {hosts: 1, speed: 1e308}}",
                "g.yaml:1:33: a speed must be from 1e-06 to 1000000",
                "1 is the speed that costs are given for; 2 is twice as fast"},
        Mistake{"sites: {home: {hosts: 1, speed: -1}}",
                "g.yaml:1:33: a speed must be greater than 0",
                "1 is the speed that costs are given for; 2 is twice as fast"},
        Mistake{"sites: {home: {hosts: 1, sped: 1}}",
                "g.yaml:1:26: unknown key 'sped' in site 'home'", "did you mean 'speed'?"},
        Mistake{"sites: {home: {hosts: 1}, 'a b': {}}",
                "g.yaml:1:28: 'a b' cannot be the name of a site",
                "use letters, digits, '-', '_' and '.', with a letter, digit or '_' first"},
        Mistake{"sites: {home: {hosts: 1}, lab: {link: {bandwidth: 1MB/s}}}\n"
                "links: [{between: [lab, hom], bandwidth: 1MB/s}]",
                "g.yaml:2:25: there is no site 'hom'", "did you mean 'home'?"},
        Mistake{"sites: {home: {hosts: 1}, lab: {link: {bandwidth: 1MB/s}}}\n"
                "links: [{between: [lab, home], bandwidth: 1MB/s}]",
                "g.yaml:2:9: a second link between 'home' and 'lab'",
                "raise 'streams' or 'bandwidth' of the first"},
        Mistake{"sites: {a: {hosts: 1, link: {bandwidth: 1MB/s, probe: 500ms}}}",
                "g.yaml:1:55: 'probe' must be a time from 1s on, or 'never', not '500ms'"},
        Mistake{"sites: {a: {hosts: 1, link: {bandwidth: 1MB/s}}, b: {hosts: 1}}\n"
                "links: [{between: [a, b], bandwidth: 1MB/s, probe: 5s}]",
                "g.yaml:2:52: only links to home are probed", "remove this 'probe'"},
        Mistake{"sites: {home: {hosts: 1}, a: {link: {bandwidth: 1MB/s, ssh: {a: x}}}}",
                "g.yaml:1:61: files go between home and a site by the site's 'via'",
                "give 'ssh' to a link between two other sites"},
        Mistake{"sites: {a: {via: ssh, hosts: [x]}, b: {via: ssh, hosts: [y]}}\n"
                "links: [{between: [a, b], bandwidth: 1MB/s, ssh: y}]",
                "g.yaml:2:50: 'ssh' must be a map like {b: NAME}: at b, `ssh NAME` logs in to a, "
                "not 'y'"},
        Mistake{"sites: {a: {via: ssh, hosts: [x]}, b: {via: ssh, hosts: [y]}}\n"
                "links: [{between: [a, b], bandwidth: 1MB/s, ssh: {c: y}}]",
                "g.yaml:2:51: this link does not join 'c'", "it joins a and b"},
        Mistake{"sites: {a: {via: ssh, hosts: [x]}, b: {via: ssh, hosts: [y]}}\n"
                "links: [{between: [a, b], bandwidth: 1MB/s, ssh: {a: -oProxyCommand=y}}]",
                "g.yaml:2:54: '-oProxyCommand=y' cannot be given to ssh",
                "a name that `ssh NAME` takes: NAME or user@NAME"},
        Mistake{"sites: {a: {via: ssh, hosts: [x]}, b: {hosts: 1, link: {bandwidth: 1MB/s}}}\n"
                "links: [{between: [a, b], bandwidth: 1MB/s, ssh: {a: y}}]",
                "g.yaml:2:51: nobody can log in at site 'b'",
                "sites that are really there have 'via'"},
        Mistake{"sites: {a: {via: ssh, hosts: [x, y, x]}}",
                "g.yaml:1:37: host 'x' appears in site 'a' twice",
                "raise its slots: to run more tasks there"},
        Mistake{"sites:\n  a: {via: ssh, hosts: [x, y]}\n  b:\n    via: ssh\n    hosts:\n"
                "      - z\n      - {name: y, slots: 4}\n",
                "g.yaml:7:9: host 'y' is used by site 'a' already",
                "name it in one site only, or give the sites different scratch: folders"},
        Mistake{"sites: {home: {hosts: 1}, lab: {link: {latency: 1s}}}",
                "g.yaml:1:39: this link has no 'bandwidth'", "add bandwidth: 10MB/s"},
        Mistake{"sites: {home: {hosts: 1, availability: no-such-trace}}",
                "g.yaml:1:40: there is no file /tmp/no-such-trace"}));

TEST(GridFile, SitesCanLogInToEachOther) {
  const auto grid = parse_grid(
      "sites: {a: {via: ssh, hosts: [x]}, b: {via: ssh, hosts: [y]}, c: {via: ssh, hosts: [z]}}\n"
      "links:\n"
      "  - {between: [b, a], bandwidth: 1MB/s, ssh: {a: me@y-inside, b: x}}\n"
      "  - {between: [b, c], bandwidth: 1MB/s, ssh: {c: y}}\n",
      "g.yaml", "/");
  ASSERT_TRUE(grid) << grid.error().message;
  const GridLink& both = grid->links[3];  // after the three to home
  EXPECT_EQ(both.from, 1U);
  EXPECT_EQ(both.to_at_from, "me@y-inside");
  EXPECT_EQ(both.from_at_to, "x");
  const GridLink& one = grid->links[4];
  EXPECT_EQ(one.to, 3U);
  EXPECT_EQ(one.to_at_from, "");
  EXPECT_EQ(one.from_at_to, "y");
}

TEST(GridFile, RefusesRatesThatAreNone) {
  for (const auto* rate : {"0MB/s", "-1MB/s", "10MB", "fast", "nan/s", "[]", "1e400MB/s"}) {
    const auto grid =
        parse_grid(std::string("sites: {home: {hosts: 1}, a: {link: {bandwidth: ") + rate + "}}}",
                   "g.yaml", "/");
    ASSERT_FALSE(grid) << rate;
    EXPECT_NE(grid.error().message.find("'bandwidth' must be an amount like 10 MB/s"),
              std::string::npos)
        << grid.error().message;
  }
}

}  // namespace
}  // namespace gantry::spec
