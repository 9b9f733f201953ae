#include "query/ask_driver.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "store/run_lock.hpp"

namespace gantry::query {

namespace {

using namespace std::chrono_literals;

/// A driver looks for requests ten times a second; one that does not in this time is stuck or
/// stopped.
constexpr auto kPatience = 10s;
constexpr auto kLookForAnswer = 50ms;

}  // namespace

Result<Answer> ask_driver(const std::filesystem::path& state_dir, store::Store& store,
                          const store::Request& request, int holder) {
  TRY_ASSIGN(const auto id, store.post(request));
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  bool driven = true;
  while (driven) {
    // Asked first: what it took, it took before it ended.
    const auto now = store::RunLock::holder(state_dir);
    driven = now && (*now == holder || holder == 0);
    TRY_ASSIGN(const bool waits, store.is_waiting(id));
    if (!waits) break;
    if (driven && std::chrono::steady_clock::now() > deadline) return Answer::silent;
    if (driven) std::this_thread::sleep_for(kLookForAnswer);
  }
  TRY_ASSIGN(const bool withdrawn, store.withdraw(id));
  return withdrawn ? Answer::gone : Answer::taken;
}

tl::unexpected<Error> fail_silent(int holder) {
  return fail(ErrorCode::peer, fmt::format("gantry (process {}) has not taken the request", holder),
              "if it is stopped, it takes the request when it continues");
}

}  // namespace gantry::query
