#pragma once
/// ssh in a testbed: a key pair for home, a server for each host, and what home's ssh must know.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "testbed/host_daemon.hpp"
#include "testbed/site_daemons.hpp"

namespace gantry::testbed {

/// sshd's settings. `inner` is the testbed's folder as hosts see it; `environment` is set for
/// whoever logs in.
std::string sshd_config_text(const HostPlan& host, const std::filesystem::path& inner,
                             const std::vector<std::string>& environment);
/// What `ssh -F` reads: names and addresses of all hosts, and the key.
std::string ssh_config_text(const TestbedPlan& plan, const TestbedFiles& files);

/// Makes all keys and settings.
Result<> prepare_ssh(const TestbedPlan& plan, const TestbedFiles& files);

Result<StartedDaemon> start_sshd(const Ground& ground, const HostPlace& place);
/// Until a connection from home is accepted, through the site's link.
Result<> wait_for_ssh(const HostPlan& host, const StartedDaemon& sshd);

}  // namespace gantry::testbed
