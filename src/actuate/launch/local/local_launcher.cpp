#include "actuate/launch/local/local_launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "actuate/launch/agent_channel.hpp"
#include "actuate/launch/agent_program.hpp"
#include "actuate/launch/task_wire.hpp"
#include "agent/agent_process.hpp"
#include "agent/load_report.hpp"
#include "agent/slot_log.hpp"
#include "base/background.hpp"

extern char** environ;

namespace gantry {

namespace {

constexpr HostId kLocalHost{1};
/// As often as remote agents tell it.
constexpr auto kLoadInterval = std::chrono::seconds(3);
/// For a sign of life while the agent tells what is there.
constexpr auto kAgentPatience = std::chrono::seconds(30);
/// Of the agent, without a task's end in between, before we believe that something is wrong.
constexpr int kMaxRestarts = 10;
constexpr int kMostBrokenGreetings = 4;
/// For the last words to get there. Bounded: a person may wait for the end.
constexpr auto kClosePatience = std::chrono::seconds(10);

/// Ours, without what a surrounding gantry task has put there.
std::vector<std::string> inherited_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('='));
    if (name == "GANTRY_RUN" || name == "GANTRY_TASK" || name == "GANTRY_ATTEMPT" ||
        name == "GANTRY_AGENT_MARK" || name.starts_with("GANTRY_PARAM_")) {
      continue;
    }
    out.emplace_back(text);
  }
  return out;
}

class LocalLauncher final : public Launcher, public Watchable {
 public:
  explicit LocalLauncher(LocalSite site)
      : site_(std::move(site)),
        channel_(kLocalHost, "here",
                 {.cores = site_.cores,
                  .memory = site_.memory,
                  .grace_ns = site_.grace.count(),
                  .environment = inherited_environment(),
                  .load_every_ns = std::chrono::nanoseconds(kLoadInterval).count()}) {
    char name[256] = "localhost";
    ::gethostname(name, sizeof name - 1);
    name_ = name;
  }

  Result<bool> open() override {
    if (state_ == State::down) TRY(connect());
    return state_ == State::up;
  }

  void start(const LaunchRequest& request) override {
    agent::Start message = to_wire(request.key, request.task);
    message.tag = to_tag(request.fingerprint);
    if (state_ == State::up)
      channel_.start(message);
    else
      later_.emplace_back([this, message] { channel_.start(message); });
  }
  void cancel(const TaskKey& key, HostId) override {
    when_up([this, key] { channel_.cancel(key); });
  }
  void signal(const TaskKey& key, HostId, std::int32_t signal) override {
    when_up([this, key, signal] { channel_.signal(key, signal); });
  }
  void recall(HostId, std::span<const TaskKey> keys) override {
    when_up([this, wanted = std::vector(keys.begin(), keys.end())] { channel_.recall(wanted); });
  }
  void acknowledge(HostId, std::uint64_t receipt) override { channel_.acknowledge(receipt); }

  Result<> poll(std::vector<News>& news) override {
    if (state_ == State::starting) TRY(take_connection());
    if (state_ == State::greeting || state_ == State::up) TRY(talk());
    if (state_ != State::up) return {};
    std::ranges::move(std::exchange(channel_.events(), {}), std::back_inserter(news));
    for (auto& told : std::exchange(channel_.reports(), {}))
      news.emplace_back(std::move(told.received));
    return {};
  }

  [[nodiscard]] ReadySet::Wanted waits_for() const override {
    if (state_ == State::starting) return {connecting_->done_fd()};
    return {channel_.fd(), channel_.wants_to_send()};
  }

  void glance(std::vector<HostGlance>& hosts) const override {
    const auto now = RealClock{}.now();
    if (now - load_told_ >= kLoadInterval || now < load_told_) {
      load_ = loads_.look(site_.state_dir);
      load_told_ = now;
    }
    hosts.push_back({.id = kLocalHost,
                     .name = name_,
                     .told = load_told_,
                     .free_cores = load_.free_millicores / 1000.0,
                     .free_memory = load_.free_memory,
                     .free_disk = load_.free_disk});
  }

  bool close(std::vector<News>&) override {
    if (!close_by_) close_by_ = SteadyClock::now() + kClosePatience;
    channel_.send();
    if (channel_.wants_to_send() && SteadyClock::now() < *close_by_) return false;
    channel_.detach();
    return true;
  }

 private:
  using SteadyClock = std::chrono::steady_clock;
  enum class State {
    down,
    starting,  ///< a thread connects to the agent, or starts one
    greeting,  ///< the agent tells what is there
    up,
  };

  /// An agent that was killed is followed by another; what is asked meanwhile is asked then.
  void when_up(std::function<void()> what) {
    if (state_ == State::up) return what();
    later_.push_back(std::move(what));
  }

