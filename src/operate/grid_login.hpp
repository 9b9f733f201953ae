#pragma once
/// The login host of a cluster, as `gantry grid` sees it: whether the batch system's commands are
/// there and would take the jobs that a grid file describes, and which jobs of ours are in the
/// queue. Submits nothing. Waits, but never longer than it was told to for each answer.

#include <string>
#include <vector>

#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launch/ssh/ssh_connection.hpp"
#include "base/time.hpp"

namespace gantry::operate {

struct LoginCheck {
  std::vector<std::string> missing{};  ///< commands of the batch system that are not there
  std::vector<std::string> queues{};   ///< or partitions that there are; empty: it does not say
  /// What the batch system says against a job as it is described; empty: it would take it.
  std::string refused{};
};

/// Its login host is its only host: all that is known of the others comes through it. Other sites
/// stay as they are.
RemoteSite seen_from_login(RemoteSite site);

/// Of the asked queues (or partitions, divided by commas) those that are not among the known ones.
std::vector<std::string> unknown_queues(const std::string& asked,
                                        const std::vector<std::string>& known);

/// REQUIRES: site.batch, in both.
Result<LoginCheck> check_login(const RemoteSite& site, const AgentBinary& binary,
                               Duration patience);
/// Ids of jobs that some gantry has in the queue, whichever state directory it is of, and that do
/// not end of themselves. Those that are about to end are waited for.
Result<std::vector<std::string>> jobs_in_queue(const RemoteSite& site, const AgentBinary& binary,
                                               Duration patience);

}  // namespace gantry::operate
