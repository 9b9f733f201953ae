#pragma once
/// For tests: a mover whose remote side is a thread that serves files, in a directory of its own,
/// and everything it says, sorted. Connections can be broken.

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "actuate/move/stream_mover.hpp"
#include "base/fd.hpp"
#include "base/scratch_dir.hpp"
#include "depot/depot.hpp"
#include "depot/file_server.hpp"
#include "depot/files_protocol.hpp"

namespace gantry {

class MoverTest : public ::testing::Test {
 protected:
  MoverTest() {
    ::signal(SIGPIPE, SIG_IGN);  // the test's own writes to a mover that has hung up
    options_.connect = [this] { return connect(); };
    options_.name = "test";
    options_.first_pause = std::chrono::milliseconds(1);
    options_.longest_pause = std::chrono::milliseconds(4);
  }
  ~MoverTest() override {
    if (mover_) mover_->close();
    end_servers();
  }

  void open() {
    mover_ = make_stream_mover(options_);
    ASSERT_TRUE(poll_until([&] { return !inventories_.empty(); })) << "no inventory";
  }

  Result<UniqueFd> connect() {
    ++connections_;
    if (refuse_) return fail(ErrorCode::peer, "nobody there");
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return fail_errno("socketpair");
    remote_ends_.push_back(ends[1]);
    if (std::exchange(hang_, false)) {
      std::string greeting;
      encode(greeting, depot::FilesWelcome{});
      encode(greeting, depot::InventoryPart{true, {}});
      EXPECT_TRUE(write_all(ends[1], greeting));
      return UniqueFd(ends[0]);
    }
    servers_.emplace_back([end = ends[1], site = site(), pulls = pulls_] {
      const auto served = depot::serve_files(end, end, site, pulls);
      ::shutdown(end, SHUT_RDWR);
    });
    return UniqueFd(ends[0]);
  }
  /// As if the network went away.
  void break_connection() { ::shutdown(remote_ends_.back(), SHUT_RDWR); }
  void end_servers() {
    for (const int end : remote_ends_) ::shutdown(end, SHUT_RDWR);
    join_servers();
  }
  /// They end when the mover has hung up.
  void join_servers() {
    for (auto& server : servers_) server.join();
    for (const int end : remote_ends_) ::close(end);
    servers_.clear();
    remote_ends_.clear();
  }

  std::filesystem::path site() { return dir_ / "site"; }
  depot::Depot site_depot() { return depot::Depot::open(site()).value(); }

  /// A file at home.
  Put make_file(const std::string& name, const std::string& content, bool executable = false) {
    std::ofstream(dir_ / name, std::ios::binary) << content;
    return {(dir_ / name).string(), hash_bytes(content), content.size(), executable};
  }
  void make_remote(const std::string& name, const std::string& content) {
    const auto path = site() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  /// Different everywhere, so that a piece in the wrong place is noticed.
  static std::string large_content(std::size_t bytes, std::uint64_t seed = 1) {
    std::string content;
    content.reserve(bytes + sizeof seed);
    while (content.size() < bytes) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      content.append(reinterpret_cast<const char*>(&seed), sizeof seed);
    }
    content.resize(bytes);
    return content;
  }

  void poll_once(int wait_ms = 20) {
    std::vector<MoverEvent> events;
    const auto polled = mover_->poll(events);
    if (!polled) error_ = polled.error().message;
    for (auto& event : events) take(std::move(event));
    if (!events.empty()) return;
    pollfd fd{mover_->waits_for().fd, POLLIN, 0};
    ::poll(&fd, 1, wait_ms);
  }
  bool poll_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      poll_once();
    }
    return true;
  }
  bool is_over(TransferId id) { return done_.contains(id) || failed_.contains(id); }
  /// Empty when it was done; the reason when it failed.
  std::string await(TransferId id) {
    if (!poll_until([&] { return is_over(id); })) return "no answer";
    return done_.contains(id) ? "" : failed_[id].why;
  }

  ScratchDir dir_;
  StreamMoverOptions options_;
  depot::PullOptions pulls_;
  std::unique_ptr<Mover> mover_;
  std::vector<Inventory> inventories_;
  std::map<TransferId, TransferDone> done_;
  std::map<TransferId, TransferFailed> failed_;
  std::map<TransferId, std::string> sent_after_all_;
  std::set<TransferId> no_way_;
  std::string error_;
  bool refuse_ = false;
  bool hang_ = false;  ///< the next server does so, once it has greeted
  std::vector<std::string> interruptions_;
  std::vector<LinkEchoed> echoes_;
  int connections_ = 0;

 private:
  void take(MoverEvent event) {
    if (auto* inventory = std::get_if<Inventory>(&event)) {
      inventories_.push_back(std::move(*inventory));
    } else if (const auto* done = std::get_if<TransferDone>(&event)) {
      EXPECT_FALSE(is_over(done->id)) << "told twice";
      done_[done->id] = *done;
    } else if (const auto* failed = std::get_if<TransferFailed>(&event)) {
      EXPECT_FALSE(is_over(failed->id)) << "told twice";
      failed_[failed->id] = *failed;
    } else if (const auto* sent = std::get_if<SentAfterAll>(&event)) {
      EXPECT_TRUE(sent_after_all_.emplace(sent->id, sent->why).second) << "told twice";
      if (sent->no_way) no_way_.insert(sent->id);
    } else if (auto* interrupted = std::get_if<Interrupted>(&event)) {
      interruptions_.push_back(std::move(interrupted->why));
    } else if (const auto* echo = std::get_if<LinkEchoed>(&event)) {
      echoes_.push_back(*echo);
    }
  }

  std::vector<int> remote_ends_;
  std::vector<std::thread> servers_;
};

}  // namespace gantry
