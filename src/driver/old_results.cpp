#include "driver/old_results.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "agent/task_files.hpp"
#include "base/fd.hpp"
#include "driver/attempt_results.hpp"

namespace gantry::driver {

namespace {

constexpr std::int64_t kClockTick = 20'000'000;  ///< stamps of files may lag behind so much

std::int64_t stamp(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// The files that `results:` reads, as far as they are what the attempt left behind. The first of
/// the others is told in `changed`.
std::vector<std::pair<std::string, std::string>> left_files(const Task& task,
                                                            const AttemptReport& report,
                                                            std::string& changed) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& path : task.collect) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    const bool written_then =
        stamp(info.st_ctim) >= report.started.time_since_epoch().count() - kClockTick;
    const bool left_alone = stamp(info.st_mtim) <= report.ended.time_since_epoch().count();
    if (!written_then || !left_alone) {
      if (changed.empty())
        changed =
            fmt::format("{} was written {} the task ran", path, written_then ? "after" : "before");
      continue;
    }
    if (auto content = read_file(path, agent::kMaxCollected))
      files.emplace_back(path, std::move(*content));
  }
  return files;
}

}  // namespace

OldResults::OldResults(const store::Store& store, const Sweep& sweep,
                       std::filesystem::path state_dir)
    : store_(store), sweep_(sweep), state_dir_(std::move(state_dir)) {
  ours_.names = sweep.result_names();
  for (const auto& digest : sweep.result_rules()) ours_.digests.push_back(digest.hex());
}

Result<std::optional<ResultValues>> OldResults::of(const Task& task,
                                                   const store::Reusable& source) {
  TRY_ASSIGN(const Rules* theirs, rules_of(source.holder()));
  const bool same = theirs->names == ours_.names && theirs->digests == ours_.digests;
  if (same && !source.unread) return std::nullopt;
  ResultValues known;
  if (!source.unread) {
    TRY_ASSIGN(const auto stored, store_.results_of(source));
    known = kept(*theirs, stored);
  }
  if (known.size() == ours_.names.size()) return known;
  TRY_ASSIGN(auto values, read(task, source, known));
  return values;
}

Result<const OldResults::Rules*> OldResults::rules_of(RunId run) {
  const auto found = by_run_.find(run);
  if (found != by_run_.end()) return &found->second;
  TRY_ASSIGN(auto record, store_.run(run));
  Rules rules;
  if (record) rules = {std::move(record->result_names), std::move(record->result_rules)};
  rules.digests.resize(rules.names.size());  // an older gantry did not note them
  return &by_run_.emplace(run, std::move(rules)).first->second;
}

ResultValues OldResults::kept(const Rules& theirs, const ResultValues& stored) const {
  ResultValues known;
  for (std::size_t i = 0; i < ours_.names.size(); ++i) {
    const auto rule = std::ranges::find(theirs.digests, ours_.digests[i]);
    if (rule == theirs.digests.end()) continue;
    const auto& name = theirs.names[static_cast<std::size_t>(rule - theirs.digests.begin())];
    const auto value = std::ranges::find(stored, name, &ResultValues::value_type::first);
    if (value != stored.end()) known.emplace_back(ours_.names[i], value->second);
  }
  return known;
}

Result<ResultValues> OldResults::read(const Task& task, const store::Reusable& source,
                                      const ResultValues& known) const {
  TRY_ASSIGN(auto history, store_.history(source.run, source.task));
  const auto row = std::ranges::find_if(history, [&](const store::HistoryRow& entry) {
    return entry.kind == "ended" && entry.attempt == source.attempt;
  });
  if (row == history.end())
    return fail(ErrorCode::usage, "what the task printed was removed with its run");
  AttemptEnded ended;
  ended.report = std::move(row->report);
  ended.report.key.task = task.id;
  ended.report.cause = FailureCause::none;
  std::string changed;
  ended.report.collected = left_files(task, ended.report, changed);
  read_results(state_dir_, sweep_, ended, known);
  if (ended.report.cause == FailureCause::none) return std::move(ended.results);
  return fail(ErrorCode::usage,
              changed.empty() ? std::move(ended.report.detail) : std::move(changed));
}

}  // namespace gantry::driver
