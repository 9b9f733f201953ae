#include "actuate/launch/local/local_launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "actuate/launch/agent_channel.hpp"
#include "actuate/launch/agent_program.hpp"
#include "actuate/launch/task_wire.hpp"
#include "agent/agent_process.hpp"
#include "agent/load_report.hpp"
#include "agent/slot_log.hpp"
#include "model/grid.hpp"

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

class LocalLauncher final : public Launcher {
 public:
  explicit LocalLauncher(LocalSite site)
      : site_(std::move(site)),
        channel_(kLocalHost, "here",
                 {.cores = site_.cores,
                  .memory = site_.memory,
                  .grace_ns = site_.grace.count(),
                  .environment = inherited_environment(),
                  .load_every_ns = std::chrono::nanoseconds(kLoadInterval).count()}) {}

  Result<> open() override {
    TRY(connect());
    char name[256] = "localhost";
    ::gethostname(name, sizeof name - 1);
    name_ = name;
    auto& events = channel_.events();
    events.insert(events.begin(), HostUp{{kLocalHost, name_, site_.cores, site_.memory}});
    return {};
  }

  void start(const TaskKey& key, HostId, const Task& task, const Fingerprint& fingerprint,
             const std::vector<TaskFile>&) override {
    agent::Start message = to_wire(key, task);
    message.tag = to_tag(fingerprint);
    channel_.start(message);
  }
  void cancel(const TaskKey& key, HostId) override { channel_.cancel(key); }
  void recall(HostId) override { channel_.recall(); }
  void acknowledge(std::uint64_t receipt) override { channel_.acknowledge(receipt); }

  Result<> poll(std::vector<News>& events) override {
    channel_.send();
    if (!channel_.receive()) TRY(reconnect());
    std::ranges::move(channel_.events(), std::back_inserter(events));
    channel_.events().clear();
    return {};
  }

  void glance(Glance& glance) const override {
    const auto now = RealClock{}.now();
    if (now - load_told_ >= kLoadInterval || now < load_told_) {
      load_ = loads_.look(site_.state_dir);
      load_told_ = now;
    }
    glance.sites.push_back({.id = kHome, .name = std::string(kHomeSite)});
    glance.hosts.push_back({.id = kLocalHost,
                            .name = name_,
                            .told = load_told_,
                            .free_cores = load_.free_millicores / 1000.0,
                            .free_memory = load_.free_memory,
                            .free_disk = load_.free_disk});
  }

  [[nodiscard]] int wait_fd() const override { return channel_.fd(); }
  [[nodiscard]] bool wants_to_send() const override { return channel_.wants_to_send(); }

  void close() override {
    channel_.send();
    // Bounded: whoever closes may be about to end because a person asked for it.
    for (int i = 0; i < 100 && channel_.wants_to_send(); ++i) {
      wait_for(POLLOUT, std::chrono::milliseconds(100));
      channel_.send();
    }
    channel_.detach();
  }

 private:
  /// Says hello and takes in the agent's inventory: what runs, and the reports that nobody has
  /// acknowledged.
  Result<> connect() {
    TRY_ASSIGN(const auto program, find_agent());
    for (int attempt = 0; attempt < 4; ++attempt) {
      TRY_ASSIGN(UniqueFd socket, agent::connect_agent(site_.state_dir, {program}));
      channel_.attach(std::move(socket));
      TRY_ASSIGN(const bool answered, await_inventory());
      if (answered) return {};
      // An agent that was just about to exit may have accepted: the next one will answer.
    }
    return fail(ErrorCode::peer, "the agent breaks off in " + site_.state_dir.string());
  }

  /// False when the agent is gone.
  Result<bool> await_inventory() {
    while (!channel_.is_open()) {
      channel_.send();
      const short what = channel_.wants_to_send() ? POLLIN | POLLOUT : POLLIN;
      if (wait_for(what, kAgentPatience) == 0) {
        return fail(ErrorCode::peer,
                    "the agent in " + (site_.state_dir / "agent").string() + " does not answer",
                    "is it stopped? its process is named in the file \"pid\" there");
      }
      if (channel_.receive()) continue;
      if (channel_.problem()) return tl::unexpected<Error>(*channel_.problem());
      return false;
    }
    return true;
  }

  Result<> reconnect() {
    if (channel_.problem()) return tl::unexpected<Error>(*channel_.problem());
    if (channel_.ends_heard() != ends_before_) restarts_ = 0;
    ends_before_ = channel_.ends_heard();
    if (++restarts_ > kMaxRestarts) {
      return fail(ErrorCode::peer, fmt::format("the agent died {} times in a row", restarts_),
                  "see " + (site_.state_dir / "agent/agent.log").string());
    }
    channel_.events().emplace_back(Notice{"the agent died; starting another one"});
    TRY(connect());
    channel_.settle();
    return {};
  }

  int wait_for(short what, Duration timeout) {
    pollfd fd{channel_.fd(), what, 0};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    return ::poll(&fd, 1, static_cast<int>(std::min<std::int64_t>(ms, 60'000)));
  }

  LocalSite site_;
  AgentChannel channel_;
  std::uint64_t ends_before_ = 0;  ///< heard of before the last restart
  int restarts_ = 0;
  std::string name_;
  // No agent needs to be asked what this machine has left.
  mutable agent::LoadReporter loads_;
  mutable agent::Load load_;
  mutable TimePoint load_told_ = kNever;
};

}  // namespace

std::unique_ptr<Launcher> make_local_launcher(LocalSite site) {
  return std::make_unique<LocalLauncher>(std::move(site));
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
