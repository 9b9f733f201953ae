#include "spec/testbed_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/fd.hpp"
#include "model/quantity.hpp"
#include "spec/node_reader.hpp"

namespace gantry::spec {

namespace {

constexpr std::size_t kMaxTestbedSites = 60;  ///< as many as there are addresses for links
constexpr std::uint64_t kMaxSiteHosts = 200;  ///< one address each
constexpr std::uint64_t kMaxHostSlots = 1'000;
constexpr double kLeastQuota = 0.01;  ///< the kernel's least quota is 1 ms in 100
constexpr double kLeastBandwidth = 1000;

constexpr std::array<std::string_view, 4> kTestbedKeys{"name", "network", "sites", "links"};
constexpr std::array<std::string_view, 5> kTestbedSiteKeys{"via", "hosts", "slots", "speed",
                                                           "link"};
constexpr std::array<std::string_view, 2> kTestbedHostKeys{"name", "speed"};
constexpr std::array<std::string_view, 2> kTestbedLinkKeys{"bandwidth", "latency"};
constexpr std::array<std::string_view, 3> kSiteLinkKeys{"between", "bandwidth", "latency"};

class TestbedFileReader {
 public:
  explicit TestbedFileReader(const std::string& file) : reader_(file) {}

  Result<TestbedSpec> read(const YamlNode& root) {
    if (!root.is_map()) {
      return reader_.error(root.mark(), "a testbed file is a map with the key sites:",
                           "see docs/formats/testbed.md for an example");
    }
    TRY(reader_.check_keys(root, kTestbedKeys, "the testbed"));
    testbed_.name = "testbed";
    if (const YamlNode* name = NodeReader::find(root, "name")) {
      TRY_ASSIGN(const auto text, reader_.text(*name, "name"));
      TRY(check_name(text, "testbed"));
      testbed_.name = text.text;
    }
    if (const YamlNode* network = NodeReader::find(root, "network")) TRY(read_network(*network));
    const YamlNode* sites = NodeReader::find(root, "sites");
    if (sites == nullptr)
      return reader_.error(root.mark(), "there are no 'sites'",
                           "add sites: {lab: {hosts: 2, link: {bandwidth: 8 MB/s}}}");
    if (!sites->is_map() || sites->entries.empty())
      return reader_.wrong_type(*sites, "sites", "a map of names to sites");
    if (sites->entries.size() > kMaxTestbedSites)
      return reader_.error(sites->mark(), fmt::format("more than {} sites", kMaxTestbedSites));
    for (const auto& [name, site] : sites->entries) TRY(read_site(name, site));
    if (const YamlNode* links = NodeReader::find(root, "links")) TRY(read_links(*links));
    return std::move(testbed_);
  }

 private:
  /// Names become names of devices, namespaces and hosts.
  Result<> check_name(const SourceText& name, std::string_view what) const {
    if (is_testbed_name(name.text)) return {};
    return reader_.error(
        name.mark, fmt::format("'{}' cannot be the name of a {}", name.text, what),
        fmt::format("use a lower-case letter, then lower-case letters and digits, at most {}",
                    kMaxTestbedName));
  }

  /// Sites, their hosts, and home share one set of names: each is a name for ssh or for a link.
  Result<> take_name(const SourceText& name, std::string_view what) {
    TRY(check_name(name, what));
    if (name.text == "home" || name.text == "core")
      return reader_.error(name.mark, fmt::format("'{}' is taken", name.text),
                           "'home' is this machine, 'core' is what joins the sites");
    if (!names_.insert(name.text).second)
      return reader_.error(name.mark, fmt::format("a second '{}'", name.text),
                           "sites and hosts need different names");
    return {};
  }

  /// 10.231.0.0/16
  Result<> read_network(const YamlNode& node) {
    TRY_ASSIGN(const auto text, reader_.text(node, "network"));
    constexpr std::string_view kBegin = "10.";
    constexpr std::string_view kEnd = ".0.0/16";
    std::string_view middle = text.text;
    if (middle.starts_with(kBegin) && middle.ends_with(kEnd) &&
        middle.size() > kBegin.size() + kEnd.size()) {
      middle = middle.substr(kBegin.size(), middle.size() - kBegin.size() - kEnd.size());
      unsigned number = 0;
      const auto [end, status] =
          std::from_chars(middle.data(), middle.data() + middle.size(), number);
      if (status == std::errc{} && end == middle.data() + middle.size() && number <= 255) {
        testbed_.network = fmt::format("10.{}", number);
        return {};
      }
    }
    return reader_.wrong_type(node, "network", "one like 10.231.0.0/16");
  }

  Result<> read_site(const SourceText& name, const YamlNode& node) {
    TRY(take_name(name, "site"));
    if (!node.is_map())
      return reader_.wrong_type(node, name.text, "a map like {hosts: 2, link: {...}}");
    TRY(reader_.check_keys(node, kTestbedSiteKeys, fmt::format("site '{}'", name.text)));
    TestbedSite site;
    site.name = name.text;
    if (const YamlNode* via = NodeReader::find(node, "via")) {
      TRY_ASSIGN(site.via, read_via(*via));
    }
    TRY(reader_.read_count(node, "slots", site.slots, 1, kMaxHostSlots));
    double speed = 1;
    TRY(read_speed(node, speed));
    const YamlNode* hosts = NodeReader::find(node, "hosts");
    if (hosts == nullptr)
      return reader_.error(name.mark, fmt::format("site '{}' has no 'hosts'", name.text),
                           "add hosts: 2");
    TRY(read_hosts(*hosts, name, speed, site));
    const YamlNode* link = NodeReader::find(node, "link");
    if (link == nullptr)
      return reader_.error(name.mark, fmt::format("site '{}' has no 'link'", name.text),
                           "add link: {bandwidth: 8 MB/s, latency: 20ms}");
    TRY(read_link(*link, site));
    testbed_.sites.push_back(std::move(site));
    return {};
  }

