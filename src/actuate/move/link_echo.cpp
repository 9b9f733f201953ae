#include "actuate/move/link_echo.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace gantry {

namespace {

using namespace std::chrono_literals;

/// How far away a site is changes slowly.
constexpr auto kEvery = 10s;
/// After an answer that does not count.
constexpr auto kAgainAfter = 250ms;

/// Bytes that no compression makes fewer and nobody knows before they come; less on failure.
std::string noise(std::size_t bytes) {
  std::string noise(bytes, '\0');
  std::size_t made = 0;
  while (made < bytes) {
    const ssize_t got = ::getrandom(noise.data() + made, bytes - made, 0);
    if (got < 0 && errno != EINTR) break;
    made += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  }
  noise.resize(made);
  return noise;
}

}  // namespace

void LinkEcho::ask_if_due(std::string& out, TimePoint now) {
  if (is_out() || now < due_) return;
  ask(out, 0, now);
  due_ = now + kEvery;
}

void LinkEcho::probe(std::string& out, std::uint64_t bytes, TimePoint now) {
  ask(out, 0, now);
  probe_bytes_ = std::min<std::uint64_t>(bytes, depot::Echo::kMostPadding);
}

void LinkEcho::send_padding(std::string& out, TimePoint now) {
  ask(out, std::exchange(probe_bytes_, 0), now);
}

void LinkEcho::ask(std::string& out, std::uint64_t bytes, TimePoint now) {
  const std::string padding = noise(bytes);
  if (padding.size() != bytes) return;
  encode(out, depot::Echo{++number_, padding});
  bytes_ = bytes;
  seal_ = depot::seal_of(padding);
  asked_ = now;
  disturbed_ = false;
}

bool LinkEcho::answered(const depot::Echoed& echoed, TimePoint now, std::optional<Answer>& answer) {
  // One that nobody waits for says nothing.
  if (!asked_ || echoed.number != number_) return true;
  if (echoed.seal != seal_) return false;
  const double took = seconds(now - *std::exchange(asked_, {}));
  if (disturbed_) {
    probe_bytes_ = 0;
    due_ = now + kAgainAfter;
    return true;
  }
  answer = Answer{took, bytes_, bytes_ > 0 ? trip_ : 0};
  trip_ = took;
  return true;
}

void LinkEcho::forget() {
  asked_.reset();
  probe_bytes_ = 0;
}

}  // namespace gantry
