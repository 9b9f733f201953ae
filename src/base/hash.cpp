#include "base/hash.hpp"

#include <fcntl.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <new>

#include "base/fd.hpp"

namespace gantry {

namespace {
Digest to_digest(XXH128_hash_t h) {
  return Digest{h.high64, h.low64};
}
}  // namespace

struct Hasher::State : XXH3_state_t {};

Hasher::Hasher() {
  static_assert(sizeof(State) == kStateBytes && alignof(State) == kStateAlignment);
  ::new (static_cast<void*>(bytes_)) State;
  reset();
}

Hasher::State& Hasher::state() {
  return *std::launder(reinterpret_cast<State*>(bytes_));
}

const Hasher::State& Hasher::state() const {
  return *std::launder(reinterpret_cast<const State*>(bytes_));
}

void Hasher::reset() {
  XXH3_128bits_reset(&state());
}

Hasher& Hasher::add_raw(std::string_view bytes) {
  XXH3_128bits_update(&state(), bytes.data(), bytes.size());
  return *this;
}

Hasher& Hasher::add(std::string_view field) {
  add(static_cast<std::uint64_t>(field.size()));
  return add_raw(field);
}

Hasher& Hasher::add(std::uint64_t field) {
  XXH3_128bits_update(&state(), &field, sizeof field);
  return *this;
}

Hasher& Hasher::add(const Digest& field) {
  return add(field.high).add(field.low);
}

Digest Hasher::digest() const {
  return to_digest(XXH3_128bits_digest(&state()));
}

std::string Digest::hex() const {
  std::array<char, 33> text{};  // 32 digits and the end
  std::snprintf(text.data(), text.size(), "%016" PRIx64 "%016" PRIx64, high, low);
  return text.data();
}

Result<Digest> Digest::from_hex(std::string_view text) {
  Digest d;
  const auto parse = [](std::string_view part, std::uint64_t& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, 16);
    return error == std::errc{} && end == part.data() + part.size();
  };
  if (text.size() != 32 || !parse(text.substr(0, 16), d.high) || !parse(text.substr(16), d.low)) {
    return fail(ErrorCode::corrupt,
                "'" + std::string(text) + "' is not a digest of 32 hexadecimal digits");
  }
  return d;
}

Digest hash_bytes(std::string_view bytes) {
  return to_digest(XXH3_128bits(bytes.data(), bytes.size()));
}

Result<Digest> hash_file(const std::filesystem::path& path, const std::function<bool()>& stop) {
  TRY_ASSIGN(const UniqueFd fd, open_file(path, O_RDONLY));
  Hasher hasher;
  // Not zeroed: of many small files that would be most of the work.
  constexpr std::size_t kPiece = std::size_t{1} << 18;
  const auto buffer = std::make_unique_for_overwrite<char[]>(kPiece);
  for (unsigned turn = 1;; ++turn) {
    constexpr unsigned kAskEvery = 16;  // every 4 MiB
    if (turn % kAskEvery == 0 && stop && stop())
      return fail(ErrorCode::io, path.string() + ": reading it was interrupted");
    const ssize_t n = ::read(fd.get(), buffer.get(), kPiece);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(path.string());
    if (n == 0) return hasher.digest();
    hasher.add_raw({buffer.get(), static_cast<std::size_t>(n)});
  }
}

}  // namespace gantry
