#include "testbed/testbed_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/suggest.hpp"

namespace gantry::testbed {

namespace {

/// Splits a command that has no blanks inside its words.
Argv words(const std::string& line) {
  Argv argv;
  std::size_t begin = 0;
  while (begin < line.size()) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    argv.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return argv;
}

class CommandList {
 public:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    commands_.push_back(words(fmt::format(format, std::forward<Args>(args)...)));
  }
  void add_namespace(const std::string& name, bool forwards) {
    add("ip netns add {}", name);
    add("ip -n {} link set lo up", name);
    if (forwards) add("ip netns exec {} sysctl -q -w net.ipv4.ip_forward=1", name);
  }
  std::vector<Argv> take() { return std::move(commands_); }

 private:
  std::vector<Argv> commands_;
};

/// A token bucket that lets `rate` through: the bucket holds 10 ms, the queue before it 100 ms.
void add_rate(CommandList& list, const std::string& netns, const std::string& device, double rate) {
  const double burst = std::max(16384.0, rate / 100);
  list.add("tc -n {} qdisc replace dev {} root tbf rate {:.0f}bps burst {:.0f}b limit {:.0f}b",
           netns, device, rate, burst, burst + std::max(65536.0, rate / 10));
}

void add_core(CommandList& list, const TestbedPlan& plan) {
  list.add_namespace(plan.core, true);
  list.add("ip link add {} type veth peer name home netns {}", plan.home_device, plan.core);
  list.add("ip addr add {}/30 dev {}", plan.home_address, plan.home_device);
  list.add("ip link set {} up", plan.home_device);
  list.add("ip -n {} addr add {}/30 dev home", plan.core, plan.core_address);
  list.add("ip -n {} link set home up", plan.core);
  list.add("ip route add {}.0.0/16 via {} src {}", plan.network, plan.core_address,
           plan.home_address);
}

void add_site(CommandList& list, const TestbedPlan& plan, const SitePlan& site) {
  list.add_namespace(site.netns, true);
  list.add("ip -n {} tuntap add dev {} mode tun", plan.core, site.uplink);
  list.add("ip -n {} tuntap add dev wan mode tun", site.netns);
  list.add("ip -n {} addr add {}/30 dev {}", plan.core, site.core_end, site.uplink);
  list.add("ip -n {} addr add {}/30 dev wan", site.netns, site.site_end);
  add_rate(list, plan.core, site.uplink, site.bandwidth);
  add_rate(list, site.netns, "wan", site.bandwidth);
  list.add("ip -n {} link set {} up", plan.core, site.uplink);
  list.add("ip -n {} link set wan up", site.netns);
  list.add("ip -n {} route add default via {}", site.netns, site.core_end);
  list.add("ip -n {} route add {} via {}", plan.core, site.subnet, site.site_end);
  list.add("ip -n {} link add br0 type bridge", site.netns);
  list.add("ip -n {} addr add {}/24 dev br0", site.netns, site.gateway);
  list.add("ip -n {} link set br0 up", site.netns);
}

void add_host(CommandList& list, const SitePlan& site, const HostPlan& host) {
  list.add_namespace(host.netns, false);
  list.add("ip link add eth0 netns {} type veth peer name {} netns {}", host.netns, host.port,
           site.netns);
  list.add("ip -n {} link set {} master br0", site.netns, host.port);
  list.add("ip -n {} link set {} up", site.netns, host.port);
  list.add("ip -n {} addr add {}/24 dev eth0", host.netns, host.address);
  list.add("ip -n {} link set eth0 up", host.netns);
  list.add("ip -n {} route add default via {}", host.netns, site.gateway);
}

void add_link(CommandList& list, const TestbedPlan& plan, const LinkPlan& link) {
  for (const auto& [end, far] : {std::pair(&link.one, &link.other), {&link.other, &link.one}}) {
    const std::string& netns = plan.sites[end->site].netns;
    list.add("ip -n {} tuntap add dev {} mode tun", netns, end->device);
    list.add("ip -n {} addr add {}/30 dev {}", netns, end->address, end->device);
    add_rate(list, netns, end->device, link.bandwidth);
    list.add("ip -n {} link set {} up", netns, end->device);
    list.add("ip -n {} route add {} via {}", netns, plan.sites[far->site].subnet, far->address);
  }
}

/// Networks of four addresses, after those of the sites.
LinkPlan make_link(const TestbedPlan& plan, const TestbedLink& link) {
  constexpr std::size_t kFirst = 200;
  constexpr std::size_t kInANetwork = 64;
  const std::size_t number = plan.links.size();
  const auto end = [&](std::size_t site, std::size_t far, std::size_t host) {
    return LinkPlan::End{site, "x-" + plan.sites[far].name,
                         fmt::format("{}.{}.{}", plan.network, kFirst + number / kInANetwork,
                                     number % kInANetwork * 4 + host)};
  };
  return {end(link.one, link.other, 1), end(link.other, link.one, 2), link.bandwidth, link.latency};
}

}  // namespace

