// The file server's dealings with files: a piece at a time, so that nobody waits for a large one.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "depot/file_server_impl.hpp"
#include "depot/file_tools.hpp"
#include "depot/folder_tools.hpp"

namespace gantry::depot {

namespace {

constexpr std::size_t kFetchesAtOnce = 4;
constexpr std::size_t kMostOffers = 100'000;

FilesProblem problem_of(ErrorCode code) {
  if (code == ErrorCode::corrupt) return FilesProblem::other_content;
  if (code == ErrorCode::peer) return FilesProblem::no_way;
  return code == ErrorCode::gone ? FilesProblem::gone : FilesProblem::other;
}

}  // namespace

template <class Announced>
bool FileServer::can_begin(const Announced& m) const {
  return !incoming_.contains(m.id) && incoming_.size() < kMostOffers &&
         !arriving_.contains(m.content);
}

template <class Announced>
IncomingFile* FileServer::begin(const Announced& m) {
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

Result<> FileServer::on(const std::optional<Store>& m) {
  if (!m) return not_understood();
  answer(m->id, depot_->store(m->content, m->bytes, m->executable));
  return {};
}

Result<> FileServer::on(const std::optional<Offer>& m) {
  if (!m || !can_begin(*m)) return not_understood();
  if (auto* file = begin(*m)) encode(outbox_, SendFrom{m->id, file->offset()});
  return {};
}

Result<> FileServer::on(const std::optional<Adopt>& m) {
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

Result<> FileServer::on(const std::optional<Pull>& m) {
  if (!m || !can_begin(*m)) return not_understood();
  const IncomingFile* file = begin(*m);
  if (file != nullptr && !file->is_whole())
    pulls_.add(m->from, {m->id, m->content, file->offset()}, m->bytes, clock_.now());
  return {};
}

Result<UniqueFd> FileServer::open_staged(const Adopt& m) {
  TRY_ASSIGN(UniqueFd file, open_file(m.path, O_RDONLY | O_NONBLOCK | O_NOCTTY));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno(m.path);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::io, m.path + ": is not a plain file");
  if (static_cast<std::uint64_t>(info.st_size) == m.bytes) return file;
  return fail(ErrorCode::corrupt, m.path + ": has another size");
}

Result<> FileServer::on(const std::optional<Data>& m) {
  if (!m) return not_understood();
  const auto found = incoming_.find(m->id);
  if (found == incoming_.end()) return {};  // it has failed; home will know soon
  if (m->offset != found->second.offset()) return not_understood();
  add_piece(found, m->bytes);
  return {};
}

void FileServer::add_piece(Incoming::iterator file, std::string_view bytes) {
  if (auto written = file->second.write(bytes); !written) {
    answer(file->first, written);
    close(file);
  } else {
    finish_if_whole(file);
  }
}

Result<> FileServer::on(std::optional<Fetch> m) {
  if (!m) return not_understood();
  outgoing_.emplace_back(std::move(*m));
  return {};
}

Result<> FileServer::on(const std::optional<Remove>& m) {
  if (!m) return not_understood();
  answer(m->id, remove_work(m->path.substr(std::string_view("work/").size())));
  return {};
}

Result<> FileServer::on_named(FilesMessage type, const std::optional<Named>& m) {
  if (!m) return not_understood();
  answer(m->id,
         type == FilesMessage::drop ? depot_->remove(m->content) : depot_->verify(m->content));
  return {};
}

Result<> FileServer::on(const std::optional<Numbered>& forget) {
  if (!forget) return not_understood();
  if (const auto found = incoming_.find(forget->id); found != incoming_.end()) close(found);
  pulls_.forget(forget->id);
  std::erase_if(outgoing_, [&](const OutgoingFile& file) { return file.id() == forget->id; });
  return {};
}

Result<> FileServer::remove_work(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return remove_tree(work_.get(), path);
  auto parent = open_below(work_.get(), path.substr(0, slash), O_RDONLY | O_DIRECTORY);
  if (!parent && parent.error().code == ErrorCode::gone) return {};
  if (!parent) return tl::unexpected(parent.error());
  return remove_tree(parent->get(), path.substr(slash + 1));
}

void FileServer::step_files() {
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

void FileServer::step_pulls() {
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

void FileServer::step_reading() {
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

void FileServer::step_copying() {
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

void FileServer::finish_if_whole(Incoming::iterator file) {
  if (!file->second.is_whole() || !file->second.is_read()) return;
  answer(file->first, file->second.finish());
  close(file);
}

void FileServer::close(Incoming::iterator file) {
  arriving_.erase(file->second.content());
  incoming_.erase(file);
}

void FileServer::answer(RequestId id, const Result<>& result) {
  if (result) return encode(outbox_, FilesMessage::done, Numbered{id});
  const auto& error = result.error();
  encode(outbox_, Failed{id, problem_of(error.code), error.message});
}

}  // namespace gantry::depot
