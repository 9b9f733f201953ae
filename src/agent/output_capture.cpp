#include "agent/output_capture.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/child_process.hpp"

namespace gantry::agent {

OutputCapture::OutputCapture(std::filesystem::path output_dir, std::string stream)
    : output_dir_(std::move(output_dir)), stream_(std::move(stream)), buffer_(kInline, '\0') {}

Result<> OutputCapture::begin(std::string_view pack_stem) {
  captured_ = {};
  pack_stem_ = pack_stem;
  const auto now = std::chrono::steady_clock::now();
  if (!read_ || now - made_ > kShared) {
    made_ = now;
    return make_pipe();
  }
  // The last task may have made its end non-blocking (Node.js does); the next one must not inherit
  // that.
  ::fcntl(write_.get(), F_SETFL, 0);
  return {};
}

Result<> OutputCapture::make_pipe() {
  read_.reset();
  TRY_ASSIGN(FdPair pipe, gantry::make_pipe());
  write_ = std::move(pipe.theirs);
  if (::fcntl(pipe.ours.get(), F_SETFL, O_NONBLOCK) != 0) return fail_errno("fcntl");
  read_ = std::move(pipe.ours);
  return {};
}

void OutputCapture::drain() {
  for (int i = 0; i < kReads; ++i) {
    const ssize_t n = ::read(read_.get(), buffer_.data(), buffer_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0)
      return;  // empty: this process holds the write end itself, so there is no end of file
    keep({buffer_.data(), static_cast<std::size_t>(n)});
    if (static_cast<std::size_t>(n) < buffer_.size() / 2) return;
  }
}

void OutputCapture::keep(std::string_view bytes) {
  const bool was_small = captured_.size <= kInline;
  captured_.size += bytes.size();
  if (captured_.size <= kInline) {
    captured_.text.append(bytes);
    return;
  }
  if (was_small && open_pack()) spill(captured_.text);
  spill(bytes);
  captured_.text.append(bytes);
  if (captured_.text.size() > 2 * kInline) captured_.text.erase(0, captured_.text.size() - kTail);
}

bool OutputCapture::open_pack() {
  const std::string name = pack_stem_ + "." + stream_;
  const auto path = output_dir_ / name;
  struct stat info {};
  // `gantry clean` may have removed the file that is open.
  const bool gone = pack_ && (::fstat(pack_.get(), &info) != 0 || info.st_nlink == 0);
  if (pack_open_ != name || gone) {
    std::error_code ignored;  // open() below tells what is wrong
    std::filesystem::create_directories(path.parent_path(), ignored);
    auto opened = open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    pack_ = opened ? std::move(*opened) : UniqueFd();
    pack_open_ = pack_ ? name : "";
  }
  if (!pack_) {
    captured_.truncated = true;
    return false;
  }
  captured_.pack = name;
  captured_.offset = static_cast<std::uint64_t>(::lseek(pack_.get(), 0, SEEK_END));
  return true;
}

void OutputCapture::spill(std::string_view bytes) {
  if (captured_.truncated) return;
  if (!write_all(pack_.get(), bytes)) give_up_pack();
}

/// Disk full: the task goes on without. What was written so far is given back, because the output
/// of later tasks would follow it and pass for its end.
void OutputCapture::give_up_pack() {
  captured_.truncated = true;
  static_cast<void>(::ftruncate(pack_.get(), static_cast<off_t>(captured_.offset)));
  captured_.pack.clear();
  captured_.offset = 0;
}

Captured OutputCapture::finish() {
  const auto before = captured_.size;
  drain();
  if (captured_.size != before) {
    // At most what the pipe can hold: a process that could not be killed may print for ever.
    const auto limit = before + static_cast<std::uint64_t>(::fcntl(read_.get(), F_GETPIPE_SZ));
    for (auto last = before; captured_.size != last && captured_.size < limit;) {
      last = captured_.size;
      drain();
    }
  }
  if (captured_.size > kInline && captured_.text.size() > kTail) {
    captured_.text.erase(0, captured_.text.size() - kTail);
  }
  return std::move(captured_);
}

}  // namespace gantry::agent
