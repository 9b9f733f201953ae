#include "testbed/grid_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gantry::testbed {

namespace {

/// For YAML: in single quotes, which are doubled inside.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("''") : std::string(1, c);
  return result + "'";
}

std::string rate_text(double rate) {
  constexpr double kMega = 1e6;
  if (rate >= kMega && std::fmod(rate, kMega / 10) == 0)
    return fmt::format("{:g} MB/s", rate / kMega);
  return fmt::format("{:.0f} B/s", rate);
}

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

std::string hosts_of(const SitePlan& site) {
  const bool alike = std::ranges::all_of(
      site.hosts, [&](const HostPlan& host) { return host.speed == site.hosts[0].speed; });
  if (site.head) {  // which of them a job gets nobody knows
    const auto slowest = std::ranges::min_element(site.hosts, {}, &HostPlan::speed);
    return fmt::format("    pilots: {}\n    speed: {}\n", site.hosts.size(), slowest->speed);
  }
  std::string list;
  for (const auto& host : site.hosts) {
    if (!list.empty()) list += ", ";
    list += alike ? host.name : fmt::format("{{ name: {}, speed: {} }}", host.name, host.speed);
  }
  return fmt::format("    hosts: [{}]\n{}", list,
                     alike ? fmt::format("    speed: {}\n", site.hosts[0].speed) : "");
}

}  // namespace

std::string grid_text(const TestbedPlan& plan, const TestbedFiles& files) {
  std::string text =
      fmt::format("# The testbed '{}', made by gantry testbed up.\nsites:\n", plan.name);
  for (const auto& site : plan.sites) {
    text += fmt::format("  {}:\n    via: {}\n", site.name, name_of(site.via));
    if (site.head) text += fmt::format("    login: {}\n", site.head->name);
    if (site.via == SiteVia::slurm) text += "    partition: debug\n";
    if (site.via == SiteVia::sge) text += "    queue: all.q\n";
    text += hosts_of(site);
    text += fmt::format(
        "    slots: {}\n    scratch: {}\n    ssh_config: {}\n"
        "    link: {{ bandwidth: {}, latency: {:g}ms }}\n",
        site.slots, (home_of_root() / "gantry").string(), quoted(files.ssh_config().string()),
        rate_text(site.bandwidth), milliseconds(site.latency));
  }
  if (!plan.links.empty()) text += "links:\n";
  for (const LinkPlan& link : plan.links) {
    const SitePlan& one = plan.sites[link.one.site];
    const SitePlan& other = plan.sites[link.other.site];
    text += fmt::format(
        "  - between: [{0}, {1}]\n    bandwidth: {2}\n    latency: {3:g}ms\n"
        "    ssh: {{ {0}: {4}, {1}: {5} }}\n",
        one.name, other.name, rate_text(link.bandwidth), milliseconds(link.latency),
        login_of(other).name, login_of(one).name);
  }
  return text;
}

}  // namespace gantry::testbed
