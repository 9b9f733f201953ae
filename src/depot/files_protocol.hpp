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
///   home: forget (a request)             site says no more of it, but for what is on its way
///   home: echo                           site: echoed, at once
///                                        site: alive, every few seconds

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/frames.hpp"
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

// From home.
// --------------------------------------------------------------------------------------

struct FilesHello {
  std::uint32_t version = kFilesVersion;
  /// Whose partial files these are; is_plain_name(). The same after a lost connection.
  std::string sender;
  std::uint64_t quota = 0;  ///< of the depot, in bytes; 0 = none
};
struct Store {
  RequestId id = 0;
  Digest content;
  bool executable = false;
  std::string_view bytes;  ///< of the frame
};
struct Offer {
  RequestId id = 0;
  Digest content;
  std::uint64_t bytes = 0;
  bool executable = false;
};
/// A file that the person says is there already.
struct Adopt {
  RequestId id = 0;
  Digest content;
  std::uint64_t bytes = 0;
  bool executable = false;
  std::string path;  ///< absolute
};
struct Data {
  RequestId id = 0;
  std::uint64_t offset = 0;  ///< in the file; in the range that was asked for
  std::string_view bytes;    ///< of the frame
};
struct Fetch {
  RequestId id = 0;
  std::string path;  ///< relative to SCRATCH, below "work/"
  std::uint64_t offset = 0;
  std::uint64_t length = kToTheEnd;
  std::uint64_t skip = 0;  ///< so much of the range is at home already: hashed, not sent
};
/// Drop, Verify.
struct Named {
  RequestId id = 0;
  Digest content;
};
struct Remove {
  RequestId id = 0;
  std::string path;  ///< relative to SCRATCH, below "work/"
};
/// Forget, Done.
struct Numbered {
  RequestId id = 0;
};

/// To be answered with the same number, at once: how long that takes is how far away the site is.
/// With a padding, which nobody can guess or make shorter, also how fast the link is.
struct Echo {
  static constexpr std::size_t kMostPadding = std::size_t{1} << 20;
  std::uint64_t number = 0;
  std::string_view padding{};  ///< of the frame; no longer than that
};

// From the site.
// ----------------------------------------------------------------------------------

struct FilesWelcome {
  std::uint32_t version = kFilesVersion;
  std::uint64_t free_bytes = 0;  ///< of the file system
  std::uint64_t total_bytes = 0;
};
/// A part of what the depot holds.
struct InventoryPart {
  bool last = false;
  std::vector<StoredFile> files;
};
struct SendFrom {
  RequestId id = 0;
  std::uint64_t offset = 0;
};
enum class FilesProblem : std::uint8_t {
  other = 0,
  other_content = 1,  ///< what arrived is not what was announced
  gone = 2,           ///< there is no such file
  no_way = 3,         ///< the site that it is pulled from could not be asked
};
struct Failed {
  RequestId id = 0;
  FilesProblem problem = FilesProblem::other;
  std::string why;
};
struct FileHead {
  RequestId id = 0;
  std::uint64_t bytes = 0;  ///< of the range, with what was skipped
  bool executable = false;
};
struct FileEnd {
  RequestId id = 0;
  Digest content;  ///< of the range, with what was skipped
};
struct Refused {
  std::string why;
};
struct Echoed {
  std::uint64_t number = 0;
  /// seal_of() the padding: who knows it has received all of it.
  std::uint64_t seal = 0;
};
/// Its last eight bytes; 0 of a shorter one.
[[nodiscard]] std::uint64_t seal_of(std::string_view padding);

void encode(std::string& out, const FilesHello& m);
void encode(std::string& out, const Store& m);
void encode(std::string& out, const Offer& m);
void encode(std::string& out, const Adopt& m);
void encode(std::string& out, const Data& m);
void encode(std::string& out, const Fetch& m);
void encode(std::string& out, FilesMessage type, const Named& m);  ///< drop, verify
void encode(std::string& out, const Remove& m);
void encode(std::string& out, FilesMessage type, const Numbered& m);  ///< forget, done
void encode(std::string& out, const FilesWelcome& m);
void encode(std::string& out, const InventoryPart& m);
void encode(std::string& out, const SendFrom& m);
void encode(std::string& out, const Failed& m);
void encode(std::string& out, const FileHead& m);
void encode(std::string& out, const FileEnd& m);
void encode(std::string& out, const Refused& m);
void encode(std::string& out, const Echo& m);
void encode(std::string& out, const Echoed& m);
void encode_alive(std::string& out);

/// Appends the frame of a Data or Store whose bytes come straight from a file: up to `most` of
/// `file` at `at`. How many there were; nothing is appended when they cannot be read (errno).
std::optional<std::size_t> encode_read(std::string& out, Data head, int file, std::uint64_t at,
                                       std::size_t most);
std::optional<std::size_t> encode_read(std::string& out, Store head, int file, std::size_t most);
/// Packs the bytes of the frame at the end of `out`, which encode_read() has put `at` there, if
/// that pays.
void pack_frame(std::string& out, std::size_t at, Packer& packer, Packing& file);

std::optional<FilesHello> decode_files_hello(std::string_view body);
std::optional<Store> decode_store(std::string_view body);
std::optional<Offer> decode_offer(std::string_view body);
std::optional<Adopt> decode_adopt(std::string_view body);
std::optional<Data> decode_data(std::string_view body);
/// The same; their bytes are valid until the unpacker is used again.
std::optional<Store> decode_store_packed(std::string_view body, Unpacker& unpacker);
std::optional<Data> decode_data_packed(std::string_view body, Unpacker& unpacker);
std::optional<Fetch> decode_fetch(std::string_view body);
std::optional<Named> decode_named(std::string_view body);
std::optional<Remove> decode_remove(std::string_view body);
std::optional<Numbered> decode_numbered(std::string_view body);
std::optional<FilesWelcome> decode_files_welcome(std::string_view body);
std::optional<InventoryPart> decode_inventory(std::string_view body);
std::optional<SendFrom> decode_send_from(std::string_view body);
std::optional<Failed> decode_failed(std::string_view body);
std::optional<FileHead> decode_file_head(std::string_view body);
std::optional<FileEnd> decode_file_end(std::string_view body);
std::optional<Refused> decode_refused(std::string_view body);
std::optional<Echo> decode_echo(std::string_view body);
std::optional<Echoed> decode_echoed(std::string_view body);

}  // namespace gantry::depot
