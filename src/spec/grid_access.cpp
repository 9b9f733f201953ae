#include "spec/grid_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/ssh_text.hpp"

namespace gantry::spec {

namespace {

constexpr std::size_t kMaxText = 1000;
constexpr std::size_t kMaxDirectives = 100;
constexpr std::string_view kDefaultScratch = "~/.gantry-site";
constexpr std::string_view kThisMachine = "local";
constexpr std::uint32_t kDefaultJobs = 100;
constexpr std::uint64_t kMaxJobs = 100'000;
constexpr double kLeastRate = 0.01;
constexpr double kMostRate = 100;

/// Of one line, and not too long.
bool is_plain(std::string_view text) {
  return text.size() <= kMaxText && std::ranges::all_of(text, [](char c) {
           return static_cast<unsigned char>(c) >= ' ' && c != 127;
         });
}

/// Text that goes to other programs as it is: of one line, and never taken for an option.
Result<std::string> plain_text(const NodeReader& reader, const YamlNode& node,
                               std::string_view key) {
  TRY_ASSIGN(const auto text, reader.text(node, key));
  if (text.text.empty() || !is_plain(text.text) || text.text.starts_with('-'))
    return reader.error(text.mark, fmt::format("'{}' cannot be used as '{}'", text.text, key));
  return text.text;
}

Result<> read_ssh_keys(const NodeReader& reader, const YamlNode& node,
                       const std::filesystem::path& base_dir, GridSite& site) {
  for (const auto& [key, value] :
       {std::pair("user", &site.user), std::pair("ssh_config", &site.ssh_config),
        std::pair("scratch", &site.scratch), std::pair("agent", &site.agent)}) {
    const YamlNode* given = NodeReader::find(node, key);
    if (given == nullptr) continue;
    if (site.access == SiteAccess::none)
      return reader.error(given->mark(), fmt::format("'{}' needs 'via'", key),
                          fmt::format("add via: ssh to site '{}'", site.name));
    TRY_ASSIGN(*value, plain_text(reader, *given, key));
  }
  if (!site.ssh_config.empty() && !site.ssh_config.starts_with('~'))
    site.ssh_config = (base_dir / site.ssh_config).string();
  if (!site.agent.empty()) site.agent = (base_dir / site.agent).string();
  if (!site.scratch.empty() && !site.scratch.starts_with('/') && !site.scratch.starts_with("~/"))
    return reader.error(NodeReader::find(node, "scratch")->mark(),
                        "a scratch folder begins with / or ~/");
  return {};
}

/// From files here to the same files there.
Result<> read_staged(const NodeReader& reader, const YamlNode& node,
                     const std::filesystem::path& base_dir, GridSite& site) {
  const YamlNode* staged = NodeReader::find(node, "staged");
  if (staged == nullptr) return {};
  if (site.access == SiteAccess::none)
    return reader.error(staged->mark(), "'staged' needs 'via'",
                        fmt::format("add via: ssh to site '{}'", site.name));
  if (!staged->is_map())
    return reader.wrong_type(*staged, "staged", "a map like {data/genome.fa: /datasets/genome.fa}");
  for (const auto& [here, value] : staged->entries) {
    TRY_ASSIGN(const std::string there, plain_text(reader, value, "staged"));
    const std::filesystem::path path(there);
    if (!there.starts_with('/') || path.lexically_normal() != path || !path.has_filename())
      return reader.error(value.mark(),
                          fmt::format("'{}' is not an absolute path without '.' and '..'", there),
                          "write where the file is there, like /datasets/genome.fa");
    auto file = (base_dir / here.text).lexically_normal();
    if (!file.has_filename()) file = file.parent_path();  // a/folder/
    site.staged.emplace_back(file.string(), there);
  }
  return {};
}

/// Each is one option, perhaps with its value behind a space.
Result<> read_directives(const NodeReader& reader, const YamlNode& node, GridSite& site) {
  if (!node.is_sequence() || node.items.size() > kMaxDirectives)
    return reader.wrong_type(node, "directives", "a list of options like [--mem=4G]");
  for (const auto& item : node.items) {
    TRY_ASSIGN(const auto text, reader.text(item, "directives"));
    if (!text.text.starts_with('-') || text.text.size() < 2 || !is_plain(text.text))
      return reader.error(text.mark,
                          fmt::format("'{}' is not an option of {}", text.text,
                                      site.access == SiteAccess::slurm ? "sbatch" : "qsub"),
                          "write it as on the command line, like --constraint=fast");
    site.batch.directives.push_back(text.text);
  }
  return {};
}

Result<> refuse_batch_keys(const NodeReader& reader, const YamlNode& node, const GridSite& site) {
  for (const char* key : {"login", "partition", "queue", "account", "walltime", "mode", "pilots",
                          "nodes", "idle", "jobs", "rate", "directives"})
    if (const YamlNode* given = NodeReader::find(node, key))
      return reader.error(given->mark(), fmt::format("'{}' needs a batch system", key),
                          fmt::format("add via: slurm or via: sge to site '{}'", site.name));
  return {};
}

/// Whether tasks become jobs, and how many of them.
Result<> read_job_mode(const NodeReader& reader, const YamlNode& node, GridSite& site) {
  bool by_jobs = false;
  if (const YamlNode* mode = NodeReader::find(node, "mode")) {
    TRY_ASSIGN(const auto text, reader.text(*mode, "mode"));
    by_jobs = text.text == "jobs";
    if (!by_jobs && text.text != "pilots")
      return reader.wrong_type(*mode, "mode", "'pilots' or 'jobs'");
  }
  const auto refuse = [&](const char* key, const char* hint) -> Result<> {
    const YamlNode* given = NodeReader::find(node, key);
    if (given == nullptr) return {};
    return reader.error(
        given->mark(),
        fmt::format("'{}' does not apply in mode '{}'", key, by_jobs ? "jobs" : "pilots"), hint);
  };
  if (!by_jobs) {
    for (const char* key : {"jobs", "rate"})
      TRY(refuse(key, "add mode: jobs if each task is to be a job"));
    return {};
  }
  for (const char* key : {"pilots", "nodes", "idle"})
    TRY(refuse(key, "say jobs: 100 for how many jobs may be in the queue at once"));
  site.batch.jobs = kDefaultJobs;
  TRY(reader.read_count(node, "jobs", site.batch.jobs, 1, kMaxJobs));
  if (const YamlNode* rate = NodeReader::find(node, "rate")) {
    TRY_ASSIGN(site.batch.rate, reader.number(*rate, "rate"));
    if (!(site.batch.rate >= kLeastRate && site.batch.rate <= kMostRate))
      return reader.wrong_type(*rate, "rate", "submissions per second, from 0.01 to 100");
  }
  return {};
}

Result<> read_batch_keys(const NodeReader& reader, const YamlNode& node, GridSite& site) {
  const bool is_slurm = site.access == SiteAccess::slurm;
  if (const YamlNode* hosts = NodeReader::find(node, "hosts"))
    return reader.error(hosts->mark(), "a batch system chooses its hosts itself",
                        "say pilots: 2 for how many jobs of one host each there may be");
  if (const YamlNode* login = NodeReader::find(node, "login")) {
    TRY_ASSIGN(const auto host, reader.text(*login, "login"));
    TRY(check_grid_name(reader, host, "host"));
    if (host.text != kThisMachine) site.batch.login = host.text;
  }
  TRY(read_job_mode(reader, node, site));
  const char* queue = is_slurm ? "partition" : "queue";
  if (const YamlNode* other = NodeReader::find(node, is_slurm ? "queue" : "partition"))
    return reader.error(other->mark(), is_slurm ? "Slurm has partitions" : "Grid Engine has queues",
                        fmt::format("say {}: NAME", queue));
  for (const auto& [key, value] :
       {std::pair(queue, &site.batch.queue), std::pair("account", &site.batch.account)}) {
    const YamlNode* given = NodeReader::find(node, key);
    if (given == nullptr) continue;
    TRY_ASSIGN(*value, plain_text(reader, *given, key));
    if (value->find(' ') != std::string::npos)
      return reader.error(given->mark(), fmt::format("'{}' cannot be used as '{}'", *value, key));
  }
  if (const YamlNode* walltime = NodeReader::find(node, "walltime")) {
    TRY_ASSIGN(site.batch.walltime, reader.duration(*walltime, "walltime"));
    if (site.batch.walltime < std::chrono::minutes(1))
      return reader.error(walltime->mark(), "a walltime is at least a minute",
                          "say walltime: 1h: how long each job may take");
  }
  if (const YamlNode* idle = NodeReader::find(node, "idle")) {
    TRY_ASSIGN(site.batch.idle, reader.duration(*idle, "idle"));
    if (site.batch.idle < std::chrono::seconds(1))
      return reader.error(idle->mark(), "'idle' is at least a second",
                          "write idle: 5m to give back jobs that had nothing to do for that long");
  }
  if (const YamlNode* directives = NodeReader::find(node, "directives"))
    return read_directives(reader, *directives, site);
  return {};
}

}  // namespace

Result<> check_grid_name(const NodeReader& reader, const SourceText& name, std::string_view what) {
  const bool good =
      !name.text.empty() && name.text.size() <= 100 && !name.text.starts_with('-') &&
      !name.text.starts_with('.') && std::ranges::all_of(name.text, [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
      });
  if (good) return {};
  return reader.error(name.mark, fmt::format("'{}' cannot be the name of a {}", name.text, what),
                      "use letters, digits, '-', '_' and '.', with a letter, digit or '_' first");
}

Result<> read_site_access(const NodeReader& reader, const YamlNode& node,
                          const std::filesystem::path& base_dir, GridSite& site) {
  if (const YamlNode* via = NodeReader::find(node, "via")) {
    constexpr std::array<std::pair<std::string_view, SiteAccess>, 3> kWays{
        {{"ssh", SiteAccess::ssh}, {"slurm", SiteAccess::slurm}, {"sge", SiteAccess::sge}}};
    TRY_ASSIGN(const auto text, reader.text(*via, "via"));
    const auto* const way =
        std::ranges::find(kWays, text.text, &decltype(kWays)::value_type::first);
    if (way == kWays.end()) return reader.wrong_type(*via, "via", "'ssh', 'slurm' or 'sge'");
    if (site.name == kHomeSite)
      return reader.error(via->mark(), "home is this machine and needs no 'via'",
                          "give 'via' to another site");
    site.access = way->second;
    site.scratch = kDefaultScratch;
  }
  if (lends_by_jobs(site.access))
    TRY(read_batch_keys(reader, node, site));
  else
    TRY(refuse_batch_keys(reader, node, site));
  TRY(read_ssh_keys(reader, node, base_dir, site));
  return read_staged(reader, node, base_dir, site);
}

Result<> read_logins(const NodeReader& reader, const YamlNode& node, const Grid& grid,
                     GridLink& link) {
  if (link.from == 0)
    return reader.error(node.mark(), "files go between home and a site by the site's 'via'",
                        "give 'ssh' to a link between two other sites");
  const GridSite& one = grid.sites[link.from];
  const GridSite& other = grid.sites[link.to];
  if (!node.is_map() || node.entries.empty())
    return reader.wrong_type(node, "ssh",
                             fmt::format("a map like {{{}: NAME}}: at {}, `ssh NAME` logs in to {}",
                                         other.name, other.name, one.name));
  for (const auto& [site, name] : node.entries) {
    if (site.text != one.name && site.text != other.name)
      return reader.error(site.mark, fmt::format("this link does not join '{}'", site.text),
                          fmt::format("it joins {} and {}", one.name, other.name));
    for (const GridSite* end : {&one, &other})
      if (end->access == SiteAccess::none)
        return reader.error(site.mark, fmt::format("nobody can log in at site '{}'", end->name),
                            "sites that are really there have 'via'");
    TRY_ASSIGN(const auto text, reader.text(name, "ssh"));
    if (!is_ssh_name(text.text))
      return reader.error(text.mark, fmt::format("'{}' cannot be given to ssh", text.text),
                          "a name that `ssh NAME` takes: NAME or user@NAME");
    (site.text == one.name ? link.to_at_from : link.from_at_to) = text.text;
  }
  return {};
}

}  // namespace gantry::spec