  Result<> read_links(const YamlNode& node) {
    constexpr std::string_view kExample = "a list like [{between: [s1, s2], bandwidth: 50 MB/s}]";
    if (!node.is_sequence()) return reader_.wrong_type(node, "links", kExample);
    std::set<std::pair<std::size_t, std::size_t>> known;
    for (const YamlNode& item : node.items) {
      if (!item.is_map()) return reader_.wrong_type(item, "links", kExample);
      TRY(reader_.check_keys(item, kSiteLinkKeys, "a link"));
      const YamlNode* between = NodeReader::find(item, "between");
      if (between == nullptr || !between->is_sequence() || between->items.size() != 2)
        return reader_.wrong_type(item, "links", kExample);
      TRY_ASSIGN(const std::size_t one,
                 reader_.index_of(between->items[0], "between", testbed_.sites, "site"));
      TRY_ASSIGN(const std::size_t other,
                 reader_.index_of(between->items[1], "between", testbed_.sites, "site"));
      if (one == other || !known.insert(std::minmax(one, other)).second)
        return reader_.error(between->mark(),
                             "a link joins two sites, and two sites have at most one");
      TestbedLink link{one, other};
      TRY(read_rate(item, link.bandwidth, link.latency));
      testbed_.links.push_back(link);
    }
    return {};
  }

  [[nodiscard]] Result<SiteVia> read_via(const YamlNode& node) const {
    TRY_ASSIGN(const auto text, reader_.text(node, "via"));
    for (const SiteVia via : {SiteVia::ssh, SiteVia::slurm, SiteVia::sge})
      if (text.text == name_of(via)) return via;
    return reader_.wrong_type(node, "via", "ssh, slurm or sge");
  }

  [[nodiscard]] Result<> read_speed(const YamlNode& map, double& speed) const {
    TRY(reader_.read(map, "speed", speed));
    if (speed >= kLeastQuota && speed <= 1) return {};
    return reader_.error(NodeReader::find(map, "speed")->mark(),
                         fmt::format("'speed' must be a number from {} to 1", kLeastQuota),
                         "it is the part of a core that each slot has");
  }

  Result<> read_hosts(const YamlNode& node, const SourceText& site_name, double speed,
                      TestbedSite& site) {
    if (node.is_scalar()) {
      TRY_ASSIGN(const auto count, reader_.count(node, "hosts", 1, kMaxSiteHosts));
      for (std::uint64_t i = 1; i <= count; ++i) {
        SourceText name{fmt::format("{}h{}", site_name.text, i), site_name.mark};
        TRY(take_name(name, "host"));
        site.hosts.push_back({std::move(name.text), speed});
      }
      return {};
    }
    if (!node.is_sequence() || node.items.empty() || node.items.size() > kMaxSiteHosts)
      return reader_.wrong_type(node, "hosts",
                                fmt::format("a number or a list of 1 to {} hosts", kMaxSiteHosts));
    for (const auto& item : node.items) {
      TestbedHost host{"", speed};
      SourceText name{item.is_scalar()
                          ? item.text()
                          : fmt::format("{}h{}", site_name.text, site.hosts.size() + 1),
                      item.mark()};
      if (!item.is_scalar()) {
        if (!item.is_map())
          return reader_.wrong_type(item, "hosts", "a name, or a map like {name: n1, speed: 0.5}");
        TRY(reader_.check_keys(item, kTestbedHostKeys, "a host"));
        TRY(reader_.read(item, "name", name));
        TRY(read_speed(item, host.speed));
      }
      TRY(take_name(name, "host"));
      host.name = name.text;
      site.hosts.push_back(std::move(host));
    }
    return {};
  }

  [[nodiscard]] Result<> read_link(const YamlNode& node, TestbedSite& site) const {
    if (!node.is_map())
      return reader_.wrong_type(node, "link", "a map like {bandwidth: 8 MB/s, latency: 20ms}");
    TRY(reader_.check_keys(node, kTestbedLinkKeys, "a link"));
    return read_rate(node, site.bandwidth, site.latency);
  }

  [[nodiscard]] Result<> read_rate(const YamlNode& node, double& rate_of, Duration& delay) const {
    const YamlNode* bandwidth = NodeReader::find(node, "bandwidth");
    if (bandwidth == nullptr)
      return reader_.error(node.mark(), "this link has no 'bandwidth'", "add bandwidth: 8 MB/s");
    const auto rate = bandwidth->is_scalar() ? parse_bandwidth(bandwidth->text()) : std::nullopt;
    if (!rate || *rate < kLeastBandwidth)
      return reader_.wrong_type(*bandwidth, "bandwidth",
                                "an amount like 8 MB/s or 100 Mbit/s, 1 kB/s at least");
    rate_of = *rate;
    TRY(reader_.read(node, "latency", delay));
    if (delay > std::chrono::seconds(10))
      return reader_.error(NodeReader::find(node, "latency")->mark(), "a latency is 10s at most");
    return {};
  }

  NodeReader reader_;
  TestbedSpec testbed_;
  std::set<std::string> names_;
};

}  // namespace

Result<TestbedSpec> load_testbed(const std::filesystem::path& path) {
  auto text = read_file(path, kMaxYamlBytes);
  if (!text) return fail(ErrorCode::usage, text.error().message, "give the path of a testbed file");
  return parse_testbed(*text, path.string());
}

Result<TestbedSpec> parse_testbed(std::string_view text, const std::string& file_name) {
  TRY_ASSIGN(const auto root, parse_yaml(text, file_name));
  return TestbedFileReader(file_name).read(root);
}

}  // namespace gantry::spec
