#include "agent/slot_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <system_error>

namespace gantry::agent {

namespace {

constexpr unsigned kMaxSlots = 65536;  ///< a larger number in a file's name is not ours

std::filesystem::path old_segment(const std::filesystem::path& path) {
  std::filesystem::path old = path;
  return old += ".old";
}

std::string header() {
  std::string frame;
  encode(frame, Hello{});
  return frame;
}

/// Takes in one record; false when it makes no sense.
bool add_record(SlotHistory& history, const Frame& frame) {
  if (frame.type == MessageType::hello) return decode<Hello>(frame.body).has_value();
  if (frame.type == MessageType::started) {
    const auto started = decode<Started>(frame.body);
    if (started) history.unfinished.push_back(*started);
    return started.has_value();
  }
  if (frame.type != MessageType::ended || !decode_ended(frame.body)) return false;
  const auto key = peek_ended_key(frame.body);
  std::erase_if(history.unfinished, [&](const Started& s) { return s.key == key; });
  history.ended.emplace_back(frame.body);
  return true;
}

Result<> check_version(const std::filesystem::path& path, const Frame& first) {
  const auto hello = first.type == MessageType::hello ? decode<Hello>(first.body) : std::nullopt;
  if (!hello || hello->version == kProtocolVersion) return {};
  return fail(ErrorCode::version, path.string() + " holds reports for another version of Gantry",
              "run the same command once with that version, or remove the file");
}

enum class Torn { leave, cut };  ///< what becomes of a last record that is not whole

Result<> read_segment(const std::filesystem::path& path, SlotHistory& history, Torn torn) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  TRY_ASSIGN(const std::string bytes, read_file(path));
  FrameReader reader;
  reader.append(bytes);
  std::size_t valid = 0;
  while (const auto frame = reader.next()) {
    if (valid == 0) {
      TRY(check_version(path, *frame));
      if (frame->type != MessageType::hello) break;
    }
    if (!add_record(history, *frame)) break;
    valid += sizeof(std::uint32_t) + 1 + frame->body.size();
  }
  if (torn == Torn::cut && valid < bytes.size() &&
      ::truncate(path.c_str(), static_cast<off_t>(valid)) != 0)
    return fail_errno(path.string());
  return {};
}

Result<UniqueFd> open_segment(const std::filesystem::path& path) {
  return open_file(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
}

}  // namespace

Result<SlotLog> SlotLog::open(std::filesystem::path path) {
  TRY_ASSIGN(UniqueFd fd, open_segment(path));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail_errno(path.string());
  return SlotLog(std::move(path), std::move(fd), info.st_size);
}

void SlotLog::begin_task(std::uint64_t serial, std::uint64_t safe) {
  if (!std::exchange(began_, true)) old_last_ = serial - 1;  // how much of it, nobody knows
  if (fd_ && (size_ <= kSegment || safe < old_last_)) return;
  if (fd_ && ::rename(path_.c_str(), old_segment(path_).c_str()) != 0) return;
  old_last_ = serial - 1;
  auto fresh = open_segment(path_);
  fd_ = fresh ? std::move(*fresh) : UniqueFd();  // without one, append() fails until the next task
  size_ = 0;
}

bool SlotLog::append(std::string_view frame) {
  if (!fd_) return false;
  const std::string first = size_ == 0 ? header().append(frame) : std::string();
  if (size_ == 0) frame = first;
  if (write_all(fd_.get(), frame)) {
    size_ += static_cast<std::int64_t>(frame.size());
    return true;
  }
  // Half a record would hide the ones after it.
  static_cast<void>(::ftruncate(fd_.get(), size_));
  return false;
}

const std::string* SlotHistory::end_of(const AttemptKey& key) const {
  const auto found = std::find_if(ended.rbegin(), ended.rend(), [&](const std::string& body) {
    return peek_ended_key(body) == key;
  });
  return found == ended.rend() ? nullptr : &*found;
}

bool SlotHistory::has_begun(const AttemptKey& key) const {
  return end_of(key) != nullptr ||
         std::any_of(unfinished.begin(), unfinished.end(),
                     [&](const Started& started) { return started.key == key; });
}

std::filesystem::path slot_log_path(const std::filesystem::path& agent_dir, unsigned slot) {
  return agent_dir / ("slot-" + std::to_string(slot) + ".log");
}

std::vector<unsigned> logged_slots(const std::filesystem::path& agent_dir) {
  std::vector<unsigned> slots;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(agent_dir, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("slot-")) continue;
    unsigned slot = 0;
    const auto [end, bad] = std::from_chars(name.data() + 5, name.data() + name.size(), slot);
    const std::string_view rest(end, static_cast<std::size_t>(name.data() + name.size() - end));
    if (bad != std::errc{} || slot >= kMaxSlots || (rest != ".log" && rest != ".log.old")) continue;
    slots.push_back(slot);
  }
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

Result<SlotHistory> recover_slot_log(const std::filesystem::path& path) {
  SlotHistory history;
  TRY(read_segment(old_segment(path), history, Torn::cut));
  TRY(read_segment(path, history, Torn::cut));
  return history;
}

Result<SlotHistory> peek_slot_log(const std::filesystem::path& path) {
  SlotHistory history;
  TRY(read_segment(old_segment(path), history, Torn::leave));
  TRY(read_segment(path, history, Torn::leave));
  return history;
}

Result<> write_slot_log(const std::filesystem::path& path, const std::vector<std::string>& ended) {
  std::string bytes = header();
  for (const auto& body : ended) encode_ended(bytes, 1, body);
  return write_file_atomic(path, bytes);
}

void remove_slot_log(const std::filesystem::path& path) {
  ::unlink(old_segment(path).c_str());
  ::unlink(path.c_str());
}

}  // namespace gantry::agent
