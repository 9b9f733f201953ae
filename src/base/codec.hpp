#pragma once
/// Little-endian binary encoding for agent messages and agent journals. A Decoder never reads past
/// its input and never throws: after the first bad field it reports !ok() and yields zero values.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace gantry {

static_assert(std::endian::native == std::endian::little,
              "the codec copies integers as they lie in memory");

class Encoder {
 public:
  /// Appends to `out`, which must outlive the Encoder.
  explicit Encoder(std::string& out) : out_(out) {}
  Encoder& u8(std::uint8_t v) { return raw(v); }
  Encoder& u16(std::uint16_t v) { return raw(v); }
  Encoder& u32(std::uint32_t v) { return raw(v); }
  Encoder& u64(std::uint64_t v) { return raw(v); }
  Encoder& i64(std::int64_t v) { return raw(v); }
  Encoder& str(std::string_view v) {
    u32(static_cast<std::uint32_t>(v.size()));
    return bytes(v);
  }
  /// Without their number.
  Encoder& bytes(std::string_view v) {
    out_.append(v);
    return *this;
  }
  /// A whole number of any width.
  template <class T>
  Encoder& raw(T v) {
    char bytes[sizeof v];
    std::memcpy(bytes, &v, sizeof v);
    out_.append(bytes, sizeof v);
    return *this;
  }

 private:
  std::string& out_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view in) : in_(in) {}
  std::uint8_t u8() { return raw<std::uint8_t>(); }
  std::uint16_t u16() { return raw<std::uint16_t>(); }
  std::uint32_t u32() { return raw<std::uint32_t>(); }
  std::uint64_t u64() { return raw<std::uint64_t>(); }
  std::int64_t i64() { return raw<std::int64_t>(); }
  /// A view into the input.
  std::string_view str() {
    const std::uint32_t size = u32();
    if (size > in_.size()) return set_bad(), std::string_view{};
    const auto v = in_.substr(0, size);
    in_.remove_prefix(size);
    return v;
  }
  /// A count of items of at least `min_item_bytes` each; a count that cannot fit is a bad field.
  std::uint32_t count(std::size_t min_item_bytes) {
    const std::uint32_t n = u32();
    if (n > in_.size() / min_item_bytes) return set_bad(), 0;
    return n;
  }
  /// All that is left, a view into the input.
  std::string_view rest() { return std::exchange(in_, {}); }
  void set_bad() {
    ok_ = false;
    in_ = {};
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return in_.empty(); }
  template <class T>
  T raw() {
    if (in_.size() < sizeof(T)) return set_bad(), T{};
    T v;
    std::memcpy(&v, in_.data(), sizeof v);
    in_.remove_prefix(sizeof v);
    return v;
  }

 private:
  std::string_view in_;
  bool ok_ = true;
};

}  // namespace gantry
