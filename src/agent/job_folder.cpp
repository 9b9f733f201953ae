#include "agent/job_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/fd.hpp"
#include "base/whole_number.hpp"

namespace gantry::agent {

namespace {

namespace fs = std::filesystem;

constexpr const char* kClaim = "claim";
constexpr const char* kReport = "report";
constexpr std::size_t kMaxTasks = std::size_t{1} << 30;  ///< bytes

/// Of "claim.17": 17, and 0 of everything else.
std::uint32_t number_behind(const std::string& name, std::string_view what) {
  if (!name.starts_with(what) || name.size() <= what.size() || name[what.size()] != '.') return 0;
  return parse_whole<std::uint32_t>(std::string_view(name).substr(what.size() + 1)).value_or(0);
}

}  // namespace

fs::path JobFolder::file(const char* what, std::uint32_t index) const {
  return path_ / (std::string(what) + "." + std::to_string(index));
}

Result<> JobFolder::write(const Content& content) const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) return fail(ErrorCode::io, path_.string() + ": " + error.message());
  std::string text;
  encode(text, content.hello);
  for (const Start& task : content.tasks) encode(text, task);
  return write_file_atomic(path_ / "tasks", text);
}

Result<JobFolder::Content> JobFolder::read() const {
  TRY_ASSIGN(const std::string text, read_file(path_ / "tasks", kMaxTasks));
  const auto damaged = [&] { return fail(ErrorCode::corrupt, path_.string() + " is damaged"); };
  FrameReader reader;
  reader.append(text);
  Content content;
  auto frame = reader.next();
  auto hello =
      frame && frame->type == MessageType::hello ? decode<Hello>(frame->body) : std::nullopt;
  if (!hello) return damaged();
  if (hello->version != kProtocolVersion)
    return fail(ErrorCode::version,
                path_.string() +
                    " is of another version of Gantry: let that one end its run, or "
                    "remove the site with gantry grid remove");
  content.hello = std::move(*hello);
  while ((frame = reader.next())) {
    auto start = frame->type == MessageType::start ? decode<Start>(frame->body) : std::nullopt;
    if (!start) return damaged();
    content.tasks.push_back(std::move(*start));
  }
  if (reader.broken()) return damaged();
  return content;
}

Result<bool> JobFolder::claim(std::uint32_t index, std::int64_t at) const {
  const fs::path path = file(kClaim, index);
  const UniqueFd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made && errno == EEXIST) return false;
  if (!made) return fail_errno(path.string());
  // What it says is for people and forecasts; that it is there counts.
  static_cast<void>(write_all(made.get(), std::to_string(at)));
  return true;
}

std::int64_t JobFolder::claimed_at(std::uint32_t index) const {
  const auto text = read_file(file(kClaim, index), 100);
  std::int64_t at = 1;  // somebody made it, and is about to write to it
  if (text) std::from_chars(text->data(), text->data() + text->size(), at);
  return at;
}

Result<> JobFolder::write_report(std::uint32_t index, std::string_view body) const {
  return write_file_atomic(file(kReport, index), body);
}

Result<std::string> JobFolder::read_report(std::uint32_t index) const {
  return read_file(file(kReport, index), kMaxFrame);
}

JobFolder::Progress JobFolder::look() const {
  Progress progress;
  std::error_code error;
  for (fs::directory_iterator at(path_, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (const auto index = number_behind(name, kClaim); index != 0) progress.claimed.insert(index);
    if (const auto index = number_behind(name, kReport); index != 0)
      progress.reported.insert(index);
  }
  return progress;
}

void JobFolder::remove() const {
  std::error_code ignored;  // a later look finds it again
  fs::remove_all(path_, ignored);
}

}  // namespace gantry::agent
