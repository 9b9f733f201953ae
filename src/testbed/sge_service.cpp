// Grid Engine at a site: sge_qmaster on the head, sge_execd on each host.
#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "base/fd.hpp"
#include "testbed/batch_service.hpp"
#include "testbed/held_signals.hpp"
#include "testbed/sge_texts.hpp"

namespace gantry::testbed {

namespace fs = std::filesystem;

namespace {

constexpr auto kSgePatience = std::chrono::seconds(90);
constexpr auto kSgePause = std::chrono::milliseconds(100);
constexpr const char* kDebianConfiguration = "/usr/share/gridengine/default-configuration";
constexpr const char* kTools = "/usr/lib/gridengine/";
constexpr const char* kResources = "/usr/share/gridengine/util/resources/";

/// One site's Grid Engine, while it is set up.
class SgeSetup {
 public:
  SgeSetup(const Ground& ground, const SitePlan& site)
      : ground_(ground),
        site_(site),
        outer_(ground.files.site(site.name) / "sge"),
        inner_((inner_site(ground.plan, site) / "sge").string()) {}

  Result<> start() {
    TRY(make_files());
    TRY(make_database());
    TRY_ASSIGN(const auto master,
               start_daemon(on_head({std::string(kTools) + "sge_qmaster"}, "sge_qmaster.log")));
    daemons_.push_back(master);
    TRY(wait("the master", [this] { return run({"qconf", "-sh"}).has_value(); }));
    TRY(configure());
    for (const auto& host : site_.hosts) {
      TRY_ASSIGN(auto worker, start_execd(ground_, {&site_, &host}));
      daemons_.push_back(std::move(worker));
    }
    return wait("all hosts", [this] { return ready_hosts() == site_.hosts.size(); });
  }

 private:
  [[nodiscard]] HostDaemon on_head(std::vector<std::string> argv, const std::string& log) const {
    HostDaemon daemon = daemon_on(ground_, {&site_, &*site_.head}, std::move(argv), log);
    daemon.environment.emplace_back("SGE_ND=1");  // stay in the foreground
    return daemon;
  }
  [[nodiscard]] Result<std::string> run(std::vector<std::string> argv) const {
    argv[0] = kTools + argv[0];
    return run_on_host(on_head(std::move(argv), ""));
  }
  [[nodiscard]] Result<> run_all(const std::vector<std::vector<std::string>>& commands) const {
    for (const auto& argv : commands) TRY(run(argv));
    return {};
  }
  /// Writes a file and gives its name to a command that reads settings from a file.
  Result<> tell(const std::string& option, const std::string& text) const {
    TRY(write_file_atomic(outer_ / "settings", text));
    return run_all({{"qconf", option, inner_ + "/settings"}});
  }

  Result<> make_files() const {
    std::error_code error;
    for (const auto* part :
         {"root/default/common", "spool/qmaster/job_scripts", "spool/database", "spool/execd"})
      fs::create_directories(outer_ / part, error);
    for (const auto* part : {"bin", "lib", "utilbin", "util"})
      if (!error)
        fs::create_symlink(fs::path("/var/lib/gridengine") / part, outer_ / "root" / part, error);
    if (error) return fail(ErrorCode::io, fmt::format("{}: {}", outer_.string(), error.message()));
    auto debian = read_file(kDebianConfiguration);
    if (!debian)
      return fail(ErrorCode::io, debian.error().message, "apt-get install gridengine-master");
    TRY(write_file_atomic(outer_ / "root/default/common/act_qmaster", site_.name + "\n"));
    TRY(write_file_atomic(outer_ / "root/default/common/bootstrap", sge_bootstrap_text(inner_)));
    return write_file_atomic(outer_ / "configuration", sge_configuration_text(*debian, inner_));
  }

  /// As Debian's own installation does it: by Grid Engine's user, whose the files are then.
  Result<> make_database() const {
    const auto as_admin = [this](std::vector<std::string> argv) -> Result<> {
      argv[0] = kTools + argv[0];
      argv.insert(argv.begin(), {"runuser", "-u", "sgeadmin", "--"});
      TRY(run_on_host(on_head(std::move(argv), "")));
      return {};
    };
    TRY(run_on_host(on_head(
        {"chown", "-R", "sgeadmin:sgeadmin", inner_ + "/spool", inner_ + "/root/default"}, "")));
    const std::string resources = kResources;
    TRY(as_admin({"spoolinit", "berkeleydb", "libspoolb", inner_ + "/spool/database", "init"}));
    TRY(as_admin({"spooldefaults", "configuration", inner_ + "/configuration"}));
    TRY(as_admin({"spooldefaults", "complexes", resources + "centry"}));
    TRY(as_admin({"spooldefaults", "usersets", resources + "usersets"}));
    return as_admin({"spooldefaults", "managers", "root", "sgeadmin"});
  }

  Result<> configure() const {
    TRY(run_all({{"qconf", "-as", site_.name}}));
    TRY(tell("-Msconf", sge_scheduler_text()));
    for (const auto& host : site_.hosts) {
      TRY(run_all({{"qconf", "-ah", host.name}}));
      TRY(tell("-Ae", sge_exec_host_text(host.name)));
    }
    TRY(tell("-Ahgrp", sge_host_group_text(site_)));
    TRY(tell("-Ap", sge_parallel_environment_text()));
    return tell("-Aq", sge_queue_text(site_));
  }

  /// Lines of `qstat -f` for a queue on a host: name, type, slots, load, architecture, and states
  /// if something is wrong. Without a load it has not reported yet.
  [[nodiscard]] std::size_t ready_hosts() const {
    const auto said = run({"qstat", "-f"});
    if (!said) return 0;
    std::istringstream lines(*said);
    std::size_t ready = 0;
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, type, slots, load, architecture, states;
      words >> name >> type >> slots >> load >> architecture >> states;
      if (name.starts_with("all.q@") && load != "-NA-" && states.empty()) ++ready;
    }
    return ready;
  }

  template <class IsDone>
  Result<> wait(std::string_view what, const IsDone& is_done) const {
    const auto deadline = std::chrono::steady_clock::now() + kSgePatience;
    while (!is_done()) {
      TRY(check_interrupt());
      for (const auto& daemon : daemons_) TRY(check_running(daemon));
      if (std::chrono::steady_clock::now() > deadline)
        return fail(ErrorCode::io,
                    fmt::format("Grid Engine at site '{}': {} did not come up", site_.name, what),
                    fmt::format("see {}", (outer_ / "spool").string()));
      std::this_thread::sleep_for(kSgePause);
    }
    return {};
  }

  const Ground& ground_;
  const SitePlan& site_;
  fs::path outer_;
  std::string inner_;
  std::vector<StartedDaemon> daemons_;
};

}  // namespace

Result<StartedDaemon> start_execd(const Ground& ground, const HostPlace& place) {
  HostDaemon daemon =
      daemon_on(ground, place, {std::string(kTools) + "sge_execd"}, "sge_execd.log");
  daemon.environment.emplace_back("SGE_ND=1");
  return start_daemon(daemon);
}

Result<> start_sge(const Ground& ground, const SitePlan& site) {
  return SgeSetup(ground, site).start();
}

}  // namespace gantry::testbed
