#pragma once
/// A run's snapshot as bytes, both ways: compact, with a version and a checksum.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/run_snapshot.hpp"

namespace gantry::store {

/// A task's fingerprint in few bytes: by task, brief() of its latest result's; 0 = it has none.
using Prints = std::vector<std::uint64_t>;

struct SnapshotContent {
  RunSnapshot state;
  Prints prints;
};

std::string encode_snapshot(const SnapshotContent& content);
/// Nothing when another version of gantry wrote it. Error: corrupt. In both cases the journal still
/// tells everything.
Result<std::optional<SnapshotContent>> decode_snapshot(std::string_view bytes);

}  // namespace gantry::store
