#pragma once
/// A site that is reached by ssh, and perhaps lends its hosts through a batch system, as its
/// launcher needs to know it. Plain values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actuate/launch/batch/batch_system.hpp"
#include "actuate/launch/ssh/ssh_command.hpp"
#include "model/ids.hpp"

namespace gantry {

struct RemoteHost {
  HostId id;
  std::string name;          ///< as ssh knows it, unless it is a job
  std::uint32_t slots = 0;   ///< tasks at once; 0 = one a core
  std::uint64_t memory = 0;  ///< bytes to pack declared memory into; 0 = all that it has
  double speed = 1;
};

/// A site whose hosts are jobs. Their names are not known to ssh: everything goes over its login
/// host, which sees the same scratch folder as they do. Where a task is a job there is one host:
/// the login host, which has as many slots as there may be jobs.
struct BatchAccess {
  BatchSystem system{};
  std::string login;  ///< empty: this machine
  BatchRequest request{};
  /// Not 0: each task is a job of its own, and there may be so many of them in the queue.
  std::uint32_t jobs = 0;
  double rate = 1;                          ///< then: arrays of them that are submitted in a second
  Duration idle = std::chrono::minutes(1);  ///< until a job that nobody needs is given back
};

/// For people.
inline std::string login_name(const BatchAccess& batch) {
  return batch.login.empty() ? "this machine" : batch.login;
}

struct RemoteSite {
  SiteId id;
  std::string name;
  std::vector<RemoteHost> hosts{};
  std::optional<BatchAccess> batch{};
  std::string user{};
  std::string ssh_config{};
  std::string scratch = "~/.gantry-site";
  std::uint64_t quota = 0;  ///< of its depot, in bytes; 0 = none
  std::string grid_file{};  ///< absolute: that it is described in
  /// Tells this state directory from others' at the same site. A plain name.
  std::string holder{};

  [[nodiscard]] SshTarget target(const RemoteHost& host) const {
    return {batch ? batch->login : host.name, user, ssh_config, scratch};
  }
};

/// "run.task.attempt"
inline std::string attempt_name(const TaskKey& key) {
  return std::to_string(key.run.value()) + "." + std::to_string(key.task.value()) + "." +
         std::to_string(key.attempt.value());
}

/// Where an attempt runs, relative to the scratch folder.
inline std::string work_folder(const RemoteSite& site, const TaskKey& key) {
  return "work/" + site.holder + "/run/" + attempt_name(key);
}

/// Where outputs of an attempt stay, relative to the scratch folder.
inline std::string kept_folder(const RemoteSite& site, const TaskKey& key) {
  return "work/" + site.holder + "/kept/" + attempt_name(key);
}

/// Where the agent of a host keeps its records, relative to the scratch folder.
inline std::string host_folder(const RemoteSite& site, const std::string& host) {
  return "work/" + site.holder + "/hosts/" + host;
}

}  // namespace gantry
