#pragma once
/// A site that is reached by ssh, as its launcher needs to know it. Plain values.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "actuate/launch/ssh_command.hpp"
#include "model/ids.hpp"

namespace gantry {

struct RemoteHost {
  HostId id;
  std::string name;          ///< as ssh knows it
  std::uint32_t slots = 0;   ///< tasks at once; 0 = one a core
  std::uint64_t memory = 0;  ///< bytes to pack declared memory into; 0 = all that it has
  double speed = 1;
};

struct RemoteSite {
  SiteId id;
  std::string name;
  std::vector<RemoteHost> hosts{};
  std::string user{};
  std::string ssh_config{};
  std::string scratch = "~/.gantry-site";
  std::uint64_t quota = 0;  ///< of its depot, in bytes; 0 = none
  /// The folder here whose files tasks see there, at the same places below their own folder.
  std::filesystem::path base_dir{};
  /// Where outputs wait here until their report counts.
  std::filesystem::path incoming{};
  std::filesystem::path output_dir{};  ///< for large output
  /// Tells this study's state from others' at the same site. A plain name.
  std::string holder{};

  [[nodiscard]] SshTarget target(const RemoteHost& host) const {
    return {host.name, user, ssh_config, scratch};
  }
};

/// Where the agent of a host keeps its records, relative to the scratch folder.
inline std::string host_folder(const RemoteSite& site, const std::string& host) {
  return "work/" + site.holder + "/hosts/" + host;
}

}  // namespace gantry
