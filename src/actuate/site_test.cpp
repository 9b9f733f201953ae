// A site is a launcher and a mover, of whatever kinds.
#include "actuate/site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <functional>
#include <thread>

#include "actuate/launch/local/launcher_fixture.hpp"
#include "actuate/launch/ssh/ssh_launcher.hpp"
#include "actuate/move/folder_mover.hpp"
#include "actuate/move/stream_mover.hpp"
#include "depot/file_server.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr SiteId kSite(1);
constexpr HostId kFar(2);

/// Remembers what it was asked, and says what it is told to.
class QuietLauncher final : public Launcher {
 public:
  struct Notes {
    std::vector<LaunchRequest> started;
    std::vector<TaskKey> recalled;
    std::vector<TaskKey> cancelled;
    std::vector<News> news;
  };
  explicit QuietLauncher(Notes& notes) : notes_(notes) {}
  Result<bool> open() override { return true; }
  void start(const LaunchRequest& request) override { notes_.started.push_back(request); }
  void cancel(const TaskKey& key, HostId) override { notes_.cancelled.push_back(key); }
  void signal(const TaskKey&, HostId, std::int32_t) override {}
  void recall(HostId, std::span<const TaskKey> keys) override {
    notes_.recalled.assign(keys.begin(), keys.end());
  }
  void acknowledge(HostId, std::uint64_t) override {}
  Result<> poll(std::vector<News>& news) override {
    std::ranges::move(std::exchange(notes_.news, {}), std::back_inserter(news));
    return {};
  }
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {}; }
  bool close(std::vector<News>&) override { return true; }

 private:
  Notes& notes_;
};

class SiteTest : public ::testing::Test {
 protected:
  SiteTest() { std::filesystem::create_directories(dir_ / "study"); }

  SiteParts parts(std::unique_ptr<Mover> mover) {
    SiteParts parts{.facts = {.id = kSite, .name = "lab"}, .hosts = {kFar}};
    parts.mover = std::move(mover);
    parts.folders = {dir_ / "incoming", dir_ / "output"};
    return parts;
  }
  TaskFile file(const std::string& name, const std::string& content,
                std::optional<FileId> shared = {}) {
    const auto path = dir_ / "study" / name;
    EXPECT_TRUE(write_file_atomic(path, content));
    return {path.string(), hash_bytes(content), content.size(), false, shared};
  }
  LaunchRequest request(std::uint32_t task, std::vector<TaskFile> files) {
    LaunchRequest request{{RunId(1), TaskId(task), AttemptId(1)},
                          kFar,
                          {},
                          {},
                          (dir_ / "study").string(),
                          std::move(files)};
    request.task.argv = {"/bin/sh", "-c", "cat in > out"};
    request.task.workdir = dir_ / "study";
    request.task.outputs = {dir_ / "study" / "out"};
    return request;
  }
  void poll() {
    std::vector<News> heard;
    ASSERT_TRUE(site_->poll(heard));
    for (auto& each : heard) news_.push_back(std::move(each));
  }
  bool poll_until(const std::function<bool()>& done) {
    return eventually([&] {
      poll();
      return done();
    });
  }
  template <class What>
  std::vector<What> told() {
    std::vector<What> some;
    for (const News& each : news_)
      if (const auto* one = find_in<What>(each)) some.push_back(*one);
    return some;
  }
  bool depot_has(const std::string& content) {
    return depot::Depot::open(dir_ / "scratch").value().has(hash_bytes(content));
  }

  ScratchDir dir_;
  std::unique_ptr<Site> site_;
  std::vector<News> news_;
};

/// An agent behind ssh, which here is a script that runs what it is asked to on this machine.
class SshSiteTest : public SiteTest {
 protected:
  SshSiteTest() : path_(::getenv("PATH")) {
    std::filesystem::create_directories(dir_ / "bin");
    EXPECT_TRUE(write_file_atomic(dir_ / "bin/ssh",
                                  "#!/bin/sh\nfor last; do :; done\nexec /bin/sh -c \"$last\"\n"));
    ::chmod((dir_ / "bin/ssh").c_str(), 0700);
    ::setenv("PATH", ((dir_ / "bin").string() + ":" + path_).c_str(), 1);
    auto read = read_agent_binary();
    EXPECT_TRUE(read);
    binary_ = std::move(*read);
  }
  ~SshSiteTest() override {
    std::vector<News> last;
    while (site_ && !site_->close(last)) ::poll(nullptr, 0, 5);
    site_.reset();
    for (auto& server : servers_) server.join();
    EXPECT_TRUE(eventually([&] { return !agent_is_running(dir_ / "scratch/work/me/hosts/far"); }));
    ::setenv("PATH", path_.c_str(), 1);
  }
  SshSiteTest(const SshSiteTest&) = delete;
  SshSiteTest& operator=(const SshSiteTest&) = delete;

