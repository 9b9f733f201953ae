#include "depot/files_protocol.hpp"

#include <unistd.h>

#include <cerrno>

#include "depot/file_tools.hpp"

namespace gantry::depot {

namespace {

/// What comes before the bytes of a store, of a data.
constexpr std::size_t kStoreHead = sizeof(RequestId) + sizeof(Digest) + 1;
constexpr std::size_t kDataHead = sizeof(RequestId) + sizeof(std::uint64_t);

/// As many bytes as there are, up to `most`.
std::optional<std::size_t> append_from(std::string& out, int file, std::uint64_t at,
                                       std::size_t most) {
  const std::size_t start = out.size();
  out.resize(start + most);
  std::size_t got = 0;
  while (got < most) {
    const ssize_t n =
        ::pread(file, out.data() + start + got, most - got, static_cast<off_t>(at + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  out.resize(start + got);
  return got;
}

/// REQUIRES: the head has no bytes of its own.
template <class Message>
std::optional<std::size_t> encode_from(std::string& out, const Message& head, int file,
                                       std::uint64_t at, std::size_t most) {
  const std::size_t before = out.size();
  std::optional<std::size_t> got;
  {
    FrameWriter frame(out, Message::kType);
    FieldWriter writer(frame.encoder);
    Message::fields(writer, head);
    got = append_from(out, file, at, most);
  }
  if (!got) out.resize(before);
  return got;
}

}  // namespace

bool is_work_path(std::string_view path) {
  return is_below(path) && path.starts_with("work/");
}

bool is_absolute_path(std::string_view path) {
  return path.starts_with('/') && is_below(path.substr(1));
}

std::uint64_t seal_of(std::string_view padding) {
  if (padding.size() < sizeof(std::uint64_t)) return 0;
  Decoder d(padding.substr(padding.size() - sizeof(std::uint64_t)));
  return d.u64();
}

void encode_alive(std::string& out) {
  const FrameWriter frame(out, FilesMessage::alive);
}

std::optional<std::size_t> encode_read(std::string& out, Data head, int file, std::uint64_t at,
                                       std::size_t most) {
  return encode_from(out, head, file, at, most);
}

std::optional<std::size_t> encode_read(std::string& out, Store head, int file, std::size_t most) {
  return encode_from(out, head, file, 0, most);
}

void pack_frame(std::string& out, std::size_t at, Packer& packer, Packing& file) {
  constexpr std::size_t kFrameHead = sizeof(std::uint32_t) + 1;
  char& type = out[at + kFrameHead - 1];
  const bool is_store = type == static_cast<char>(FilesMessage::store);
  const std::size_t from = at + kFrameHead + (is_store ? kStoreHead : kDataHead);
  const auto packed = packer.pack(std::string_view(out).substr(from), file);
  if (!packed) return;
  type = static_cast<char>(is_store ? FilesMessage::store_packed : FilesMessage::data_packed);
  out.replace(from, std::string::npos, *packed);
  set_frame_size(out, at);
}

}  // namespace gantry::depot
