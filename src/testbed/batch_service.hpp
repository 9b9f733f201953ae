#pragma once
/// The batch systems of sites: which one a site has, and what is started where.

#include "base/result.hpp"
#include "testbed/site_daemons.hpp"

namespace gantry::testbed {

/// Starts the site's batch system and waits until all hosts take jobs. Nothing for a site without.
Result<> start_batch(const Ground& ground, const SitePlan& site);

/// Starts what a host needs to take jobs. REQUIRES: the batch system was started.
Result<> start_worker(const Ground& ground, const HostPlace& place);

/// slurm.conf of a site.
std::string slurm_conf_text(const TestbedPlan& plan, const SitePlan& site);

Result<> start_slurm(const Ground& ground, const SitePlan& site);
Result<StartedDaemon> start_slurmd(const Ground& ground, const HostPlace& place);

Result<> start_sge(const Ground& ground, const SitePlan& site);
Result<StartedDaemon> start_execd(const Ground& ground, const HostPlace& place);

}  // namespace gantry::testbed
