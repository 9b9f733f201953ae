#pragma once
/// Independent pieces of work on several threads.

#include <cstddef>
#include <cstdint>
#include <functional>

namespace gantry {

/// Calls work(0), work(1), ... work(count - 1) on `threads` threads (0: one a core), and returns
/// when all are done. Those that have not begun when one returns false are left out.
void in_parallel(std::size_t count, std::uint32_t threads,
                 const std::function<bool(std::size_t)>& work);

}  // namespace gantry
