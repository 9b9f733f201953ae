#include "spec/grid_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/fd.hpp"
#include "model/decimal.hpp"
#include "model/quantity.hpp"
#include "spec/grid_access.hpp"
#include "spec/node_reader.hpp"

namespace gantry::spec {

namespace {

constexpr std::uint64_t kMaxSites = 10'000;
constexpr std::uint64_t kMaxHosts = 1'000'000;  ///< in the whole grid
constexpr std::uint64_t kMaxSlots = 100'000;    ///< of a host
constexpr std::uint64_t kMaxStreams = 10'000;
constexpr double kLeastSpeed = 1e-6;  ///< with less nothing would ever end
constexpr double kMostSpeed = 1e6;

constexpr std::array<std::string_view, 2> kGridKeys{"sites", "links"};
constexpr std::uint64_t kMaxPilots = 1000;
constexpr std::array<std::string_view, 27> kSiteKeys{
    "hosts",     "slots", "speed",   "memory",     "availability", "queue_wait", "lent_for",
    "depot",     "link",  "via",     "user",       "ssh_config",   "scratch",    "login",
    "partition", "queue", "account", "walltime",   "pilots",       "idle",       "mode",
    "nodes",     "jobs",  "rate",    "directives", "staged",       "agent"};
/// Of links that nobody described: an ordinary network, until files have gone over it.
constexpr double kAssumedBandwidth = 12.5e6;
constexpr std::array<std::string_view, 8> kHostKeys{
    "name", "count", "slots", "speed", "memory", "availability", "queue_wait", "lent_for"};
constexpr std::array<std::string_view, 8> kLinkKeys{"between", "bandwidth", "latency", "sharing",
                                                    "streams", "trace",     "ssh",     "probe"};

class GridFileReader {
 public:
  GridFileReader(const std::string& file, std::filesystem::path base_dir)
      : reader_(file), base_dir_(std::move(base_dir)) {}

  Result<Grid> read(const YamlNode& root) {
    if (!root.is_map()) {
      return reader_.error(root.mark(), "a grid file is a map with the key sites:",
                           "see docs/formats/grid.md for an example");
    }
    TRY(reader_.check_keys(root, kGridKeys, "the grid"));
    const YamlNode* sites = NodeReader::find(root, "sites");
    if (sites == nullptr)
      return reader_.error(root.mark(), "there are no 'sites'", "add sites: {lab: {hosts: 4}}");
    TRY(read_sites(*sites));
    if (const YamlNode* links = NodeReader::find(root, "links")) TRY(read_links(*links));
    TRY(check_routes());
    if (hosts_ == 0)
      return reader_.error(sites->mark(), "no site has a host", "add hosts: 4 to a site");
    return std::move(grid_);
  }

 private:
  Result<> read_sites(const YamlNode& node) {
    if (!node.is_map()) return reader_.wrong_type(node, "sites", "a map of names to sites");
    if (node.entries.size() > kMaxSites)
      return reader_.error(node.mark(), fmt::format("more than {} sites", kMaxSites));
    grid_.file = reader_.file();
    grid_.sites.push_back({std::string(kHomeSite), 0, {}, node.mark()});
    // Home first, wherever it stands in the file: links refer to it.
    for (const auto& [name, site] : node.entries)
      if (name.text == kHomeSite) TRY(read_site(name, site, 0));
    for (const auto& [name, site] : node.entries) {
      if (name.text == kHomeSite) continue;
      TRY(check_grid_name(reader_, name, "site"));
      grid_.sites.push_back({name.text, 0, {}, name.mark});
      TRY(read_site(name, site, static_cast<std::uint32_t>(grid_.sites.size() - 1)));
    }
    return {};
  }

