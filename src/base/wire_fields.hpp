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
#include <vector>

#include "base/codec.hpp"
#include "base/frames.hpp"
#include "base/hash.hpp"

namespace gantry {

/// The fewest bytes that an element of a list can take. Of a struct it is T::kLeastBytes.
template <class T>
inline constexpr std::size_t kLeastBytes = T::kLeastBytes;
template <>
inline constexpr std::size_t kLeastBytes<std::string> = sizeof(std::uint32_t);
template <>
inline constexpr std::size_t kLeastBytes<std::pair<std::string, std::string>> =
    2 * sizeof(std::uint32_t);

class FieldWriter {
 public:
  explicit FieldWriter(Encoder& out) : out_(out) {}

  void operator()(const auto&... fields) { (put(fields), ...); }
  /// The bytes to the end of the message.
  void rest(std::string_view bytes) { out_.bytes(bytes); }
  void skip_rest() {}
  void require(bool) {}
  /// A list that is not empty.
  void some(const auto& list) { put(list); }
  /// Whether more fields follow: here if `has_more`, for a reader if there are any.
  static bool more(bool has_more) { return has_more; }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      out_.str(value);
    } else if constexpr (std::is_enum_v<T>) {
      out_.raw(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      out_.u8(value ? 1 : 0);
    } else if constexpr (std::is_integral_v<T>) {
      out_.raw(value);
    } else if constexpr (std::is_same_v<T, Digest>) {
      out_.u64(value.high).u64(value.low);
    } else {
      T::fields(*this, value);
    }
  }
  template <class T>
  void put(const std::vector<T>& list) {
    out_.u32(static_cast<std::uint32_t>(list.size()));
    for (const T& element : list) put(element);
  }
  void put(const std::pair<std::string, std::string>& value) { (*this)(value.first, value.second); }

  Encoder& out_;
};

class FieldReader {
 public:
  explicit FieldReader(Decoder& in) : in_(in) {}

  void operator()(auto&... fields) { (get(fields), ...); }
  void rest(std::string_view& bytes) { bytes = in_.rest(); }
  /// What follows is not understood, and need not be.
  void skip_rest() { in_.rest(); }
  void require(bool holds) {
    if (!holds) in_.set_bad();
  }
  void some(auto& list) {
    get(list);
    require(!list.empty());
  }
  bool more(bool) { return !in_.at_end(); }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      value = in_.str();
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(in_.raw<std::underlying_type_t<T>>());  // its message checks it
    } else if constexpr (std::is_same_v<T, bool>) {
      const std::uint8_t byte = in_.u8();
      require(byte <= 1);
      value = byte == 1;
    } else if constexpr (std::is_integral_v<T>) {
      value = in_.raw<T>();
    } else if constexpr (std::is_same_v<T, Digest>) {
      value.high = in_.u64();
      value.low = in_.u64();
    } else {
      T::fields(*this, value);
    }
  }
  template <class T>
  void get(std::vector<T>& list) {
    list.resize(in_.count(kLeastBytes<T>));
    for (T& element : list) get(element);
  }
  void get(std::pair<std::string, std::string>& value) { (*this)(value.first, value.second); }

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
