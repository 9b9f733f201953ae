// Slurm at a site: munged and slurmctld on the head, slurmd on each host.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "base/fd.hpp"
#include "testbed/batch_service.hpp"
#include "testbed/held_signals.hpp"

namespace gantry::testbed {

namespace fs = std::filesystem;

namespace {

constexpr auto kSlurmPatience = std::chrono::seconds(60);
constexpr std::size_t kMungeKeyBytes = 128;

/// The site's folder for Slurm, as this machine sees it.
fs::path slurm_folder(const Ground& ground, const SitePlan& site) {
  return ground.files.site(site.name) / "slurm";
}

Result<> prepare_slurm(const Ground& ground, const SitePlan& site) {
  const fs::path folder = slurm_folder(ground, site);
  std::error_code error;
  for (const auto* part : {"state", "munge"}) fs::create_directories(folder / part, error);
  for (const auto& host : site.hosts) fs::create_directories(folder / "spool" / host.name, error);
  if (error) return fail(ErrorCode::io, fmt::format("{}: {}", folder.string(), error.message()));
  TRY_ASSIGN(const UniqueFd random, open_file("/dev/urandom", O_RDONLY));
  std::string key(kMungeKeyBytes, '\0');
  if (::read(random.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()))
    return fail_errno("/dev/urandom");
  TRY_ASSIGN(const UniqueFd file, open_file(folder / "munge/key", O_WRONLY | O_CREAT, 0400));
  TRY(write_all(file.get(), key));
  return write_file_atomic(folder / "slurm.conf", slurm_conf_text(ground.plan, site));
}

Result<StartedDaemon> start_munged(const Ground& ground, const SitePlan& site) {
  const std::string folder = (inner_site(ground.plan, site) / "slurm/munge").string();
  return start_daemon(
      daemon_on(ground, {&site, &*site.head},
                {"munged", "--foreground", "--force", "--num-threads=4", "--origin=127.0.0.1",
                 "--socket=" + folder + "/socket", "--key-file=" + folder + "/key",
                 "--pid-file=" + folder + "/pid", "--log-file=" + folder + "/log",
                 "--seed-file=" + folder + "/seed"},
                "munged.log"));
}

/// How many hosts take jobs.
std::size_t idle_hosts(const Ground& ground, const SitePlan& site) {
  const auto said = run_on_host(
      daemon_on(ground, {&site, &*site.head}, {"sinfo", "-h", "-N", "-o", "%t"}, "sinfo.log"));
  if (!said) return 0;  // not there yet
  std::istringstream lines(*said);
  std::size_t idle = 0;
  for (std::string line; std::getline(lines, line);) idle += line == "idle" ? 1 : 0;
  return idle;
}

}  // namespace

std::string slurm_conf_text(const TestbedPlan& plan, const SitePlan& site) {
  const std::string folder = (inner_site(plan, site) / "slurm").string();
  std::string text = fmt::format(
      "ClusterName={0}\n"
      "SlurmctldHost={0}({1})\n"
      "SlurmUser=root\n"
      "AuthType=auth/munge\n"
      "AuthInfo=socket={2}/munge/socket\n"
      "CredType=cred/munge\n"
      "StateSaveLocation={2}/state\n"
      "SlurmdSpoolDir={2}/spool/%n\n"
      "SlurmctldPidFile={2}/slurmctld.pid\n"
      "SlurmdPidFile={2}/slurmd.%n.pid\n"
      // Control groups are the testbed's: a host's jobs stay in the group of its slurmd.
      "ProctrackType=proctrack/linuxproc\n"
      "TaskPlugin=task/none\n"
      "MpiDefault=none\n"
      "JobAcctGatherType=jobacct_gather/linux\n"
      "JobCompType=jobcomp/filetxt\n"
      "JobCompLoc={2}/jobcomp.txt\n"
      "SelectType=select/cons_tres\n"
      "SelectTypeParameters=CR_Core\n"
      // Hosts have the slots that they say, whatever this machine has.
      "SlurmdParameters=config_overrides\n"
      "SchedulerParameters=sched_min_interval=0,bf_interval=5,batch_sched_delay=0\n"
      "ReturnToService=2\n"
      "SlurmdTimeout=10\n"
      "KillWait=2\n"
      "MinJobAge=3600\n",
      site.name, site.gateway, folder);
  std::string names;
  for (const auto& host : site.hosts) {
    text += fmt::format("NodeName={} NodeAddr={} CPUs={} RealMemory=2000 State=UNKNOWN\n",
                        host.name, host.address, site.slots);
    names += (names.empty() ? "" : ",") + host.name;
  }
  return text +
         fmt::format("PartitionName=debug Nodes={} Default=YES MaxTime=INFINITE State=UP\n", names);
}

Result<StartedDaemon> start_slurmd(const Ground& ground, const HostPlace& place) {
  return start_daemon(
      daemon_on(ground, place, {"slurmd", "-D", "-N", place.host->name}, "slurmd.log"));
}

Result<> start_slurm(const Ground& ground, const SitePlan& site) {
  TRY(prepare_slurm(ground, site));
  std::vector<StartedDaemon> daemons;
  const auto keep = [&](Result<StartedDaemon> started) -> Result<> {
    if (!started) return tl::unexpected(started.error());
    daemons.push_back(std::move(*started));
    return {};
  };
  TRY(keep(start_munged(ground, site)));
  TRY(keep(
      start_daemon(daemon_on(ground, {&site, &*site.head}, {"slurmctld", "-D"}, "slurmctld.log"))));
  for (const auto& host : site.hosts) TRY(keep(start_slurmd(ground, {&site, &host})));
  const auto deadline = std::chrono::steady_clock::now() + kSlurmPatience;
  while (idle_hosts(ground, site) < site.hosts.size()) {
    TRY(check_interrupt());
    for (const auto& daemon : daemons) TRY(check_running(daemon));
    if (std::chrono::steady_clock::now() > deadline)
      return fail(ErrorCode::io, fmt::format("Slurm at site '{}' does not come up", site.name),
                  fmt::format("see {}", ground.files.host(site.name).string()));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return {};
}

}  // namespace gantry::testbed
