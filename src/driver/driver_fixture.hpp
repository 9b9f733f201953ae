#pragma once
/// For the driver's tests: a state directory, sweeps from one-liners, and a launcher that does what
/// the test says.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actuate/sites.hpp"
#include "base/fd.hpp"
#include "driver/content_cache.hpp"
#include "driver/driver.hpp"
#include "spec/spec.hpp"
#include "store/store.hpp"

namespace gantry::driver {

class DriverTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "gantry-driver-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    dir_ = pattern;
    options_.state_dir = dir_ / "state";
    options_.reload = [](const store::RunRecord&) -> Result<Application> {
      return fail(ErrorCode::usage, "no study here");
    };
    std::filesystem::create_directories(options_.state_dir);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  /// The application of a one-liner.
  Application sweep(const std::vector<std::string>& words) {
    auto loaded = spec::parse_one_liner(words, dir_, {});
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    return Application(std::move(loaded->sweep));
  }

  store::Store open_store() {
    auto store = store::Store::open(options_.state_dir, store::Access::read_write);
    EXPECT_TRUE(store) << (store ? "" : store.error().message);
    return std::move(*store);
  }

  /// What the task of a study is now.
  Fingerprint print_of(const Application& study, std::uint32_t task) {
    auto store = open_store();
    return ContentCache(store).fingerprint(study.task(TaskId(task))).value();
  }

  std::vector<store::TaskRow> rows(RunId run) {
    std::vector<store::TaskRow> out;
    EXPECT_TRUE(
        open_store().for_each_task(run, [&](const store::TaskRow& row) { out.push_back(row); }));
    return out;
  }

  void write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(write_file_atomic(dir_ / name, text));
  }

  std::filesystem::path dir_;
  Options options_;
};

/// Ends every task at once, as `outcome` says (success by default); remembers what it was asked.
class FakeLauncher final : public Launcher, public HostSource, public Watchable {
 public:
  Result<bool> open() override {
    news_.insert(news_.begin(), HostUp{{HostId(1), "fake", 2, 0, site}});
    return true;
  }
  void start(const LaunchRequest& request) override {
    started.push_back(request.key);
    AttemptReport made;
    made.key = request.key;
    made.started = from_ns(1);
    made.ended = from_ns(2);
    if (outcome) outcome(request.task, made);
    if (!hold) report(std::move(made), request.fingerprint, request.host);
  }
  void cancel(const TaskKey& key, HostId host) override {
    cancelled.push_back(key);
    AttemptReport made;
    made.key = key;
    made.cause = FailureCause::cancelled;
    report(std::move(made), {}, host);
  }
  void signal(const TaskKey& key, HostId, std::int32_t number) override {
    signalled.emplace_back(key, number);
  }
  void recall(HostId host, std::span<const TaskKey>) override {
    if (on_recall) on_recall();
    for (const auto& key : started) news_.emplace_back(AttemptReturned{key, host});
  }
  void acknowledge(HostId, std::uint64_t receipt) override { acknowledged = receipt; }
  Result<> poll(std::vector<News>& news) override {
    std::ranges::move(std::exchange(news_, {}), std::back_inserter(news));
    return {};
  }
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {}; }
  bool close(std::vector<News>&) override { return true; }

  [[nodiscard]] bool has_given_up() const override { return given_up; }
  [[nodiscard]] bool expects_hosts(const Resources& least) const override {
    return expects && expects(least);
  }
  void want(std::uint64_t, const std::set<HostId>&) override {}
  void glance(std::vector<HostGlance>& hosts) const override {
    hosts.push_back({.id = HostId(1), .site = site, .name = "fake"});
  }

  void announce(News news) { news_.push_back(std::move(news)); }
  void report(AttemptReport report, const Fingerprint& print = {}, HostId host = HostId(1)) {
    ReportReceived received{std::move(report), print, host, ++receipts_};
    if (!received.report.remote_files.empty())
      received.left.kept_folder = "kept/" + std::to_string(received.report.key.attempt.value());
    news_.emplace_back(std::move(received));
  }

  std::function<void(const Task&, AttemptReport&)> outcome;
  std::function<void()> on_recall;
  std::function<void()> on_probe;
  std::function<bool(const Resources&)> expects;
  bool given_up = false;              ///< no host will come any more
  bool hold = false;                  ///< tasks are taken and never end
  SiteId site = kHome;                ///< of its hosts
  bool slow_link = false;             ///< nothing that is sent there ever arrives
  bool broken_link = false;           ///< nothing can be sent there
  std::vector<std::string> put;       ///< files that were sent there
  std::vector<std::string> removed;   ///< what was removed there
  std::vector<std::uint64_t> probed;  ///< bytes
  std::vector<MoverEvent> moved;      ///< what the site's mover tells next
  std::vector<TaskKey> started;
  std::vector<TaskKey> cancelled;
  std::vector<std::pair<TaskKey, std::int32_t>> signalled;
  std::uint64_t acknowledged = 0;

 private:
  std::vector<News> news_;
  std::uint64_t receipts_ = 0;
};

