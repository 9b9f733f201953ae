#pragma once
/// For the driver's tests: a state directory, sweeps from one-liners, and a launcher that does what
/// the test says.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actuate/launcher.hpp"
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
    options_.reload = [](const store::RunRecord&) -> Result<Sweep> {
      return fail(ErrorCode::usage, "no study here");
    };
    std::filesystem::create_directories(options_.state_dir);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  Sweep sweep(const std::vector<std::string>& words) {
    auto loaded = spec::parse_one_liner(words, dir_, {});
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    return std::move(loaded->sweep);
  }

  store::Store open_store() {
    auto store = store::Store::open(options_.state_dir, store::Access::read_write);
    EXPECT_TRUE(store) << (store ? "" : store.error().message);
    return std::move(*store);
  }

  /// What the task of a study is now.
  Fingerprint print_of(const Sweep& study, std::uint32_t task) {
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
class FakeLauncher final : public Launcher {
 public:
  Result<> open() override {
    events_.insert(events_.begin(), HostUp{{HostId(1), "fake", 2, 0, site}});
    return {};
  }
  void start(const TaskKey& key, HostId host, const Task& task, const Fingerprint& print,
             const std::vector<TaskFile>&) override {
    started.push_back(key);
    AttemptReport report;
    report.key = key;
    report.started = from_ns(1);
    report.ended = from_ns(2);
    if (outcome) outcome(task, report);
    if (hold) return;
    events_.emplace_back(ReportReceived{report, print, host, ++receipts_});
  }
  void cancel(const TaskKey& key, HostId host) override {
    cancelled.push_back(key);
    AttemptReport report;
    report.key = key;
    report.cause = FailureCause::cancelled;
    events_.emplace_back(ReportReceived{report, {}, host, ++receipts_});
  }
  [[nodiscard]] bool has_given_up() const override { return given_up; }
  [[nodiscard]] bool expects_hosts(const Resources& least) const override {
    return expects && expects(least);
  }
  [[nodiscard]] bool files_travel(HostId) const override { return site != kHome; }
  void bring(const MoveFile& move, const std::vector<TaskFile>&) override {
    brought.push_back(move.file);
    if (!slow_link) events_.emplace_back(FileArrived{move.file, move.to});
  }
  bool probe(SiteId link, std::uint64_t bytes) override {
    probed.emplace_back(link, bytes);
    if (on_probe) on_probe();
    return true;
  }
  void glance(Glance& glance) const override {
    if (site != kHome) glance.sites.push_back({.id = site});
  }
  void recall(HostId host) override {
    if (on_recall) on_recall();
    for (const auto& key : started) events_.emplace_back(AttemptReturned{key, host});
  }
  void acknowledge(std::uint64_t receipt) override { acknowledged = receipt; }
  void refuse(std::uint64_t receipt) override { refused.push_back(receipt); }
  Result<> poll(std::vector<News>& events) override {
    std::move(events_.begin(), events_.end(), std::back_inserter(events));
    events_.clear();
    return {};
  }
  [[nodiscard]] int wait_fd() const override { return -1; }
  [[nodiscard]] bool wants_to_send() const override { return false; }
  void close() override {}

  void announce(News event) { events_.push_back(std::move(event)); }
  void report(AttemptReport report, const Fingerprint& print = {}, HostId host = HostId(1)) {
    events_.emplace_back(ReportReceived{std::move(report), print, host, ++receipts_});
  }

  std::function<void(const Task&, AttemptReport&)> outcome;
  std::function<void()> on_recall;
  std::function<void()> on_probe;
  std::function<bool(const Resources&)> expects;
  bool given_up = false;   ///< no host will come any more
  bool hold = false;       ///< tasks are taken and never end
  SiteId site = kHome;     ///< of its host
  bool slow_link = false;  ///< nothing that it is to bring ever arrives
  std::vector<FileId> brought;
  std::vector<std::pair<SiteId, std::uint64_t>> probed;  ///< bytes
  std::vector<TaskKey> started;
  std::vector<TaskKey> cancelled;
  std::vector<std::uint64_t> refused;
  std::uint64_t acknowledged = 0;

 private:
  std::vector<News> events_;
  std::uint64_t receipts_ = 0;
};

}  // namespace gantry::driver
