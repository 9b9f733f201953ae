#pragma once
/// The files that values of `results:` are read from.

#include <cstddef>

namespace gantry {

/// The largest of them, and the most that all of one task may have together.
inline constexpr std::size_t kMaxResultFile = std::size_t{16} << 20;
inline constexpr std::size_t kMaxResultFiles = std::size_t{24} << 20;

}  // namespace gantry