/// A launcher that somebody else owns.
class BorrowedLauncher final : public Launcher {
 public:
  explicit BorrowedLauncher(Launcher& launcher) : launcher_(launcher) {}
  Result<bool> open() override { return launcher_.open(); }
  void start(const LaunchRequest& request) override { launcher_.start(request); }
  void cancel(const TaskKey& key, HostId host) override { launcher_.cancel(key, host); }
  void signal(const TaskKey& key, HostId host, std::int32_t number) override {
    launcher_.signal(key, host, number);
  }
  void recall(HostId host, std::span<const TaskKey> keys) override { launcher_.recall(host, keys); }
  void acknowledge(HostId host, std::uint64_t receipt) override {
    launcher_.acknowledge(host, receipt);
  }
  Result<> poll(std::vector<News>& news) override { return launcher_.poll(news); }
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return launcher_.waits_for(); }
  bool close(std::vector<News>& news) override { return launcher_.close(news); }

 private:
  Launcher& launcher_;
};

/// Says that everything is done, at once; whatever it was asked, the launcher remembers.
class FakeMover final : public Mover {
 public:
  explicit FakeMover(FakeLauncher& launcher) : launcher_(launcher) {}
  TransferId put(const Put& file) override {
    launcher_.put.push_back(file.path);
    if (launcher_.broken_link) return failed();
    return launcher_.slow_link ? next() : done();
  }
  TransferId get(const Get&) override { return done(); }
  TransferId drop(const Digest&) override { return done(); }
  TransferId verify(const Digest&) override { return done(); }
  TransferId remove(const std::string& remote) override {
    launcher_.removed.push_back(remote);
    return done();
  }
  void cancel(TransferId) override {}
  bool probe(std::uint64_t bytes) override {
    launcher_.probed.push_back(bytes);
    if (launcher_.on_probe) launcher_.on_probe();
    return true;
  }
  Result<> poll(std::vector<MoverEvent>& events) override {
    std::ranges::move(std::exchange(launcher_.moved, {}), std::back_inserter(events));
    return {};
  }
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {}; }
  bool close() override { return true; }

 private:
  TransferId next() { return TransferId(++last_); }
  TransferId done() {
    const TransferId id = next();
    launcher_.moved.emplace_back(TransferDone{id});
    return id;
  }
  TransferId failed() {
    const TransferId id = next();
    launcher_.moved.emplace_back(TransferFailed{.id = id, .why = "no route"});
    return id;
  }

  FakeLauncher& launcher_;
  std::uint64_t last_ = 0;
};

/// The launcher's site, with home beside it if it is another one.
inline std::unique_ptr<Sites> sites_with(FakeLauncher& launcher) {
  SiteParts its{.facts = {.id = launcher.site, .name = "fake"}};
  its.launch = {std::make_unique<BorrowedLauncher>(launcher), &launcher, &launcher};
  if (launcher.site == kHome)
    return std::make_unique<Sites>(std::move(its), HomeUse::runs_tasks, std::vector<SiteParts>{});
  its.hosts = {HostId(1), HostId(2)};
  its.mover = std::make_unique<FakeMover>(launcher);
  SiteParts home{.facts = {.id = kHome, .name = "home"}};
  home.launch = {std::make_unique<FakeLauncher>(), nullptr, nullptr};
  std::vector<SiteParts> others;
  others.push_back(std::move(its));
  return std::make_unique<Sites>(std::move(home), HomeUse::only_listens, std::move(others));
}

}  // namespace gantry::driver
