#include "actuate/launch/ssh/host_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "actuate/launch/ssh/connection_hint.hpp"

namespace gantry {

namespace {

using namespace std::chrono_literals;

/// The agent tells its load so often, and is taken for lost after so long without a word.
constexpr auto kSignsOfLife = 3s;
constexpr auto kSilence = 15s;
constexpr auto kLongestWait = 30s;
/// What a host says of its time takes a while to get here.
constexpr auto kAnswerTime = 1s;

}  // namespace

HostLink::HostLink(const RemoteSite& site, const RemoteHost& host, const AgentBinary& binary)
    : site_(site),
      host_(host),
      binary_(binary),
      channel_(host.id, "on " + host.name,
               {.cores = host.slots,
                .memory = host.memory,
                .environment = {},
                .own_environment = true,
                .load_every_ns = std::chrono::nanoseconds(kSignsOfLife).count()}) {}

void HostLink::poll(Clock::time_point now, std::vector<News>& events) {
  if (state_ == State::down && lent_ && now >= try_at_) connect(now, events);
  if (state_ == State::connecting) {
    switch (connection_->advance()) {
      case SshConnection::State::connecting:
        if (now - heard_at_ > connection_->patience()) lose(now, "it does not answer", events);
        break;
      case SshConnection::State::failed:
        lose(now, connection_->why(), events);
        break;
      case SshConnection::State::ready:
        scratch_ = connection_->scratch();
        channel_.attach(connection_->take_socket());
        state_ = State::greeting;
        heard_at_ = now;
        break;
    }
  }
  if (state_ == State::greeting || state_ == State::up) talk(now, events);
}

void HostLink::connect(Clock::time_point now, std::vector<News>& events) {
  heard_at_ = now;
  const auto words = agent_words();
  auto begun = SshConnection::begin(site_.target(host_), binary_, words);
  if (!begun) return lose(now, begun.error().message, events);
  connection_ = std::move(*begun);
  state_ = State::connecting;
}

std::vector<std::string> HostLink::agent_words() const {
  const std::string folder = host_folder(site_, host_.name);
  if (!site_.batch) return {"relay", folder, "."};
  if (site_.batch->jobs == 0) return {"reach", folder};
  const std::string name = fmt::format("gantry-{}-{}", site_.holder, host_.name);
  const auto more = desk_words({.system = site_.batch->system,
                                .job = site_.batch->request,
                                .name = name,
                                .program = "bin/" + binary_.image.name,
                                .folder = folder,
                                .most = site_.batch->jobs,
                                .rate = site_.batch->rate,
                                .end = "end-of-" + name});
  std::vector<std::string> words{"jobs", folder, "."};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void HostLink::talk(Clock::time_point now, std::vector<News>& events) {
  channel_.send();
  const bool alive = channel_.receive();
  if (now - listened_at_ > kSignsOfLife) {
    listened_at_ = now;
    connection_->listen();
  }
  if (channel_.frames_heard() != frames_) {
    frames_ = channel_.frames_heard();
    heard_at_ = now;
  }
  if (state_ == State::greeting && channel_.is_open()) appear(events);
  if (state_ == State::up && channel_.refusals().size() != refusals_) appear(events);
  if (state_ == State::up && channel_.resting().has_value() != rests_) rest_or_go_on(events);
  if (state_ == State::up) {
    std::ranges::move(std::exchange(channel_.events(), {}), std::back_inserter(events));
    std::ranges::move(std::exchange(channel_.reports(), {}), std::back_inserter(reports_));
  }
  if (!alive) {
    const std::string said = connection_->why();
    lose(now, channel_.problem() ? channel_.problem()->message : said, events);
  } else if (now - heard_at_ > kSilence) {
    lose(now, fmt::format("nothing was heard from it for {} s", kSilence / 1s), events);
  }
}

std::uint32_t HostLink::slots() const {
  return host_.slots != 0 ? host_.slots : channel_.cores();
}

std::uint64_t HostLink::memory() const {
  return host_.memory != 0 ? host_.memory : channel_.memory();
}

bool HostLink::could_run(const Resources& task) const {
  if (slots() != 0 && task.cores > slots()) return false;
  if (memory() != 0 && task.memory > memory()) return false;
  const Duration lent = site_.batch ? time_for_tasks(site_.batch->request.walltime) : Duration(0);
  return lent == Duration(0) || task.walltime <= lent;
}

void HostLink::appear(std::vector<News>& events) {
  state_ = State::up;
  rests_ = false;
  failures_ = 0;
  told_.clear();
  lost_since_ = kNever;
  Host host{host_.id, host_.name, std::max(1U, slots()), memory(), site_.id, host_.speed};
  host.refusals = channel_.refusals();
  refusals_ = host.refusals.size();
  if (const Duration left = channel_.left(); left > Duration(0)) {
    const Duration declared = site_.batch ? time_for_tasks(site_.batch->request.walltime) : left;
    host.lent_for = std::max(declared, left);
    host.until = RealClock{}.now() + left - kAnswerTime;
  }
  // Where each task is a job, each has all of the time.
  if (site_.batch && site_.batch->jobs > 0)
    host.lent_for = time_for_tasks(site_.batch->request.walltime);
  events.emplace_back(HostUp{std::move(host)});
}

void HostLink::rest_or_go_on(std::vector<News>& events) {
  if (!channel_.resting()) return appear(events);
  rests_ = true;
  const std::string& why = *channel_.resting();
  const std::string hint = connection_hint(why, ssh_by_hand(site_.target(host_)));
  events.emplace_back(
      HostDraining{host_.id, WaitingTasks::stay,
                   fmt::format("{} ({}): it takes no tasks for a while: {}{}{}", host_.name,
                               site_.name, why, hint.empty() ? "" : "; ", hint)});
}

void HostLink::lose(Clock::time_point now, const std::string& why, std::vector<News>& events) {
  std::string reason(last_line(why));
  if (reason.empty()) reason = "the connection broke off";
  const std::string hint = connection_hint(reason, ssh_by_hand(site_.target(host_)));
  const std::string text = fmt::format("{} ({}): {}{}{}", host_.name, site_.name, reason,
                                       hint.empty() ? "" : "; ", hint);
  if (state_ == State::up) {
    events.emplace_back(HostDown{host_.id, text});
    told_ = reason;
  } else if (told_ != reason) {
    events.emplace_back(Notice{text});
    told_ = reason;
  }
  if (lost_since_ == kNever) lost_since_ = RealClock{}.now();
  channel_.detach();
  channel_.forget();
  reports_.clear();  // it will report them again
  connection_.reset();
  state_ = State::down;
  const auto wait = std::min<Clock::duration>(kLongestWait, 1s * (1 << std::min(failures_, 5U)));
  ++failures_;
  try_at_ = now + wait;
}

HostGlance HostLink::glance() const {
  HostGlance glance{.id = host_.id, .site = site_.id, .name = host_.name};
  if (state_ != State::up) {
    glance.condition = failures_ > 0 ? HostCondition::lost : HostCondition::connecting;
    glance.since = lost_since_;
    glance.why = told_;
    return glance;
  }
  if (const auto& load = channel_.load()) {
    glance.told = from_ns(load->clock_ns);
    glance.free_cores = load->free_millicores / 1000.0;
    glance.free_memory = load->free_memory;
    glance.free_disk = load->free_disk;
  }
  return glance;
}

void HostLink::give_back(std::vector<News>& events) {
  if (state_ == State::down) return;
  if (state_ == State::up) events.emplace_back(HostDown{host_.id, {}});
  channel_.forget();
  reports_.clear();
  close();
  connection_.reset();
}

int HostLink::fd() const {
  if (state_ == State::connecting) return connection_->fd();
  return state_ == State::down ? -1 : channel_.fd();
}

bool HostLink::wants_to_send() const {
  if (state_ == State::connecting) return connection_->wants_to_send();
  return state_ != State::down && channel_.wants_to_send();
}

void HostLink::close() {
  if (state_ == State::connecting) connection_.reset();
  channel_.detach();
  state_ = State::down;
}

}  // namespace gantry