  /// In a thread: an agent waits for what one that was killed has left, perhaps for long.
  Result<> connect() {
    TRY_ASSIGN(const auto program, find_agent());
    auto begun = Background::start([this, program](const std::stop_token&) {
      socket_ = agent::connect_agent(site_.state_dir, {program});
    });
    if (!begun) return tl::unexpected<Error>(begun.error());
    connecting_.emplace(std::move(*begun));
    state_ = State::starting;
    return {};
  }

  Result<> take_connection() {
    pollfd fd{connecting_->done_fd(), POLLIN, 0};
    if (::poll(&fd, 1, 0) <= 0) return {};
    connecting_->join();
    connecting_.reset();
    TRY_ASSIGN(UniqueFd socket, std::move(socket_));
    channel_.attach(std::move(socket));
    state_ = State::greeting;
    heard_at_ = SteadyClock::now();
    return {};
  }

  Result<> talk() {
    channel_.send();
    const std::uint64_t before = channel_.frames_heard();
    const bool alive = channel_.receive();
    if (channel_.frames_heard() != before) heard_at_ = SteadyClock::now();
    if (alive && state_ == State::greeting) return greet();
    return alive ? Result<>{} : on_lost();
  }

  /// Until the agent has told its inventory: what runs, and the reports that nobody has
  /// acknowledged.
  Result<> greet() {
    if (channel_.is_open()) return come_up();
    if (SteadyClock::now() - heard_at_ < kAgentPatience) return {};
    return fail(ErrorCode::peer,
                "the agent in " + (site_.state_dir / "agent").string() + " does not answer",
                "is it stopped? its process is named in the file \"pid\" there");
  }

  Result<> come_up() {
    state_ = State::up;
    broken_greetings_ = 0;
    if (std::exchange(was_up_, true))
      channel_.settle();
    else
      channel_.events().insert(channel_.events().begin(),
                               HostUp{{kLocalHost, name_, site_.cores, site_.memory}});
    for (const auto& what : std::exchange(later_, {})) what();
    channel_.send();
    return {};
  }

  Result<> on_lost() {
    if (channel_.problem()) return tl::unexpected<Error>(*channel_.problem());
    if (state_ == State::greeting) {
      // An agent that was just about to exit may have accepted: the next one will answer.
      if (++broken_greetings_ < kMostBrokenGreetings) return connect();
      return fail(ErrorCode::peer, "the agent breaks off in " + site_.state_dir.string());
    }
    if (channel_.ends_heard() != ends_before_) restarts_ = 0;
    ends_before_ = channel_.ends_heard();
    if (++restarts_ > kMaxRestarts) {
      return fail(ErrorCode::peer, fmt::format("the agent died {} times in a row", restarts_),
                  "see " + (site_.state_dir / "agent/agent.log").string());
    }
    channel_.events().emplace_back(Notice{"the agent died; starting another one"});
    return connect();
  }

  LocalSite site_;
  AgentChannel channel_;
  State state_ = State::down;
  Result<UniqueFd> socket_{};             ///< written by the thread
  std::optional<Background> connecting_;  ///< after socket_: it ends first
  std::vector<std::function<void()>> later_;
  SteadyClock::time_point heard_at_{};
  std::optional<SteadyClock::time_point> close_by_;
  bool was_up_ = false;
  int broken_greetings_ = 0;
  std::uint64_t ends_before_ = 0;  ///< heard of before the last restart
  int restarts_ = 0;
  std::string name_;
  // No agent needs to be asked what this machine has left.
  mutable agent::LoadReporter loads_;
  mutable agent::Load load_;
  mutable TimePoint load_told_ = kNever;
};

}  // namespace

LaunchParts make_local_launcher(LocalSite site) {
  auto launcher = std::make_unique<LocalLauncher>(std::move(site));
  const Watchable* watched = launcher.get();
  return {std::move(launcher), nullptr, watched};
}

bool agent_is_running(const std::filesystem::path& state_dir) {
  // The lock tells without disturbing: a connection would take the place of the gantry that is
  // served.
  const auto lock = open_file(state_dir / "agent" / "lock", O_RDONLY);
  return lock && ::flock(lock->get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<AgentTasks> tasks_of_agent(const std::filesystem::path& state_dir) {
  AgentTasks tasks;
  const bool alive = agent_is_running(state_dir);
  const auto folder = state_dir / "agent";
  for (const unsigned slot : agent::logged_slots(folder)) {
    TRY_ASSIGN(const auto history, agent::peek_slot_log(agent::slot_log_path(folder, slot)));
    for (const auto& started : history.unfinished)
      if (alive) tasks.running.push_back(from_wire(started.key));
    for (const auto& body : history.ended) {
      auto ended = agent::decode_ended(body);
      if (!ended) continue;
      ended->second.out = ended->second.err = {};
      ended->second.collected.clear();
      tasks.ended.push_back(from_wire(std::move(ended->second)));
    }
  }
  return tasks;
}

}  // namespace gantry
