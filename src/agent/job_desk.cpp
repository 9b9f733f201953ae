#include "agent/job_desk.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "agent/agent_process.hpp"
#include "agent/job_desk_impl.hpp"
#include "agent/relay.hpp"
#include "agent/report_book.hpp"
#include "base/child_process.hpp"
#include "base/time.hpp"

namespace gantry::agent {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kFilesEvery = 200ms;
/// For what is to be cancelled, when gantry has left.
constexpr auto kLeavePatience = 60s;
/// Jobs have what they need where they run.
constexpr std::uint64_t kAnyMemory = std::uint64_t{1} << 60;
/// Of what a person is told: the rest would be noise.
constexpr std::size_t kMostTold = 20;

}  // namespace

Result<> JobDesk::serve() {
  std::optional<Clock::time_point> left;
  for (;;) {
    const auto now = Clock::now();
    if (!gantry_ && !left) left = now;
    const bool done = cancels_.empty() && unnamed_.empty() && !command_.is_busy();
    if (left && (done || now - *left > kLeavePatience)) return {};
    gantry_.send();
    const short want = gantry_.wants_to_send() ? POLLIN | POLLOUT : POLLIN;
    std::array fds{pollfd{gantry_ ? gantry_.fd() : -1, want, 0}, pollfd{command_.fd(), POLLIN, 0}};
    const int wait = static_cast<int>(std::chrono::milliseconds(kFilesEvery).count());
    if (::poll(fds.data(), fds.size(), wait) < 0 && errno != EINTR) return fail_errno("poll");
    if (gantry_ && fds[0].revents != 0) on_frames();
    if (const auto answer = command_.poll(Clock::now())) on_answer(*answer, Clock::now());
    if (hello_ && now >= files_at_) {
      files_at_ = now + kFilesEvery;
      std::vector<std::uint32_t> numbers;
      for (auto& [number, batch] : batches_) {
        look_at_files(number, batch);
        numbers.push_back(number);
      }
      for (const std::uint32_t number : numbers) drop_if_done(number);
    }
    end_rest(now);
    if (hello_ && !command_.is_busy()) ask_next(Clock::now());
    tell_load(now);
  }
}

void JobDesk::on_frames() {
  const bool gone = gantry_.receive(std::size_t{256} << 10) == FrameStream::Received::end;
  while (gantry_) {
    const auto frame = gantry_.next();
    if (!frame) break;
    on_message(*frame);
  }
  if (gone || gantry_.broken()) gantry_.close();
}

void JobDesk::on_message(const Frame& frame) {
  if (!hello_) {
    auto hello = frame.type == MessageType::hello ? decode<Hello>(frame.body) : std::nullopt;
    if (hello) return on_hello(std::move(*hello));
    return gantry_.close();
  }
  if (frame.type == MessageType::start) {
    if (auto start = decode<Start>(frame.body)) {
      if (rests_until_ || is_refused(*start)) return give_back(start->key);
      if (waiting_.empty()) waiting_since_ = Clock::now();
      waiting_.push_back(std::move(*start));
      return;
    }
  } else if (frame.type == MessageType::cancel) {
    if (const auto key = decode<AttemptKey>(frame.body)) return on_cancel(*key);
  } else if (frame.type == MessageType::tell) {
    if (decode<Tell>(frame.body)) return tell("tasks that are jobs of their own get no signals");
  } else if (frame.type == MessageType::recall) {
    if (const auto recall = decode<Recall>(frame.body)) return on_recall(recall->keys);
  } else if (frame.type == MessageType::ack) {
    if (const auto ack = decode<Ack>(frame.body)) return on_ack(ack->receipt);
  }
  gantry_.close();  // it does not speak our language
}

void JobDesk::on_hello(Hello hello) {
  Welcome welcome;
  welcome.pid = ::getpid();
  welcome.cores = config_.most;
  welcome.memory = kAnyMemory;
  for (auto& [number, batch] : batches_) {
    for (std::uint32_t i = 1; i <= batch.elements.size(); ++i) {
      Element& element = batch.elements[i - 1];
      if (element.ended) continue;
      // One that is in the queue is as good as running: nobody shall start it again.
      element.told = true;
      const std::int64_t at = element.begun ? batch.folder.claimed_at(i) : 0;
      welcome.running.push_back({element.start.key, at != 0 ? at : to_ns(RealClock{}.now())});
    }
  }
  welcome.reports = static_cast<std::uint32_t>(reports_.size());
  encode(gantry_.outbox(), welcome);
  for (const Report& each : reports_) encode_ended(gantry_.outbox(), each.receipt, each.body);
  if (hello.version != kProtocolVersion) {
    gantry_.send();
    return gantry_.close();
  }
  if (hello.load_every_ns > 0) load_at_ = Clock::now();
  hello_ = std::move(hello);
}

void JobDesk::on_cancel(const AttemptKey& key) {
  const auto waiting = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Start& start) { return start.key == key; });
  if (waiting != waiting_.end()) {
    waiting_.erase(waiting);
    return report(0, unrun_report({key, 0}, Cause::cancelled, ""));
  }
  for (auto& [number, batch] : batches_) {
    for (std::uint32_t i = 1; i <= batch.elements.size(); ++i) {
      Element& element = batch.elements[i - 1];
      if (element.ended || element.start.key != key) continue;
      element.cancelled = true;
      cancel_job(number, i);
      if (withdraw(batch, i)) return end_unrun(number, i, Cause::cancelled, "");
      return;
    }
  }
}

