#pragma once
/// The files around a task: what must be there before it starts and after it has ended.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/protocol.hpp"
#include "base/result_files.hpp"

namespace gantry::agent {

/// Of each file that `results:` reads, and of all of them: a report must fit into a frame.
inline constexpr std::size_t kMaxCollected = kMaxResultFile;
inline constexpr std::size_t kMaxCollectedTogether = kMaxResultFiles;
static_assert(kMaxCollectedTogether <= kMaxFrame / 2);

/// What tells a file that was written from one that was not.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// The outputs and result files that were there before the task; nothing is ever deleted for it.
using OldFiles = std::map<std::string, FileStamp>;

/// Makes the working directory and the outputs' directories, and notes which outputs are there
/// already. On failure: errno and what could not be done.
std::optional<std::pair<int, std::string>> prepare_files(const Start& start, OldFiles& old);

/// The first declared output that is not there, or that was there before and was not written; also
/// a result file that was not written, unless it is an input.
std::optional<std::string> missing_output(const Start& start, const OldFiles& old);

/// Path and content of the result files that exist; one that is too long or unreadable is left out,
/// and so is what goes beyond kMaxCollectedTogether.
std::vector<std::pair<std::string, std::string>> collect_files(const Start& start);

}  // namespace gantry::agent