  Result<> read_site(const SourceText& name, const YamlNode& node, std::uint32_t index) {
    if (!node.is_map()) return reader_.wrong_type(node, name.text, "a map like {hosts: 4}");
    TRY(reader_.check_keys(node, kSiteKeys, fmt::format("site '{}'", name.text)));
    if (const YamlNode* depot = NodeReader::find(node, "depot")) {
      if (index == 0)
        return reader_.error(depot->mark(), "home has no depot: all files are there",
                             "give the depot to another site");
      TRY_ASSIGN(grid_.sites[index].depot, bytes(*depot, "depot"));
    }
    TRY(read_site_access(reader_, node, base_dir_, grid_.sites[index]));
    GridHosts common;
    common.name = name.text + "-";
    TRY(read_host_keys(node, common));
    if (const YamlNode* hosts = NodeReader::find(node, "hosts"))
      TRY(read_hosts(*hosts, common, grid_.sites[index]));
    if (lends_by_jobs(grid_.sites[index].access))
      TRY(read_pilots(node, common, grid_.sites[index]));
    if (const YamlNode* link = NodeReader::find(node, "link")) {
      if (index == 0)
        return reader_.error(link->mark(), "home has no link to itself", "remove this 'link'");
      if (!link->is_map())
        return reader_.wrong_type(*link, "link", "a map like {bandwidth: 10MB/s}");
      if (const YamlNode* between = NodeReader::find(*link, "between")) {
        return reader_.error(between->mark(), "the link of a site joins it with home",
                             "move it to links: to join two other sites");
      }
      TRY(read_link(*link, 0, index));
    } else if (grid_.sites[index].access != SiteAccess::none) {
      grid_.links.push_back(
          {.from = 0, .to = index, .bandwidth = kAssumedBandwidth, .assumed = true});
      joined_.insert({0, index});
    }
    return {};
  }

  /// Jobs of a batch site: as many hosts, for as long as a job may take. Where each task is a job,
  /// they are one host with room for all of them.
  Result<> read_pilots(const YamlNode& node, GridHosts hosts, GridSite& site) {
    if (site.batch.jobs > 0) {
      hosts.name = site.name + "-jobs";
      hosts.slots_declared = true;
      hosts.slots = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(kMaxSlots, std::uint64_t{hosts.slots} * site.batch.jobs));
      return add_hosts(node, std::move(hosts), site);
    }
    TRY(reader_.read_count(node, "pilots", hosts.count, 1, kMaxPilots));
    // A node is a host, whichever job it belongs to: jobs of one node each are started sooner.
    std::uint32_t nodes = 1;
    TRY(reader_.read_count(node, "nodes", nodes, 1, kMaxPilots / hosts.count));
    hosts.count *= nodes;
    hosts.slots_declared = true;
    if (hosts.lent_for == Duration(0)) hosts.lent_for = site.batch.walltime;
    return add_hosts(node, std::move(hosts), site);
  }

  Result<> read_hosts(const YamlNode& node, const GridHosts& common, GridSite& site) {
    if (node.is_scalar()) {
      GridHosts hosts = common;
      TRY_ASSIGN(hosts.count, reader_.count<std::uint32_t>(node, "hosts", 0, kMaxHosts));
      return add_hosts(node, std::move(hosts), site);
    }
    if (!node.is_sequence())
      return reader_.wrong_type(node, "hosts", "a number or a list of hosts");
    for (const auto& item : node.items) {
      if (item.is_scalar()) {
        GridHosts host = common;
        TRY_ASSIGN(const auto text, reader_.text(item, "hosts"));
        TRY(check_grid_name(reader_, text, "host"));
        host.name = text.text;
        TRY(add_hosts(item, std::move(host), site));
        continue;
      }
      if (!item.is_map())
        return reader_.wrong_type(item, "hosts", "a name, or a map like {name: n1, speed: 2}");
      TRY(reader_.check_keys(item, kHostKeys, "a host"));
      GridHosts hosts = common;
      hosts.name += std::to_string(site.hosts.size() + 1);
      if (const YamlNode* name = NodeReader::find(item, "name")) {
        TRY_ASSIGN(const auto text, reader_.text(*name, "name"));
        TRY(check_grid_name(reader_, text, "host"));
        hosts.name = text.text;
      }
      TRY(reader_.read_count(item, "count", hosts.count, 1, kMaxHosts));
      TRY(read_host_keys(item, hosts));
      TRY(add_hosts(item, std::move(hosts), site));
    }
    return {};
  }

