/// Any bytes as what a peer sends: cut into the same frames however they arrive, and each message
/// either refused or one that can be sent on unchanged.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "agent/protocol.hpp"

namespace gantry::agent {
namespace {

struct Received {
  std::vector<std::pair<MessageType, std::string>> frames;
  bool broken = false;
  friend bool operator==(const Received&, const Received&) = default;
};

Received receive(std::string_view bytes, std::size_t piece) {
  Received received;
  FrameReader reader;
  while (!bytes.empty()) {
    const auto part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    const auto [space, size] = reader.space(part.size());
    if (size < part.size()) std::abort();
    std::copy(part.begin(), part.end(), space);
    reader.filled(part.size());
    while (const auto frame = reader.next()) received.frames.emplace_back(frame->type, frame->body);
  }
  received.broken = reader.broken();
  return received;
}

/// What decodes must encode to something that decodes to the same.
template <class Encode, class Decode>
void check(std::string_view body, Decode decode, Encode encode) {
  constexpr std::size_t kHead = sizeof(std::uint32_t) + 1;
  const auto message = decode(body);
  if (!message) return;
  std::string once;
  encode(once, *message);
  const auto again = decode(std::string_view(once).substr(kHead));
  if (!again) std::abort();
  std::string twice;
  encode(twice, *again);
  if (once != twice) std::abort();
}

template <class Decode>
void check(std::string_view body, Decode decode) {
  check(body, decode, [](std::string& out, const auto& message) { encode(out, message); });
}

/// Any body may claim to be of any type.
void check_all(std::string_view body) {
  check(body, decode_hello);
  check(body, decode_start);
  if (pack_start(body).has_value() != decode_start(body).has_value()) std::abort();
  check(body, decode_key,
        [](std::string& out, const AttemptKey& key) { encode(out, Cancel{key}); });
  check(body, decode_ack);
  check(body, decode_tell);
  check(body, decode_recall);
  check(body, decode_welcome);
  check(body, decode_started);
  check(body, decode_notice);
  check(body, decode_load);
  check(body, decode_ended, [](std::string& out, const std::pair<std::uint64_t, Ended>& message) {
    encode(out, message.first, message.second);
  });
  const auto key = peek_ended_key(body);
  if (const auto ended = decode_ended(body); ended && key != ended->second.key) std::abort();
}

}  // namespace
}  // namespace gantry::agent

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantry::agent;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = receive(bytes, size);
  if (receive(bytes, 1) != whole || receive(bytes, 7) != whole) std::abort();
  for (const auto& [type, body] : whole.frames) check_all(body);
  check_all(bytes);
  return 0;
}
