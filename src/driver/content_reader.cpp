#include "driver/content_reader.hpp"

#include <poll.h>
#include <time.h>

#include <utility>

#include "base/time.hpp"

namespace gantry::driver {

namespace {

/// Small files are read together: each batch has a thread of its own.
constexpr std::uint64_t kBatchBytes = std::uint64_t{64} << 20;

void read_content(ReadContent& file, const std::stop_token& stop) {
  struct stat info {};
  if (::stat(file.path.c_str(), &info) != 0) {
    file.digest = fail_errno(file.path);
    return;
  }
  file.stamp = stamp_of(info);
  file.settled = !may_change_unseen(file.stamp);
  file.digest = hash_file(file.path, [&] { return stop.stop_requested(); });
}

}  // namespace

FileStamp stamp_of(const struct stat& info) {
  return {static_cast<std::uint64_t>(info.st_size), to_ns(info.st_ctim), info.st_ino};
}

bool may_change_unseen(const FileStamp& stamp) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return stamp.changed_ns > to_ns(now) - kStampLag.count();
}

void ContentReader::ask(const std::string& path, std::uint64_t bytes) {
  if (!waiting_.insert(path).second) return;
  ++asked_;
  queue_.push_back({path, bytes});
  if (!work_) begin_next();
}

void ContentReader::begin_next() {
  if (queue_.empty()) return;
  batch_ = std::make_unique<std::vector<ReadContent>>();
  for (std::uint64_t bytes = 0; !queue_.empty() && bytes < kBatchBytes; queue_.pop_front()) {
    bytes += queue_.front().bytes;
    batch_->push_back({.path = std::move(queue_.front().path)});
  }
  const auto read_all = [batch = batch_.get()](const std::stop_token& stop) {
    for (ReadContent& file : *batch) read_content(file, stop);
  };
  auto work = Background::start(read_all);
  if (work)
    work_.emplace(std::move(*work));
  else
    read_all({});  // better late than never
}

std::vector<ReadContent> ContentReader::take() {
  std::vector<ReadContent> read;
  if (!batch_) return read;
  if (work_) {
    pollfd done{work_->done_fd(), POLLIN, 0};
    if (::poll(&done, 1, 0) != 1) return read;
    work_->join();
    work_.reset();
  }
  read = std::move(*batch_);
  batch_.reset();
  told_ += read.size();
  for (const ReadContent& file : read) waiting_.erase(file.path);
  begin_next();
  return read;
}

}  // namespace gantry::driver
