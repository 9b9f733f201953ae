#include "testbed/testbed_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/file.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/characters.hpp"
#include "base/fd.hpp"
#include "base/hash.hpp"
#include "testbed/system_tool.hpp"

namespace gantry::testbed {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kClaims = "/run/gantry-testbed";
constexpr int kDescriptionVersion = 1;

/// A link to the testbed's description, beside the folder that hosts see.
fs::path claim_of(const std::string& testbed) {
  return fs::path(kClaims) / (testbed + ".json");
}

tl::unexpected<Error> cannot(std::string_view what, const fs::path& path,
                             const std::error_code& error) {
  return fail(ErrorCode::io, fmt::format("cannot {} {}: {}", what, path.string(), error.message()));
}

/// The file may have been changed by anybody, and its names lead to what root removes.
bool is_sound(const TestbedSpec& spec) {
  const auto is_good_host = [](const TestbedHost& host) { return is_testbed_name(host.name); };
  const auto is_good_site = [&](const TestbedSite& site) {
    return is_testbed_name(site.name) && !site.hosts.empty() &&
           std::ranges::all_of(site.hosts, is_good_host);
  };
  const bool is_network = spec.network.starts_with("10.") && spec.network.size() <= 6 &&
                          std::ranges::all_of(spec.network.substr(3), is_digit);
  const auto is_good_link = [&](const auto& link) {
    return link.one < spec.sites.size() && link.other < spec.sites.size();
  };
  return is_testbed_name(spec.name) && is_network &&
         std::ranges::all_of(spec.sites, is_good_site) &&
         std::ranges::all_of(spec.links, is_good_link);
}

/// "10.231" of every testbed here, and of every route of this machine.
Result<std::set<std::string>> used_networks() {
  std::set<std::string> used;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kClaims, error)) {
    const auto text = read_file(entry.path(), 1U << 20U);
    if (!text) continue;
    if (const auto spec = parse_description(*text, entry.path())) used.insert(spec->network);
  }
  TRY_ASSIGN(const std::string routes, run_tool({"ip", "-4", "route", "show"}));
  std::istringstream lines(routes);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("10.")) continue;
    used.insert(line.substr(0, line.find('.', 3)));
  }
  return used;
}

}  // namespace

Result<> make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return cannot("make", path, error);
  return {};
}

fs::path inner_folder(const std::string& testbed) {
  return fs::path(kClaims) / testbed;
}

fs::path home_of_root() {
  const passwd* entry = ::getpwuid(0);
  return entry == nullptr ? "/root" : entry->pw_dir;
}

std::string description_text(const TestbedSpec& spec) {
  json sites = json::array();
  for (const auto& site : spec.sites) {
    json hosts = json::array();
    for (const auto& host : site.hosts)
      hosts.push_back({{"name", host.name}, {"speed", host.speed}});
    sites.push_back({{"name", site.name},
                     {"via", std::string(name_of(site.via))},
                     {"slots", site.slots},
                     {"bandwidth", site.bandwidth},
                     {"latency_ns", site.latency.count()},
                     {"hosts", hosts}});
  }
  json links = json::array();
  for (const auto& link : spec.links)
    links.push_back({{"one", link.one},
                     {"other", link.other},
                     {"bandwidth", link.bandwidth},
                     {"latency_ns", link.latency.count()}});
  const json all = {{"version", kDescriptionVersion},
                    {"name", spec.name},
                    {"network", spec.network},
                    {"sites", sites},
                    {"links", links}};
  return all.dump(1) + "\n";
}

Result<TestbedSpec> parse_description(const std::string& text, const std::string& file) {
  try {
    const json all = json::parse(text);
    if (all.at("version") != kDescriptionVersion)
      return fail(ErrorCode::version, fmt::format("{} was written by another gantry", file));
    TestbedSpec spec{all.at("name"), all.at("network"), {}};
    for (const json& from : all.at("sites")) {
      TestbedSite site;
      site.name = from.at("name");
      for (const SiteVia via : {SiteVia::ssh, SiteVia::slurm, SiteVia::sge})
        if (from.at("via").get<std::string>() == name_of(via)) site.via = via;
      site.slots = from.at("slots");
      site.bandwidth = from.at("bandwidth");
      site.latency = Duration{from.at("latency_ns").get<Duration::rep>()};
      for (const json& host : from.at("hosts"))
        site.hosts.push_back({host.at("name"), host.at("speed")});
      spec.sites.push_back(std::move(site));
    }
    for (const json& from : all.value("links", json::array()))
      spec.links.push_back({from.at("one"), from.at("other"), from.at("bandwidth"),
                            Duration{from.at("latency_ns").get<Duration::rep>()}});
    if (!is_sound(spec))
      return fail(ErrorCode::corrupt, fmt::format("{} has names that no testbed has", file));
    return spec;
  } catch (const json::exception& error) {
    return fail(ErrorCode::corrupt, fmt::format("{} is damaged: {}", file, error.what()),
                "'gantry testbed down NAME' removes a testbed by its name");
  }
}

