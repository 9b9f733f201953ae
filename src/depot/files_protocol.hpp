#pragma once
/// What home (a Mover) and the file server of a site say to each other. Requests have numbers of
/// home's choosing, and are answered when they are done, not one after the other: home sends on
/// without waiting. Both ends treat what they read as untrusted: sizes are bounded and every field
/// is checked. When you change a message, raise kFilesVersion.
///
///   home: hello                          site: welcome, inventory..., or refused
///   home: store (a whole small file)     site: done or failed
///   home: offer (a large one)            site: send_from (what it has already), or done
///         data...                              done or failed
///   home: adopt (a file that is there)   site: done or failed
///   home: pull (pull_protocol.hpp)       site: done or failed
///   home: fetch                          site: file, data..., end, or failed at any point
///   home: drop, remove, verify           site: done or failed
///   home: forget (a request)             nothing, but for answers that are on their way
///   home: echo                           site: echoed, at once
///                                        site: alive, every few seconds

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/wire_fields.hpp"
#include "depot/compression.hpp"
#include "depot/depot.hpp"

namespace gantry::depot {

inline constexpr std::uint32_t kFilesVersion = 6;
/// Files up to this size are sent whole; larger ones are offered, and sent in such pieces.
inline constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxFilesFrame = std::size_t{2} << 20;
inline constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

enum class FilesMessage : std::uint8_t {
  hello = 1,
  store = 2,
  offer = 3,
  data = 4,  ///< both ways
  fetch = 5,
  drop = 6,
  remove = 7,
  verify = 8,
  forget = 9,
  store_packed = 10,  ///< a store, a data whose bytes are packed (depot/compression.hpp)
  data_packed = 11,   ///< both ways
  adopt = 12,
  pull = 13,  ///< this and the next in pull_protocol.hpp
  want = 14,
  echo = 15,
  welcome = 32,
  inventory = 33,
  send_from = 34,
  done = 35,
  failed = 36,
  file = 37,
  end = 38,
  refused = 39,
  alive = 40,  ///< nothing more
  echoed = 41,
};

using RequestId = std::uint64_t;

inline constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 62U;  ///< fits into an off_t
inline constexpr std::size_t kLongestReason = 8192;                      ///< of a failure
/// Relative to SCRATCH, below "work/".
bool is_work_path(std::string_view path);
/// In its shortest form.
bool is_absolute_path(std::string_view path);

// From home.
// --------------------------------------------------------------------------------------

struct FilesHello {
  static constexpr auto kType = FilesMessage::hello;
  std::uint32_t version = kFilesVersion;
  /// Whose partial files these are; is_plain_name(). The same after a lost connection.
  std::string sender;
  std::uint64_t quota = 0;  ///< of the depot, in bytes; 0 = none

  static void fields(auto& wire, auto& m) {
    wire(m.version);
    // Another version may have other fields: the caller compares versions before it looks at them.
    if (m.version != kFilesVersion) return wire.skip_rest();
    wire(m.sender, m.quota);
    wire.require(is_plain_name(m.sender));
  }
};
struct Store {
  static constexpr auto kType = FilesMessage::store;
  RequestId id = 0;
  Digest content;
  bool executable = false;
  std::string_view bytes;  ///< of the frame

  static void fields(auto& wire, auto& m) {
    wire(m.id, m.content, m.executable);
    wire.rest(m.bytes);
  }
};
struct Offer {
  static constexpr auto kType = FilesMessage::offer;
  RequestId id = 0;
  Digest content;
  std::uint64_t bytes = 0;
  bool executable = false;

  static void fields(auto& wire, auto& m) {
    wire(m.id, m.content, m.bytes, m.executable);
    wire.require(m.bytes <= kMaxFileBytes);
  }
};
/// A file that the person says is there already.
struct Adopt {
  static constexpr auto kType = FilesMessage::adopt;
  RequestId id = 0;
  Digest content;
  std::uint64_t bytes = 0;
  bool executable = false;
  std::string path;  ///< is_absolute_path()

  static void fields(auto& wire, auto& m) {
    wire(m.id, m.content, m.bytes, m.executable, m.path);
    wire.require(m.bytes <= kMaxFileBytes && is_absolute_path(m.path));
  }
};
struct Data {
  static constexpr auto kType = FilesMessage::data;
  RequestId id = 0;
  std::uint64_t offset = 0;  ///< in the file; in the range that was asked for
  std::string_view bytes;    ///< of the frame

  static void fields(auto& wire, auto& m) {
    wire(m.id, m.offset);
    wire.rest(m.bytes);
  }
};
struct Fetch {
  static constexpr auto kType = FilesMessage::fetch;
  RequestId id = 0;
  std::string path;  ///< is_work_path()
  std::uint64_t offset = 0;
  std::uint64_t length = kToTheEnd;
  std::uint64_t skip = 0;  ///< bytes that home has already: hashed, not sent

  static void fields(auto& wire, auto& m) {
    wire(m.id, m.path, m.offset, m.length, m.skip);
    wire.require(is_work_path(m.path) && m.skip <= m.length);
  }
};
/// Drop, Verify.
struct Named {
  RequestId id = 0;
  Digest content;

