#include "depot/compression.hpp"

#include <zstd.h>

#include <algorithm>

namespace gantry::depot {

namespace {

/// The fastest of zstd's usual levels: more than a link takes that is worth packing for.
constexpr int kLevel = 1;
/// Before it was measured.
constexpr double kUsualSecondsPerByte = 4e-9;
constexpr std::size_t kSmallest = 256;
/// What saves less is sent as it is, so that the other end need not unpack it.
constexpr double kLeastGain = 0.1;
constexpr std::uint32_t kLongestPause = 64;

}  // namespace

void LinkSpeed::sent(TimePoint now, std::size_t bytes, bool some_left) {
  // Long enough that what the system's buffers swallow at once does not matter.
  constexpr std::uint64_t kEnoughBytes = std::uint64_t{4} << 20;
  constexpr Duration kEnoughTime = std::chrono::milliseconds(250);
  if (waiting_since_ != kNever) waited_ += now - waiting_since_;
  waiting_since_ = some_left ? now : kNever;
  taken_ += bytes;
  if (taken_ < kEnoughBytes && (waited_ < kEnoughTime || taken_ == 0)) return;
  seconds_per_byte_ = seconds(waited_) / static_cast<double>(taken_);
  waited_ = {};
  taken_ = 0;
}

Packer::Packer() : context_(ZSTD_createCCtx()), seconds_per_byte_(kUsualSecondsPerByte) {}
Packer::~Packer() = default;

void Packer::Free::operator()(ZSTD_CCtx_s* context) const {
  ZSTD_freeCCtx(context);
}

std::optional<std::string_view> Packer::pack(std::string_view bytes, Packing& file) {
  if (bytes.size() < kSmallest || !context_) return std::nullopt;
  constexpr double kNewPart = 0.1;
  if (link_.seconds_per_byte() * file.gain <= seconds_per_byte_) {
    // It may only have been slow because others were busy: some time it is tried again.
    seconds_per_byte_ += kNewPart * (kUsualSecondsPerByte - seconds_per_byte_);
    return std::nullopt;
  }
  if (file.pause > 0) {
    --file.pause;
    return std::nullopt;
  }
  buffer_.resize(ZSTD_compressBound(bytes.size()));
  const TimePoint begin = clock_.now();
  const std::size_t size = ZSTD_compressCCtx(context_.get(), buffer_.data(), buffer_.size(),
                                             bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0U) return std::nullopt;
  const auto whole = static_cast<double>(bytes.size());
  seconds_per_byte_ += kNewPart * (seconds(clock_.now() - begin) / whole - seconds_per_byte_);
  const double gain = 1 - static_cast<double>(size) / whole;
  file.gain = std::max(gain, kLeastGain);
  if (gain < kLeastGain) {
    file.pause = file.next_pause;
    file.next_pause = std::min(2 * file.next_pause, kLongestPause);
    return std::nullopt;
  }
  file.next_pause = 1;
  return std::string_view(buffer_.data(), size);
}

Unpacker::Unpacker() : context_(ZSTD_createDCtx()) {}
Unpacker::~Unpacker() = default;

void Unpacker::Free::operator()(ZSTD_DCtx_s* context) const {
  ZSTD_freeDCtx(context);
}

std::optional<std::string_view> Unpacker::unpack(std::string_view packed, std::size_t most) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (!context_ || size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
      size > most) {
    return std::nullopt;
  }
  buffer_.resize(std::max<std::size_t>(size, 1));
  const std::size_t got =
      ZSTD_decompressDCtx(context_.get(), buffer_.data(), size, packed.data(), packed.size());
  if (ZSTD_isError(got) != 0U || got != size) return std::nullopt;
  return std::string_view(buffer_.data(), got);
}

}  // namespace gantry::depot