Result<TestbedSpec> claim_testbed(TestbedSpec spec, const TestbedFiles& files) {
  TRY(make_folder(kClaims));
  TRY_ASSIGN(const UniqueFd lock, open_file(fs::path(kClaims) / "lock", O_RDWR | O_CREAT, 0600));
  if (::flock(lock.get(), LOCK_EX) != 0) return fail_errno("flock");
  if (const auto folder = folder_of_testbed(spec.name); !folder.empty())
    return fail(
        ErrorCode::busy,
        fmt::format("a testbed named '{}' is up; its folder is {}", spec.name, folder.string()),
        fmt::format(
            "'gantry testbed down {}' takes it down; name: in the file gives this one another name",
            spec.name));
  TRY_ASSIGN(const auto used, used_networks());
  const auto is_used = [&](const std::string& network) { return used.contains(network); };
  if (spec.network.empty()) {
    spec.network = choose_network(hash_bytes(spec.name).low, is_used);
    if (spec.network.empty())
      return fail(ErrorCode::busy, "every network from 10.200 to 10.254 is in use",
                  "take other testbeds down, or give one with network: 10.N.0.0/16");
  } else if (is_used(spec.network)) {
    return fail(ErrorCode::busy,
                fmt::format("the network {}.0.0/16 is in use on this machine", spec.network),
                "give another, or none: then one is chosen");
  }
  TRY(write_file_atomic(files.description(), description_text(spec)));
  std::error_code error;
  fs::create_symlink(files.description(), claim_of(spec.name), error);
  if (error) return cannot("make", claim_of(spec.name), error);
  TRY(make_folder(inner_folder(spec.name)));
  return spec;
}

fs::path folder_of_testbed(const std::string& testbed) {
  std::error_code error;
  const fs::path description = fs::read_symlink(claim_of(testbed), error);
  return error ? fs::path() : description.parent_path();
}

std::string other_testbeds_text() {
  std::string list;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(kClaims, error)) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().stem().string();
    list += fmt::format("{}{} (--dir {})", list.empty() ? "up on this machine: " : ", ", name,
                        folder_of_testbed(name).string());
  }
  return list;
}

Result<> release_testbed(const std::string& testbed) {
  std::error_code error;
  fs::remove(inner_folder(testbed), error);
  if (error) return cannot("remove", inner_folder(testbed), error);
  fs::remove(claim_of(testbed), error);
  if (error) return cannot("remove", claim_of(testbed), error);
  return {};
}

Result<> make_folders(const TestbedPlan& plan, const TestbedFiles& files) {
  TRY(make_folder(files.dir / "links"));
  for (const auto& site : plan.sites) {
    const fs::path tmp = files.site(site.name) / "tmp";
    TRY(make_folder(files.site(site.name) / "home"));
    TRY(make_folder(tmp));
    std::error_code error;
    fs::permissions(files.site(site.name) / "home", fs::perms::owner_all, error);
    if (!error) fs::permissions(tmp, fs::perms::all | fs::perms::sticky_bit, error);
    if (error) return cannot("set permissions of", tmp, error);
  }
  for (const auto& [site, host] : all_hosts(plan)) TRY(make_folder(files.host(host->name)));
  return {};
}

bool remove_half_written(const TestbedFiles& files) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(files.dir, error)) {
    const std::string name = entry.path().filename().string();
    for (const auto& file : {files.description(), files.grid(), files.ssh_config(),
                             files.known_hosts(), files.hosts_file()})
      if (name.starts_with(file.filename().string() + ".tmp")) found.push_back(entry.path());
  }
  for (const auto& path : found) fs::remove(path, error);
  return !found.empty();
}

Result<> remove_files(const TestbedFiles& files) {
  std::error_code error;
  remove_half_written(files);
  const fs::path public_key = files.key().string() + ".pub";
  // The description last: as long as it is there, `down` can be tried again.
  for (const auto& path : {files.grid(), files.ssh_config(), files.known_hosts(), files.key(),
                           public_key, files.dir / "hosts", files.dir / "sites",
                           files.dir / "links", files.hosts_file(), files.description()}) {
    fs::remove_all(path, error);
    if (error) return cannot("remove", path, error);
  }
  fs::remove(files.dir, error);  // stays when there is more in it
  return {};
}

}  // namespace gantry::testbed
