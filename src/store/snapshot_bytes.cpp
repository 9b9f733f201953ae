#include "store/snapshot_bytes.hpp"

#include <cstring>

#include "base/codec.hpp"
#include "base/hash.hpp"

namespace gantry::store {

namespace {

/// Bump it when anything below changes: a snapshot of another version is not read.
constexpr std::uint8_t kVersion = 1;

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
    out.u32(tasks[begin].attempt).u8(static_cast<std::uint8_t>(tasks[begin].standing));
    begin = end;
  }
}

void take_tasks(Decoder& in, std::vector<TaskSnapshot>& tasks) {
  constexpr auto kLast = static_cast<std::uint8_t>(TaskStanding::cancelled);
  const std::uint32_t count = in.u32();
  while (in.ok() && tasks.size() < count) {
    const std::uint32_t length = in.u32();
    const std::uint32_t attempt = in.u32();
    const std::uint8_t standing = in.u8();
    if (length == 0 || length > count - tasks.size() || standing > kLast) return in.set_bad();
    tasks.resize(tasks.size() + length, {attempt, static_cast<TaskStanding>(standing)});
  }
}

void put_batches(Encoder& out, const std::vector<Batch>& batches) {
  out.u32(count_of(batches));
  for (const Batch& batch : batches)
    out.u32(batch.node.value()).u32(batch.iteration).u32(batch.first.value()).u32(batch.count);
}

void take_batches(Decoder& in, std::vector<Batch>& batches) {
  for (std::uint32_t left = in.count(4 * sizeof(std::uint32_t)); left > 0; --left) {
    Batch& batch = batches.emplace_back();
    batch.node = NodeId(in.u32());
    batch.iteration = in.u32();
    batch.first = TaskId(in.u32());
    batch.count = in.u32();
  }
}

void put_state(Encoder& out, const RunSnapshot& state) {
  put_batches(out, state.batches);
  out.u8(state.closed ? 1 : 0);
  put_tasks(out, state.tasks);
  out.u32(count_of(state.unheard));
  for (const auto& [task, attempt] : state.unheard) out.u32(task.value()).u32(attempt.value());
  out.u32(count_of(state.run_times));
  for (const auto& [task, took] : state.run_times) out.u32(task.value()).i64(took.count());
  out.u32(count_of(state.memory));
  for (const auto& [task, bytes] : state.memory) out.u32(task.value()).u64(bytes);
}

void take_state(Decoder& in, RunSnapshot& state) {
  constexpr std::size_t kNumber = sizeof(std::uint32_t);
  take_batches(in, state.batches);
  state.closed = in.u8() != 0;
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

std::optional<SnapshotContent> decode_snapshot(std::string_view bytes) {
  constexpr std::size_t kHeader = 1 + 2 * sizeof(std::uint64_t);
  Decoder header(bytes.substr(0, kHeader));
  const std::uint8_t version = header.u8();
  const std::uint64_t high = header.u64();
  const Digest digest{high, header.u64()};
  if (!header.ok() || version != kVersion) return std::nullopt;
  bytes.remove_prefix(kHeader);
  if (hash_bytes(bytes) != digest) return std::nullopt;
  SnapshotContent content;
  Decoder in(bytes);
  take_state(in, content.state);
  const std::string_view prints = in.str();
  if (!in.ok() || !in.at_end()) return std::nullopt;
  content.prints.resize(prints.size() / sizeof(std::uint64_t));
  if (!content.prints.empty())
    std::memcpy(content.prints.data(), prints.data(),
                content.prints.size() * sizeof(std::uint64_t));
  return content;
}

}  // namespace gantry::store
