#pragma once
/// Brings outputs home that have stayed at a site, and takes them away there.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "model/grid.hpp"
#include "store/store.hpp"

namespace gantry::operate {

struct FetchOptions {
  std::filesystem::path state_dir;
  /// What a person should know meanwhile. May be empty.
  std::function<void(const std::string& text)> notice{};
};

struct Fetched {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::vector<std::string> problems{};  ///< of single files, for a person
};

/// Fetches those that no later attempt has replaced, and removes all of them at the site. One that
/// is here already as it should be is not fetched again; one that is not there any more is
/// forgotten, so that the next run makes it again. REQUIRES: all are at the site.
Result<Fetched> fetch_outputs(store::Store& store, const Grid& grid, const std::string& site,
                              const std::vector<store::Store::RemoteOutput>& outputs,
                              const FetchOptions& options);

}  // namespace gantry::operate
