#include "query/join_driver.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "store/run_lock.hpp"

namespace gantry::query {

namespace {

using namespace std::chrono_literals;

/// As of ask_driver().
constexpr auto kPatienceToJoin = 10s;
constexpr auto kLookForRun = 50ms;

/// Nothing when that gantry has ended without an answer. It may take long to answer: to look at the
/// inputs of a large study takes its time.
Result<std::optional<RunId>> run_of(const std::filesystem::path& state_dir, store::Store& store,
                                    const store::StudyRequest& study, int holder) {
  TRY_ASSIGN(const auto request, store.post({.study = study}));
  const auto deadline = std::chrono::steady_clock::now() + kPatienceToJoin;
  for (;;) {
    // Asked first: what it answered, it answered before it ended.
    const bool driven = store::RunLock::holder(state_dir) == holder;
    TRY_ASSIGN(const auto answer, store.take_answer(request));
    if (answer) {
      TRY_ASSIGN(const RunId run, *answer);
      return run;
    }
    const bool late = std::chrono::steady_clock::now() > deadline;
    if (!driven || late) {
      TRY_ASSIGN(const bool withdrawn, store.withdraw(request));
      if (!driven) return std::nullopt;
      if (withdrawn)
        return fail(ErrorCode::peer,
                    fmt::format("gantry (process {}) does not take the study", holder),
                    "if it is stopped, let it continue; --state DIR uses another place");
    }
    std::this_thread::sleep_for(kLookForRun);
  }
}

}  // namespace

Result<std::optional<JoinedRuns>> join_driver(const std::filesystem::path& state_dir,
                                              const std::vector<store::StudyRequest>& studies) {
  const auto holder = store::RunLock::holder(state_dir);
  if (!holder) return std::nullopt;
  TRY_ASSIGN(auto store, store::Store::open(state_dir, store::Access::read_write));
  JoinedRuns joined{.holder = *holder};
  TRY_ASSIGN(joined.since, store.last_event());
  for (const store::StudyRequest& study : studies) {
    TRY_ASSIGN(const auto run, run_of(state_dir, store, study, *holder));
    if (!run) return std::nullopt;
    joined.runs.push_back(*run);
  }
  return joined;
}

}  // namespace gantry::query
