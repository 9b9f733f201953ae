#include "base/frames.hpp"

#include <algorithm>
#include <cstring>

namespace gantry {

void set_frame_size(std::string& out, std::size_t at) {
  const auto size = static_cast<std::uint32_t>(out.size() - at - sizeof(std::uint32_t));
  std::memcpy(out.data() + at, &size, sizeof size);
}

std::pair<char*, std::size_t> FrameReader::space(std::size_t at_least) {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    // One huge frame must not occupy its memory for the rest of our life.
    if (buffer_.size() > kKeep && at_least <= kKeep) std::string().swap(buffer_);
  }
  if (buffer_.size() - end_ < at_least && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < at_least) {
    buffer_.resize(std::max(end_ + at_least, 2 * buffer_.size()));
  }
  return {buffer_.data() + end_, buffer_.size() - end_};
}

void FrameReader::append(std::string_view bytes) {
  std::memcpy(space(bytes.size()).first, bytes.data(), bytes.size());
  filled(bytes.size());
}

std::optional<RawFrame> FrameReader::next() {
  if (broken_ || end_ - begin_ < sizeof(std::uint32_t)) return std::nullopt;
  std::uint32_t size = 0;
  std::memcpy(&size, buffer_.data() + begin_, sizeof size);
  if (size == 0 || size > most_) {
    broken_ = true;
    return std::nullopt;
  }
  if (end_ - begin_ - sizeof size < size) return std::nullopt;
  const char* at = buffer_.data() + begin_ + sizeof size;
  begin_ += sizeof size + size;
  return RawFrame{static_cast<std::uint8_t>(*at), std::string_view(at + 1, size - 1)};
}

}  // namespace gantry
