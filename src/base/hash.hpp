#pragma once
/// Content identity: XXH3-128. Fields are framed by their length, so ("ab","c") and ("a","bc")
/// differ.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace gantry {

struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
  [[nodiscard]] bool empty() const { return high == 0 && low == 0; }
  /// 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;
  static Result<Digest> from_hex(std::string_view text);
};

class Hasher {
 public:
  Hasher();

  /// Forgets everything added so far.
  void reset();
  Hasher& add(std::string_view field);
  Hasher& add(std::uint64_t field);
  Hasher& add(const Digest& field);
  /// Bytes without a length frame: for content that arrives in pieces.
  Hasher& add_raw(std::string_view bytes);
  [[nodiscard]] Digest digest() const;

 private:
  /// XXH3_state_t, whose header is large. Not on the heap: each task takes several of them.
  struct State;
  static constexpr std::size_t kStateBytes = 576;
  static constexpr std::size_t kStateAlignment = 64;

  State& state();
  [[nodiscard]] const State& state() const;

  alignas(kStateAlignment) std::byte bytes_[kStateBytes];
};

Digest hash_bytes(std::string_view bytes);
/// `stop` is asked now and then: when it says true, reading ends with an error.
Result<Digest> hash_file(const std::filesystem::path& path, const std::function<bool()>& stop = {});

}  // namespace gantry

template <>
struct std::hash<gantry::Digest> {
  std::size_t operator()(const gantry::Digest& d) const noexcept { return d.low; }
};
