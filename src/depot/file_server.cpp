#include "depot/file_server.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "depot/depot.hpp"
#include "depot/file_tools.hpp"
#include "depot/files_protocol.hpp"
#include "depot/folder_tools.hpp"
#include "depot/incoming_file.hpp"
#include "depot/outgoing_file.hpp"
#include "depot/pulls.hpp"

namespace gantry::depot {

namespace {

/// Nothing more is read, neither requests nor files, while so much waits to be sent.
constexpr std::size_t kMostWaiting = std::size_t{1} << 20;
/// Requests that may wait at once; a home with more waits in its turn.
constexpr std::size_t kMostFetches = 10'000;
constexpr std::size_t kFetchesAtOnce = 4;
constexpr std::size_t kMostOffers = 100'000;

Result<> set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) return fail_errno("fcntl");
  return {};
}

FilesProblem problem_of(ErrorCode code) {
  if (code == ErrorCode::corrupt) return FilesProblem::other_content;
  if (code == ErrorCode::peer) return FilesProblem::no_way;
  return code == ErrorCode::gone ? FilesProblem::gone : FilesProblem::other;
}

class FileServer {
 public:
  FileServer(int in, int out, std::filesystem::path scratch, PullOptions pulls)
      : in_(in),
        out_(out),
        scratch_(std::move(scratch)),
        reader_(kMaxFilesFrame),
        pulls_(std::move(pulls)) {}

  Result<> run() {
    auto served = serve();
    if (!served) {
      encode(outbox_, Refused{served.error().message});
      send();  // if it takes it
    }
    return served;
  }

 private:
  using Incoming = std::map<RequestId, IncomingFile>;

  Result<> serve() {
    TRY(set_nonblocking(in_));
    TRY(set_nonblocking(out_));
    while (!ended_) {
      TRY(wait());
      TRY(receive());
      step_pulls();
      step_files();
      send();
    }
    return {};
  }

  [[nodiscard]] std::size_t waiting() const { return outbox_.size() - sent_; }
  [[nodiscard]] bool takes_more() const {
    return waiting() < kMostWaiting && outgoing_.size() < kMostFetches;
  }
  [[nodiscard]] bool has_files_to_step() const {
    return !to_read_.empty() || !copying_.empty() ||
           (!outgoing_.empty() && waiting() < kMostWaiting);
  }

  Result<> wait() {
    fds_ = {{takes_more() ? in_ : -1, POLLIN, 0}, {waiting() > 0 ? out_ : -1, POLLOUT, 0}};
    pulls_.add_wanted(fds_);
    if (::poll(fds_.data(), fds_.size(), has_files_to_step() ? 0 : patience()) < 0 &&
        errno != EINTR)
      return fail_errno("poll");
    return {};
  }

  /// In milliseconds; -1: for ever.
  [[nodiscard]] int patience() const {
    const TimePoint until = pulls_.deadline();
    if (until == kNever) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock_.now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }

