#pragma once
/// A testbed as a person describes it (docs/formats/testbed.md): a real grid on one machine. Plain
/// values.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"

namespace gantry {

/// How tasks are given to a site: to its hosts one by one, or to its batch system.
enum class SiteVia : std::uint8_t { ssh, slurm, sge };

constexpr std::string_view name_of(SiteVia via) {
  switch (via) {
    case SiteVia::slurm:
      return "slurm";
    case SiteVia::sge:
      return "sge";
    case SiteVia::ssh:
      break;
  }
  return "ssh";
}

/// Names of testbeds, sites and hosts become names of devices (which have at most 15 characters),
/// namespaces, groups and files: a small letter, then small letters and digits.
constexpr std::size_t kMaxTestbedName = 12;
constexpr bool is_testbed_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxTestbedName || name[0] < 'a' || name[0] > 'z') return false;
  for (const char c : name)
    if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) return false;
  return true;
}

struct TestbedHost {
  std::string name;
  double speed = 1;  ///< part of a core that each slot has
};

struct TestbedSite {
  std::string name;
  SiteVia via = SiteVia::ssh;
  std::uint32_t slots = 1;  ///< of each host
  std::vector<TestbedHost> hosts;
  double bandwidth = 0;  ///< of the link to the core, each way, in bytes a second
  Duration latency{};    ///< of the link, each way
};

/// A link of their own between two sites, whose hosts can log in to each other.
struct TestbedLink {
  std::size_t one = 0;  ///< index of a site
  std::size_t other = 0;
  double bandwidth = 0;  ///< each way, in bytes a second
  Duration latency{};    ///< each way
};

struct TestbedSpec {
  std::string name;
  std::string network;  ///< "10.231": the first half of every address; empty: one that is free
  std::vector<TestbedSite> sites;
  std::vector<TestbedLink> links{};
};

}  // namespace gantry
