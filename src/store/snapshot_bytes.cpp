#include "store/snapshot_bytes.hpp"

#include <cstring>

#include "base/codec.hpp"
#include "base/hash.hpp"

namespace gantry::store {

namespace {

/// Bump it when anything below changes: a snapshot of another version is not read.
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kCancel = 0x80;  ///< with a standing: TaskSnapshot::cancel

std::uint32_t count_of(const auto& items) {
  return static_cast<std::uint32_t>(items.size());
}

/// Most tasks are like their neighbours: each stretch of equal ones is stored once.
void put_tasks(Encoder& out, const std::vector<TaskSnapshot>& tasks) {
  out.u32(count_of(tasks));
  for (std::size_t begin = 0; begin < tasks.size();) {
    std::size_t end = begin + 1;
    while (end < tasks.size() && tasks[end] == tasks[begin]) ++end;
    out.u32(static_cast<std::uint32_t>(end - begin));
    const auto standing = static_cast<std::uint8_t>(tasks[begin].standing);
    out.u32(tasks[begin].attempt).u8(tasks[begin].cancel ? standing | kCancel : standing);
    begin = end;
  }
}

void take_tasks(Decoder& in, std::vector<TaskSnapshot>& tasks) {
  constexpr auto kLast = static_cast<std::uint8_t>(TaskStanding::cancelled);
  const std::uint32_t count = in.u32();
  while (in.ok() && tasks.size() < count) {
    const std::uint32_t length = in.u32();
    const std::uint32_t attempt = in.u32();
    const std::uint8_t flags = in.u8();
    const std::uint8_t standing = flags & ~kCancel;
    if (length == 0 || length > count - tasks.size() || standing > kLast) return in.set_bad();
    tasks.resize(tasks.size() + length,
                 {attempt, static_cast<TaskStanding>(standing), flags != standing});
  }
}

void put_state(Encoder& out, const RunSnapshot& state) {
  out.u8(state.closed ? 1 : 0).u8(state.ever_succeeded ? 1 : 0);
  put_tasks(out, state.tasks);
  out.u32(count_of(state.unheard));
  for (const auto& [task, attempt] : state.unheard) out.u32(task.value()).u32(attempt.value());
  out.u32(count_of(state.run_times));
  for (const auto& [task, took] : state.run_times) out.u32(task.value()).i64(took.count());
  out.u32(count_of(state.memory));
  for (const auto& [task, bytes] : state.memory) out.u32(task.value()).u64(bytes);
  out.u32(count_of(state.deaths));
  for (const auto& [task, given, wanted] : state.deaths)
    out.u32(task.value()).u64(given).u64(wanted);
}

void take_state(Decoder& in, RunSnapshot& state) {
  constexpr std::size_t kNumber = sizeof(std::uint32_t);
  state.closed = in.u8() != 0;
  state.ever_succeeded = in.u8() != 0;
  take_tasks(in, state.tasks);
  for (std::uint32_t left = in.count(2 * kNumber); left > 0; --left) {
    const TaskId task(in.u32());
    state.unheard.emplace_back(task, AttemptId(in.u32()));
  }
  for (std::uint32_t left = in.count(3 * kNumber); left > 0; --left) {
    const TaskId task(in.u32());
    state.run_times.emplace_back(task, Duration(in.i64()));
  }
  for (std::uint32_t left = in.count(3 * kNumber); left > 0; --left) {
    const TaskId task(in.u32());
    state.memory.emplace_back(task, in.u64());
  }
  for (std::uint32_t left = in.count(5 * kNumber); left > 0; --left) {
    MemoryDeath& death = state.deaths.emplace_back();
    death.task = TaskId(in.u32());
    death.given = in.u64();
    death.wanted = in.u64();
  }
}

}  // namespace

std::string encode_snapshot(const SnapshotContent& content) {
  std::string body;
  Encoder out(body);
  put_state(out, content.state);
  const auto* prints = reinterpret_cast<const char*>(content.prints.data());
  out.str({prints, content.prints.size() * sizeof(std::uint64_t)});
  const Digest digest = hash_bytes(body);
  std::string bytes;
  Encoder(bytes).u8(kVersion).u64(digest.high).u64(digest.low);
  return bytes += body;
}

Result<std::optional<SnapshotContent>> decode_snapshot(std::string_view bytes) {
  const auto damaged = [] { return fail(ErrorCode::corrupt, "a snapshot is damaged"); };
  constexpr std::size_t kHeader = 1 + 2 * sizeof(std::uint64_t);
  Decoder header(bytes.substr(0, kHeader));
  const std::uint8_t version = header.u8();
  const std::uint64_t high = header.u64();
  const Digest digest{high, header.u64()};
  if (header.ok() && version != kVersion) return std::nullopt;
  if (!header.ok()) return damaged();
  bytes.remove_prefix(kHeader);
  if (hash_bytes(bytes) != digest) return damaged();
  SnapshotContent content;
  Decoder in(bytes);
  take_state(in, content.state);
  const std::string_view prints = in.str();
  if (!in.ok() || !in.at_end()) return damaged();
  content.prints.resize(prints.size() / sizeof(std::uint64_t));
  if (!content.prints.empty())
    std::memcpy(content.prints.data(), prints.data(),
                content.prints.size() * sizeof(std::uint64_t));
  return content;
}

}  // namespace gantry::store
