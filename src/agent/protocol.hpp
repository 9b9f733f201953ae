#pragma once
/// What gantry and an agent say to each other, and what an agent and its shepherds say: framed,
/// versioned messages. Both ends treat what they read as untrusted: sizes are bounded and every
/// field is checked. When you change a message, raise kProtocolVersion.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/wire_fields.hpp"

namespace gantry::agent {

inline constexpr std::uint32_t kProtocolVersion = 13;
/// Larger than any argv the kernel takes (2 MiB), any captured output and any set of result files.
inline constexpr std::size_t kMaxFrame = std::size_t{64} << 20;

enum class MessageType : std::uint8_t {
  hello = 1,
  start = 2,
  cancel = 3,
  recall = 4,
  ack = 5,
  tell = 6,
  welcome = 16,
  started = 17,
  returned = 18,
  notice = 19,
  /// Body: a u64, then the encoded Ended. Between agent and gantry the number is the receipt; from
  /// a shepherd it is 1 when the report is in the slot's log, 0 when it could not be written there.
  ended = 20,
  load = 21,
  refused = 22,
  resting = 23,
};

struct AttemptKey {
  std::uint32_t run = 0;
  std::uint32_t task = 0;
  std::uint32_t attempt = 0;
  friend auto operator<=>(const AttemptKey&, const AttemptKey&) = default;

  static constexpr std::size_t kLeastBytes = 3 * sizeof(std::uint32_t);
  static void fields(auto& wire, auto& m) { wire(m.run, m.task, m.attempt); }
};

// From gantry.
// --------------------------------------------------------------------------------------

/// The first message on a connection.
struct Hello {
  static constexpr auto kType = MessageType::hello;
  std::uint32_t version = kProtocolVersion;
  std::uint32_t cores = 1;                ///< to pack tasks into; 0 = all that the host has
  std::uint64_t memory = 0;               ///< bytes to pack declared memory into; 0 = all of it
  std::int64_t grace_ns = 5'000'000'000;  ///< between SIGTERM and SIGKILL
  std::vector<std::string> environment;   ///< "NAME=value": what every task inherits
  bool own_environment = false;           ///< what the agent has itself is inherited, too
  std::int64_t load_every_ns = 0;         ///< between two Load messages; 0 = none

  static void fields(auto& wire, auto& m) {
    wire(m.version);
    // Another version may have other fields: the caller compares versions before it looks at them.
    if (m.version != kProtocolVersion) return wire.skip_rest();
    wire(m.cores, m.memory, m.grace_ns, m.environment, m.own_environment, m.load_every_ns);
  }
};

/// An input that the site's depot holds, and where the task expects it.
struct StagedInput {
  std::string path;     ///< relative to the sandbox
  std::string content;  ///< its hash, as hexadecimal digits
  bool executable = false;

  static constexpr std::size_t kLeastBytes = 2 * sizeof(std::uint32_t) + 1;
  static void fields(auto& wire, auto& m) { wire(m.path, m.content, m.executable); }
};

struct Start {
  static constexpr auto kType = MessageType::start;
  AttemptKey key;
  std::uint32_t cores = 1;
  std::uint64_t memory = 0;     ///< limit in bytes; 0 = none
  std::int64_t timeout_ns = 0;  ///< 0 = none
  std::int64_t walltime_ns =
      0;  ///< it is given back when less of the host's time is left; 0 = never
  std::int32_t checkpoint_signal = 0;     ///< to be sent before the host's time is over; 0 = none
  std::int64_t checkpoint_before_ns = 0;  ///< so long before; and its time to save its state
  std::int32_t checkpoint_code = 0;       ///< exit code that says that it has
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< "NAME=value", added to the common one
  std::string workdir;
  bool make_workdir = false;
  std::vector<std::string> outputs;
  std::vector<std::string> collect;
  std::vector<std::string> only_read;  ///< of `collect`: inputs, which the task need not write
  std::string sandbox;                 ///< absolute: a folder of the attempt's own; empty = none
  std::vector<StagedInput> inputs;     ///< to be put into it before the start
  std::vector<std::string> keep;       ///< of the outputs: moved into kept_folder afterwards
  std::string kept_folder;             ///< absolute: of the attempt's own
  std::string tag;                     ///< comes back in the report, unread
  /// For the shepherd's log: this will be the slot's report number `log_serial`, and those up to
  /// `log_safe` are acknowledged.
  std::uint64_t log_serial = 0;
  std::uint64_t log_safe = 0;

