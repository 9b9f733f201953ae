#include "testbed/testbed.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/fd.hpp"
#include "testbed/batch_service.hpp"
#include "testbed/grid_text.hpp"
#include "testbed/held_signals.hpp"
#include "testbed/host_load.hpp"
#include "testbed/link_relay.hpp"
#include "testbed/ssh_service.hpp"
#include "testbed/system_tool.hpp"
#include "testbed/take_down.hpp"

namespace gantry::testbed {

namespace fs = std::filesystem;

namespace {

const std::string kLinksGroup = ".links";  // which is no name of a host

/// This program, whatever has become of its file.
constexpr const char* kOurselves = "/proc/self/exe";

Result<> prepare_folder(const TestbedFiles& files) {
  std::error_code error;
  if (fs::exists(files.description(), error))
    return fail(ErrorCode::busy, fmt::format("there is a testbed in {}", files.dir.string()),
                "'gantry testbed down' takes it down; --dir gives this one another folder");
  fs::create_directories(files.dir, error);
  if (!error && !fs::is_empty(files.dir, error) && !error)
    return fail(ErrorCode::usage, fmt::format("{} is not empty", files.dir.string()),
                "--dir names a folder that is new or empty");
  if (error) return fail(ErrorCode::io, fmt::format("{}: {}", files.dir.string(), error.message()));
  return {};
}

}  // namespace

Result<> need_root() {
  if (::geteuid() == 0) return {};
  return fail(ErrorCode::usage,
              "a testbed needs root, as it makes network namespaces and control groups",
              "sudo gantry testbed ...");
}

Result<Testbed> Testbed::up(const TestbedSpec& spec, const fs::path& dir) {
  TRY(need_root());
  const TestbedFiles files{fs::absolute(dir).lexically_normal()};
  TRY(prepare_folder(files));
  const HeldSignals held;
  TRY_ASSIGN(const UniqueFd lock, lock_folder(files.dir));
  TRY_ASSIGN(const CpuGroup group, cpu_group_of(spec.name));
  const auto claimed = claim_testbed(spec, files);
  if (!claimed) {
    static_cast<void>(remove_files(files));
    return tl::unexpected(claimed.error());
  }
  Testbed testbed(make_testbed_plan(*claimed, claimed->network), files, group);
  if (auto built = testbed.build(); !built) {
    // What could not be made matters more than what could not be removed.
    static_cast<void>(dismantle(spec.name));
    static_cast<void>(remove_files(files));
    return tl::unexpected(built.error());
  }
  return testbed;
}

Result<Testbed> Testbed::open(const fs::path& dir) {
  TRY(need_root());
  const TestbedFiles files{fs::absolute(dir).lexically_normal()};
  const auto text = read_file(files.description());
  if (!text) {
    std::string hint = other_testbeds_text();
    if (hint.empty()) hint = "'gantry testbed up FILE' makes one";
    return fail(ErrorCode::usage, fmt::format("there is no testbed in {}", files.dir.string()),
                std::move(hint));
  }
  TRY_ASSIGN(const TestbedSpec spec, parse_description(*text, files.description().string()));
  TRY_ASSIGN(CpuGroup group, cpu_group_of(spec.name));
  return Testbed(make_testbed_plan(spec, spec.network), files, std::move(group));
}

Result<> Testbed::build() {
  TRY(make_folders(plan_, files_));
  TRY(prepare_ssh(plan_, files_));
  TRY(write_file_atomic(files_.hosts_file(), hosts_text(plan_)));
  const auto hosts = all_hosts(plan_);
  TRY(make_testbed_group(group_, hosts.size() + 1));
  TRY(make_cpu_group(group_.part(kLinksGroup), 0));
  for (const auto& [site, host] : hosts) TRY(make_cpu_group(group_.part(host->name), host->cores));
  for (const auto& command : network_commands(plan_)) {
    TRY(check_interrupt());
    TRY(run_tool(command));
  }
  TRY_ASSIGN(const auto relays, start_relays());
  if (auto hosts_up = start_hosts(); !hosts_up) {
    // A link that did not come up is the reason, not the host that cannot be reached.
    for (const auto& relay : relays) TRY(check_running(relay));
    return hosts_up;
  }
  for (const auto& site : plan_.sites) TRY(start_batch(ground(), site));
  return write_file_atomic(files_.grid(), grid_text(plan_, files_));
}

Result<std::vector<StartedDaemon>> Testbed::start_relays() {
  std::vector<StartedDaemon> relays;
  const auto start = [&](const RelayEnd& one, const RelayEnd& other, Duration latency,
                         const std::string& name) -> Result<> {
    HostDaemon relay;
    relay.program = kOurselves;
    relay.argv = {"gantry",
                  "testbed",
                  "relay",
                  one.netns,
                  one.device,
                  other.netns,
                  other.device,
                  std::to_string(latency.count()),
                  files_.cut_file(name).string()};
    relay.log = files_.link_log(name);
    relay.group = group_.part(kLinksGroup);
    TRY_ASSIGN(auto started, start_daemon(relay));
    relays.push_back(std::move(started));
    return {};
  };
  for (const auto& site : plan_.sites)
    TRY(start({plan_.core, site.uplink}, {site.netns, "wan"}, site.latency, site.name));
  for (const LinkPlan& link : plan_.links) {
    const SitePlan& one = plan_.sites[link.one.site];
    const SitePlan& other = plan_.sites[link.other.site];
    TRY(start({one.netns, link.one.device}, {other.netns, link.other.device}, link.latency,
              one.name + "-" + other.name));
  }
  return relays;
}

Result<> Testbed::start_hosts() {
  std::vector<std::pair<HostPlace, StartedDaemon>> servers;
  for (const auto& place : all_hosts(plan_)) {
    TRY_ASSIGN(auto sshd, start_sshd(ground(), place));
    servers.emplace_back(place, std::move(sshd));
  }
  for (const auto& [place, sshd] : servers) TRY(wait_for_ssh(*place.host, sshd));
  return {};
}

HostStatus Testbed::status_of(const HostPlan& host) const {
  const CpuGroup group = group_.part(host.name);
  return {members_of(group).size(), load_in(group).load};
}

std::optional<Duration> Testbed::cut_left_of(const SitePlan& site) const {
  return cut_left(files_.cut_file(site.name));
}

Result<> Testbed::kill_host(const std::string& name) {
  TRY_ASSIGN(const UniqueFd lock, lock_folder(files_.dir));
  TRY_ASSIGN(const HostPlace place, find_host(plan_, name));
  TRY(run_tool(plug_command(*place.site, *place.host, false)));
  TRY_ASSIGN(const auto killed, kill_members(group_.part(name)));
  // Batch systems that are started again look whether their jobs still run.
  wait_until_reaped(killed);
  return {};
}

Result<> Testbed::revive_host(const std::string& name) {
  TRY_ASSIGN(const UniqueFd lock, lock_folder(files_.dir));
  TRY_ASSIGN(const HostPlace place, find_host(plan_, name));
  if (!members_of(group_.part(name)).empty())
    return fail(ErrorCode::usage, fmt::format("host '{}' lives", name),
                fmt::format("'gantry testbed kill {}' kills it", name));
  TRY(run_tool(plug_command(*place.site, *place.host, true)));
  TRY_ASSIGN(const auto sshd, start_sshd(ground(), place));
  TRY(start_worker(ground(), place));
  // Behind a link that is cut it cannot be seen from here.
  if (cut_left_of(*place.site)) return {};
  return wait_for_ssh(*place.host, sshd);
}

Result<> Testbed::set_load(const std::string& host, double load) {
  TRY_ASSIGN(const UniqueFd lock, lock_folder(files_.dir));
  TRY_ASSIGN(const HostPlace place, find_host(plan_, host));
  const CpuGroup group = group_.part(host);
  if (members_of(group).empty())
    return fail(ErrorCode::usage, fmt::format("host '{}' is dead", host),
                fmt::format("'gantry testbed revive {}' starts it again", host));
  end_load(group);
  for (const double part : parts_of_load(load)) {
    HostDaemon spinner;
    spinner.program = kOurselves;
    spinner.argv = {"gantry", "testbed", std::string(kSpinWord), fmt::format("{:.3g}", part)};
    spinner.log = files_.host(host) / "load.log";
    spinner.group = group;
    spinner.netns = place.host->netns;
    TRY(start_daemon(spinner));
  }
  return {};
}

Result<> Testbed::cut(const std::string& site, std::optional<Duration> how_long) {
  TRY_ASSIGN(const SitePlan* place, find_site(plan_, site));
  return cut_link(files_.cut_file(place->name), how_long);
}

Result<> Testbed::mend(const std::string& site) {
  TRY_ASSIGN(const SitePlan* place, find_site(plan_, site));
  return mend_link(files_.cut_file(place->name));
}

}  // namespace gantry::testbed
