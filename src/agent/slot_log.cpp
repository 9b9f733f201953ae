#include "agent/slot_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace gantry::agent {

Result<SlotLog> SlotLog::open(const std::filesystem::path& path) {
  TRY_ASSIGN(UniqueFd fd, open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0600));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail_errno(path.string());
  return SlotLog(std::move(fd), info.st_size);
}

bool SlotLog::append(std::string_view frame) {
  if (write_all(fd_.get(), frame)) {
    size_ += static_cast<std::int64_t>(frame.size());
    return true;
  }
  // Half a record would hide the ones after it.
  static_cast<void>(::ftruncate(fd_.get(), size_));
  return false;
}

void SlotLog::reset_if_long() {
  if (size_ > static_cast<std::int64_t>(kResetSize) && ::ftruncate(fd_.get(), 0) == 0) size_ = 0;
}

Result<SlotHistory> recover_slot_log(const std::filesystem::path& path) {
  TRY_ASSIGN(const std::string bytes, read_file(path));
  FrameReader reader;
  reader.append(bytes);
  SlotHistory history;
  std::size_t valid = 0;
  while (const auto frame = reader.next()) {
    if (frame->type == MessageType::started) {
      const auto started = decode_started(frame->body);
      if (!started) break;
      history.unfinished.push_back(*started);
    } else if (frame->type == MessageType::ended && decode_ended(frame->body)) {
      const auto key = peek_ended_key(frame->body);
      std::erase_if(history.unfinished, [&](const Started& s) { return s.key == key; });
      history.ended.emplace_back(frame->body);
    } else {
      break;
    }
    valid += sizeof(std::uint32_t) + 1 + frame->body.size();
  }
  if (valid < bytes.size() && ::truncate(path.c_str(), static_cast<off_t>(valid)) != 0) {
    return fail_errno(path.string());
  }
  return history;
}

}  // namespace gantry::agent
