#include "simulate/kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>

namespace gantry::simulate {

// Found by GoogleTest where an event does not match.
void PrintTo(const KernelEvent& event, std::ostream* out) {
  constexpr std::array kNames{"done",      "failed",  "timer",         "host_down",    "host_up",
                              "link_down", "link_up", "host_appeared", "host_vanished"};
  *out << event.time << " " << kNames[static_cast<std::size_t>(event.kind)] << " token "
       << event.token.value() << " host " << event.host.value() << " link " << event.link.value()
       << " left " << event.left;
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = KernelEvent::Kind;

/// (time, token) of an end of work; what tests mostly look at.
struct End {
  double time = 0;
  std::uint64_t token = 0;
  bool failed = false;
  friend bool operator==(const End&, const End&) = default;
  friend std::ostream& operator<<(std::ostream& out, const End& end) {
    return out << end.time << ":" << end.token << (end.failed ? " failed" : "");
  }
};

std::vector<KernelEvent> run(Kernel& kernel) {
  std::vector<KernelEvent> events;
  while (const auto event = kernel.next()) events.push_back(*event);
  return events;
}

std::vector<End> ends(Kernel& kernel) {
  std::vector<End> found;
  for (const KernelEvent& event : run(kernel)) {
    if (event.kind > Kind::timer) continue;
    found.push_back({event.time, event.token.value(), event.kind == Kind::failed});
  }
  return found;
}

Trace steps(std::vector<TraceStep> list) {
  return Trace::make(std::move(list)).value();
}

constexpr std::uint64_t kA = 1;
constexpr std::uint64_t kB = 2;
constexpr std::uint64_t kC = 3;

TEST(Kernel, WithoutAnythingNothingHappens) {
  Kernel kernel;
  EXPECT_FALSE(kernel.next());
  EXPECT_EQ(kernel.now(), 0);
}

TEST(Kernel, TimersRingInOrder) {
  Kernel kernel;
  kernel.start_timer(5, Token(kA));
  kernel.start_timer(3, Token(kB));
  kernel.start_timer(5, Token(kC));
  kernel.start_timer(kForever, Token(9));
  EXPECT_THAT(ends(kernel), ElementsAre(End{3, kB}, End{5, kA}, End{5, kC}));
}

TEST(Kernel, ComputationsWaitForASlot) {
  Kernel kernel;
  const HostIndex host = kernel.add_host({.speed = 2, .slots = 2});
  kernel.start_computation(host, 20, Token(kA));  // 10 s
  kernel.start_computation(host, 8, Token(kB));   // 4 s
  kernel.start_computation(host, 4, Token(kC));   // 2 s, from 4 s on
  EXPECT_THAT(ends(kernel), ElementsAre(End{4, kB}, End{6, kC}, End{10, kA}));
}

TEST(Kernel, AWideComputationIsNotOvertaken) {
  Kernel kernel;
  const HostIndex host = kernel.add_host({.slots = 2});
  kernel.start_computation(host, 10, Token(kA));
  kernel.start_computation(host, 5, Token(kB), 2);
  kernel.start_computation(host, 1, Token(kC));
  EXPECT_THAT(ends(kernel), ElementsAre(End{10, kA}, End{15, kB}, End{16, kC}));
}

TEST(Kernel, AvailabilitySlowsDown) {
  Kernel kernel;
  // Half until 10 s, nothing until 20 s, then all of it.
  const HostIndex host = kernel.add_host({.availability = steps({{0, 0.5}, {10, 0}, {20, 1}})});
  kernel.start_computation(host, 6, Token(kA));  // 5 by 10 s, the last one from 20 s on
  EXPECT_THAT(ends(kernel), ElementsAre(End{21, kA}));
}

TEST(Kernel, WhatIsNeverDoneGivesNoEvent) {
  Kernel kernel;
  const HostIndex host = kernel.add_host({.availability = steps({{0, 1}, {10, 0}})});
  const ActivityId stuck = kernel.start_computation(host, 11, Token(kA));
  const ActivityId behind = kernel.start_computation(host, 0, Token(kB));
  EXPECT_FALSE(kernel.next());
  kernel.start_timer(100, Token(kC));
  EXPECT_EQ(kernel.next()->time, 100);
  EXPECT_EQ(kernel.left(stuck), 1);
  EXPECT_TRUE(kernel.cancel(stuck));
  EXPECT_THAT(ends(kernel), ElementsAre(End{100, kB}));
  EXPECT_FALSE(kernel.cancel(behind));
}

TEST(Kernel, FifoStreamsCarryOneTransferEach) {
  Kernel kernel;
  const LinkIndex one = kernel.add_link({.bandwidth = Trace(10), .latency = 1});
  const LinkIndex two = kernel.add_link({.bandwidth = Trace(10), .latency = 1, .streams = 2});
  for (const std::uint64_t token : {kA, kB, kC}) {
    kernel.start_transfer(one, 100, Token(token));
    kernel.start_transfer(two, 100, Token(10 + token));
  }
  // 1 s of latency and 10 s of bytes each; with two streams, the third waits for the first.
  EXPECT_THAT(ends(kernel), ElementsAre(End{11, kA}, End{11, 10 + kA}, End{11, 10 + kB},
                                        End{22, kB}, End{22, 10 + kC}, End{33, kC}));
}

TEST(Kernel, FairLinksShareTheirBandwidth) {
  Kernel kernel;
  const LinkIndex link = kernel.add_link({.bandwidth = Trace(12), .sharing = LinkSharing::fair});
  kernel.start_transfer(link, 24, Token(kA));
  kernel.start_transfer(link, 72, Token(kB));
  kernel.start_timer(2, Token(9));
  ASSERT_EQ(kernel.next()->token, Token(9));
  const ActivityId late = kernel.start_transfer(link, 24, Token(kC));
  EXPECT_EQ(kernel.left(late), 24);
  // Until 2 s two have 6/s each: A has 12 left, B 60. Then three have 4/s: A ends at 5 s with B at
  // 48 and C at 12. Then 6/s: C ends at 7 s with B at 36, which has 12/s until 10 s.
  EXPECT_THAT(ends(kernel), ElementsAre(End{5, kA}, End{7, kC}, End{10, kB}));
}

TEST(Kernel, LatencyTakesNoBandwidth) {
  Kernel kernel;
  const LinkIndex link =
      kernel.add_link({.bandwidth = Trace(10), .latency = 2, .sharing = LinkSharing::fair});
  kernel.start_transfer(link, 100, Token(kA));
  kernel.start_timer(7, Token(9));
  kernel.next();
  kernel.start_transfer(link, 10, Token(kB));
  // A has the link alone from 2 s to 9 s: 30 left. Then 5/s each: B ends at 11 s with A at 20.
  EXPECT_THAT(ends(kernel), ElementsAre(End{11, kB}, End{13, kA}));
}

TEST(Kernel, EqualTimesComeInTheOrderOfStarts) {
  Kernel kernel;
  const HostIndex host = kernel.add_host({.slots = 9, .outages = {{8, kForever}}});
  const LinkIndex link = kernel.add_link({.bandwidth = Trace(1), .sharing = LinkSharing::fair});
  kernel.start_transfer(link, 4, Token(1));
  kernel.start_timer(8, Token(2));
  kernel.start_computation(host, 8, Token(3));
  kernel.start_transfer(link, 4, Token(4));
  kernel.start_timer(8, Token(5));
  // The host's outage also begins at 8 s: what ends then has been done.
  EXPECT_THAT(ends(kernel), ElementsAre(End{8, 1}, End{8, 2}, End{8, 3}, End{8, 4}, End{8, 5}));
}

TEST(Kernel, AnOutageFailsWhatIsThere) {
  Kernel kernel;
  const HostIndex host = kernel.add_host({.speed = 2, .outages = {{4, 6}, {20, 21}}});
  kernel.start_computation(host, 10, Token(kA));
  kernel.start_computation(host, 3, Token(kB));
  EXPECT_THAT(
      run(kernel),
      ElementsAre(
          KernelEvent{.time = 4, .kind = Kind::host_down, .host = host},
          KernelEvent{.time = 4, .kind = Kind::failed, .token = Token(kA), .host = host, .left = 2},
          KernelEvent{.time = 4, .kind = Kind::failed, .token = Token(kB), .host = host, .left = 3},
          KernelEvent{.time = 6, .kind = Kind::host_up, .host = host},
          KernelEvent{.time = 20, .kind = Kind::host_down, .host = host},
          KernelEvent{.time = 21, .kind = Kind::host_up, .host = host}));
}

TEST(Kernel, AFailedLinkFailsItsTransfers) {
  for (const LinkSharing sharing : {LinkSharing::fifo, LinkSharing::fair}) {
    Kernel kernel;
    const LinkIndex link =
        kernel.add_link({.bandwidth = Trace(10), .latency = 1, .sharing = sharing, .streams = 2});
    const ActivityId first = kernel.start_transfer(link, 100, Token(kA));
    kernel.start_timer(3, Token(9));
    kernel.next();
    const ActivityId second = kernel.start_transfer(link, 100, Token(kB));
    kernel.start_timer(4, Token(9));
    // 3 s of bytes for A, the latency for B.
    while (kernel.now() < 4) kernel.next();
    EXPECT_EQ(kernel.left(first), 70);
    EXPECT_EQ(kernel.left(second), 100);
    kernel.fail_link(link);
    EXPECT_FALSE(kernel.is_up(link));
    kernel.start_transfer(link, 5, Token(kC));
    EXPECT_THAT(
        run(kernel),
        ElementsAre(
            KernelEvent{
                .time = 4, .kind = Kind::failed, .token = Token(kA), .link = link, .left = 70},
            KernelEvent{
                .time = 4, .kind = Kind::failed, .token = Token(kB), .link = link, .left = 100},
            KernelEvent{
                .time = 4, .kind = Kind::failed, .token = Token(kC), .link = link, .left = 5}));
    kernel.restore_link(link);
    kernel.start_transfer(link, 10, Token(kA));
    EXPECT_THAT(ends(kernel), ElementsAre(End{6, kA}));
  }
}

TEST(Kernel, AFailureThatIsCancelledIsNotReported) {
  Kernel kernel;
  const HostIndex host = kernel.add_host({});
  const ActivityId first = kernel.start_computation(host, 1, Token(kA));
  kernel.start_computation(host, 1, Token(kB));
  kernel.fail_host(host);
  EXPECT_EQ(kernel.left(first), 1);
  EXPECT_TRUE(kernel.cancel(first));
  EXPECT_FALSE(kernel.cancel(first));
  EXPECT_THAT(ends(kernel), ElementsAre(End{0, kB, true}));
}

TEST(Kernel, CancellingLetsTheNextOneBegin) {
  Kernel kernel;
  const LinkIndex link = kernel.add_link({.bandwidth = Trace(10)});
  const ActivityId first = kernel.start_transfer(link, 100, Token(kA));
  const ActivityId waiting = kernel.start_transfer(link, 100, Token(kB));
  kernel.start_transfer(link, 100, Token(kC));
  kernel.start_timer(3, Token(9));
  kernel.next();
  EXPECT_TRUE(kernel.cancel(waiting));
  EXPECT_TRUE(kernel.cancel(first));
  EXPECT_THAT(ends(kernel), ElementsAre(End{13, kC}));
}

TEST(Kernel, HostsMayBeAddedAtAnyTime) {
  Kernel kernel;
  kernel.start_timer(5, Token(9));
  kernel.next();
  // Of its outages only what is left of them matters.
  const HostIndex host = kernel.add_host({.outages = {{0, 1}, {4, 6}}});
  EXPECT_FALSE(kernel.is_up(host));
  EXPECT_EQ(kernel.next()->kind, Kind::host_up);
  EXPECT_EQ(kernel.now(), 6);
  kernel.start_computation(host, 10, Token(kA));
  EXPECT_THAT(ends(kernel), ElementsAre(End{16, kA}));
}

TEST(Kernel, ACopyIsAnotherFuture) {
  Kernel kernel;
  const LinkIndex link = kernel.add_link({.bandwidth = Trace(10), .sharing = LinkSharing::fair});
  kernel.start_transfer(link, 100, Token(kA));
  Kernel other = kernel;
  other.start_transfer(link, 100, Token(kB));
  EXPECT_THAT(ends(kernel), ElementsAre(End{10, kA}));
  EXPECT_THAT(ends(other), ElementsAre(End{20, kA}, End{20, kB}));
}

// The golden case: three tasks of a small sweep on two sites, every moment derived by hand.
//
// near: fair link, 10 B/s until 20 s, then 5 B/s, latency 1 s;
//       one host of speed 2, all of it until 30 s, half of it then.
// far:  fifo link, 4 B/s, latency 2 s, down from 25 s to 30 s; one host of speed 1.
//
// Tasks 1 and 2 (near) each need an input of 60 B, compute 40, and return 25 B.
// Task 3 (far) needs 80 B, computes 10 and returns 8 B.
//
//  0  All three inputs start.
//  1  Near's two flow at 5 B/s each: 60 B are done at 1 + 12 = 13.
//  2  Far's flows at 4 B/s: 80 B are done at 2 + 20 = 22.
// 13  Tasks 1 and 2 have their input. Task 1 computes at 2/s, 34 by 30, the other 6 at 1/s: 36.
//     Task 2 waits for the slot.
// 22  Task 3 has its input and computes until 32. Its link is down meanwhile; nothing is on it.
// 32  Task 3 returns 8 B: latency until 34, bytes until 36.
// 36  Task 1 is computed; task 2 begins: 40 at 1/s until 76. Task 1 returns 25 B: latency until
//     37, 5 B/s until 42. Task 3's output comes after task 1's end, which was started before it.
// 42  Task 1's output is home.
// 76  Task 2 is computed; latency until 77, 5 s of bytes: home at 82.
TEST(Kernel, GoldenSmallSweep) {
  Kernel kernel;
  const LinkIndex near_link = kernel.add_link(
      {.bandwidth = steps({{0, 10}, {20, 5}}), .latency = 1, .sharing = LinkSharing::fair});
  const LinkIndex far_link =
      kernel.add_link({.bandwidth = Trace(4), .latency = 2, .outages = {{25, 30}}});
  const HostIndex near_host =
      kernel.add_host({.speed = 2, .availability = steps({{0, 1}, {30, 0.5}})});
  const HostIndex far_host = kernel.add_host({});

  // Token 10 n + 1: the input of task n, + 2: its computation, + 3: its output.
  kernel.start_transfer(near_link, 60, Token(11));
  kernel.start_transfer(near_link, 60, Token(21));
  kernel.start_transfer(far_link, 80, Token(31));
  std::vector<std::pair<double, std::uint64_t>> seen;
  while (const auto event = kernel.next()) {
    const std::uint64_t token = event->token.value();
    seen.emplace_back(event->time, token);
    const bool far = token / 10 == 3;
    if (token % 10 == 1) {
      kernel.start_computation(far ? far_host : near_host, far ? 10 : 40, Token(token + 1));
    } else if (token % 10 == 2) {
      kernel.start_transfer(far ? far_link : near_link, far ? 8 : 25, Token(token + 1));
    }
  }
  using Seen = std::pair<double, std::uint64_t>;
  EXPECT_THAT(seen, ElementsAre(Seen{13, 11}, Seen{13, 21}, Seen{22, 31}, Seen{25, 0}, Seen{30, 0},
                                Seen{32, 32}, Seen{36, 12}, Seen{36, 33}, Seen{42, 13},
                                Seen{76, 22}, Seen{82, 23}));
}

}  // namespace
}  // namespace gantry::simulate