  static void fields(auto& wire, auto& m) {
    wire(m.key, m.cores, m.memory, m.timeout_ns, m.walltime_ns);
    wire(m.checkpoint_signal, m.checkpoint_before_ns, m.checkpoint_code);
    wire.some(m.argv);
    wire(m.environment, m.workdir, m.make_workdir, m.outputs, m.collect, m.only_read);
    wire(m.sandbox, m.inputs, m.keep, m.kept_folder, m.tag, m.log_serial, m.log_safe);
  }
};

/// A Start as an agent keeps it for a shepherd: what concerns the agent, and the rest unread. Its
/// fields mean what they mean there.
struct PackedStart {
  AttemptKey key;
  std::uint32_t cores = 1;
  std::uint64_t memory = 0;
  std::int64_t walltime_ns = 0;
  std::int32_t checkpoint_signal = 0;
  std::int64_t checkpoint_before_ns = 0;
  std::string body{};  ///< of the frame
};

struct Cancel {
  static constexpr auto kType = MessageType::cancel;
  AttemptKey key;

  static void fields(auto& wire, auto& m) { wire(m.key); }
};
/// Send the task this signal. From gantry, 0 is the one that the task wants for checkpoints.
struct Tell {
  static constexpr auto kType = MessageType::tell;
  AttemptKey key;
  std::int32_t signal = 0;
  /// From an agent to its shepherd: an end within this time is a checkpoint; 0: it is none.
  std::int64_t checkpoint_ns = 0;

  static void fields(auto& wire, auto& m) { wire(m.key, m.signal, m.checkpoint_ns); }
};
/// Give back those of these that have not been started; without keys, all that have not.
struct Recall {
  static constexpr auto kType = MessageType::recall;
  std::vector<AttemptKey> keys{};

  static void fields(auto& wire, auto& m) { wire(m.keys); }
};
/// Reports up to and including this receipt are safe in gantry's journal.
struct Ack {
  static constexpr auto kType = MessageType::ack;
  std::uint64_t receipt = 0;

  static void fields(auto& wire, auto& m) { wire(m.receipt); }
};

// From the agent.
// -----------------------------------------------------------------------------------

struct Welcome {
  static constexpr auto kType = MessageType::welcome;
  std::uint32_t version = kProtocolVersion;
  std::int32_t pid = 0;
  std::uint32_t cores = 0;   ///< that the host has
  std::uint64_t memory = 0;  ///< bytes
  struct Running {
    AttemptKey key;
    std::int64_t started_ns = 0;

    static constexpr std::size_t kLeastBytes = AttemptKey::kLeastBytes + sizeof started_ns;
    static void fields(auto& wire, auto& m) { wire(m.key, m.started_ns); }
  };
  std::vector<Running> running;
  std::uint32_t reports =
      0;  ///< so many Ended messages follow at once: what is not yet acknowledged
  std::int64_t left_ns = 0;  ///< of the time for which tasks may use the host; 0 = no end

  static void fields(auto& wire, auto& m) {
    wire(m.version, m.pid);
    if (m.version != kProtocolVersion) return wire.skip_rest();
    wire(m.cores, m.memory, m.running, m.reports, m.left_ns);
  }
};

struct Started {
  static constexpr auto kType = MessageType::started;
  AttemptKey key;
  std::int64_t started_ns = 0;

  static void fields(auto& wire, auto& m) { wire(m.key, m.started_ns); }
};
struct Returned {
  static constexpr auto kType = MessageType::returned;
  AttemptKey key;

  static void fields(auto& wire, auto& m) { wire(m.key); }
};
/// No task that needs as much can run here, as long as this connection lasts. Those that were
/// handed over are given back.
struct Refused {
  static constexpr auto kType = MessageType::refused;
  std::uint32_t cores = 0;
  std::uint64_t memory = 0;
  std::string why;

  static void fields(auto& wire, auto& m) { wire(m.cores, m.memory, m.why); }
};
/// It can begin nothing more for a while, and has given back what waits; then it says that it can.
struct Resting {
  static constexpr auto kType = MessageType::resting;
  bool now = false;
  std::string why;

  static void fields(auto& wire, auto& m) { wire(m.now, m.why); }
};
struct Notice {
  static constexpr auto kType = MessageType::notice;
  std::string text;

