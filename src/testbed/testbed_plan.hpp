#pragma once
/// What a testbed is made of: names and addresses of everything, worked out before anything is
/// made, and the commands that make its network. Pure.
///
///   home (this machine) --veth-- core --relay-- site 1: a router with a bridge -- hosts
///                                  \---relay-- site 2 ...      (some are also joined directly)

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/testbed_spec.hpp"

namespace gantry::testbed {

using Argv = std::vector<std::string>;

struct HostPlan {
  std::string name;
  std::string netns;
  std::string address;  ///< 10.231.SITE.11 and up
  std::string port;     ///< of the site's bridge, in the site's namespace
  double cores = 1;     ///< what its processes may use together
  double speed = 1;
};

struct SitePlan {
  std::string name;
  SiteVia via = SiteVia::ssh;
  std::uint32_t slots = 1;
  std::string netns;
  std::string gateway;   ///< 10.231.SITE.1, on the bridge
  std::string subnet;    ///< 10.231.SITE.0/24
  std::string uplink;    ///< the link's device in the core; in the site it is "wan"
  std::string core_end;  ///< its two addresses
  std::string site_end;
  double bandwidth = 0;  ///< bytes a second
  Duration latency{};
  std::vector<HostPlan> hosts;
  /// Of a batch site: where people log in and its batch system is. It has the site's name, and is
  /// the router.
  std::optional<HostPlan> head;
};

/// Between two sites, besides their links to the core.
struct LinkPlan {
  struct End {
    std::size_t site = 0;  ///< index
    std::string device;    ///< in its namespace
    std::string address;
  };
  End one;
  End other;
  double bandwidth = 0;  ///< bytes a second
  Duration latency{};
};

struct TestbedPlan {
  std::string name;
  std::string network;       ///< "10.231"
  std::string core;          ///< the namespace that joins the sites
  std::string home_device;   ///< in the namespace of this machine
  std::string home_address;  ///< 10.231.0.1, by which hosts know this machine
  std::string core_address;
  std::vector<SitePlan> sites;
  std::vector<LinkPlan> links{};
};

struct HostPlace {
  const SitePlan* site;
  const HostPlan* host;
};

/// "gantry-NAME-": what the names of all namespaces of a testbed begin with. A testbed's name has
/// no '-', so that no other's begin with it.
std::string netns_prefix(std::string_view testbed);
std::string home_device_of(std::string_view testbed);

/// `network` is "10.N".
TestbedPlan make_testbed_plan(const TestbedSpec& spec, const std::string& network);

/// All that people can log in to: heads and hosts.
std::vector<HostPlace> all_hosts(const TestbedPlan& plan);

/// The host of the site at which others log in: its head, or the first.
const HostPlan& login_of(const SitePlan& site);
/// The sites that this one has a link to, by their indices.
std::vector<std::size_t> joined_with(const TestbedPlan& plan, std::size_t site);

/// What makes the namespaces and the network, in order. The relays of the links come after.
std::vector<Argv> network_commands(const TestbedPlan& plan);
/// What plugs a host in, or pulls its plug.
Argv plug_command(const SitePlan& site, const HostPlan& host, bool in);

/// The site or host with this name; the error suggests one that is near.
Result<const SitePlan*> find_site(const TestbedPlan& plan, const std::string& name);
Result<HostPlace> find_host(const TestbedPlan& plan, const std::string& name);

}  // namespace gantry::testbed
