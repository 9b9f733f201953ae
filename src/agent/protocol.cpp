#include "agent/protocol.hpp"

namespace gantry::agent {

namespace {

/// Reads numbers, and skips texts and lists.
class FieldSkimmer {
 public:
  explicit FieldSkimmer(Decoder& in) : in_(in) {}

  void operator()(auto&... fields) { (skim(fields), ...); }
  template <class T>
  void some(std::vector<T>&) {
    if (skip_list<T>() == 0) in_.set_bad();
  }

 private:
  template <class T>
  void skim(T& value) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      in_.str();
    } else if constexpr (std::is_same_v<T, bool>) {
      if (in_.u8() > 1) in_.set_bad();
    } else if constexpr (std::is_integral_v<T>) {
      value = in_.raw<T>();
    } else {
      T::fields(*this, value);
    }
  }
  template <class T>
  void skim(std::vector<T>&) {
    skip_list<T>();
  }
  /// How many there were.
  template <class T>
  std::uint32_t skip_list() {
    const std::uint32_t size = in_.count(kLeastBytes<T>);
    T element;
    for (std::uint32_t i = 0; i < size; ++i) skim(element);
    return size;
  }

  Decoder& in_;
};

}  // namespace

void encode(std::string& out, const PackedStart& m, std::uint64_t log_serial,
            std::uint64_t log_safe) {
  FrameWriter frame(out, MessageType::start);
  out.append(m.body, 0, m.body.size() - sizeof log_serial - sizeof log_safe);
  frame.encoder.u64(log_serial).u64(log_safe);
}

void encode(std::string& out, std::uint64_t receipt, const Ended& m) {
  FrameWriter frame(out, MessageType::ended);
  FieldWriter(frame.encoder)(receipt, m);
}

std::string ended_body(const Ended& m) {
  std::string body;
  Encoder encoder(body);
  FieldWriter write(encoder);
  write(std::uint64_t{1}, m);
  return body;
}

void encode_ended(std::string& out, std::uint64_t receipt, std::string_view ended_body) {
  FrameWriter frame(out, MessageType::ended);
  frame.encoder.u64(receipt).bytes(ended_body.substr(sizeof receipt));
}

std::optional<PackedStart> pack_start(std::string_view body) {
  Decoder d(body);
  FieldSkimmer skimmer(d);
  Start start;
  Start::fields(skimmer, start);
  if (!d.ok() || !d.at_end()) return std::nullopt;
  return PackedStart{.key = start.key,
                     .cores = start.cores,
                     .memory = start.memory,
                     .walltime_ns = start.walltime_ns,
                     .checkpoint_signal = start.checkpoint_signal,
                     .checkpoint_before_ns = start.checkpoint_before_ns,
                     .body = std::string(body)};
}

std::optional<std::pair<std::uint64_t, Ended>> decode_ended(std::string_view body) {
  Decoder d(body);
  std::optional<std::pair<std::uint64_t, Ended>> m(std::in_place);
  FieldReader read(d);
  read(m->first, m->second);
  if (!d.ok() || !d.at_end()) m.reset();
  return m;
}

std::optional<AttemptKey> peek_ended_key(std::string_view ended_body) {
  Decoder d(ended_body);
  std::uint64_t receipt = 0;
  AttemptKey key;
  FieldReader read(d);
  read(receipt, key);
  if (!d.ok()) return std::nullopt;
  return key;
}

RunTime peek_run_time(std::string_view ended_body) {
  Decoder d(ended_body);
  FieldReader read(d);
  std::uint64_t receipt = 0;
  AttemptKey key;
  std::uint8_t cause = 0;
  std::int32_t code = 0;
  std::string_view detail;
  RunTime time;
  read(receipt, key, cause, code, detail, time.started_ns, time.ended_ns);
  return time;
}

}  // namespace gantry::agent