  Result<> add_hosts(const YamlNode& node, GridHosts hosts, GridSite& site) {
    hosts_ += hosts.count;
    if (hosts_ > kMaxHosts)
      return reader_.error(node.mark(), fmt::format("more than {} hosts", kMaxHosts));
    if (site.access == SiteAccess::ssh) TRY(check_machines(node, hosts, site));
    if (hosts.count > 0) site.hosts.push_back(std::move(hosts));
    return {};
  }

  /// Two agents in one folder of a machine would drive each other out.
  Result<> check_machines(const YamlNode& node, const GridHosts& hosts, const GridSite& site) {
    for (std::uint32_t i = 0; i < hosts.count; ++i) {
      const std::string name = host_name(hosts, i);
      const auto [at, is_new] =
          machines_.try_emplace({name, site.user, site.ssh_config, site.scratch}, site.name);
      if (is_new) continue;
      if (at->second == site.name)
        return reader_.error(node.mark(),
                             fmt::format("host '{}' appears in site '{}' twice", name, site.name),
                             "raise its slots: to run more tasks there");
      return reader_.error(
          node.mark(), fmt::format("host '{}' is used by site '{}' already", name, at->second),
          "name it in one site only, or give the sites different scratch: folders");
    }
    return {};
  }

  Result<> read_host_keys(const YamlNode& node, GridHosts& hosts) {
    TRY(reader_.read_count(node, "slots", hosts.slots, 1, kMaxSlots));
    if (NodeReader::find(node, "slots") != nullptr) hosts.slots_declared = true;
    TRY(reader_.read(node, "speed", hosts.speed));
    if (!(hosts.speed >= kLeastSpeed && hosts.speed <= kMostSpeed))
      return reader_.error(
          NodeReader::find(node, "speed")->mark(),
          hosts.speed > 0 ? fmt::format("a speed must be from {} to {}", kLeastSpeed, kMostSpeed)
                          : "a speed must be greater than 0",
          "1 is the speed that costs are given for; 2 is twice as fast");
    if (const YamlNode* memory = NodeReader::find(node, "memory")) {
      TRY_ASSIGN(hosts.memory, bytes(*memory, "memory"));
    }
    if (const YamlNode* trace = NodeReader::find(node, "availability")) {
      TRY_ASSIGN(hosts.availability, trace_file(*trace, "availability"));
    }
    TRY(reader_.read(node, "queue_wait", hosts.queue_wait));
    return reader_.read(node, "lent_for", hosts.lent_for);
  }

  Result<> read_links(const YamlNode& node) {
    if (!node.is_sequence())
      return reader_.wrong_type(node, "links",
                                "a list like [{between: [a, b], bandwidth: 10MB/s}]");
    for (const auto& item : node.items) {
      if (!item.is_map())
        return reader_.wrong_type(item, "links", "a map like {between: [a, b], bandwidth: 10MB/s}");
      const YamlNode* between = NodeReader::find(item, "between");
      if (between == nullptr)
        return reader_.error(item.mark(), "this link does not say what it joins",
                             "add between: [SITE, SITE]");
      if (!between->is_sequence() || between->items.size() != 2)
        return reader_.wrong_type(*between, "between", "a list of two sites");
      TRY_ASSIGN(const auto from,
                 reader_.index_of(between->items[0], "between", grid_.sites, "site"));
      TRY_ASSIGN(const auto to,
                 reader_.index_of(between->items[1], "between", grid_.sites, "site"));
      if (from == to) return reader_.error(between->mark(), "a link joins two different sites");
      TRY(read_link(item, from, to));
    }
    return {};
  }

