#include "actuate/launch/task_wire.hpp"

#include <fmt/format.h>

#include <utility>

#include "agent/causes.hpp"

namespace gantry {

namespace {

#define SAME(a, b) \
  static_assert(static_cast<int>(agent::Cause::a) == static_cast<int>(FailureCause::b))
SAME(none, none);
SAME(exit_code, exit_code);
SAME(signal, signal);
SAME(timeout, timeout);
SAME(out_of_memory, out_of_memory);
SAME(missing_output, missing_output);
SAME(start_failed, start_failed);
SAME(cancelled, cancelled);
SAME(lost, lost);
SAME(checkpointed, checkpointed);
#undef SAME

/// A larger limit than any machine has is not believed.
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 60U;

CapturedOutput to_captured(agent::Captured&& c) {
  return {c.size, std::move(c.text), std::move(c.pack), c.offset, c.truncated};
}

}  // namespace

agent::AttemptKey to_wire(const TaskKey& key) {
  return {key.run.value(), key.task.value(), key.attempt.value()};
}
TaskKey from_wire(const agent::AttemptKey& key) {
  return {RunId(key.run), TaskId(key.task), AttemptId(key.attempt)};
}

AttemptReport from_wire(agent::Ended&& m) {
  AttemptReport report;
  report.key = from_wire(m.key);
  report.cause = static_cast<FailureCause>(m.cause);
  report.code = m.code;
  report.detail = std::move(m.detail);
  report.memory_limit = m.memory_limit <= kMostMemory ? m.memory_limit : 0;
  report.started = from_ns(m.started_ns);
  report.ended = from_ns(m.ended_ns);
  report.usage = {Duration(m.user_ns), Duration(m.system_ns), m.max_rss};
  report.out = to_captured(std::move(m.out));
  report.err = to_captured(std::move(m.err));
  report.collected = std::move(m.collected);
  for (auto& kept : m.kept)
    if (const auto content = Digest::from_hex(kept.content))
      report.remote_files.push_back({std::move(kept.path), {}, {}, kept.bytes, *content, {}});
  return report;
}

std::string to_tag(const Fingerprint& f) {
  std::string tag;
  Encoder encoder(tag);
  FieldWriter write(encoder);
  write(f.command, f.environment, f.inputs);
  return tag;
}

Fingerprint from_tag(std::string_view tag) {
  Decoder d(tag);
  Fingerprint f;
  FieldReader read(d);
  read(f.command, f.environment, f.inputs);
  return d.ok() ? f : Fingerprint{};
}

agent::Start to_wire(const TaskKey& key, const Task& task) {
  agent::Start start;
  start.key = to_wire(key);
  start.cores = task.resources.cores;
  start.memory = task.resources.memory;
  start.timeout_ns = task.timeout.count();
  start.walltime_ns = task.resources.walltime.count();
  start.checkpoint_signal = task.checkpoint.signal;
  start.checkpoint_before_ns = task.checkpoint.before.count();
  start.checkpoint_code = task.checkpoint.code;
  start.argv = task.argv;
  start.environment.reserve(task.environment.size() + task.parameters.size() + 3);
  for (const auto& [name, value] : task.environment)
    start.environment.push_back(name + "=" + value);
  start.environment.push_back(fmt::format("GANTRY_RUN={}", key.run.value()));
  start.environment.push_back(fmt::format("GANTRY_TASK={}", key.task.value()));
  start.environment.push_back(fmt::format("GANTRY_ATTEMPT={}", key.attempt.value()));
  for (const auto& [name, value] : task.parameters) {
    start.environment.push_back("GANTRY_PARAM_" + name + "=" + value);
  }
  start.workdir = task.workdir;
  start.make_workdir = task.make_workdir;
  start.outputs = task.outputs;
  start.collect = task.collect;
  for (const auto& path : task.collect)
    if (only_reads(task, path)) start.only_read.push_back(path);
  return start;
}

bool knows_cause(const agent::Ended& ended) {
  return ended.cause <= static_cast<std::uint8_t>(FailureCause::checkpointed);
}

}  // namespace gantry
