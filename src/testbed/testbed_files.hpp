#pragma once
/// The files of a testbed: where each lies in its folder, and its description (testbed.json), which
/// is written before anything is made, so that `testbed down` always knows what may be there.

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "model/testbed_spec.hpp"
#include "testbed/testbed_plan.hpp"

namespace gantry::testbed {

struct TestbedFiles {
  std::filesystem::path dir;  ///< absolute

  [[nodiscard]] auto description() const { return dir / "testbed.json"; }
  [[nodiscard]] auto grid() const { return dir / "grid.yaml"; }
  [[nodiscard]] auto ssh_config() const { return dir / "ssh_config"; }
  [[nodiscard]] auto known_hosts() const { return dir / "known_hosts"; }
  [[nodiscard]] auto hosts_file() const { return dir / "hosts_file"; }
  [[nodiscard]] auto key() const { return dir / "id_ed25519"; }
  [[nodiscard]] auto host(const std::string& name) const { return dir / "hosts" / name; }
  [[nodiscard]] auto site(const std::string& name) const { return dir / "sites" / name; }
  [[nodiscard]] auto link_log(const std::string& site) const {
    return dir / "links" / (site + ".log");
  }
  [[nodiscard]] auto cut_file(const std::string& site) const {
    return dir / "links" / (site + ".cut");
  }
};

/// And those above it, unless they are there.
Result<> make_folder(const std::filesystem::path& path);

/// Where hosts see the testbed's folder, wherever it lies: they have a /tmp and a home of their
/// own. Short, as the names of sockets must be.
std::filesystem::path inner_folder(const std::string& testbed);

/// The home directory of whoever logs in to a host: a folder of the host's site.
std::filesystem::path home_of_root();

/// A description: the testbed as asked for, with the network that it has got.
std::string description_text(const TestbedSpec& spec);
Result<TestbedSpec> parse_description(const std::string& text, const std::string& file);

/// Chooses a network that is free, writes the description, and takes the testbed's name, so that
/// nobody else on this machine takes either. Returns the testbed with its network.
Result<TestbedSpec> claim_testbed(TestbedSpec spec, const TestbedFiles& files);
/// The folder of the testbed that has this name; empty when there is none.
std::filesystem::path folder_of_testbed(const std::string& testbed);
/// "up on this machine: three (--dir /home/me/.gantry/testbed)"; empty when none is.
std::string other_testbeds_text();
Result<> release_testbed(const std::string& testbed);

/// "10.N", derived from the name, and the next ones as long as `is_used`.
template <class IsUsed>
std::string choose_network(std::size_t first, const IsUsed& is_used) {
  constexpr std::size_t kLeast = 200;
  constexpr std::size_t kCount = 55;
  for (std::size_t i = 0; i < kCount; ++i) {
    std::string network = "10." + std::to_string(kLeast + (first + i) % kCount);
    if (!is_used(network)) return network;
  }
  return {};
}

/// Folders and files that `up` makes in the testbed's folder; others there are not ours to remove.
Result<> make_folders(const TestbedPlan& plan, const TestbedFiles& files);
Result<> remove_files(const TestbedFiles& files);
/// Files that an `up` was writing when it was killed. True when there were some.
bool remove_half_written(const TestbedFiles& files);

}  // namespace gantry::testbed
