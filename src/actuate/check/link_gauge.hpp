#pragma once
/// How fast files go to a site and come back: sends and fetches some, larger and larger until they
/// take long enough to tell. Waits, but a few seconds at the most.

#include <filesystem>
#include <optional>

#include "actuate/check/host_probe.hpp"

namespace gantry {

struct LinkSpeed {
  std::optional<double> to_site;    ///< bytes a second
  std::optional<double> from_site;  ///< bytes a second
};

/// Both ways as far as they could be measured; the error says why not farther. `folder`: here, for
/// files that are sent; `round_trip` is left out of what is measured.
Result<> measure_link(HostProbe& probe, const std::filesystem::path& folder, Duration round_trip,
                      LinkSpeed& speed);

/// A file whose content nobody has seen, so that no depot has it and nothing can compress it.
Result<Put> write_unknown_file(const std::filesystem::path& path, std::uint64_t bytes);

}  // namespace gantry