  static void fields(auto& wire, auto& m) { wire(m.text); }
};

/// What the host has left, now and then: also a sign of life.
struct Load {
  static constexpr auto kType = MessageType::load;
  std::uint32_t free_millicores = 0;
  std::uint64_t free_memory = 0;
  std::uint64_t free_disk = 0;
  std::int64_t clock_ns = 0;
  static constexpr std::uint32_t kNoShare = ~std::uint32_t{0};
  /// How fast its tasks got on since the last one, in thousandths of their speed with the
  /// processors to themselves; kNoShare: they computed too little to tell.
  std::uint32_t share = kNoShare;

  static void fields(auto& wire, auto& m) {
    wire(m.free_millicores, m.free_memory, m.free_disk, m.clock_ns, m.share);
    wire.require(m.share <= 1000 || m.share == kNoShare);
  }
};

struct Captured {
  std::uint64_t size = 0;
  std::string text;
  std::string pack;
  std::uint64_t offset = 0;
  bool truncated = false;

  static void fields(auto& wire, auto& m) { wire(m.size, m.text, m.pack, m.offset, m.truncated); }
};

/// An output that was moved to where it stays.
struct KeptOutput {
  std::string path;  ///< as in Start::keep
  std::uint64_t bytes = 0;
  std::string content;  ///< its hash, as hexadecimal digits

  static constexpr std::size_t kLeastBytes = 2 * sizeof(std::uint32_t) + sizeof bytes;
  static void fields(auto& wire, auto& m) { wire(m.path, m.bytes, m.content); }
};

/// `cause` uses the numbers of model/outcome.hpp's FailureCause; see agent/causes.hpp.
struct Ended {
  AttemptKey key;
  std::uint8_t cause = 0;
  std::int32_t code = 0;
  std::string detail;
  std::int64_t started_ns = 0;
  std::int64_t ended_ns = 0;
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::uint64_t max_rss = 0;
  Captured out;
  Captured err;
  std::vector<std::pair<std::string, std::string>> collected;
  std::string tag;
  std::vector<std::string> unstaged;  ///< contents that the depot lacked: it was not started
  bool swept = false;                 ///< its sandbox is gone
  std::vector<KeptOutput> kept;       ///< all that it was to keep, or none
  std::uint64_t memory_limit = 0;     ///< the limit that it exceeded, in bytes; else 0

  static void fields(auto& wire, auto& m) {
    wire(m.key, m.cause, m.code, m.detail);
    wire(m.started_ns, m.ended_ns, m.user_ns, m.system_ns, m.max_rss);
    wire(m.out, m.err, m.collected, m.tag);
    // Mostly nothing more, where tasks have no sandboxes.
    if (!wire.more(!m.unstaged.empty() || m.swept || !m.kept.empty() || m.memory_limit != 0))
      return;
    wire(m.unstaged, m.swept, m.kept, m.memory_limit);
  }
};

struct Frame {
  MessageType type{};
  std::string_view body;
};

template <class Message>
void encode(std::string& out, const Message& m) {
  encode_as(out, Message::kType, m);
}
/// The Start itself, with these numbers for the shepherd's log.
void encode(std::string& out, const PackedStart& message, std::uint64_t log_serial,
            std::uint64_t log_safe);
void encode(std::string& out, std::uint64_t receipt, const Ended& message);
/// The body of that frame, of a report that is in a log.
std::string ended_body(const Ended& message);
/// The same frame, from the body of another one with another receipt.
void encode_ended(std::string& out, std::uint64_t receipt, std::string_view ended_body);

/// Checks as much as decode<Start>() does.
std::optional<PackedStart> pack_start(std::string_view body);
std::optional<std::pair<std::uint64_t, Ended>> decode_ended(std::string_view body);
/// The key at the head of a Start, or (after its receipt) of an Ended, without decoding the rest.
std::optional<AttemptKey> peek_ended_key(std::string_view ended_body);
struct RunTime {
  std::int64_t started_ns = 0;
  std::int64_t ended_ns = 0;
};
/// Of a whole Ended, in the same way.
RunTime peek_run_time(std::string_view ended_body);

/// Bytes from a stream, cut into frames of this protocol.
class FrameReader : public gantry::FrameReader {
 public:
  FrameReader() : gantry::FrameReader(kMaxFrame) {}
  std::optional<Frame> next() {
    const auto frame = gantry::FrameReader::next();
    if (!frame) return std::nullopt;
    return Frame{static_cast<MessageType>(frame->type), frame->body};
  }
};

}  // namespace gantry::agent
