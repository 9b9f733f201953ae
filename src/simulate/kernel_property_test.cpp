#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "simulate/kernel.hpp"

namespace gantry::simulate {
namespace {

/// How large, and which one of that size.
struct PlayerSize {
  std::uint32_t hosts = 2;
  std::uint32_t links = 2;
  std::uint32_t tasks = 6;
  bool outages = false;
  std::uint64_t seed = 0;
};

/// A small random grid and a driver that carries random tasks through it (input, computation,
/// output), tries again what failed, and keeps a ledger of everything that was started.
class KernelPlayer {
 public:
  /// What one activity did: between two moments, `amount - left` of it.
  struct Entry {
    std::uint32_t task = 0;
    std::uint8_t phase = 0;
    bool transfer = false;
    std::uint32_t resource = 0;
    double amount = 0;
    ActivityId id = {};
  };

  explicit KernelPlayer(const PlayerSize& size) : size_(size), random_(size.seed) {
    for (std::uint32_t i = 0; i < size.hosts; ++i) hosts.push_back(kernel.add_host(any_host()));
    for (std::uint32_t i = 0; i < size.links; ++i) links.push_back(kernel.add_link(any_link()));
    for (std::uint32_t task = 0; task < size.tasks; ++task) {
      kernel.start_timer(dice(40) / 4.0, Token(kStarts + task));
    }
  }

  /// Until nothing happens any more; `look` sees every event before the driver reacts to it.
  void play(const std::function<void(const KernelEvent&)>& look = {}) {
    while (step(look)) {
    }
  }