  Result<> read_link(const YamlNode& node, std::uint32_t from, std::uint32_t to) {
    TRY(reader_.check_keys(node, kLinkKeys, "a link"));
    GridLink link;
    link.from = std::min(from, to);
    link.to = std::max(from, to);
    const YamlNode* bandwidth = NodeReader::find(node, "bandwidth");
    if (bandwidth == nullptr)
      return reader_.error(node.mark(), "this link has no 'bandwidth'", "add bandwidth: 10MB/s");
    const auto rate = bandwidth->is_scalar() ? parse_bandwidth(bandwidth->text()) : std::nullopt;
    if (!rate)
      return reader_.wrong_type(*bandwidth, "bandwidth", "an amount like 10 MB/s or 100 Mbit/s");
    link.bandwidth = *rate;
    TRY(reader_.read(node, "latency", link.latency));
    if (const YamlNode* sharing = NodeReader::find(node, "sharing")) {
      TRY_ASSIGN(const auto text, reader_.text(*sharing, "sharing"));
      if (text.text != "fifo" && text.text != "fair")
        return reader_.wrong_type(*sharing, "sharing", "'fifo' or 'fair'");
      link.sharing = text.text == "fair" ? LinkSharing::fair : LinkSharing::fifo;
    }
    TRY(reader_.read_count(node, "streams", link.streams, 1, kMaxStreams));
    if (const YamlNode* trace = NodeReader::find(node, "trace")) {
      TRY_ASSIGN(link.trace, trace_file(*trace, "trace"));
    }
    if (const YamlNode* probe = NodeReader::find(node, "probe")) {
      if (link.from != 0)
        return reader_.error(probe->mark(), "only links to home are probed", "remove this 'probe'");
      TRY_ASSIGN(link.probe_after, probe_after(*probe));
    }
    if (const YamlNode* logins = NodeReader::find(node, "ssh"))
      TRY(read_logins(reader_, *logins, grid_, link));
    if (!joined_.insert({link.from, link.to}).second) {
      return reader_.error(node.mark(),
                           fmt::format("a second link between '{}' and '{}'",
                                       grid_.sites[link.from].name, grid_.sites[link.to].name),
                           "raise 'streams' or 'bandwidth' of the first");
    }
    grid_.links.push_back(std::move(link));
    return {};
  }

  /// Every site with hosts can be reached from home.
  Result<> check_routes() const {
    std::vector<bool> reached(grid_.sites.size());
    reached[0] = true;
    for (bool more = true; more;) {
      more = false;
      for (const auto& link : grid_.links) {
        if (reached[link.from] == reached[link.to]) continue;
        reached[link.from] = reached[link.to] = more = true;
      }
    }
    for (std::size_t i = 0; i < reached.size(); ++i) {
      if (reached[i]) continue;
      return reader_.error(grid_.sites[i].mark,
                           fmt::format("no route from home to site '{}'", grid_.sites[i].name),
                           "add link: {bandwidth: 10MB/s} to it");
    }
    return {};
  }

  /// 0: never.
  Result<Duration> probe_after(const YamlNode& node) const {
    if (node.is_scalar() && node.text() == "never") return Duration(0);
    const auto time = reader_.duration(node, "probe");
    if (!time || *time < std::chrono::seconds(1))
      return reader_.wrong_type(node, "probe", "a time from 1s on, or 'never'");
    return *time;
  }

  Result<std::uint64_t> bytes(const YamlNode& node, std::string_view key) const {
    const auto amount = node.is_scalar() ? parse_memory(node.text()) : std::nullopt;
    if (!amount || *amount == 0)
      return reader_.wrong_type(node, key, "an amount like 500MB or 2 GiB");
    return *amount;
  }

  Result<TraceFile> trace_file(const YamlNode& node, std::string_view key) const {
    TRY_ASSIGN(const auto text, reader_.text(node, key));
    const auto path = base_dir_ / text.text;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored))
      return reader_.error(text.mark, fmt::format("there is no file {}", path.string()));
    return path.string();
  }

  NodeReader reader_;
  std::filesystem::path base_dir_;
  Grid grid_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> joined_;
  /// Name, user, configuration of ssh and scratch folder: the site.
  std::map<std::array<std::string, 4>, std::string> machines_;
  std::uint64_t hosts_ = 0;
};

}  // namespace

Result<Grid> load_grid(const std::filesystem::path& path) {
  if (path.empty())
    return fail(ErrorCode::usage, "the name of the grid file is empty",
                "give the path of a grid file");
  auto text = read_file(path, kMaxYamlBytes);
  if (!text) return fail(ErrorCode::usage, text.error().message, "give the path of a grid file");
  return parse_grid(*text, path.string(), std::filesystem::absolute(path).parent_path());
}

Result<Grid> parse_grid(std::string_view text, const std::string& file_name,
                        const std::filesystem::path& base_dir) {
  TRY_ASSIGN(const auto root, parse_yaml(text, file_name));
  return GridFileReader(file_name, base_dir).read(root);
}

}  // namespace gantry::spec
