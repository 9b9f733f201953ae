#pragma once
/// What daemons of a testbed's hosts have in common: where they run and what they see.

#include <filesystem>
#include <string>
#include <vector>

#include "testbed/cpu_group.hpp"
#include "testbed/host_daemon.hpp"
#include "testbed/testbed_files.hpp"
#include "testbed/testbed_plan.hpp"

namespace gantry::testbed {

/// The testbed that a daemon belongs to. Held by reference during one command.
struct Ground {
  const TestbedPlan& plan;
  const TestbedFiles& files;
  const CpuGroup& group;
};

/// The folder of a site's storage and services, as its hosts see it.
std::filesystem::path inner_site(const TestbedPlan& plan, const SitePlan& site);

/// What commands of the site's batch system need to know, "NAME=value".
std::vector<std::string> batch_environment(const TestbedPlan& plan, const SitePlan& site);

/// Names and addresses of all hosts: what they see as /etc/hosts.
std::string hosts_text(const TestbedPlan& plan);

/// A daemon on a host (or a head): in its group, in its network, with its site's home and /tmp.
/// What it prints goes to `log` in the host's folder.
HostDaemon daemon_on(const Ground& ground, const HostPlace& place, std::vector<std::string> argv,
                     const std::string& log);

}  // namespace gantry::testbed
