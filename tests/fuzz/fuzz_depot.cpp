/// Any bytes as what a home sends to a site's file server, or a site to a home: each message is
/// either refused or one that can be sent on unchanged, and whatever the server does, it does below
/// its own folder, and starts nothing. What one site says to another is treated likewise.

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/child_process.hpp"
#include "base/scratch_dir.hpp"
#include "depot/file_server.hpp"
#include "depot/files_protocol.hpp"
#include "depot/pull_protocol.hpp"
#include "depot/pulls.hpp"

namespace gantry::depot {
namespace {

/// What decodes must encode to something that decodes to the same.
template <class Decode, class Encode>
void check(std::string_view body, Decode decode, Encode encode_it) {
  constexpr std::size_t kHead = sizeof(std::uint32_t) + 1;
  const auto message = decode(body);
  if (!message) return;
  std::string once;
  encode_it(once, *message);
  const auto again = decode(std::string_view(once).substr(kHead));
  if (!again) std::abort();
  std::string twice;
  encode_it(twice, *again);
  if (once != twice) std::abort();
}

template <class Decode>
void check(std::string_view body, Decode decode) {
  check(body, decode, [](std::string& out, const auto& message) { encode(out, message); });
}

/// Any body may claim to be of any type.
void check_all(std::string_view body) {
  check(body, decode<FilesHello>);
  check(body, decode<Store>);
  check(body, decode<Offer>);
  check(body, decode<Adopt>);
  check(body, decode<Pull>);
  check(body, decode<Want>);
  check(body, decode<Data>);
  check(body, decode<Fetch>);
  check(body, decode<Remove>);
  check(body, decode<FilesWelcome>);
  check(body, decode<InventoryPart>);
  check(body, decode<SendFrom>);
  check(body, decode<Failed>);
  check(body, decode<FileHead>);
  check(body, decode<FileEnd>);
  check(body, decode<Refused>);
  static Unpacker unpacker;
  if (const auto packed = decode_packed<Data>(body, unpacker);
      packed && packed->bytes.size() > kPieceBytes) {
    std::abort();
  }
  check(body, decode<Named>,
        [](std::string& out, const Named& message) { encode(out, FilesMessage::drop, message); });
  check(body, decode<Numbered>, [](std::string& out, const Numbered& message) {
    encode(out, FilesMessage::done, message);
  });
}

/// What a giving site may say. Nothing but what was wanted may come of it, and in order.
void give(std::string_view bytes) {
  const auto open = [&](const PeerSite&, const std::string& token) -> Result<FarProgram> {
    TRY_ASSIGN(FdPair sockets, make_socket_pair());
    if (!write_all(sockets.theirs.get(), giver_greeting(token).append(bytes))) std::abort();
    return FarProgram(std::move(sockets.ours), {});
  };
  constexpr std::uint64_t kBytes = 100;
  Pulls pulls({.open = open});
  const TimePoint now = TimePoint{} + std::chrono::hours(1);
  std::uint64_t came[2] = {};
  bool failed[2] = {};
  for (const RequestId id : {0, 1})
    pulls.add({"ada", "/s", "gantry-agent-0"}, {id, {}, 0}, kBytes, now);
  for (int i = 0; i < 100; ++i)
    pulls.step(
        now,
        [&](RequestId id, std::string_view piece) {
          if (id > 1 || failed[id] || (came[id] += piece.size()) > kBytes) std::abort();
          return true;
        },
        [&](RequestId id, const Error&) {
          if (id > 1 || std::exchange(failed[id], true)) std::abort();
        });
}

/// A site between things that are not the server's.
class Site {
 public:
  Site() {
    std::filesystem::create_directories(scratch() / "work/1");
    std::ofstream(scratch() / "work/1/out") << "result";
    std::ofstream(dir_ / "secret") << "secret";
    std::filesystem::create_symlink("../../../secret", scratch() / "work/1/link");
    std::filesystem::create_symlink("../..", scratch() / "work/up");
  }
  [[nodiscard]] std::filesystem::path scratch() const { return dir_ / "site"; }

  void serve(const std::string& bytes) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    const UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    if (!write_all(ours.get(), bytes)) std::abort();
    ::shutdown(ours.get(), SHUT_WR);
    const UniqueFd nobody(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    const auto served = serve_files(theirs.get(), nobody.get(), scratch());
    (void)served;  // either is right
    if (read_file(dir_ / "secret").value_or("") != "secret") std::abort();
    int others = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      (void)entry;
      ++others;
    }
    if (others != 2) std::abort();
  }

 private:
  ScratchDir dir_;
};

}  // namespace
}  // namespace gantry::depot

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantry;
  using namespace gantry::depot;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FrameReader reader(kMaxFilesFrame);
  reader.append(bytes);
  while (const auto frame = reader.next()) check_all(frame->body);
  check_all(bytes);

  constexpr std::size_t kMostInASocket = 50'000;
  if (size > kMostInASocket) return 0;
  give(bytes);
  Site site;
  std::string greeted;
  encode(greeted, FilesHello{kFilesVersion, "fuzz", 10'000});
  site.serve(greeted.append(bytes));
  return 0;
}
