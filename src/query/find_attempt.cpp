#include "query/find_attempt.hpp"

namespace gantry::query {

Result<std::optional<store::HistoryRow>> find_attempt(const store::Store& store, RunId run,
                                                      TaskId task, AttemptId attempt) {
  TRY_ASSIGN(auto history, store.history(run, task));
  for (auto row = history.rbegin(); row != history.rend(); ++row) {
    if (attempt.value() != 0 && row->attempt != attempt) continue;
    if (row->kind == "ended") return std::optional(std::move(*row));
    if (row->kind != "reused") continue;
    // A copy never points at another copy, so one step is enough; attempt 0 has lost its original.
    const store::Reusable from = row->from;
    if (from.attempt.value() == 0) return std::nullopt;
    TRY_ASSIGN(auto original, store.history(from.run, from.task));
    for (auto& candidate : original)
      if (candidate.kind == "ended" && candidate.attempt == from.attempt)
        return std::optional(std::move(candidate));
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace gantry::query