  Result<> receive() {
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

  void send() {
    const std::size_t before = waiting();
    if (before == 0) return;
    write_out();
    packer_.link().sent(clock_.now(), before - waiting(), waiting() > 0);
  }

  void write_out() {
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

  static tl::unexpected<Error> not_understood() {
    return fail(ErrorCode::peer, "what was sent to the file server is not its protocol");
  }

  Result<> take(const RawFrame& frame) {
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
      default:
        return not_understood();
    }
  }

  Result<> on(const std::optional<FilesHello>& hello) {
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
    sender_ = hello->sender;
    return tell_what_is_there();
  }

  Result<> tell_what_is_there() {
    struct statvfs disk {};
    if (::fstatvfs(work_.get(), &disk) != 0) return fail_errno(scratch_.string());
    encode(outbox_, FilesWelcome{kFilesVersion, disk.f_bavail * disk.f_frsize,
                                 disk.f_blocks * disk.f_frsize});
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

  Result<> on(const std::optional<Store>& m) {
    if (!m) return not_understood();
    answer(m->id, depot_->store(m->content, m->bytes, m->executable));
    return {};
  }

  Result<> on(const std::optional<Offer>& m) {
    if (!m || !can_begin(*m)) return not_understood();
    if (auto* file = begin(*m)) encode(outbox_, SendFrom{m->id, file->offset()});
    return {};
  }

  /// Anything that puts a file into the depot piece by piece.
  template <class Announced>
  [[nodiscard]] bool can_begin(const Announced& m) const {
    return !incoming_.contains(m.id) && incoming_.size() < kMostOffers &&
           !arriving_.contains(m.content);
  }
  /// Null when it is answered already.
  template <class Announced>
  IncomingFile* begin(const Announced& m) {
    if (depot_->has(m.content)) {
      // So that it is executable, and counts as used.
      answer(m.id, depot_->keep(m.content, m.executable));
      return nullptr;
    }
    IncomingFile file(*depot_, {m.content, m.bytes}, m.executable, sender_);
    struct statvfs disk {};
    if (::fstatvfs(depot_->fd(), &disk) == 0 &&
        disk.f_bavail * disk.f_frsize < m.bytes - file.offset()) {
      errno = ENOSPC;
      answer(m.id, fail_errno(scratch_.string()));
      return nullptr;
    }
    if (!file.is_read() || file.is_whole()) to_read_.push_back(m.id);
    arriving_.insert(m.content);
    return &incoming_.emplace(m.id, std::move(file)).first->second;
  }

  /// Never a hard link: what is in the depot gets another time and other permissions.
  Result<> on(const std::optional<Adopt>& m) {
    if (!m || !can_begin(*m)) return not_understood();
    auto source = open_staged(*m);
    if (!source) {
      answer(m->id, tl::unexpected(source.error()));
      return {};
    }
    IncomingFile* file = begin(*m);
    if (file == nullptr) return {};
    if (file->clone(source->get()))
      to_read_.push_back(m->id);
    else
      copying_.emplace_back(m->id, std::move(*source));
    return {};
  }

  Result<> on(const std::optional<Pull>& m) {
    if (!m || !can_begin(*m)) return not_understood();
    const IncomingFile* file = begin(*m);
    if (file != nullptr && !file->is_whole())
      pulls_.add(m->from, {m->id, m->content, file->offset()}, m->bytes, clock_.now());
    return {};
  }

  static Result<UniqueFd> open_staged(const Adopt& m) {
    TRY_ASSIGN(UniqueFd file, open_file(m.path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return fail_errno(m.path);
    if (!S_ISREG(info.st_mode)) return fail(ErrorCode::io, m.path + ": is not a plain file");
    if (static_cast<std::uint64_t>(info.st_size) == m.bytes) return file;
    return fail(ErrorCode::corrupt, m.path + ": has another size");
  }

  Result<> on(const std::optional<Data>& m) {
    if (!m) return not_understood();
    const auto found = incoming_.find(m->id);
    if (found == incoming_.end()) return {};  // it has failed; home will know soon
    if (m->offset != found->second.offset()) return not_understood();
    add_piece(found, m->bytes);
    return {};
  }

  void add_piece(Incoming::iterator file, std::string_view bytes) {
    if (auto written = file->second.write(bytes); !written) {
      answer(file->first, written);
      close(file);
    } else {
      finish_if_whole(file);
    }
  }

  Result<> on(std::optional<Fetch> m) {
    if (!m) return not_understood();
    outgoing_.emplace_back(std::move(*m));
    return {};
  }

  Result<> on(const std::optional<Remove>& m) {
    if (!m) return not_understood();
    answer(m->id, remove_work(m->path.substr(std::string_view("work/").size())));
    return {};
  }

  Result<> on_named(FilesMessage type, const std::optional<Named>& m) {
    if (!m) return not_understood();
    answer(m->id,
           type == FilesMessage::drop ? depot_->remove(m->content) : depot_->verify(m->content));
    return {};
  }

  Result<> on(const std::optional<Numbered>& forget) {
    if (!forget) return not_understood();
    if (const auto found = incoming_.find(forget->id); found != incoming_.end()) close(found);
    pulls_.forget(forget->id);
    std::erase_if(outgoing_, [&](const OutgoingFile& file) { return file.id() == forget->id; });
    return {};
  }

  Result<> remove_work(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return remove_tree(work_.get(), path);
    auto parent = open_below(work_.get(), path.substr(0, slash), O_RDONLY | O_DIRECTORY);
    if (!parent && parent.error().code == ErrorCode::gone) return {};
    if (!parent) return tl::unexpected(parent.error());
    return remove_tree(parent->get(), path.substr(slash + 1));
  }

  /// What can be done without waiting for home, a piece at a time.
  void step_files() {
    if (!to_read_.empty()) step_reading();
    if (!copying_.empty()) step_copying();
    while (!outgoing_.empty() && waiting() < kMostWaiting) {
      // In turn, so that small files do not wait for a large one.
      turn_ = (turn_ + 1) % std::min(outgoing_.size(), kFetchesAtOnce);
      const auto file = outgoing_.begin() + static_cast<std::ptrdiff_t>(turn_);
      const auto more = file->step(work_.get(), outbox_, packer_);
      if (!more) answer(file->id(), tl::unexpected(more.error()));
      if (!more || !*more) outgoing_.erase(file);
    }
  }

  void step_pulls() {
    const auto piece = [this](RequestId id, std::string_view bytes) {
      const auto found = incoming_.find(id);
      if (found == incoming_.end()) return false;
      add_piece(found, bytes);
      return incoming_.contains(id);
    };
    const auto failure = [this](RequestId id, const Error& why) {
      const auto found = incoming_.find(id);
      if (found == incoming_.end()) return;
      answer(id, tl::unexpected(why));
      close(found);  // what has come of it stays for who goes on
    };
    pulls_.step(clock_.now(), piece, failure);
  }

  void step_reading() {
    constexpr std::size_t kPieceToRead = std::size_t{4} << 20;
    const auto found = incoming_.find(to_read_.front());
    if (found == incoming_.end()) return to_read_.pop_front();
    if (auto read = found->second.read_some(kPieceToRead); !read) {
      answer(found->first, read);
      close(found);
    } else if (found->second.is_read()) {
      to_read_.pop_front();
      finish_if_whole(found);
    }
  }

  void step_copying() {
    const auto& [id, source] = copying_.front();
    const auto found = incoming_.find(id);
    if (found == incoming_.end()) return copying_.pop_front();
    IncomingFile& file = found->second;
    piece_.resize(kPieceBytes);
    const ssize_t n =
        ::pread(source.get(), piece_.data(), piece_.size(), static_cast<off_t>(file.offset()));
    if (n < 0 && errno == EINTR) return;
    Result<> copied;
    if (n < 0)
      copied = fail_errno("reading the file that is there");
    else if (n == 0 && !file.is_whole())
      copied = fail(ErrorCode::corrupt, "the file that is there became shorter");
    else
      copied = file.write(std::string_view(piece_).substr(0, static_cast<std::size_t>(n)));
    if (!copied) {
      answer(id, copied);
      close(found);
    } else if (!file.is_whole()) {
      return;
    } else {
      finish_if_whole(found);  // else what was there before is still to be read
    }
    copying_.pop_front();
  }

  void finish_if_whole(Incoming::iterator file) {
    if (!file->second.is_whole() || !file->second.is_read()) return;
    answer(file->first, file->second.finish());
    close(file);
  }

  void close(Incoming::iterator file) {
    arriving_.erase(file->second.content());
    incoming_.erase(file);
  }

  void answer(RequestId id, const Result<>& result) {
    if (result) return encode(outbox_, FilesMessage::done, Numbered{id});
    const auto& error = result.error();
    encode(outbox_, Failed{id, problem_of(error.code), error.message});
  }

  int in_;
  int out_;
  std::filesystem::path scratch_;
  FrameReader reader_;
  Packer packer_;
  Unpacker unpacker_;
  MonotonicClock clock_;
  std::string outbox_;
  std::size_t sent_ = 0;  ///< of the outbox
  bool ended_ = false;
  std::optional<Depot> depot_;  ///< once home has said hello
  std::string sender_;
  UniqueFd work_;
  Incoming incoming_;
  std::set<Digest> arriving_;      ///< the same: two must not write to one partial file
  std::deque<RequestId> to_read_;  ///< incoming files of which a part was there before
  std::deque<std::pair<RequestId, UniqueFd>> copying_;  ///< incoming files, and where from
  std::string piece_;
  Pulls pulls_;
  std::vector<pollfd> fds_;
  std::deque<OutgoingFile> outgoing_;
  std::size_t turn_ = 0;  ///< of the first few of these
};

}  // namespace

Result<> serve_files(int in, int out, const std::filesystem::path& scratch, PullOptions pulls) {
  ::signal(SIGPIPE, SIG_IGN);
  return FileServer(in, out, scratch, std::move(pulls)).run();
}

}  // namespace gantry::depot
