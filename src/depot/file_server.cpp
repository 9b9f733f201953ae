#include "depot/file_server.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "depot/file_server_impl.hpp"

namespace gantry::depot {

namespace {

/// Requests that may wait at once; a home with more waits in its turn.
constexpr std::size_t kMostFetches = 10'000;
/// Home takes us for lost after a minute without a word.
constexpr auto kAliveEvery = std::chrono::seconds(10);

Result<> set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return fail_errno("fcntl");
  return {};
}

}  // namespace

Result<> FileServer::run() {
  auto served = serve();
  if (!served) {
    encode(outbox_, Refused{served.error().message});
    send();  // if it takes it
  }
  return served;
}

Result<> FileServer::serve() {
  TRY(set_nonblocking(in_));
  TRY(set_nonblocking(out_));
  while (!ended_) {
    TRY(wait());
    TRY(receive());
    step_pulls();
    step_files();
    tell_alive();
    send();
  }
  return {};
}

bool FileServer::takes_more() const {
  return waiting() < kMostWaiting && outgoing_.size() < kMostFetches;
}

bool FileServer::has_files_to_step() const {
  return !to_read_.empty() || !copying_.empty() || (!outgoing_.empty() && waiting() < kMostWaiting);
}

Result<> FileServer::wait() {
  fds_ = {{takes_more() ? in_ : -1, POLLIN, 0}, {waiting() > 0 ? out_ : -1, POLLOUT, 0}};
  pulls_.add_wanted(fds_);
  if (::poll(fds_.data(), fds_.size(), has_files_to_step() ? 0 : patience()) < 0 && errno != EINTR)
    return fail_errno("poll");
  return {};
}

int FileServer::patience() const {
  TimePoint until = pulls_.deadline();
  if (depot_) until = until == kNever ? alive_at_ : std::min(until, alive_at_);
  if (until == kNever) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock_.now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

Result<> FileServer::receive() {
  if (!takes_more()) return {};
  const auto [at, room] = reader_.space(kPieceBytes);
  const ssize_t n = ::read(in_, at, room);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (n <= 0) {
    ended_ = true;
    return {};
  }
  reader_.filled(static_cast<std::size_t>(n));
  while (const auto frame = reader_.next()) TRY(take(*frame));
  if (reader_.broken()) return not_understood();
  return {};
}

void FileServer::send() {
  const std::size_t before = waiting();
  if (before == 0) return;
  write_out();
  packer_.link().sent(clock_.now(), before - waiting(), waiting() > 0);
}

void FileServer::write_out() {
  while (sent_ < outbox_.size()) {
    const ssize_t n = ::write(out_, outbox_.data() + sent_, outbox_.size() - sent_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      // While files are read as fast as they are sent, the outbox is never empty.
      if (sent_ > kMostWaiting) outbox_.erase(0, std::exchange(sent_, 0));
      return;
    }
    if (n < 0) {
      // Nobody reads any more. A home that has gone may have sent something to be done before.
      outgoing_.clear();
      break;
    }
    sent_ += static_cast<std::size_t>(n);
  }
  outbox_.clear();
  sent_ = 0;
}

void FileServer::tell_alive() {
  if (!depot_ || clock_.now() < alive_at_) return;
  alive_at_ = clock_.now() + kAliveEvery;
  if (waiting() == 0) encode_alive(outbox_);
}

tl::unexpected<Error> FileServer::not_understood() {
  return fail(ErrorCode::peer, "what was sent to the file server is not its protocol");
}

Result<> FileServer::take(const RawFrame& frame) {
  const auto type = static_cast<FilesMessage>(frame.type);
  if (type == FilesMessage::hello) return on(decode_files_hello(frame.body));
  if (!depot_) return not_understood();
  switch (type) {
    case FilesMessage::store:
      return on(decode_store(frame.body));
    case FilesMessage::offer:
      return on(decode_offer(frame.body));
    case FilesMessage::adopt:
      return on(decode_adopt(frame.body));
    case FilesMessage::pull:
      return on(decode_pull(frame.body));
    case FilesMessage::data:
      return on(decode_data(frame.body));
    case FilesMessage::store_packed:
      return on(decode_store_packed(frame.body, unpacker_));
    case FilesMessage::data_packed:
      return on(decode_data_packed(frame.body, unpacker_));
    case FilesMessage::fetch:
      return on(decode_fetch(frame.body));
    case FilesMessage::remove:
      return on(decode_remove(frame.body));
    case FilesMessage::drop:
    case FilesMessage::verify:
      return on_named(type, decode_named(frame.body));
    case FilesMessage::forget:
      return on(decode_numbered(frame.body));
    case FilesMessage::echo:
      return on(decode_echo(frame.body));
    default:
      return not_understood();
  }
}

Result<> FileServer::on(const std::optional<Echo>& echo) {
  if (!echo) return not_understood();
  encode(outbox_, Echoed{echo->number, seal_of(echo->padding)});
  return {};
}

Result<> FileServer::on(const std::optional<FilesHello>& hello) {
  if (!hello || depot_) return not_understood();
  if (hello->version != kFilesVersion) {
    encode(outbox_, FilesWelcome{});  // its version says it all
    return fail(ErrorCode::version, "this gantry-agent speaks version " +
                                        std::to_string(kFilesVersion) + " of the file protocol," +
                                        " not " + std::to_string(hello->version));
  }
  std::error_code error;
  std::filesystem::create_directories(scratch_ / "work", error);
  if (error) return fail(ErrorCode::io, (scratch_ / "work").string() + ": " + error.message());
  TRY_ASSIGN(work_, open_file(scratch_ / "work", O_RDONLY | O_DIRECTORY));
  TRY_ASSIGN(Depot depot, Depot::open(scratch_, hello->quota));
  depot.remove_old_partials();
  depot_ = std::move(depot);
  alive_at_ = clock_.now() + kAliveEvery;
  sender_ = hello->sender;
  return tell_what_is_there();
}

Result<> FileServer::tell_what_is_there() {
  struct statvfs disk {};
  if (::fstatvfs(work_.get(), &disk) != 0) return fail_errno(scratch_.string());
  encode(outbox_,
         FilesWelcome{kFilesVersion, disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize});
  constexpr std::size_t kFilesInAPart = 10'000;
  TRY_ASSIGN(const auto files, depot_->list());
  for (std::size_t from = 0;; from += kFilesInAPart) {
    const std::size_t to = std::min(files.size(), from + kFilesInAPart);
    const bool last = to == files.size();
    encode(outbox_, InventoryPart{last,
                                  {files.begin() + static_cast<std::ptrdiff_t>(from),
                                   files.begin() + static_cast<std::ptrdiff_t>(to)}});
    if (last) return {};
  }
}

Result<> serve_files(int in, int out, const std::filesystem::path& scratch, PullOptions pulls) {
  ::signal(SIGPIPE, SIG_IGN);
  return FileServer(in, out, scratch, std::move(pulls)).run();
}

}  // namespace gantry::depot
