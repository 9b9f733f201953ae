// The small parts of a testbed that are pure: the delay of a link, loads, descriptions, texts.
#include <gmock/gmock.h>

#include "base/scratch_dir.hpp"
#include "testbed/batch_service.hpp"
#include "testbed/delay_line.hpp"
#include "testbed/grid_text.hpp"
#include "testbed/host_load.hpp"
#include "testbed/link_relay.hpp"
#include "testbed/sge_texts.hpp"
#include "testbed/ssh_service.hpp"
#include "testbed/system_tool.hpp"

namespace gantry::testbed {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(DelayLine, PacketsComeOutInOrderAfterTheLatency) {
  DelayLine line(milliseconds(20), 100);
  EXPECT_FALSE(line.next_due());
  EXPECT_TRUE(line.put(milliseconds(0), "first"));
  EXPECT_TRUE(line.put(milliseconds(5), "second"));
  EXPECT_EQ(line.next_due(), milliseconds(20));
  EXPECT_FALSE(line.take(milliseconds(19)));
  EXPECT_EQ(line.take(milliseconds(20)), "first");
  EXPECT_FALSE(line.take(milliseconds(24)));
  EXPECT_EQ(line.take(milliseconds(30)), "second");
}

TEST(DelayLine, DropsWhatIsTooMuch) {
  DelayLine line(milliseconds(1), 10);
  EXPECT_TRUE(line.put({}, "123456"));
  EXPECT_FALSE(line.put({}, "12345"));
  EXPECT_TRUE(line.take(milliseconds(1)));
  EXPECT_TRUE(line.put({}, "12345"));
  line.clear();
  EXPECT_FALSE(line.next_due());
  EXPECT_TRUE(line.put({}, "1234567890"));
}

TEST(HostLoad, IsMadeOfWholeProcessesAndARest) {
  EXPECT_TRUE(parts_of_load(0).empty());
  EXPECT_THAT(parts_of_load(0.5), testing::ElementsAre(0.5));
  EXPECT_THAT(parts_of_load(2.25), testing::ElementsAre(1, 1, 0.25));
}

TEST(CutLink, LastsAsLongAsToldOrForGood) {
  const ScratchDir dir;
  const auto file = dir / "s1.cut";
  EXPECT_FALSE(cut_left(file));
  ASSERT_TRUE(cut_link(file, std::nullopt));
  EXPECT_EQ(cut_left(file), Duration::max());
  ASSERT_TRUE(cut_link(file, std::chrono::hours(1)));
  EXPECT_LE(cut_left(file), std::chrono::hours(1));
  ASSERT_TRUE(cut_link(file, Duration{}));
  EXPECT_FALSE(cut_left(file));
  ASSERT_TRUE(mend_link(file));
  ASSERT_TRUE(mend_link(file));
}

TEST(Description, ComesBackAsItWas) {
  const TestbedSpec spec{
      "lab",
      "10.231",
      {{"s1", SiteVia::sge, 2, {{"s1h1", 0.5}, {"other", 0.25}}, 8e6, milliseconds(20)},
       {"s2", SiteVia::ssh, 1, {{"s2h1", 1}}, 8e6, {}}},
      {{0, 1, 5e7, milliseconds(1)}}};
  const auto back = parse_description(description_text(spec), "f");
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(description_text(*back), description_text(spec));
  EXPECT_EQ(back->sites[0].via, SiteVia::sge);
  EXPECT_EQ(back->sites[0].latency, milliseconds(20));
  TestbedSpec hostile = spec;
  hostile.name = "../../x";
  EXPECT_EQ(parse_description(description_text(hostile), "f").error().code, ErrorCode::corrupt);
  hostile = spec;
  hostile.sites[0].hosts[0].name = "..";
  EXPECT_EQ(parse_description(description_text(hostile), "f").error().code, ErrorCode::corrupt);
  hostile = spec;
  hostile.links[0].other = 2;
  EXPECT_EQ(parse_description(description_text(hostile), "f").error().code, ErrorCode::corrupt);
  EXPECT_EQ(parse_description("{}", "f").error().code, ErrorCode::corrupt);
  EXPECT_EQ(parse_description("{\"version\": 99}", "f").error().code, ErrorCode::version);
}

TEST(ChooseNetwork, TakesTheNextOneThatIsFree) {
  EXPECT_EQ(choose_network(54, [](const auto&) { return false; }), "10.254");
  EXPECT_EQ(choose_network(54, [](const auto& network) { return network == "10.254"; }), "10.200");
  EXPECT_EQ(choose_network(0, [](const auto&) { return true; }), "");
}

TEST(TestbedTexts, HomeChecksKeysAndServersTakeNoPasswords) {
  const TestbedSpec spec{
      "lab",
      "",
      {{"s1", SiteVia::ssh, 2, {{"s1h1", 0.5}, {"s1h2", 0.5}}, 2.5e6, milliseconds(20)},
       {"s2", SiteVia::ssh, 1, {{"s2h1", 0.5}, {"s2h2", 1}}, 123456, {}}}};
  const auto plan = make_testbed_plan(spec, "10.231");
  const TestbedFiles files{"/a folder/it's"};
  const auto client = ssh_config_text(plan, files);
  EXPECT_THAT(client, HasSubstr("Host s1h2\n  HostName 10.231.1.12\n"));
  EXPECT_THAT(client, HasSubstr("Host s1h1 s1h2 s2h1 s2h2\n  User root\n"));
  EXPECT_THAT(client, HasSubstr("IdentityFile \"/a folder/it's/id_ed25519\"\n"));
  EXPECT_THAT(client, HasSubstr("StrictHostKeyChecking yes\n"));
  const auto server = sshd_config_text(plan.sites[0].hosts[0], "/run/x", {"A=b", "C=d"});
  EXPECT_THAT(server,
              HasSubstr("ListenAddress 10.231.1.11:22\nHostKey /run/x/hosts/s1h1/hostkey\n"));
  EXPECT_THAT(server, HasSubstr("PasswordAuthentication no\n"));
  EXPECT_THAT(server, HasSubstr("SetEnv A=b C=d\n"));
  const auto grid = grid_text(plan, files);
  EXPECT_THAT(grid, HasSubstr("    hosts: [s1h1, s1h2]\n    speed: 0.5\n    slots: 2\n"));
  EXPECT_THAT(grid, HasSubstr("    ssh_config: '/a folder/it''s/ssh_config'\n"));
  EXPECT_THAT(grid, HasSubstr("link: { bandwidth: 2.5 MB/s, latency: 20ms }\n"));
  EXPECT_THAT(grid, HasSubstr("hosts: [{ name: s2h1, speed: 0.5 }, { name: s2h2, speed: 1 }]\n"));
  EXPECT_THAT(grid, HasSubstr("link: { bandwidth: 123456 B/s, latency: 0ms }\n"));
}

TEST(TestbedTexts, BatchSitesHaveAHead) {
  const TestbedSpec spec{"lab",
                         "",
                         {{"c1", SiteVia::slurm, 2, {{"c1h1", 0.5}, {"c1h2", 0.5}}, 1e6, {}},
                          {"g1", SiteVia::sge, 3, {{"g1h1", 0.5}}, 1e6, {}}}};
  const auto plan = make_testbed_plan(spec, "10.231");
  const TestbedFiles files{"/d"};
  const auto grid = grid_text(plan, files);
  EXPECT_THAT(grid,
              HasSubstr("    via: slurm\n    login: c1\n    partition: debug\n    pilots: 2\n"));
  EXPECT_THAT(grid, HasSubstr("    via: sge\n    login: g1\n    queue: all.q\n    pilots: 1\n"));
  EXPECT_THAT(ssh_config_text(plan, files), HasSubstr("Host c1\n  HostName 10.231.1.1\n"));
  EXPECT_THAT(hosts_text(plan), HasSubstr("10.231.1.1 c1\n10.231.1.11 c1h1\n"));
  EXPECT_THAT(batch_environment(plan, plan.sites[0]),
              testing::ElementsAre("SLURM_CONF=/run/gantry-testbed/lab/sites/c1/slurm/slurm.conf"));
  const auto slurm = slurm_conf_text(plan, plan.sites[0]);
  EXPECT_THAT(slurm, HasSubstr("SlurmctldHost=c1(10.231.1.1)\n"));
  EXPECT_THAT(slurm, HasSubstr("NodeName=c1h2 NodeAddr=10.231.1.12 CPUs=2 "));
  EXPECT_THAT(slurm, HasSubstr("PartitionName=debug Nodes=c1h1,c1h2 "));
  EXPECT_THAT(sge_queue_text(plan.sites[1]), HasSubstr("\nslots 3\n"));
  EXPECT_EQ(sge_host_group_text(plan.sites[1]), "group_name @allhosts\nhostlist g1h1\n");
  EXPECT_THAT(sge_configuration_text("min_uid   100\nmin_uidx 5\nexecd_spool_dir /var\n", "/s"),
              "min_uid 0\nmin_uidx 5\nexecd_spool_dir /s/spool/execd\n");
}

TEST(TestbedTexts, SitesThatAreJoinedLogInToEachOther) {
  const TestbedSpec spec{"lab",
                         "",
                         {{"s1", SiteVia::ssh, 1, {{"s1h1", 1}}, 8e6, milliseconds(20)},
                          {"c1", SiteVia::slurm, 1, {{"c1h1", 1}}, 2e6, milliseconds(5)}},
                         {{0, 1, 5e7, milliseconds(1)}}};
  const auto grid = grid_text(make_testbed_plan(spec, "10.231"), {"/d"});
  EXPECT_THAT(grid, HasSubstr("links:\n  - between: [s1, c1]\n    bandwidth: 50 MB/s\n"
                              "    latency: 1ms\n    ssh: { s1: c1, c1: s1h1 }\n"));
}

TEST(SystemTool, ErrorsSayWhichCommandAndWhatItPrinted) {
  EXPECT_EQ(run_tool({"echo", "a", "b c"}).value(), "a b c\n");
  EXPECT_EQ(run_tool({"sh", "-c", "echo bad >&2; exit 4"}).error().message,
            "`sh -c echo bad >&2; exit 4` ended with status 4: bad");
  EXPECT_EQ(run_tool({"no-such-tool"}).error().message,
            "the program 'no-such-tool' is not installed");
  const auto absent = run_tool({"/nowhere/sge_execd"});
  EXPECT_EQ(absent.error().hint, "apt-get install gridengine-exec");
  EXPECT_EQ(run_tool({"sh", "-c", "echo $GANTRY_X"}, {"GANTRY_X=y"}).value(), "y\n");
}

}  // namespace
}  // namespace gantry::testbed
