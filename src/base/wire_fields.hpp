#pragma once
/// Messages whose fields are listed once, for both directions: a message has a function
///
///   static void fields(auto& wire, auto& m) { wire(m.id, m.path); wire.require(...); }
///
/// which a FieldWriter goes through to write them and a FieldReader to read them. Everything that
/// is read is untrusted: each field is checked, and a message counts only as a whole.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/codec.hpp"
#include "base/frames.hpp"
#include "base/hash.hpp"

namespace gantry {

class FieldWriter {
 public:
  explicit FieldWriter(Encoder& out) : out_(out) {}

  void operator()(const auto&... fields) { (put(fields), ...); }
  /// The bytes to the end of the message.
  void rest(std::string_view bytes) { out_.bytes(bytes); }
  void skip_rest() {}
  void require(bool) {}
  /// `item(element)` lists an element's fields, of `least` bytes together.
  void list(const auto& elements, std::size_t /*least*/, const auto& item) {
    out_.u32(static_cast<std::uint32_t>(elements.size()));
    for (const auto& element : elements) item(element);
  }

 private:
  void put(std::uint64_t value) { out_.u64(value); }
  void put(std::uint32_t value) { out_.u32(value); }
  void put(bool value) { out_.u8(value ? 1 : 0); }
  void put(const Digest& value) { out_.u64(value.high).u64(value.low); }
  void put(const std::string& value) { out_.str(value); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void put(Enum value) { out_.u8(static_cast<std::uint8_t>(value)); }

  Encoder& out_;
};

class FieldReader {
 public:
  static constexpr std::size_t kLongestText = 8192;

  explicit FieldReader(Decoder& in) : in_(in) {}

  void operator()(auto&... fields) { (get(fields), ...); }
  void rest(std::string_view& bytes) { bytes = in_.rest(); }
  /// What follows is not understood, and need not be.
  void skip_rest() { in_.rest(); }
  void require(bool holds) {
    if (!holds) in_.set_bad();
  }
  void list(auto& elements, std::size_t least, const auto& item) {
    elements.resize(in_.count(least));
    for (auto& element : elements) item(element);
  }

 private:
  void get(std::uint64_t& value) { value = in_.u64(); }
  void get(std::uint32_t& value) { value = in_.u32(); }
  void get(bool& value) {
    const std::uint8_t byte = in_.u8();
    require(byte <= 1);
    value = byte == 1;
  }
  void get(Digest& value) {
    value.high = in_.u64();
    value.low = in_.u64();
  }
  void get(std::string& value) {
    const std::string_view text = in_.str();
    require(text.size() <= kLongestText);
    if (in_.ok()) value = text;
  }
  /// The message's require() says which values there are.
  template <class Enum>
  requires std::is_enum_v<Enum>
  void get(Enum& value) { value = static_cast<Enum>(in_.u8()); }

  Decoder& in_;
};

template <class Message>
void encode_as(std::string& out, auto type, const Message& m) {
  FrameWriter frame(out, type);
  FieldWriter writer(frame.encoder);
  Message::fields(writer, m);
}

/// Nothing when a field was missing or bad, or something is left over.
template <class Message>
std::optional<Message> decode(std::string_view body) {
  Decoder decoder(body);
  FieldReader reader(decoder);
  std::optional<Message> m(std::in_place);
  Message::fields(reader, *m);
  if (!decoder.ok() || !decoder.at_end()) m.reset();
  return m;
}

}  // namespace gantry
