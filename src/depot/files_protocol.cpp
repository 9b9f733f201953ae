#include "depot/files_protocol.hpp"

#include <unistd.h>

#include <cerrno>

#include "depot/file_tools.hpp"
#include "depot/wire_fields.hpp"

namespace gantry::depot {

namespace {

/// What comes before the bytes of a store, of a data.
constexpr std::size_t kStoreHead = sizeof(RequestId) + kDigestBytes + 1;
constexpr std::size_t kDataHead = sizeof(RequestId) + sizeof(std::uint64_t);

/// Below SCRATCH/work.
std::string get_path(Decoder& d) {
  const std::string_view path = d.str();
  if (!is_below(path) || !path.starts_with("work/")) d.set_bad();
  return d.ok() ? std::string(path) : std::string();
}

std::string get_absolute_path(Decoder& d) {
  const std::string_view path = d.str();
  if (!path.starts_with('/') || !is_below(path.substr(1))) d.set_bad();
  return d.ok() ? std::string(path) : std::string();
}

void put_head(Encoder& e, const Store& m) {
  e.u64(m.id);
  put_digest(e, m.content);
  e.u8(m.executable ? 1 : 0);
}
void put_head(Encoder& e, const Data& m) {
  e.u64(m.id).u64(m.offset);
}

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

template <class Head>
std::optional<std::size_t> encode_from(std::string& out, FilesMessage type, const Head& head,
                                       int file, std::uint64_t at, std::size_t most) {
  const std::size_t before = out.size();
  std::optional<std::size_t> got;
  {
    FrameWriter frame(out, type);
    put_head(frame.encoder, head);
    got = append_from(out, file, at, most);
  }
  if (!got) out.resize(before);
  return got;
}

}  // namespace

void encode(std::string& out, const FilesHello& m) {
  FrameWriter frame(out, FilesMessage::hello);
  frame.encoder.u32(m.version).str(m.sender).u64(m.quota);
}

void encode(std::string& out, const Store& m) {
  FrameWriter frame(out, FilesMessage::store);
  put_head(frame.encoder, m);
  out.append(m.bytes);
}

void encode(std::string& out, const Offer& m) {
  FrameWriter frame(out, FilesMessage::offer);
  frame.encoder.u64(m.id);
  put_digest(frame.encoder, m.content);
  frame.encoder.u64(m.bytes).u8(m.executable ? 1 : 0);
}

void encode(std::string& out, const Adopt& m) {
  FrameWriter frame(out, FilesMessage::adopt);
  frame.encoder.u64(m.id);
  put_digest(frame.encoder, m.content);
  frame.encoder.u64(m.bytes).u8(m.executable ? 1 : 0).str(m.path);
}

void encode(std::string& out, const Data& m) {
  FrameWriter frame(out, FilesMessage::data);
  put_head(frame.encoder, m);
  out.append(m.bytes);
}

void encode(std::string& out, const Fetch& m) {
  FrameWriter frame(out, FilesMessage::fetch);
  frame.encoder.u64(m.id).str(m.path).u64(m.offset).u64(m.length).u64(m.skip);
}

void encode(std::string& out, FilesMessage type, const Named& m) {
  FrameWriter frame(out, type);
  frame.encoder.u64(m.id);
  put_digest(frame.encoder, m.content);
}

void encode(std::string& out, const Remove& m) {
  FrameWriter frame(out, FilesMessage::remove);
  frame.encoder.u64(m.id).str(m.path);
}

void encode(std::string& out, FilesMessage type, const Numbered& m) {
  FrameWriter frame(out, type);
  frame.encoder.u64(m.id);
}

void encode(std::string& out, const FilesWelcome& m) {
  FrameWriter frame(out, FilesMessage::welcome);
  frame.encoder.u32(m.version).u64(m.free_bytes).u64(m.total_bytes);
}

void encode(std::string& out, const InventoryPart& m) {
  FrameWriter frame(out, FilesMessage::inventory);
  frame.encoder.u8(m.last ? 1 : 0).u32(static_cast<std::uint32_t>(m.files.size()));
  for (const auto& file : m.files) {
    put_digest(frame.encoder, file.content);
    frame.encoder.u64(file.bytes);
  }
}

void encode(std::string& out, const SendFrom& m) {
  FrameWriter frame(out, FilesMessage::send_from);
  frame.encoder.u64(m.id).u64(m.offset);
}

void encode(std::string& out, const Failed& m) {
  FrameWriter frame(out, FilesMessage::failed);
  frame.encoder.u64(m.id).u8(static_cast<std::uint8_t>(m.problem)).str(m.why);
}

void encode(std::string& out, const FileHead& m) {
  FrameWriter frame(out, FilesMessage::file);
  frame.encoder.u64(m.id).u64(m.bytes).u8(m.executable ? 1 : 0);
}

void encode(std::string& out, const FileEnd& m) {
  FrameWriter frame(out, FilesMessage::end);
  frame.encoder.u64(m.id);
  put_digest(frame.encoder, m.content);
}

void encode(std::string& out, const Refused& m) {
  FrameWriter frame(out, FilesMessage::refused);
  frame.encoder.str(m.why);
}

std::uint64_t seal_of(std::string_view padding) {
  if (padding.size() < sizeof(std::uint64_t)) return 0;
  Decoder d(padding.substr(padding.size() - sizeof(std::uint64_t)));
  return d.u64();
}

void encode(std::string& out, const Echo& m) {
  FrameWriter frame(out, FilesMessage::echo);
  frame.encoder.u64(m.number).str(m.padding);
}

void encode(std::string& out, const Echoed& m) {
  FrameWriter frame(out, FilesMessage::echoed);
  frame.encoder.u64(m.number).u64(m.seal);
}

void encode_alive(std::string& out) {
  const FrameWriter frame(out, FilesMessage::alive);
}

std::optional<std::size_t> encode_read(std::string& out, Data head, int file, std::uint64_t at,
                                       std::size_t most) {
  return encode_from(out, FilesMessage::data, head, file, at, most);
}

std::optional<std::size_t> encode_read(std::string& out, Store head, int file, std::size_t most) {
  return encode_from(out, FilesMessage::store, head, file, 0, most);
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

std::optional<FilesHello> decode_files_hello(std::string_view body) {
  Decoder d(body);
  FilesHello m;
  m.version = d.u32();
  // Another version may have other fields: the caller compares versions before it looks at them.
  if (d.ok() && m.version != kFilesVersion) return m;
  m.sender = get_text(d);
  m.quota = d.u64();
  if (!is_plain_name(m.sender)) d.set_bad();
  return complete(d, std::move(m));
}

std::optional<Store> decode_store(std::string_view body) {
  Decoder d(body.substr(0, kStoreHead));
  Store m;
  m.id = d.u64();
  m.content = get_digest(d);
  m.executable = get_flag(d);
  if (d.ok()) m.bytes = body.substr(kStoreHead);
  return complete(d, m);
}

std::optional<Offer> decode_offer(std::string_view body) {
  Decoder d(body);
  Offer m;
  m.id = d.u64();
  m.content = get_digest(d);
  m.bytes = get_size(d);
  m.executable = get_flag(d);
  return complete(d, m);
}

std::optional<Adopt> decode_adopt(std::string_view body) {
  Decoder d(body);
  Adopt m;
  m.id = d.u64();
  m.content = get_digest(d);
  m.bytes = get_size(d);
  m.executable = get_flag(d);
  m.path = get_absolute_path(d);
  return complete(d, std::move(m));
}

std::optional<Data> decode_data(std::string_view body) {
  Decoder d(body.substr(0, kDataHead));
  Data m;
  m.id = d.u64();
  m.offset = d.u64();
  if (d.ok()) m.bytes = body.substr(kDataHead);
  return complete(d, m);
}

std::optional<Store> decode_store_packed(std::string_view body, Unpacker& unpacker) {
  auto m = decode_store(body);
  const auto bytes = m ? unpacker.unpack(m->bytes, kPieceBytes) : std::nullopt;
  if (!bytes) return std::nullopt;
  m->bytes = *bytes;
  return m;
}

std::optional<Data> decode_data_packed(std::string_view body, Unpacker& unpacker) {
  auto m = decode_data(body);
  const auto bytes = m ? unpacker.unpack(m->bytes, kPieceBytes) : std::nullopt;
  if (!bytes) return std::nullopt;
  m->bytes = *bytes;
  return m;
}

std::optional<Fetch> decode_fetch(std::string_view body) {
  Decoder d(body);
  Fetch m;
  m.id = d.u64();
  m.path = get_path(d);
  m.offset = d.u64();
  m.length = d.u64();
  m.skip = d.u64();
  if (m.skip > m.length) d.set_bad();
  return complete(d, std::move(m));
}

std::optional<Named> decode_named(std::string_view body) {
  Decoder d(body);
  Named m;
  m.id = d.u64();
  m.content = get_digest(d);
  return complete(d, m);
}

std::optional<Remove> decode_remove(std::string_view body) {
  Decoder d(body);
  Remove m;
  m.id = d.u64();
  m.path = get_path(d);
  return complete(d, std::move(m));
}

std::optional<Numbered> decode_numbered(std::string_view body) {
  Decoder d(body);
  const Numbered m{d.u64()};
  return complete(d, m);
}

std::optional<FilesWelcome> decode_files_welcome(std::string_view body) {
  Decoder d(body);
  FilesWelcome m;
  m.version = d.u32();
  if (d.ok() && m.version != kFilesVersion) return m;
  m.free_bytes = d.u64();
  m.total_bytes = d.u64();
  return complete(d, m);
}

std::optional<InventoryPart> decode_inventory(std::string_view body) {
  Decoder d(body);
  InventoryPart m;
  m.last = get_flag(d);
  m.files.resize(d.count(kDigestBytes + sizeof(std::uint64_t)));
  for (auto& file : m.files) {
    file.content = get_digest(d);
    file.bytes = d.u64();
  }
  return complete(d, std::move(m));
}

std::optional<SendFrom> decode_send_from(std::string_view body) {
  Decoder d(body);
  SendFrom m;
  m.id = d.u64();
  m.offset = d.u64();
  return complete(d, m);
}

std::optional<Failed> decode_failed(std::string_view body) {
  Decoder d(body);
  Failed m;
  m.id = d.u64();
  const std::uint8_t problem = d.u8();
  if (problem > static_cast<std::uint8_t>(FilesProblem::no_way)) d.set_bad();
  m.problem = static_cast<FilesProblem>(problem);
  m.why = get_text(d);
  return complete(d, std::move(m));
}

std::optional<FileHead> decode_file_head(std::string_view body) {
  Decoder d(body);
  FileHead m;
  m.id = d.u64();
  m.bytes = d.u64();
  m.executable = get_flag(d);
  return complete(d, m);
}

std::optional<FileEnd> decode_file_end(std::string_view body) {
  Decoder d(body);
  FileEnd m;
  m.id = d.u64();
  m.content = get_digest(d);
  return complete(d, m);
}

std::optional<Refused> decode_refused(std::string_view body) {
  Decoder d(body);
  Refused m{get_text(d)};
  return complete(d, std::move(m));
}

std::optional<Echo> decode_echo(std::string_view body) {
  Decoder d(body);
  Echo m{.number = d.u64()};
  m.padding = d.str();
  if (m.padding.size() > Echo::kMostPadding) d.set_bad();
  return complete(d, m);
}

std::optional<Echoed> decode_echoed(std::string_view body) {
  Decoder d(body);
  Echoed m{.number = d.u64()};
  m.seal = d.u64();
  return complete(d, m);
}

}  // namespace gantry::depot
