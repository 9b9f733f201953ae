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

constexpr char kOptional = '?';

/// A file that `results:` reads, if it is still as the attempt left it. Its own time can be set
/// back
/// (`cp -a`), and is that of another place after `mv`; the inode's time tells of both.
Result<std::string> left_file(const std::string& path, const AttemptReport& report) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode))
    return fail(ErrorCode::usage, path + " is not there");
  const std::int64_t started = to_ns(report.started - kStampLag);
  const std::int64_t ended = report.ended.time_since_epoch().count();
  if (to_ns(info.st_mtim) > ended)
    return fail(ErrorCode::usage, path + " was written after the task ran");
  if (to_ns(info.st_ctim) > ended)
    return fail(ErrorCode::usage, path + " was replaced or changed after the task ran");
  if (to_ns(info.st_ctim) < started)
    return fail(ErrorCode::usage, path + " was written before the task ran");
  return read_file(path, agent::kMaxCollected);
}

/// Without the mark of an optional one.
std::string_view rule_digest(std::string_view recorded) {
  return recorded.substr(0, recorded.find(kOptional));
}

std::vector<std::string> rules_of_node(const Sweep& sweep) {
  std::vector<std::string> recorded;
  const auto optional = sweep.optional_results();
  for (const auto& digest : sweep.result_rules()) {
    recorded.push_back(digest.hex());
    if (optional[recorded.size() - 1]) recorded.back() += kOptional;
  }
  return recorded;
}

}  // namespace

std::vector<std::string> recorded_rules(const Application& application) {
  std::map<std::string, std::string> rules;  // by result
  for (const auto& [node, sweep] : application.nodes()) {
    const auto names = sweep.result_names();
    const auto its = rules_of_node(sweep);
    for (std::size_t i = 0; i < names.size(); ++i) {
      auto& known = rules.try_emplace(names[i], its[i]).first->second;
      if (known != its[i]) known.clear();
    }
  }
  auto recorded = application.result_names();
  for (std::string& name : recorded) name = rules.at(name);
  return recorded;
}

OldResults::OldResults(const store::Store& store, const Application& application,
                       std::filesystem::path state_dir)
    : store_(store), application_(application), state_dir_(std::move(state_dir)) {
  ours_.reserve(application.nodes().size());
  for (const auto& [node, sweep] : application.nodes())
    ours_.push_back({sweep.result_names(), rules_of_node(sweep), sweep.optional_results()});
}

Result<std::optional<ResultValues>> OldResults::of(const Task& task,
                                                   const store::Reusable& source) {
  TRY_ASSIGN(const Rules* theirs, rules_of(source.holder()));
  const Rules& ours = this->ours(task.id);
  const bool same =
      !theirs->mixed && theirs->names == ours.names && theirs->recorded == ours.recorded;
  if (same && !source.unread) return std::nullopt;
  Kept known;
  if (source.unread) {
    known = kept(ours, {}, {});
  } else {
    TRY_ASSIGN(const auto stored, store_.results_of(source));
    known = kept(ours, *theirs, stored);
  }
  if (known.open.empty()) return std::move(known.values);
  TRY_ASSIGN(auto values, read(task, source, known));
  return values;
}

Result<const OldResults::Rules*> OldResults::rules_of(RunId run) {
  const auto found = by_run_.find(run);
  if (found != by_run_.end()) return &found->second;
  TRY_ASSIGN(auto record, store_.run(run));
  Rules rules;
  if (record) {
    rules = {std::move(record->result_names), std::move(record->result_rules)};
    rules.mixed = std::ranges::any_of(record->batches, [&](const AddedBatch& added) {
      return added.batch.node != record->batches.front().batch.node;
    });
  }
  rules.recorded.resize(rules.names.size());  // an older gantry did not note them
  return &by_run_.emplace(run, std::move(rules)).first->second;
}

OldResults::Kept OldResults::kept(const Rules& ours, const Rules& theirs,
                                  const ResultValues& stored) {
  Kept known;
  for (std::size_t i = 0; i < ours.names.size(); ++i) {
    const auto rule =
        std::ranges::find(theirs.recorded, rule_digest(ours.recorded[i]), rule_digest);
    if (rule == theirs.recorded.end()) {
      known.open.push_back(i);
      continue;
    }
    const auto& name = theirs.names[static_cast<std::size_t>(rule - theirs.recorded.begin())];
    const auto value = std::ranges::find(stored, name, &ResultValues::value_type::first);
    if (value != stored.end()) {
      known.values.emplace_back(ours.names[i], value->second);
    } else if (!ours.optional[i] || theirs.mixed) {
      known.open.push_back(i);
    }
  }
  return known;
}

Result<ResultValues> OldResults::read(const Task& task, const store::Reusable& source,
                                      const Kept& known) const {
  TRY_ASSIGN(auto history, store_.history(source.run, source.task));
  const auto row = std::ranges::find_if(history, [&](const store::HistoryRow& entry) {
    return entry.kind == "ended" && entry.attempt == source.attempt;
  });
  if (row == history.end())
    return fail(ErrorCode::usage, "what the task printed was removed with its run");
  AttemptEnded ended;
  ended.report = std::move(row->report);
  ended.report.key.task = source.task;
  ended.report.cause = FailureCause::none;
  TRY_ASSIGN(ended.report.collected, left_files(task, ended.report, known.open));
  ended.report.key.task = task.id;
  read_results(state_dir_, application_, ended, known.values);
  if (ended.report.cause == FailureCause::none) return std::move(ended.results);
  return fail(ErrorCode::usage, std::move(ended.report.detail));
}

Result<ResultValues> OldResults::left_files(const Task& task, const AttemptReport& report,
                                            const std::vector<std::size_t>& open) const {
  ResultValues files;
  const Sweep& sweep = application_.at(task.id);
  const auto now = sweep.result_files(task.id, task.id);
  const auto then = sweep.result_files(task.id, report.key.task);
  for (const std::size_t i : open) {
    const auto give_up = [&](std::string_view why) {
      return fail(ErrorCode::usage, fmt::format("'{}': {}", ours(task.id).names[i], why));
    };
    // With another number of the task, {#} names a file of another task now.
    if (now[i] != then[i])
      return give_up(fmt::format("{} was {} when the task ran", now[i], then[i]));
    if (now[i].empty() || std::ranges::count(files, now[i], &ResultValues::value_type::first) > 0)
      continue;
    auto content = left_file(now[i], report);
    if (!content) return give_up(content.error().message);
    files.emplace_back(now[i], std::move(*content));
  }
  return files;
}

}  // namespace gantry::driver
