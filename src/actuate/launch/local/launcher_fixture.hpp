#pragma once
/// For tests: a local launcher with a real agent in a directory of its own, and everything it says,
/// sorted. No process outlives the fixture.

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "actuate/launch/local/local_launcher.hpp"
#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry {

inline bool is_alive(pid_t pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  if (!stat) return false;
  const auto close = stat->rfind(')');
  return close != std::string::npos && close + 2 < stat->size() && (*stat)[close + 2] != 'Z';
}

/// Waits long enough for the most loaded machine, and only as long as needed.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

class LauncherTest : public ::testing::Test {
 protected:
  static constexpr HostId kHost{1};

  LauncherTest() {
    site_.state_dir = dir_ / "state";
    site_.cores = 2;
    site_.memory = std::uint64_t{8} << 30;
    site_.grace = std::chrono::milliseconds(300);
  }
  ~LauncherTest() override {
    close();
    if (!eventually([&] { return !agent_is_running(site_.state_dir); })) {
      ADD_FAILURE() << "the agent does not end";
      if (const pid_t pid = agent_pid(); pid > 0) ::kill(pid, SIGKILL);
    }
  }

  void open() {
    launcher_ = make_local_launcher(site_).launcher;
    const auto opened = try_open();
    ASSERT_TRUE(opened) << opened.error().message;
  }
  /// Until the launcher says that it is open; what it tells meanwhile waits to be taken in.
  Result<> try_open() {
    for (;;) {
      TRY_ASSIGN(const bool open, launcher_->open());
      if (open) return {};
      TRY(launcher_->poll(told_));
      const auto [fd, to_send] = launcher_->waits_for();
      pollfd wanted{fd, static_cast<short>(to_send ? POLLIN | POLLOUT : POLLIN), 0};
      ::poll(&wanted, 1, 20);
    }
  }
  void close() {
    std::vector<News> last;
    while (launcher_ && !launcher_->close(last)) ::usleep(1000);
  }
  /// As if gantry had been killed: the connection breaks, nothing is said.
  void abandon() {
    launcher_.reset();
    reports_.clear();
    running_.clear();
    returned_.clear();
    told_.clear();
  }

  Task task(std::vector<std::string> argv) {
    Task t;
    t.argv = std::move(argv);
    t.workdir = dir_.path();
    return t;
  }
  Task sh(const std::string& script) { return task({"/bin/sh", "-c", script}); }

  static TaskKey key(unsigned n) { return {RunId(1), TaskId(n), AttemptId(1)}; }
  void start(unsigned n, const Task& t, const Fingerprint& fingerprint = {}) {
    launcher_->start({key(n), kHost, t, fingerprint, dir_.path().string()});
  }

  /// Takes in what the launcher says until `done`; false after a long while.
  bool poll_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
    for (;;) {
      const auto polled = launcher_->poll(told_);
      for (auto& each : std::exchange(told_, {})) take(std::move(each));
      if (!polled) {
        ADD_FAILURE() << polled.error().message;
        return false;
      }
      if (done()) return true;
      if (std::chrono::steady_clock::now() > deadline) return false;
      const auto [fd, to_send] = launcher_->waits_for();
      pollfd wanted{fd, static_cast<short>(to_send ? POLLIN | POLLOUT : POLLIN), 0};
      ::poll(&wanted, 1, 20);
    }
  }
  const AttemptReport& await_report(unsigned n) {
    EXPECT_TRUE(poll_until([&] { return reports_.contains(n); })) << "no report of task " << n;
    return reports_[n].report;
  }
  bool await_running(unsigned n) {
    return poll_until([&] { return running_.contains(n); });
  }
  bool await_file(const std::string& name) {
    return poll_until([&] { return std::filesystem::exists(dir_ / name); });
  }
  const AttemptReport& run(const Task& t) {
    const unsigned n = next_++;
    start(n, t);
    return await_report(n);
  }
  /// A number that a task has written.
  long number_in(const std::string& name) {
    return std::strtol(read_file(dir_ / name).value_or("0").c_str(), nullptr, 10);
  }
  pid_t agent_pid() {
    return static_cast<pid_t>(
        std::strtol(read_file(site_.state_dir / "agent/pid").value_or("-1").c_str(), nullptr, 10));
  }
  void acknowledge_all() { launcher_->acknowledge(kHost, last_receipt_); }

  ScratchDir dir_;
  LocalSite site_;
  std::unique_ptr<Launcher> launcher_;
  std::map<unsigned, ReportReceived> reports_;           ///< by task
  std::map<TaskKey, std::vector<FailureCause>> causes_;  ///< of every report that came
  std::map<unsigned, TimePoint> running_;
  std::map<unsigned, int> returned_;
  std::vector<Host> hosts_;
  std::vector<std::string> notices_;
  std::uint64_t last_receipt_ = 0;
  unsigned next_ = 1;
  std::vector<News> told_;  ///< not taken in yet

 private:
  void take(News event) {
    if (auto* report = std::get_if<ReportReceived>(&event)) {
      last_receipt_ = report->receipt;
      const unsigned n = report->report.key.task.value();
      causes_[report->report.key].push_back(report->report.cause);
      reports_[n] = std::move(*report);
    } else if (const auto* running = find_in<AttemptStarted>(event)) {
      running_[running->key.task.value()] = running->at;
    } else if (const auto* returned = find_in<AttemptReturned>(event)) {
      ++returned_[returned->key.task.value()];
    } else if (const auto* host = find_in<HostUp>(event)) {
      hosts_.push_back(host->host);
    } else if (const auto* notice = find_in<Notice>(event)) {
      notices_.push_back(notice->text);
    }
  }
};

}  // namespace gantry
