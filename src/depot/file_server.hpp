#pragma once
/// The site's end of file transfers: `gantry-agent files SCRATCH`. One process for each home that
/// is connected, on its standard input and output; it ends with its connection. Several may serve
/// the same SCRATCH.

#include <filesystem>

#include "base/result.hpp"
#include "depot/peer.hpp"

namespace gantry::depot {

/// Until `in` ends. An error when SCRATCH cannot be used or the peer breaks the protocol; it is
/// told first, if possible. Makes both descriptors non-blocking. `pulls`: how files come from other
/// sites.
Result<> serve_files(int in, int out, const std::filesystem::path& scratch, PullOptions pulls = {});

}  // namespace gantry::depot
