#pragma once
/// A real grid on one machine, made of network namespaces, control groups and daemons: what
/// `gantry testbed` does. Everything it makes is known by the testbed's name, so that it can be
/// taken down also after a crash in the middle. Needs root. One thread.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/testbed_spec.hpp"
#include "testbed/cpu_group.hpp"
#include "testbed/site_daemons.hpp"

namespace gantry::testbed {

struct HostStatus {
  std::size_t processes = 0;  ///< 0: it is dead
  double load = 0;
};

/// A testbed that is up, or was when its gantry died.
class Testbed {
 public:
  /// Makes it in `dir`, which is new or empty. When something fails, all is taken down again.
  static Result<Testbed> up(const TestbedSpec& spec, const std::filesystem::path& dir);
  /// The one in `dir`.
  static Result<Testbed> open(const std::filesystem::path& dir);

  [[nodiscard]] const TestbedPlan& plan() const { return plan_; }
  [[nodiscard]] const TestbedFiles& files() const { return files_; }

  [[nodiscard]] HostStatus status_of(const HostPlan& host) const;
  /// How long the link of a site is still cut; see cut_left().
  [[nodiscard]] std::optional<Duration> cut_left_of(const SitePlan& site) const;

  /// Takes the network away, then kills every process: nobody hears of it.
  Result<> kill_host(const std::string& name);
  Result<> revive_host(const std::string& name);
  /// A competing load, in place of the one before. See parts_of_load().
  Result<> set_load(const std::string& host, double load);
  Result<> cut(const std::string& site, std::optional<Duration> how_long);
  Result<> mend(const std::string& site);

 private:
  Testbed(TestbedPlan plan, TestbedFiles files, CpuGroup group)
      : plan_(std::move(plan)), files_(std::move(files)), group_(std::move(group)) {}

  [[nodiscard]] Ground ground() const { return {plan_, files_, group_}; }
  Result<> build();
  Result<std::vector<StartedDaemon>> start_relays();
  Result<> start_hosts();

  TestbedPlan plan_;
  TestbedFiles files_;
  CpuGroup group_;
};

/// Takes down the testbed in `dir`; false when there is none.
Result<bool> take_down_folder(const std::filesystem::path& dir);
/// Takes down the testbed of this name, also when its folder has gone; false when there is none.
Result<bool> take_down_name(const std::string& testbed);

/// An error that says what to do when we are not root.
Result<> need_root();

}  // namespace gantry::testbed
