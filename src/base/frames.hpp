#pragma once
/// Messages in a stream of bytes: a size, a type, a body. What the types are, and what is in a
/// body, is a protocol's own matter (agent/protocol.hpp, depot/files_protocol.hpp).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/codec.hpp"

namespace gantry {

/// Writes the size of the frame that begins at `at` and goes to the end of `out`.
void set_frame_size(std::string& out, std::size_t at);

/// Appends a frame's head to `out`, and its size once the body is there, which `encoder` writes.
class FrameWriter {
 public:
  template <class Type>
  FrameWriter(std::string& out, Type type) : encoder(out), out_(out), start_(out.size()) {
    encoder.u32(0).u8(static_cast<std::uint8_t>(type));
  }
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;
  ~FrameWriter() { set_frame_size(out_, start_); }

  Encoder encoder;

 private:
  std::string& out_;
  std::size_t start_;
};

struct RawFrame {
  std::uint8_t type = 0;
  std::string_view body;
};

/// Bytes from a stream, cut into frames.
class FrameReader {
 public:
  /// `most`: the largest frame that the protocol knows.
  explicit FrameReader(std::size_t most) : most_(most) {}

  /// Room for the next read(2); follow with filled(n).
  std::pair<char*, std::size_t> space(std::size_t at_least);
  void filled(std::size_t n) { end_ += n; }
  void append(std::string_view bytes);
  /// The next whole frame, valid until the next call of a non-const member; nothing when more bytes
  /// are needed.
  std::optional<RawFrame> next();
  /// A frame was too long or empty: the stream cannot be trusted any more.
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  static constexpr std::size_t kKeep = std::size_t{2} << 20;

  std::size_t most_;
  std::string buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool broken_ = false;
};

}  // namespace gantry