std::string netns_prefix(std::string_view testbed) {
  return fmt::format("gantry-{}-", testbed);
}

std::string home_device_of(std::string_view testbed) {
  return fmt::format("gt-{}", testbed);
}

TestbedPlan make_testbed_plan(const TestbedSpec& spec, const std::string& network) {
  const std::string prefix = netns_prefix(spec.name);
  TestbedPlan plan{
      spec.name,        network, prefix + "core", home_device_of(spec.name), network + ".0.1",
      network + ".0.2", {}};
  std::size_t number = 0;
  for (const TestbedSite& from : spec.sites) {
    ++number;
    SitePlan site;
    site.name = from.name;
    site.via = from.via;
    site.slots = from.slots;
    site.netns = prefix + from.name;
    site.gateway = fmt::format("{}.{}.1", network, number);
    site.subnet = fmt::format("{}.{}.0/24", network, number);
    site.uplink = "to-" + from.name;
    // Networks of four addresses, the first of which joins home with the core.
    site.core_end = fmt::format("{}.0.{}", network, number * 4 + 1);
    site.site_end = fmt::format("{}.0.{}", network, number * 4 + 2);
    site.bandwidth = from.bandwidth;
    site.latency = from.latency;
    for (const TestbedHost& host : from.hosts) {
      const std::size_t index = site.hosts.size() + 1;
      site.hosts.push_back({host.name, prefix + host.name,
                            fmt::format("{}.{}.{}", network, number, 10 + index),
                            fmt::format("h{}", index), host.speed * from.slots, host.speed});
    }
    if (from.via != SiteVia::ssh)
      site.head = HostPlan{from.name, site.netns, site.gateway, "", 0, 1};
    plan.sites.push_back(std::move(site));
  }
  for (const TestbedLink& link : spec.links) plan.links.push_back(make_link(plan, link));
  return plan;
}

std::vector<HostPlace> all_hosts(const TestbedPlan& plan) {
  std::vector<HostPlace> hosts;
  for (const SitePlan& site : plan.sites) {
    if (site.head) hosts.push_back({&site, &*site.head});
    for (const HostPlan& host : site.hosts) hosts.push_back({&site, &host});
  }
  return hosts;
}

const HostPlan& login_of(const SitePlan& site) {
  return site.head ? *site.head : site.hosts.front();
}

std::vector<std::size_t> joined_with(const TestbedPlan& plan, std::size_t site) {
  std::vector<std::size_t> others;
  for (const LinkPlan& link : plan.links) {
    if (link.one.site == site) others.push_back(link.other.site);
    if (link.other.site == site) others.push_back(link.one.site);
  }
  return others;
}

std::vector<Argv> network_commands(const TestbedPlan& plan) {
  CommandList list;
  add_core(list, plan);
  for (const SitePlan& site : plan.sites) {
    add_site(list, plan, site);
    for (const HostPlan& host : site.hosts) add_host(list, site, host);
  }
  for (const LinkPlan& link : plan.links) add_link(list, plan, link);
  return list.take();
}

Argv plug_command(const SitePlan& site, const HostPlan& host, bool in) {
  return words(fmt::format("ip -n {} link set {} {}", site.netns, host.port, in ? "up" : "down"));
}

Result<const SitePlan*> find_site(const TestbedPlan& plan, const std::string& name) {
  std::vector<std::string> names;
  for (const SitePlan& site : plan.sites) {
    if (site.name == name) return &site;
    names.push_back(site.name);
  }
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = fmt::format("the sites are {}", fmt::join(names, ", "));
  return fail(ErrorCode::usage, fmt::format("there is no site '{}'", name), std::move(hint));
}

Result<HostPlace> find_host(const TestbedPlan& plan, const std::string& name) {
  std::vector<std::string> names;
  for (const SitePlan& site : plan.sites) {
    for (const HostPlan& host : site.hosts) {
      if (host.name == name) return HostPlace{&site, &host};
      names.push_back(host.name);
    }
  }
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) hint = "'gantry testbed status' lists them";
  return fail(ErrorCode::usage, fmt::format("there is no host '{}'", name), std::move(hint));
}

}  // namespace gantry::testbed
