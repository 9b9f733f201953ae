#include "depot/outgoing_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "depot/file_tools.hpp"

namespace gantry::depot {

Result<> OutgoingFile::open(int work, std::string& out) {
  constexpr std::size_t kPrefix = std::string_view("work/").size();
  auto opened = open_below(work, request_.path.substr(kPrefix), O_RDONLY);
  if (!opened) {
    opened.error().message = "work/" + opened.error().message;
    return tl::unexpected(opened.error());
  }
  fd_ = std::move(*opened);
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return fail_errno(request_.path);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::io, request_.path + ": is not a plain file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  bytes_ = std::min(request_.length, size - std::min(size, request_.offset));
  encode(out, FileHead{request_.id, bytes_, (info.st_mode & S_IXUSR) != 0});
  return {};
}

Result<bool> OutgoingFile::step(int work, std::string& out, Packer& packer) {
  if (!fd_) TRY(open(work, out));
  if (at_ < bytes_) {
    // What home has already is read for the hash alone.
    const bool skipped = at_ < request_.skip;
    const std::uint64_t until = skipped ? std::min(bytes_, request_.skip) : bytes_;
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, until - at_));
    const std::size_t before = out.size();
    const auto got =
        encode_read(out, Data{request_.id, at_, {}}, fd_.get(), request_.offset + at_, most);
    if (!got) return fail_errno(request_.path);
    if (*got < most)
      return fail(ErrorCode::io, request_.path + ": became shorter while it was read");
    hasher_.add_raw(std::string_view(out).substr(out.size() - *got));
    at_ += *got;
    if (skipped) {
      out.resize(before);
    } else {
      pack_frame(out, before, packer, packing_);
    }
  }
  if (at_ < bytes_) return true;
  encode(out, FileEnd{request_.id, hasher_.digest()});
  return false;
}

}  // namespace gantry::depot