  void open(std::unique_ptr<Mover> mover) {
    SiteParts its = parts(std::move(mover));
    RemoteSite remote{.id = kSite, .name = "lab", .hosts = {{kFar, "far", 1}}};
    remote.scratch = dir_ / "scratch";
    remote.holder = "me";
    auto launcher = std::make_unique<SshLauncher>(remote, binary_);
    SshLauncher* made = launcher.get();
    its.launch = {std::move(launcher), made, made};
    site_ = std::make_unique<Site>(std::move(its));
    ASSERT_TRUE(poll_until([&] { return !told<HostUp>().empty(); }));
  }
  std::unique_ptr<Mover> folder_mover() { return std::make_unique<FolderMover>(dir_ / "scratch"); }
  std::unique_ptr<Mover> stream_mover() {
    return make_stream_mover({.connect = [this]() -> Result<UniqueFd> {
                                int ends[2];
                                if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
                                  return fail_errno("socketpair");
                                servers_.emplace_back([end = ends[1], at = dir_ / "scratch"] {
                                  const UniqueFd owned(end);
                                  static_cast<void>(depot::serve_files(end, end, at));
                                });
                                return UniqueFd(ends[0]);
                              },
                              .name = "me"});
  }

  std::string path_;
  AgentBinary binary_;
  std::vector<std::thread> servers_;
};

