#pragma once
/// The settings of Grid Engine at a testbed's site, in the formats of qconf(1). Pure.

#include <string>

#include "testbed/testbed_plan.hpp"

namespace gantry::testbed {

/// default/common/bootstrap: where things are. `folder` is the site's folder for Grid Engine.
std::string sge_bootstrap_text(const std::string& folder);
/// The cluster's configuration, from Debian's.
std::string sge_configuration_text(const std::string& debian, const std::string& folder);
/// The scheduler: looks at once, and every second.
std::string sge_scheduler_text();
std::string sge_exec_host_text(const std::string& host);
std::string sge_host_group_text(const SitePlan& site);
/// The parallel environment smp: several slots of one host.
std::string sge_parallel_environment_text();
/// The queue all.q, on all hosts.
std::string sge_queue_text(const SitePlan& site);

}  // namespace gantry::testbed