void JobDesk::on_recall(const std::vector<AttemptKey>& keys) {
  const std::set<AttemptKey> wanted(keys.begin(), keys.end());
  take_back([&](const Start& start) { return wanted.empty() || wanted.contains(start.key); });
}

void JobDesk::take_back(const std::function<bool(const Start&)>& concerns) {
  std::erase_if(waiting_, [&](const Start& start) {
    if (concerns(start)) give_back(start.key);
    return concerns(start);
  });
  for (auto& [number, batch] : batches_) {
    for (std::uint32_t i = 1; i <= batch.elements.size(); ++i) {
      Element& element = batch.elements[i - 1];
      if (element.ended || element.begun || !concerns(element.start)) continue;
      if (!withdraw(batch, i)) continue;
      cancel_job(number, i);
      if (element.told) {
        end_unrun(number, i, Cause::lost, "its job was taken back before it began");
        continue;
      }
      element.ended = true;
      give_back(element.start.key);
    }
  }
}

void JobDesk::refuse(const Claim& claim, const std::string& why) {
  refused_.push_back(claim);
  if (gantry_) encode(gantry_.outbox(), Refused{claim.cores, claim.memory, why});
  take_back([&](const Start& start) {
    const Claim its = claim_of(start);
    return its.cores >= claim.cores && its.memory >= claim.memory;
  });
}

bool JobDesk::is_refused(const Start& start) const {
  const Claim claim = claim_of(start);
  return std::any_of(refused_.begin(), refused_.end(), [&](const Claim& refused) {
    return claim.cores >= refused.cores && claim.memory >= refused.memory;
  });
}

void JobDesk::on_ack(std::uint64_t receipt) {
  std::set<std::uint32_t> touched;
  while (!reports_.empty() && reports_.front().receipt <= receipt) {
    const std::uint32_t number = reports_.front().batch;
    reports_.pop_front();
    const auto batch = batches_.find(number);
    if (batch == batches_.end()) continue;
    --batch->second.unacknowledged;
    touched.insert(number);
  }
  for (const std::uint32_t number : touched) drop_if_done(number);
}

void JobDesk::report(std::uint32_t batch, std::string body) {
  const Report& added = reports_.emplace_back(Report{++receipts_, batch, std::move(body)});
  if (hello_ && gantry_) encode_ended(gantry_.outbox(), added.receipt, added.body);
}

void JobDesk::give_back(const AttemptKey& key) {
  if (gantry_) encode(gantry_.outbox(), Returned{key});
}

void JobDesk::tell(const std::string& text) {
  std::string words = text;
  std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
  if (!gantry_ || told_.size() >= kMostTold || !told_.insert(words).second) return;
  encode(gantry_.outbox(), Notice{text});
}

void JobDesk::rest(Clock::time_point now, const std::string& why) {
  ++rests_;
  rests_until_ = now + config_.rest;
  for (const Start& start : std::exchange(waiting_, {})) give_back(start.key);
  if (gantry_) encode(gantry_.outbox(), Resting{true, why});
}

void JobDesk::end_rest(Clock::time_point now) {
  if (!rests_until_ || now < *rests_until_) return;
  rests_until_.reset();
  submit_at_ = now;
  if (gantry_) encode(gantry_.outbox(), Resting{});
}

void JobDesk::tell_load(Clock::time_point now) {
  if (!gantry_ || now < load_at_) return;
  load_at_ = now + std::chrono::nanoseconds(hello_->load_every_ns);
  encode(gantry_.outbox(), load_.look(config_.state_dir));
}

namespace {

/// One desk a folder: the one before ends when it notices that its gantry is gone.
Result<UniqueFd> lock_desk(const fs::path& dir) {
  auto lock = take_lock(dir, 15s);
  if (lock || lock.error().code != ErrorCode::busy) return lock;
  return fail(ErrorCode::busy, "another gantry submits jobs from " + dir.string());
}

Result<> run_desk(const DeskConfig& config, UniqueFd gantry) {
  TRY(make_state_folders(config.state_dir));
  TRY_ASSIGN(UniqueFd lock, lock_desk(config.state_dir / "agent"));
  JobDesk desk(config, std::move(gantry), std::move(lock));
  TRY(desk.recover());
  // Whoever holds these open would keep the connection open, too.
  TRY_ASSIGN(const UniqueFd null, open_file("/dev/null", O_RDWR));
  ::dup2(null.get(), STDERR_FILENO);
  return desk.serve();
}

}  // namespace

Result<> serve_desk(const DeskConfig& config, int in, int out) {
  TRY_ASSIGN(FdPair sockets, make_socket_pair());
  // A process of its own: it may have something to cancel when gantry has gone.
  const pid_t desk = ::fork();
  if (desk < 0) return fail_errno("fork");
  if (desk == 0) {
    sockets.ours.reset();
    ::setsid();
    ::close(in);
    ::close(out);
    const auto served = run_desk(config, std::move(sockets.theirs));
    if (!served) static_cast<void>(write_all(STDERR_FILENO, served.error().message + "\n"));
    std::_Exit(served ? 0 : 3);
  }
  sockets.theirs.reset();
  return join(in, out, sockets.ours.get());
}

}  // namespace gantry::agent
