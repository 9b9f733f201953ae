#include "agent/protocol.hpp"

namespace gantry::agent {

namespace {

void put(Encoder& e, const AttemptKey& key) {
  e.u32(key.run).u32(key.task).u32(key.attempt);
}

AttemptKey get_key(Decoder& d) {
  AttemptKey key;
  key.run = d.u32();
  key.task = d.u32();
  key.attempt = d.u32();
  return key;
}

void put(Encoder& e, const std::vector<std::string>& list) {
  e.u32(static_cast<std::uint32_t>(list.size()));
  for (const auto& item : list) e.str(item);
}

std::vector<std::string> get_list(Decoder& d) {
  std::vector<std::string> list(d.count(sizeof(std::uint32_t)));
  for (auto& item : list) item = d.str();
  return list;
}

/// How many there are.
std::uint32_t skip_list(Decoder& d) {
  const std::uint32_t size = d.count(sizeof(std::uint32_t));
  for (std::uint32_t i = 0; i < size; ++i) d.str();
  return size;
}

void put(Encoder& e, const Captured& c) {
  e.u64(c.size).str(c.text).str(c.pack).u64(c.offset).u8(c.truncated ? 1 : 0);
}

Captured get_captured(Decoder& d) {
  Captured c;
  c.size = d.u64();
  c.text = d.str();
  c.pack = d.str();
  c.offset = d.u64();
  c.truncated = d.u8() != 0;
  return c;
}

void put(Encoder& e, const Ended& m) {
  put(e, m.key);
  e.u8(m.cause).u32(static_cast<std::uint32_t>(m.code)).str(m.detail);
  e.i64(m.started_ns).i64(m.ended_ns).i64(m.user_ns).i64(m.system_ns).u64(m.max_rss);
  put(e, m.out);
  put(e, m.err);
  e.u32(static_cast<std::uint32_t>(m.collected.size()));
  for (const auto& [path, content] : m.collected) e.str(path).str(content);
  e.str(m.tag);
  if (m.unstaged.empty() && !m.swept && m.kept.empty() && m.memory_limit == 0) return;
  put(e, m.unstaged);
  e.u8(m.swept ? 1 : 0);
  e.u32(static_cast<std::uint32_t>(m.kept.size()));
  for (const auto& kept : m.kept) e.str(kept.path).u64(kept.bytes).str(kept.content);
  e.u64(m.memory_limit);
}

Ended get_ended(Decoder& d) {
  Ended m;
  m.key = get_key(d);
  m.cause = d.u8();
  m.code = static_cast<std::int32_t>(d.u32());
  m.detail = d.str();
  m.started_ns = d.i64();
  m.ended_ns = d.i64();
  m.user_ns = d.i64();
  m.system_ns = d.i64();
  m.max_rss = d.u64();
  m.out = get_captured(d);
  m.err = get_captured(d);
  m.collected.resize(d.count(2 * sizeof(std::uint32_t)));
  for (auto& [path, content] : m.collected) {
    path = d.str();
    content = d.str();
  }
  m.tag = d.str();
  if (d.at_end()) return m;  // mostly, where tasks have no sandboxes
  m.unstaged = get_list(d);
  m.swept = d.u8() != 0;
  m.kept.resize(d.count(2 * sizeof(std::uint32_t) + sizeof(std::uint64_t)));
  for (auto& kept : m.kept) {
    kept.path = d.str();
    kept.bytes = d.u64();
    kept.content = d.str();
  }
  m.memory_limit = d.u64();
  return m;
}

void put(Encoder& e, const std::vector<StagedInput>& inputs) {
  e.u32(static_cast<std::uint32_t>(inputs.size()));
  for (const auto& input : inputs)
    e.str(input.path).str(input.content).u8(input.executable ? 1 : 0);
}

std::vector<StagedInput> get_inputs(Decoder& d) {
  std::vector<StagedInput> inputs(d.count(2 * sizeof(std::uint32_t) + 1));
  for (auto& input : inputs) {
    input.path = d.str();
    input.content = d.str();
    input.executable = d.u8() != 0;
  }
  return inputs;
}

void skip_inputs(Decoder& d) {
  for (auto left = d.count(2 * sizeof(std::uint32_t) + 1); left > 0; --left) {
    d.str();
    d.str();
    d.u8();
  }
}

/// A message counts only when every field was there and nothing is left over.
template <class T>
std::optional<T> whole(const Decoder& d, T message) {
  if (!d.ok() || !d.at_end()) return std::nullopt;
  return message;
}

}  // namespace

void encode(std::string& out, const Hello& m) {
  FrameWriter frame(out, MessageType::hello);
  frame.encoder.u32(m.version).u32(m.cores).u64(m.memory).i64(m.grace_ns);
  put(frame.encoder, m.environment);
  frame.encoder.u8(m.own_environment ? 1 : 0).i64(m.load_every_ns);
}

void encode(std::string& out, const Start& m) {
  FrameWriter frame(out, MessageType::start);
  Encoder& e = frame.encoder;
  put(e, m.key);
  e.u32(m.cores).u64(m.memory).i64(m.timeout_ns).i64(m.walltime_ns);
  e.u32(static_cast<std::uint32_t>(m.checkpoint_signal)).i64(m.checkpoint_before_ns);
  e.u32(static_cast<std::uint32_t>(m.checkpoint_code));
  put(e, m.argv);
  put(e, m.environment);
  e.str(m.workdir).u8(m.make_workdir ? 1 : 0);
  put(e, m.outputs);
  put(e, m.collect);
  e.str(m.sandbox);
  put(e, m.inputs);
  put(e, m.keep);
  e.str(m.kept_folder).str(m.tag);
  e.u64(m.log_serial).u64(m.log_safe);
}

void encode(std::string& out, const PackedStart& m, std::uint64_t log_serial,
            std::uint64_t log_safe) {
  FrameWriter frame(out, MessageType::start);
  out.append(m.body, 0, m.body.size() - sizeof log_serial - sizeof log_safe);
  frame.encoder.u64(log_serial).u64(log_safe);
}

void encode(std::string& out, const Cancel& m) {
  FrameWriter frame(out, MessageType::cancel);
  put(frame.encoder, m.key);
}

void encode(std::string& out, const Tell& m) {
  FrameWriter frame(out, MessageType::tell);
  put(frame.encoder, m.key);
  frame.encoder.u32(static_cast<std::uint32_t>(m.signal)).i64(m.checkpoint_ns);
}

void encode(std::string& out, const Recall& m) {
  FrameWriter frame(out, MessageType::recall);
  frame.encoder.u32(static_cast<std::uint32_t>(m.keys.size()));
  for (const AttemptKey& key : m.keys) put(frame.encoder, key);
}

void encode(std::string& out, const Ack& m) {
  FrameWriter frame(out, MessageType::ack);
  frame.encoder.u64(m.receipt);
}

void encode(std::string& out, const Welcome& m) {
  FrameWriter frame(out, MessageType::welcome);
  Encoder& e = frame.encoder;
  e.u32(m.version).u32(static_cast<std::uint32_t>(m.pid));
  e.u32(m.cores).u64(m.memory);
  e.u32(static_cast<std::uint32_t>(m.running.size()));
  for (const auto& running : m.running) {
    put(e, running.key);
    e.i64(running.started_ns);
  }
  e.u32(m.reports).i64(m.left_ns);
}

void encode(std::string& out, const Started& m) {
  FrameWriter frame(out, MessageType::started);
  put(frame.encoder, m.key);
  frame.encoder.i64(m.started_ns);
}

void encode(std::string& out, const Returned& m) {
  FrameWriter frame(out, MessageType::returned);
  put(frame.encoder, m.key);
}

void encode(std::string& out, const Refused& m) {
  FrameWriter frame(out, MessageType::refused);
  frame.encoder.u32(m.cores).u64(m.memory).str(m.why);
}

void encode(std::string& out, const Resting& m) {
  FrameWriter frame(out, MessageType::resting);
  frame.encoder.u8(m.now ? 1 : 0).str(m.why);
}

void encode(std::string& out, const Notice& m) {
  FrameWriter frame(out, MessageType::notice);
  frame.encoder.str(m.text);
}

void encode(std::string& out, const Load& m) {
  FrameWriter frame(out, MessageType::load);
  frame.encoder.u32(m.free_millicores).u64(m.free_memory).u64(m.free_disk).i64(m.clock_ns);
  frame.encoder.u32(m.share);
}

void encode(std::string& out, std::uint64_t receipt, const Ended& m) {
  FrameWriter frame(out, MessageType::ended);
  frame.encoder.u64(receipt);
  put(frame.encoder, m);
}

void encode_ended(std::string& out, std::uint64_t receipt, std::string_view ended_body) {
  FrameWriter frame(out, MessageType::ended);
  frame.encoder.u64(receipt);
  out.append(ended_body.substr(sizeof receipt));
}

std::optional<Hello> decode_hello(std::string_view body) {
  Decoder d(body);
  Hello m;
  m.version = d.u32();
  // Another version may have other fields: the caller compares versions before it looks at them.
  if (d.ok() && m.version != kProtocolVersion) return m;
  m.cores = d.u32();
  m.memory = d.u64();
  m.grace_ns = d.i64();
  m.environment = get_list(d);
  m.own_environment = d.u8() != 0;
  m.load_every_ns = d.i64();
  return whole(d, std::move(m));
}

std::optional<Start> decode_start(std::string_view body) {
  Decoder d(body);
  Start m;
  m.key = get_key(d);
  m.cores = d.u32();
  m.memory = d.u64();
  m.timeout_ns = d.i64();
  m.walltime_ns = d.i64();
  m.checkpoint_signal = static_cast<std::int32_t>(d.u32());
  m.checkpoint_before_ns = d.i64();
  m.checkpoint_code = static_cast<std::int32_t>(d.u32());
  m.argv = get_list(d);
  m.environment = get_list(d);
  m.workdir = d.str();
  m.make_workdir = d.u8() != 0;
  m.outputs = get_list(d);
  m.collect = get_list(d);
  m.sandbox = d.str();
  m.inputs = get_inputs(d);
  m.keep = get_list(d);
  m.kept_folder = d.str();
  m.tag = d.str();
  m.log_serial = d.u64();
  m.log_safe = d.u64();
  if (m.argv.empty()) return std::nullopt;
  return whole(d, std::move(m));
}

std::optional<PackedStart> pack_start(std::string_view body) {
  Decoder d(body);
  PackedStart m;
  m.key = get_key(d);
  m.cores = d.u32();
  m.memory = d.u64();
  d.i64();  // timeout_ns
  m.walltime_ns = d.i64();
  m.checkpoint_signal = static_cast<std::int32_t>(d.u32());
  m.checkpoint_before_ns = d.i64();
  d.u32();                                     // checkpoint_code
  if (skip_list(d) == 0) return std::nullopt;  // argv
  skip_list(d);                                // environment
  d.str();                                     // workdir
  d.u8();                                      // make_workdir
  skip_list(d);                                // outputs
  skip_list(d);                                // collect
  d.str();                                     // sandbox
  skip_inputs(d);
  skip_list(d);  // keep
  d.str();       // kept_folder
  d.str();       // tag
  d.u64();       // log_serial
  d.u64();       // log_safe
  if (!d.ok() || !d.at_end()) return std::nullopt;
  m.body = body;
  return m;
}

std::optional<AttemptKey> decode_key(std::string_view body) {
  Decoder d(body);
  const AttemptKey key = get_key(d);
  return whole(d, key);
}

std::optional<Tell> decode_tell(std::string_view body) {
  Decoder d(body);
  Tell m;
  m.key = get_key(d);
  m.signal = static_cast<std::int32_t>(d.u32());
  m.checkpoint_ns = d.i64();
  return whole(d, m);
}

std::optional<Recall> decode_recall(std::string_view body) {
  Decoder d(body);
  Recall m;
  m.keys.resize(d.count(3 * sizeof(std::uint32_t)));
  for (AttemptKey& key : m.keys) key = get_key(d);
  return whole(d, std::move(m));
}

std::optional<Ack> decode_ack(std::string_view body) {
  Decoder d(body);
  const Ack m{d.u64()};
  return whole(d, m);
}

std::optional<Welcome> decode_welcome(std::string_view body) {
  Decoder d(body);
  Welcome m;
  m.version = d.u32();
  m.pid = static_cast<std::int32_t>(d.u32());
  if (d.ok() && m.version != kProtocolVersion) return m;
  m.cores = d.u32();
  m.memory = d.u64();
  m.running.resize(d.count(5 * sizeof(std::uint32_t)));
  for (auto& running : m.running) {
    running.key = get_key(d);
    running.started_ns = d.i64();
  }
  m.reports = d.u32();
  m.left_ns = d.i64();
  return whole(d, std::move(m));
}

std::optional<Started> decode_started(std::string_view body) {
  Decoder d(body);
  Started m;
  m.key = get_key(d);
  m.started_ns = d.i64();
  return whole(d, m);
}

std::optional<Refused> decode_refused(std::string_view body) {
  Decoder d(body);
  Refused m;
  m.cores = d.u32();
  m.memory = d.u64();
  m.why = d.str();
  return whole(d, std::move(m));
}

std::optional<Resting> decode_resting(std::string_view body) {
  Decoder d(body);
  Resting m;
  m.now = d.u8() != 0;
  m.why = d.str();
  return whole(d, std::move(m));
}

std::optional<Notice> decode_notice(std::string_view body) {
  Decoder d(body);
  Notice m{std::string(d.str())};
  return whole(d, std::move(m));
}

std::optional<Load> decode_load(std::string_view body) {
  Decoder d(body);
  Load m;
  m.free_millicores = d.u32();
  m.free_memory = d.u64();
  m.free_disk = d.u64();
  m.clock_ns = d.i64();
  m.share = d.u32();
  if (m.share > 1000 && m.share != Load::kNoShare) return std::nullopt;
  return whole(d, m);
}

std::optional<std::pair<std::uint64_t, Ended>> decode_ended(std::string_view body) {
  Decoder d(body);
  const std::uint64_t receipt = d.u64();
  auto message = get_ended(d);
  return whole(d, std::pair(receipt, std::move(message)));
}

std::optional<AttemptKey> peek_ended_key(std::string_view ended_body) {
  Decoder d(ended_body);
  d.u64();
  const AttemptKey key = get_key(d);
  if (!d.ok()) return std::nullopt;
  return key;
}

RunTime peek_run_time(std::string_view ended_body) {
  Decoder d(ended_body);
  d.u64();
  get_key(d);
  d.u8();
  d.u32();
  d.str();
  RunTime time;
  time.started_ns = d.i64();
  time.ended_ns = d.i64();
  return time;
}

}  // namespace gantry::agent
