#pragma once
/// Pieces of files made smaller for the way (zstd), where that saves more time on the link than it
/// takes here. Both ends of a stream have a Packer for what they send and an Unpacker.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace gantry::depot {

/// How fast the link takes bytes, measured while it makes us wait.
class LinkSpeed {
 public:
  /// The link took `bytes` now; `some_left`: it would not take more.
  void sent(TimePoint now, std::size_t bytes, bool some_left);
  /// 0 while the link has never made us wait.
  [[nodiscard]] double seconds_per_byte() const { return seconds_per_byte_; }

 private:
  TimePoint waiting_since_ = kNever;
  Duration waited_{};
  std::uint64_t taken_ = 0;
  double seconds_per_byte_ = 0;
};

/// How well one file can be packed: whether the next piece is worth trying.
struct Packing {
  double gain = 0.5;        ///< the part that was saved the last time
  std::uint32_t pause = 0;  ///< pieces to be sent as they are, before the next attempt
  std::uint32_t next_pause = 1;
};

class Packer {
 public:
  Packer();
  ~Packer();

  LinkSpeed& link() { return link_; }
  /// The packed bytes, valid until the next call; nothing when packing does not pay.
  std::optional<std::string_view> pack(std::string_view bytes, Packing& file);

 private:
  struct Free {
    void operator()(ZSTD_CCtx_s* context) const;
  };

  std::unique_ptr<ZSTD_CCtx_s, Free> context_;
  MonotonicClock clock_;
  LinkSpeed link_;
  std::string buffer_;
  double seconds_per_byte_;  ///< that packing takes
};

class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  /// The unpacked bytes, valid until the next call; nothing when they cannot be unpacked or are
  /// more than `most`.
  std::optional<std::string_view> unpack(std::string_view packed, std::size_t most);

 private:
  struct Free {
    void operator()(ZSTD_DCtx_s* context) const;
  };

  std::unique_ptr<ZSTD_DCtx_s, Free> context_;
  std::string buffer_;
};

}  // namespace gantry::depot
