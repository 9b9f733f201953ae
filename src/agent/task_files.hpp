#pragma once
/// The files around a task: what must be there before it starts and after it has ended.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/protocol.hpp"

namespace gantry::agent {

/// Of each file that `results:` reads, and of all of them: a report must fit into a frame.
inline constexpr std::size_t kMaxCollected = std::size_t{1} << 20;
inline constexpr std::size_t kMaxCollectedTogether = std::size_t{16} << 20;

/// Makes the working directory and the outputs' directories, and removes outputs of earlier
/// attempts, so that what is found afterwards was written by this one. On failure: errno and what
/// could not be done.
std::optional<std::pair<int, std::string>> prepare_files(const Start& start);

/// The first declared output that is not there.
std::optional<std::string> missing_output(const Start& start);

/// Path and content of the result files that exist; one that is too long or unreadable is left out,
/// and so is what goes beyond kMaxCollectedTogether.
std::vector<std::pair<std::string, std::string>> collect_files(const Start& start);

}  // namespace gantry::agent