  bool step(const std::function<void(const KernelEvent&)>& look = {}) {
    const auto event = kernel.next();
    if (!event) return false;
    if (event->time < last_time_) throw std::logic_error("time runs backwards");
    last_time_ = event->time;
    history.push_back(*event);
    if (look) look(*event);
    react(*event);
    if (history.size() > 100'000) throw std::logic_error("no end in sight");
    return true;
  }

  /// As the driver would: gives up one activity and tries it again later.
  void cancel(std::uint64_t token) {
    const auto found = open.find(token);
    if (found == open.end()) return;
    if (!kernel.cancel(found->second.id)) throw std::logic_error("an open activity is unknown");
    retry(found->second);
    open.erase(found);
  }

  Kernel kernel;
  std::vector<HostIndex> hosts;
  std::vector<LinkIndex> links;
  std::map<std::uint64_t, Entry> open;  ///< started, and no event yet; by token
  std::vector<KernelEvent> history;
  std::uint32_t tasks_done = 0;

 private:
  static constexpr std::uint64_t kStarts = 1'000'000;  ///< + task: begin or go on with it
  static constexpr std::uint8_t kPhases = 3;

  std::uint32_t dice(std::uint32_t sides) { return static_cast<std::uint32_t>(random_() % sides); }

  Trace any_trace() {
    std::vector<TraceStep> steps;
    double time = 0;
    for (std::uint32_t i = 0; i <= dice(5); ++i) {
      steps.push_back({time, dice(9) / 4.0});
      time += 1 + dice(40) / 2.0;
    }
    steps.push_back({time, 0.5 + dice(4)});  // something is done in every period
    return Trace::make(std::move(steps), time + 10).value().shifted_at_random(random_);
  }

  std::vector<Outage> any_outages() {
    std::vector<Outage> outages;
    double time = dice(20);
    for (std::uint32_t i = 0; size_.outages && i < dice(4); ++i) {
      outages.push_back({time, time + 1 + dice(10)});
      time += 12 + dice(20);
    }
    return outages;
  }

  HostSpec any_host() {
    return {.speed = 0.5 + dice(4),
            .availability = any_trace(),
            .slots = 1 + dice(3),
            .outages = any_outages()};
  }

  LinkSpec any_link() {
    return {.bandwidth = any_trace(),
            .latency = dice(3) / 2.0,
            .sharing = dice(2) == 0 ? LinkSharing::fifo : LinkSharing::fair,
            .streams = 1 + dice(2),
            .outages = any_outages()};
  }

  void start(std::uint32_t task, std::uint8_t phase) {
    const std::uint64_t token = next_token_++;
    Entry entry{.task = task, .phase = phase, .transfer = phase != 1, .amount = dice(200) / 8.0};
    if (entry.transfer) {
      entry.resource = dice(static_cast<std::uint32_t>(links.size()));
      entry.id = kernel.start_transfer(links[entry.resource], entry.amount, Token(token));
    } else {
      entry.resource = dice(static_cast<std::uint32_t>(hosts.size()));
      entry.id = kernel.start_computation(hosts[entry.resource], entry.amount, Token(token));
    }
    open[token] = entry;
  }

  void retry(const Entry& entry) {
    phases_[entry.task] = entry.phase;
    kernel.start_timer(kernel.now() + 0.5 + dice(8), Token(kStarts + entry.task));
  }

  void react(const KernelEvent& event) {
    const std::uint64_t token = event.token.value();
    if (event.kind == KernelEvent::Kind::timer) {
      const auto task = static_cast<std::uint32_t>(token - kStarts);
      return start(task, phases_[task]);
    }
    if (event.kind > KernelEvent::Kind::timer) return;

    const auto found = open.find(token);
    if (found == open.end()) throw std::logic_error("an event for what was not open");
    const Entry entry = found->second;
    open.erase(found);
    if (event.kind == KernelEvent::Kind::failed) return retry(entry);
    if (entry.phase + 1 == kPhases) {
      ++tasks_done;
    } else {
      start(entry.task, static_cast<std::uint8_t>(entry.phase + 1));
    }
  }

  PlayerSize size_;
  Random random_;
  double last_time_ = 0;
  std::uint64_t next_token_ = 1;
  std::map<std::uint32_t, std::uint8_t> phases_;  ///< by task: where it goes on
};

PlayerSize any_size() {
  return {.hosts = *rc::gen::inRange(1U, 4U),
          .links = *rc::gen::inRange(1U, 4U),
          .tasks = *rc::gen::inRange(1U, 12U),
          .outages = *rc::gen::arbitrary<bool>(),
          .seed = *rc::gen::arbitrary<std::uint64_t>()};
}

TEST(KernelProperty, EveryTaskComesThrough) {
  EXPECT_TRUE(rc::check([] {
    const PlayerSize size = any_size();
    KernelPlayer player(size);
    player.play();
    RC_ASSERT(player.tasks_done == size.tasks);
    RC_ASSERT(player.open.empty());
  }));
}

TEST(KernelProperty, SameSeedSameEvents) {
  EXPECT_TRUE(rc::check([] {
    const PlayerSize size = any_size();
    KernelPlayer first(size);
    KernelPlayer second(size);
    first.play();
    // A copy made half-way goes on as the original.
    while (second.history.size() < first.history.size() / 2) second.step();
    KernelPlayer copy = second;
    second.play();
    copy.play();
    RC_ASSERT(first.history == second.history);
    RC_ASSERT(first.history == copy.history);
  }));
}

// Between two events, a link that has something to carry carries what its trace says, and so does
// every slot that computes: no more, no less.
TEST(KernelProperty, WorkIsConserved) {
  EXPECT_TRUE(rc::check([] {
    Random random(*rc::gen::arbitrary<std::uint64_t>());
    const auto any = [&](std::uint32_t sides) { return static_cast<double>(random() % sides); };
    const Trace trace =
        Trace::make({{0, 1 + any(8)}, {3 + any(8), any(3)}, {20, 1 + any(4)}}, 30).value();
    Kernel kernel;
    const LinkIndex fair = kernel.add_link({.bandwidth = trace, .sharing = LinkSharing::fair});
    const LinkIndex fifo = kernel.add_link({.bandwidth = trace});
    const HostIndex host = kernel.add_host({.speed = 2, .availability = trace, .slots = 1});

    // All three get the same load; the next activity of each comes when the dice say so.
    std::array<std::map<std::uint64_t, ActivityId>, 3> open;
    std::array<double, 3> given{};
    std::array<double, 3> unused{};  // what failed or was cancelled had left
    std::array<double, 3> capacity{};
    std::uint64_t next_token = 1;
    const auto start = [&](std::size_t where) {
      const double amount = any(60);
      const Token token(3 * next_token++ + where);
      given[where] += amount;
      open[where][token.value()] = where == 0   ? kernel.start_transfer(fair, amount, token)
                                   : where == 1 ? kernel.start_transfer(fifo, amount, token)
                                                : kernel.start_computation(host, amount, token);
    };
    for (int i = 0; i < 60; ++i) kernel.start_timer(any(200), Token(0));
    double before = 0;
    while (const auto event = kernel.next()) {
      const double got = trace.integral(before, event->time);
      for (std::size_t where = 0; where < 3; ++where) {
        if (!open[where].empty()) capacity[where] += where == 2 ? 2 * got : got;
      }
      before = event->time;
      const std::uint64_t token = event->token.value();
      if (event->kind != KernelEvent::Kind::timer) {
        unused[token % 3] += event->left;
        RC_ASSERT(open[token % 3].erase(token) == 1U);
        continue;
      }
      const auto where = static_cast<std::size_t>(any(3));
      const auto what = static_cast<int>(any(8));
      if (what < 5) {
        start(where);
      } else if (what < 6 && !open[where].empty()) {
        const auto victim = open[where].begin();
        unused[where] += kernel.left(victim->second);
        RC_ASSERT(kernel.cancel(victim->second));
        open[where].erase(victim);
      } else if (what == 7) {
        kernel.fail_link(fair);
        kernel.fail_link(fifo);
        kernel.fail_host(host);
        kernel.restore_link(fair);
        kernel.restore_link(fifo);
        kernel.restore_host(host);
      }
    }
    for (std::size_t where = 0; where < 3; ++where) {
      RC_ASSERT(open[where].empty());
      RC_ASSERT(std::abs(given[where] - unused[where] - capacity[where]) <=
                1e-9 * (1 + given[where]));
    }
  }));
}

/// Arrivals at one link.
struct Load {
  std::vector<double> at;
  std::vector<double> bytes;
};

std::vector<double> fair_ends(const LinkSpec& spec, const Load& load) {
  Kernel kernel;
  const LinkIndex link = kernel.add_link(spec);
  for (std::size_t i = 0; i < load.at.size(); ++i) kernel.start_timer(load.at[i], Token(i));
  std::vector<double> ends(load.at.size());
  while (const auto event = kernel.next()) {
    const std::size_t i = event->token.value();
    if (event->kind == KernelEvent::Kind::timer) {
      kernel.start_transfer(link, load.bytes[i], event->token);
    } else {
      ends[i] = event->time;
    }
  }
  return ends;
}

/// The same over a fifo link, in slices: who has had one goes to the end of the queue.
std::vector<double> sliced_ends(LinkSpec spec, const Load& load, double slice) {
  spec.sharing = LinkSharing::fifo;
  Kernel kernel;
  const LinkIndex link = kernel.add_link(spec);
  std::vector<double> left = load.bytes;
  std::vector<double> ends(load.at.size());
  for (std::size_t i = 0; i < load.at.size(); ++i) kernel.start_timer(load.at[i], Token(i));
  while (const auto event = kernel.next()) {
    const std::size_t i = event->token.value();
    ends[i] = event->time;
    if (event->kind == KernelEvent::Kind::timer || left[i] > 0) {
      const double part = std::min(slice, left[i]);
      left[i] -= part;
      kernel.start_transfer(link, part, event->token);
    }
  }
  return ends;
}

TEST(KernelProperty, FairShareIsTheLimitOfTinyFifoSlices) {
  EXPECT_TRUE(rc::check([] {
    LinkSpec spec{.sharing = LinkSharing::fair};
    const double slowest = 1 + *rc::gen::inRange(0, 4);
    spec.bandwidth = Trace::make({{0, slowest + 3}, {7, slowest}, {12, slowest + 1}}, 20).value();
    Load load;
    const int transfers = *rc::gen::inRange(1, 6);
    for (int i = 0; i < transfers; ++i) {
      load.at.push_back(*rc::gen::inRange(0, 50) / 4.0);
      load.bytes.push_back(*rc::gen::inRange(0, 160) / 4.0);
    }
    const auto fair = fair_ends(spec, load);
    for (const double slice : {1.0, 0.1, 0.01}) {
      const auto sliced = sliced_ends(spec, load, slice);
      // In a round everybody gets one slice: nobody is further from its fair share than one round
      // for each of those who came and went.
      const double bound = 2 * transfers * transfers * slice / slowest + 1e-9;
      for (std::size_t i = 0; i < fair.size(); ++i) {
        RC_ASSERT(std::abs(fair[i] - sliced[i]) <= bound);
      }
    }
  }));
}

// --- The monkey: every resource is killed at every moment at which something happens

void kill(KernelPlayer& player, std::uint32_t victim) {
  const auto hosts = static_cast<std::uint32_t>(player.hosts.size());
  if (victim < hosts) {
    player.kernel.fail_host(player.hosts[victim]);
  } else {
    player.kernel.fail_link(player.links[victim - hosts]);
  }
}

void restore(KernelPlayer& player, std::uint32_t victim) {
  const auto hosts = static_cast<std::uint32_t>(player.hosts.size());
  if (victim < hosts) {
    player.kernel.restore_host(player.hosts[victim]);
  } else {
    player.kernel.restore_link(player.links[victim - hosts]);
  }
}

TEST(KernelMonkey, NothingIsLostWhateverIsKilledWhenever) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const PlayerSize size{
        .hosts = 3, .links = 3, .tasks = 8, .outages = seed % 2 == 0, .seed = seed};
    KernelPlayer plain(size);
    plain.play();
    ASSERT_EQ(plain.tasks_done, size.tasks);
    for (std::uint32_t victim = 0; victim < size.hosts + size.links; ++victim) {
      for (std::size_t when = 0; when < plain.history.size(); ++when) {
        KernelPlayer player(size);
        while (player.history.size() < when) ASSERT_TRUE(player.step());
        kill(player, victim);
        for (int i = 0; i < 5; ++i) player.step();
        restore(player, victim);
        player.play();
        ASSERT_EQ(player.tasks_done, size.tasks) << "seed " << seed << " victim " << victim;
        ASSERT_TRUE(player.open.empty());
      }
    }
  }
}

TEST(KernelMonkey, NothingIsLostWhateverIsCancelledWhenever) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const PlayerSize size{.outages = seed % 2 == 0, .seed = seed};
    KernelPlayer plain(size);
    plain.play();
    for (std::size_t when = 0; when < plain.history.size(); ++when) {
      KernelPlayer player(size);
      while (player.history.size() < when) ASSERT_TRUE(player.step());
      std::vector<std::uint64_t> tokens;
      for (const auto& [token, entry] : player.open) tokens.push_back(token);
      for (const std::uint64_t token : tokens) {
        KernelPlayer one = player;
        one.cancel(token);
        one.play();
        ASSERT_EQ(one.tasks_done, size.tasks) << "seed " << seed << " token " << token;
      }
      // And all of them at once, with a host that fails for good.
      for (const std::uint64_t token : tokens) player.cancel(token);
      player.kernel.fail_host(player.hosts.back());
      player.hosts.pop_back();
      player.play();
      ASSERT_EQ(player.tasks_done, size.tasks) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace gantry::simulate