class AnyMoverTest : public SshSiteTest, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(Movers, AnyMoverTest, ::testing::Values("folder", "stream"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(AnyMoverTest, ALauncherBehindSshWorksWithIt) {
  open(GetParam() == std::string("folder") ? folder_mover() : stream_mover());
  site_->start(request(1, {file("in", "hello")}));
  ASSERT_TRUE(poll_until([&] { return !told<ReportReceived>().empty(); }));
  const ReportReceived report = told<ReportReceived>().front();
  EXPECT_EQ(report.report.cause, FailureCause::none) << report.report.detail;
  ASSERT_EQ(report.outputs.size(), 1U);
  EXPECT_EQ(report.outputs[0].path, (dir_ / "study/out").string());
  EXPECT_EQ(read_file(report.outputs[0].here).value_or(""), "hello");
  EXPECT_TRUE(depot_has("hello"));
  EXPECT_TRUE(std::filesystem::exists(dir_ / "scratch/work/me/run/1.1.1"));
  site_->acknowledge(kFar, report.receipt);
  EXPECT_TRUE(
      poll_until([&] { return !std::filesystem::exists(dir_ / "scratch/work/me/run/1.1.1"); }));
  EXPECT_TRUE(poll_until([&] { return !depot_has("hello"); })) << "nobody needs it any more";
}

TEST_F(SshSiteTest, OneLauncherServesStudiesInSeveralFolders) {
  open(folder_mover());
  for (const unsigned n : {1U, 2U}) {
    const auto study = dir_ / ("study-" + std::to_string(n));
    const std::string content = "of " + std::to_string(n);
    std::filesystem::create_directories(study);
    ASSERT_TRUE(write_file_atomic(study / "in", content));
    LaunchRequest asked =
        request(n, {{(study / "in").string(), hash_bytes(content), content.size()}});
    asked.key.run = RunId(n);
    asked.base_dir = asked.task.workdir = study;
    asked.task.outputs = {study / "out"};
    site_->start(std::move(asked));
  }
  ASSERT_TRUE(poll_until([&] { return told<ReportReceived>().size() == 2; }));
  for (const auto& report : told<ReportReceived>()) {
    const std::string n = std::to_string(report.report.key.run.value());
    EXPECT_EQ(report.report.cause, FailureCause::none) << report.report.detail;
    ASSERT_EQ(report.outputs.size(), 1U);
    EXPECT_EQ(report.outputs[0].path, (dir_ / ("study-" + n) / "out").string());
    EXPECT_EQ(read_file(report.outputs[0].here).value_or(""), "of " + n);
    site_->acknowledge(kFar, report.receipt);
  }
}

/// With a launcher that the test speaks for.
class StartsTest : public SiteTest {
 protected:
  StartsTest() {
    auto mover = std::make_unique<FolderMover>(dir_ / "scratch");
    mover_ = mover.get();
    SiteParts its = parts(std::move(mover));
    its.launch.launcher = std::make_unique<QuietLauncher>(notes_);
    site_ = std::make_unique<Site>(std::move(its));
    notes_.news.emplace_back(HostUp{{kFar, "far", 2, 0, kSite}});
    poll();
    news_.clear();
  }

  QuietLauncher::Notes notes_;
  FolderMover* mover_ = nullptr;
};

TEST_F(StartsTest, AnAttemptsOwnFilesGoThereBeforeItDoes) {
  site_->start(request(1, {file("in", "own")}));
  EXPECT_TRUE(notes_.started.empty());
  EXPECT_TRUE(depot_has("own"));
  poll();
  ASSERT_EQ(notes_.started.size(), 1U);
  site_->start(request(2, {file("in", "own")}));
  EXPECT_EQ(notes_.started.size(), 2U) << "it is there";
}

TEST_F(StartsTest, AnAttemptComesBackWhoseSharedFileIsNotThere) {
  const TaskFile shared = file("in", "shared", FileId(7));
  site_->start(request(1, {shared}));
  poll();
  EXPECT_THAT(notes_.started, IsEmpty());
  ASSERT_EQ(told<FileGone>().size(), 1U);
  EXPECT_EQ(told<FileGone>()[0].file, FileId(7));
  EXPECT_EQ(told<AttemptReturned>().size(), 1U);
  EXPECT_FALSE(depot_has("shared")) << "that is the engine's to decide";

  site_->bring({FileId(7), kHome, kSite}, {shared});
  site_->start(request(1, {shared}));  // it is on its way
  poll();
  EXPECT_EQ(notes_.started.size(), 1U);
}

TEST_F(StartsTest, ASharedFileThatAHostFindsMissingIsTold) {
  const TaskFile shared = file("in", "shared", FileId(7));
  site_->bring({FileId(7), kHome, kSite}, {shared});
  poll();
  ASSERT_EQ(told<FileArrived>().size(), 1U);
  ReportReceived lost;
  lost.host = kFar;
  lost.left.lacking = {shared.content};
  notes_.news.emplace_back(lost);
  poll();
  ASSERT_EQ(told<FileGone>().size(), 1U);
  EXPECT_EQ(told<FileGone>()[0].file, FileId(7));
}

TEST_F(StartsTest, TwoNamesOfOneContentAreOneFile) {
  const TaskFile shared = file("in", "shared", FileId(1));
  site_->bring({FileId(1), kHome, kSite}, {shared});
  site_->bring({FileId(2), kHome, kSite}, {shared});
  poll();
  EXPECT_EQ(told<FileArrived>().size(), 2U);
  site_->drop(FileId(1));
  EXPECT_TRUE(depot_has("shared")) << "the other one needs it";
  site_->drop(FileId(2));
  EXPECT_FALSE(depot_has("shared"));
}

TEST_F(StartsTest, WhatWaitsForItsFilesIsRecalledAndCancelledLikeAllElse) {
  for (const std::uint32_t n : {1U, 2U, 3U})
    site_->start(request(n, {file("in-" + std::to_string(n), std::to_string(n))}));
  const TaskKey second{RunId(1), TaskId(2), AttemptId(1)};
  const TaskKey third{RunId(1), TaskId(3), AttemptId(1)};
  site_->recall(kFar, {{second}});
  EXPECT_THAT(notes_.recalled, ElementsAre(second));
  site_->cancel(third, kFar);
  EXPECT_THAT(notes_.cancelled, IsEmpty()) << "it never got there";
  poll();
  ASSERT_EQ(notes_.started.size(), 1U);
  EXPECT_EQ(notes_.started[0].key.task, TaskId(1));
  ASSERT_EQ(told<AttemptReturned>().size(), 1U);
  EXPECT_EQ(told<AttemptReturned>()[0].key, second);
  ASSERT_EQ(told<ReportReceived>().size(), 1U);
  EXPECT_EQ(told<ReportReceived>()[0].report.key, third);
  EXPECT_EQ(told<ReportReceived>()[0].report.cause, FailureCause::cancelled);
}

TEST_F(StartsTest, ASiteThatFilesCannotReachTakesNothingForAWhile) {
  mover_->say(NotReached{"ssh: no way", true});
  poll();
  const auto resting = told<HostDraining>();
  ASSERT_EQ(resting.size(), 1U);
  EXPECT_EQ(resting[0].host, kFar);
  EXPECT_EQ(resting[0].waiting, WaitingTasks::stay);
  EXPECT_THAT(resting[0].why, HasSubstr("files cannot be brought there: ssh: no way"));
  // A host that comes back meanwhile rests, too.
  notes_.news.emplace_back(HostUp{{kFar, "far", 2, 0, kSite}});
  poll();
  EXPECT_EQ(told<HostDraining>().size(), 2U);
}

}  // namespace
}  // namespace gantry
