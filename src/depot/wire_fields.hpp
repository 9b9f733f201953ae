#pragma once
/// Fields that several messages of the file protocols have, checked as they are read.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/codec.hpp"
#include "base/hash.hpp"

namespace gantry::depot {

constexpr std::size_t kDigestBytes = 2 * sizeof(std::uint64_t);

inline void put_digest(Encoder& e, const Digest& d) {
  e.u64(d.high).u64(d.low);
}
inline Digest get_digest(Decoder& d) {
  Digest digest;
  digest.high = d.u64();
  digest.low = d.u64();
  return digest;
}

inline bool get_flag(Decoder& d) {
  const std::uint8_t value = d.u8();
  if (value > 1) d.set_bad();
  return value == 1;
}

inline std::string get_text(Decoder& d) {
  constexpr std::size_t kLongest = 8192;
  const std::string_view text = d.str();
  if (text.size() > kLongest) d.set_bad();
  return d.ok() ? std::string(text) : std::string();
}

inline std::uint64_t get_size(Decoder& d) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 62U;  // fits into an off_t
  const std::uint64_t bytes = d.u64();
  if (bytes > kLargest) d.set_bad();
  return bytes;
}

/// A message counts only when every field was there and nothing is left over.
template <class T>
std::optional<T> complete(const Decoder& d, T message) {
  if (!d.ok() || !d.at_end()) return std::nullopt;
  return message;
}

}  // namespace gantry::depot
