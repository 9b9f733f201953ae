#include "depot/giver.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/fd.hpp"
#include "depot/depot.hpp"
#include "depot/pull_protocol.hpp"

namespace gantry::depot {

namespace {

class Giver {
 public:
  Giver(int in, int out, Depot depot, Duration patience)
      : in_(in), out_(out), depot_(std::move(depot)), patience_(patience) {}

  Result<> run(std::string_view token) {
    const int flags = ::fcntl(out_, F_GETFL);
    if (flags < 0 || ::fcntl(out_, F_SETFL, flags | O_NONBLOCK) != 0) return fail_errno("fcntl");
    outbox_ = giver_greeting(token);
    TRY(send());
    for (;;) {
      TRY_ASSIGN(const bool more, receive());
      if (!more) return {};
      while (const auto frame = reader_.next()) {
        const auto want = decode<Want>(frame->body);
        if (frame->type != static_cast<std::uint8_t>(FilesMessage::want) || !want)
          return not_understood();
        TRY(give(*want));
      }
      if (reader_.broken()) return not_understood();
    }
  }

 private:
  static tl::unexpected<Error> not_understood() {
    return fail(ErrorCode::peer, "what was asked of the giving site is not its protocol");
  }

  [[nodiscard]] bool wait(int fd, short events) const {
    pollfd polled{fd, events, 0};
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(patience_).count();
    return ::poll(&polled, 1, static_cast<int>(limit)) != 0;
  }

  /// False when nobody will want anything any more.
  Result<bool> receive() {
    if (!wait(in_, POLLIN)) return false;
    const auto [at, room] = reader_.space(4096);
    const ssize_t n = ::read(in_, at, room);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n < 0) return fail_errno("reading");
    reader_.filled(static_cast<std::size_t>(n));
    return n > 0;
  }

  Result<> give(const Want& want) {
    auto given = give_file(want);
    if (!given && given.error().code == ErrorCode::peer) return given;
    if (!given) {
      const bool gone =
          given.error().code == ErrorCode::gone || given.error().code == ErrorCode::corrupt;
      encode(outbox_, Failed{want.id, gone ? FilesProblem::gone : FilesProblem::other,
                             given.error().message});
    }
    return send();
  }

  Result<> give_file(const Want& want) {
    TRY(depot_.check(want.content));
    const std::string name = Depot::name_of(want.content);
    // Once it is open it may be evicted.
    const UniqueFd file(::openat(depot_.fd(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!file || ::fstat(file.get(), &info) != 0) return fail_errno(name);
    const auto bytes = static_cast<std::uint64_t>(info.st_size);
    if (want.skip > bytes) return fail(ErrorCode::gone, name + ": is shorter than what was given");
    encode(outbox_, FileHead{want.id, bytes, (info.st_mode & S_IXUSR) != 0});
    Packing packing;
    for (std::uint64_t at = want.skip; at < bytes;) {
      const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, bytes - at));
      const std::size_t before = outbox_.size();
      const auto got = encode_read(outbox_, Data{want.id, at, {}}, file.get(), at, most);
      if (!got) return fail_errno(name);
      if (*got < most) return fail(ErrorCode::gone, name + ": became shorter while it was read");
      pack_frame(outbox_, before, packer_, packing);
      at += most;
      TRY(send());
    }
    encode(outbox_, FileEnd{want.id, want.content});
    return {};
  }

  /// All of it.
  Result<> send() {
    for (std::size_t sent = 0; sent < outbox_.size();) {
      const ssize_t n = ::write(out_, outbox_.data() + sent, outbox_.size() - sent);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno != EAGAIN) return fail(ErrorCode::peer, "nobody takes the file any more");
      const std::size_t taken = n < 0 ? 0 : static_cast<std::size_t>(n);
      sent += taken;
      packer_.link().sent(clock_.now(), taken, sent < outbox_.size());
      if (sent < outbox_.size() && !wait(out_, POLLOUT))
        return fail(ErrorCode::peer, "nobody took anything of the file for too long");
    }
    outbox_.clear();
    return {};
  }

  int in_;
  int out_;
  Depot depot_;
  Duration patience_;
  MonotonicClock clock_;
  FrameReader reader_{kMaxFilesFrame};
  Packer packer_;
  std::string outbox_;
};

}  // namespace

Result<> serve_wants(int in, int out, const std::filesystem::path& scratch, std::string_view token,
                     Duration patience) {
  ::signal(SIGPIPE, SIG_IGN);
  if (!is_plain_name(token)) return fail(ErrorCode::usage, "the token is no plain word");
  TRY_ASSIGN(Depot depot, Depot::open(scratch));
  return Giver(in, out, std::move(depot), patience).run(token);
}

}  // namespace gantry::depot