  static void fields(auto& wire, auto& m) { wire(m.id, m.content); }
};
struct Remove {
  static constexpr auto kType = FilesMessage::remove;
  RequestId id = 0;
  std::string path;  ///< is_work_path()

  static void fields(auto& wire, auto& m) {
    wire(m.id, m.path);
    wire.require(is_work_path(m.path));
  }
};
/// Forget, Done.
struct Numbered {
  RequestId id = 0;

  static void fields(auto& wire, auto& m) { wire(m.id); }
};

/// To be answered with the same number, at once: how long that takes is how far away the site is.
/// With a padding, which nobody can guess or make shorter, also how fast the link is.
struct Echo {
  static constexpr auto kType = FilesMessage::echo;
  static constexpr std::size_t kMostPadding = std::size_t{1} << 20;
  std::uint64_t number = 0;
  std::string_view padding{};  ///< of the frame; no longer than that

  static void fields(auto& wire, auto& m) {
    wire(m.number, m.padding);
    wire.require(m.padding.size() <= kMostPadding);
  }
};

// From the site.
// ----------------------------------------------------------------------------------

struct FilesWelcome {
  static constexpr auto kType = FilesMessage::welcome;
  std::uint32_t version = kFilesVersion;
  std::uint64_t free_bytes = 0;  ///< of the file system
  std::uint64_t total_bytes = 0;

  static void fields(auto& wire, auto& m) {
    wire(m.version);
    if (m.version != kFilesVersion) return wire.skip_rest();
    wire(m.free_bytes, m.total_bytes);
  }
};
/// A part of what the depot holds.
struct InventoryPart {
  static constexpr auto kType = FilesMessage::inventory;
  bool last = false;
  std::vector<StoredFile> files;

  static void fields(auto& wire, auto& m) { wire(m.last, m.files); }
};
struct SendFrom {
  static constexpr auto kType = FilesMessage::send_from;
  RequestId id = 0;
  std::uint64_t offset = 0;

  static void fields(auto& wire, auto& m) { wire(m.id, m.offset); }
};
enum class FilesProblem : std::uint8_t {
  other = 0,
  other_content = 1,  ///< what arrived is not what was announced
  gone = 2,           ///< there is no such file
  no_way = 3,         ///< the site that it is pulled from could not be asked
};
struct Failed {
  static constexpr auto kType = FilesMessage::failed;
  RequestId id = 0;
  FilesProblem problem = FilesProblem::other;
  std::string why;

  static void fields(auto& wire, auto& m) {
    wire(m.id, m.problem, m.why);
    wire.require(m.problem <= FilesProblem::no_way && m.why.size() <= kLongestReason);
  }
};
struct FileHead {
  static constexpr auto kType = FilesMessage::file;
  RequestId id = 0;
  std::uint64_t bytes = 0;  ///< of the range, with what was skipped
  bool executable = false;

  static void fields(auto& wire, auto& m) { wire(m.id, m.bytes, m.executable); }
};
struct FileEnd {
  static constexpr auto kType = FilesMessage::end;
  RequestId id = 0;
  Digest content;  ///< of the range, with what was skipped

  static void fields(auto& wire, auto& m) { wire(m.id, m.content); }
};
struct Refused {
  static constexpr auto kType = FilesMessage::refused;
  std::string why;

  static void fields(auto& wire, auto& m) {
    wire(m.why);
    wire.require(m.why.size() <= kLongestReason);
  }
};
struct Echoed {
  static constexpr auto kType = FilesMessage::echoed;
  std::uint64_t number = 0;
  /// seal_of() the padding: who knows it has received all of it.
  std::uint64_t seal = 0;

  static void fields(auto& wire, auto& m) { wire(m.number, m.seal); }
};
/// Its last eight bytes; 0 of a shorter one.
[[nodiscard]] std::uint64_t seal_of(std::string_view padding);

template <class Message>
void encode(std::string& out, const Message& m) {
  encode_as(out, Message::kType, m);
}
/// Of a message that stands for several.
template <class Message>
void encode(std::string& out, FilesMessage type, const Message& m) {
  encode_as(out, type, m);
}
void encode_alive(std::string& out);

/// Appends the frame of a Data or Store whose bytes come straight from a file: up to `most` of
/// `file` at `at`. How many there were; nothing is appended when they cannot be read (errno).
std::optional<std::size_t> encode_read(std::string& out, Data head, int file, std::uint64_t at,
                                       std::size_t most);
std::optional<std::size_t> encode_read(std::string& out, Store head, int file, std::size_t most);
/// Packs the bytes of the frame at the end of `out`, which encode_read() has put `at` there, if
/// that pays.
void pack_frame(std::string& out, std::size_t at, Packer& packer, Packing& file);

/// decode() of a Store or Data whose bytes are packed; they are valid until the unpacker is used
/// again.
template <class Message>
std::optional<Message> decode_packed(std::string_view body, Unpacker& unpacker) {
  auto m = decode<Message>(body);
  const auto bytes = m ? unpacker.unpack(m->bytes, kPieceBytes) : std::nullopt;
  if (!bytes) return std::nullopt;
  m->bytes = *bytes;
  return m;
}

}  // namespace gantry::depot
