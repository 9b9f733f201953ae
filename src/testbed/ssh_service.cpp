#include "testbed/ssh_service.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include "base/fd.hpp"
#include "testbed/held_signals.hpp"
#include "testbed/system_tool.hpp"

namespace gantry::testbed {

namespace fs = std::filesystem;

namespace {

constexpr std::uint16_t kSshPort = 22;
constexpr auto kSshPatience = std::chrono::seconds(30);
constexpr auto kTryAgain = std::chrono::milliseconds(20);

Result<> make_key(const fs::path& path, const std::string& comment) {
  TRY(run_tool(
      {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path.string()}));
  return {};
}

/// One attempt, for as long as a packet may take there and back, and once more when it is lost.
bool accepts_connection(const std::string& address) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(kSshPort);
  ::inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return true;
  pollfd polled{socket.get(), POLLOUT, 0};
  if (errno != EINPROGRESS || ::poll(&polled, 1, 3000) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

std::string sshd_config_text(const HostPlan& host, const fs::path& inner,
                             const std::vector<std::string>& environment) {
  const std::string own = (inner / "hosts" / host.name).string();
  std::string text = fmt::format(
      "ListenAddress {}:{}\n"
      "HostKey {}/hostkey\n"
      "PidFile none\n"
      "AuthorizedKeysFile {}/id_ed25519.pub\n"
      "AuthenticationMethods publickey\n"
      "PasswordAuthentication no\n"
      "KbdInteractiveAuthentication no\n"
      "PermitRootLogin prohibit-password\n"
      "StrictModes no\n"
      "UsePAM no\n"
      "UseDNS no\n"
      "PrintMotd no\n"
      "PrintLastLog no\n"
      "MaxStartups 200:30:400\n"
      "MaxSessions 200\n"
      "Subsystem sftp internal-sftp\n",
      host.address, kSshPort, own, inner.string());
  if (!environment.empty()) text += fmt::format("SetEnv {}\n", fmt::join(environment, " "));
  return text;
}

namespace {

/// `folder`: where the key and the known hosts are.
std::string config_of(const std::vector<const HostPlan*>& hosts, const fs::path& folder) {
  std::string text;
  std::string names;
  for (const HostPlan* host : hosts) {
    text += fmt::format("Host {}\n  HostName {}\n", host->name, host->address);
    names += " " + host->name;
  }
  const TestbedFiles files{folder};
  text += fmt::format(
      "Host{}\n"
      "  User root\n"
      "  IdentityFile \"{}\"\n"
      "  IdentitiesOnly yes\n"
      "  IdentityAgent none\n"
      "  UserKnownHostsFile \"{}\"\n"
      "  GlobalKnownHostsFile none\n"
      "  StrictHostKeyChecking yes\n"
      "  BatchMode yes\n"
      "  ConnectTimeout 10\n"
      "  KexAlgorithms curve25519-sha256\n",
      names, files.key().string(), files.known_hosts().string());
  return text;
}

/// At a site: how its hosts log in to those of the sites that it is joined with.
Result<> write_logins(const TestbedPlan& plan, const TestbedFiles& files, std::size_t site) {
  std::vector<const HostPlan*> hosts;
  for (const std::size_t other : joined_with(plan, site)) {
    if (plan.sites[other].head) hosts.push_back(&*plan.sites[other].head);
    for (const HostPlan& host : plan.sites[other].hosts) hosts.push_back(&host);
  }
  if (hosts.empty()) return {};
  const fs::path folder = files.site(plan.sites[site].name) / "home" / ".ssh";
  std::error_code error;
  fs::create_directory(folder, error);
  if (!error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) return fail(ErrorCode::io, fmt::format("{}: {}", folder.string(), error.message()));
  return write_file_atomic(folder / "config", config_of(hosts, inner_folder(plan.name)));
}

}  // namespace

std::string ssh_config_text(const TestbedPlan& plan, const TestbedFiles& files) {
  std::vector<const HostPlan*> hosts;
  for (const auto& [site, host] : all_hosts(plan)) hosts.push_back(host);
  return fmt::format("# Hosts of the testbed '{}'. ssh -F {} HOST\n{}", plan.name,
                     files.ssh_config().string(), config_of(hosts, files.dir));
}

Result<> prepare_ssh(const TestbedPlan& plan, const TestbedFiles& files) {
  // sshd keeps no settings for it: it is where it locks itself in before a person is known.
  std::error_code error;
  fs::create_directory("/run/sshd", error);
  TRY(make_key(files.key(), "testbed " + plan.name));
  std::string known;
  for (const auto& [site, host] : all_hosts(plan)) {
    TRY(check_interrupt());
    const fs::path key = files.host(host->name) / "hostkey";
    TRY(make_key(key, host->name));
    TRY_ASSIGN(const std::string public_key, read_file(key.string() + ".pub"));
    known += fmt::format("{} {}", host->address, public_key);
    TRY(write_file_atomic(
        files.host(host->name) / "sshd_config",
        sshd_config_text(*host, inner_folder(plan.name), batch_environment(plan, *site))));
  }
  TRY(write_file_atomic(files.known_hosts(), known));
  for (std::size_t i = 0; i < plan.sites.size(); ++i) TRY(write_logins(plan, files, i));
  return write_file_atomic(files.ssh_config(), ssh_config_text(plan, files));
}

Result<StartedDaemon> start_sshd(const Ground& ground, const HostPlace& place) {
  const fs::path config =
      inner_folder(ground.plan.name) / "hosts" / place.host->name / "sshd_config";
  return start_daemon(
      daemon_on(ground, place, {"sshd", "-D", "-e", "-f", config.string()}, "sshd.log"));
}

Result<> wait_for_ssh(const HostPlan& host, const StartedDaemon& sshd) {
  const auto deadline = std::chrono::steady_clock::now() + kSshPatience;
  while (!accepts_connection(host.address)) {
    TRY(check_interrupt());
    TRY(check_running(sshd));
    if (std::chrono::steady_clock::now() > deadline)
      return fail(ErrorCode::io,
                  fmt::format("host '{}' cannot be reached at {}", host.name, host.address));
    std::this_thread::sleep_for(kTryAgain);
  }
  return {};
}

}  // namespace gantry::testbed
