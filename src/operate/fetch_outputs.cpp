#include "operate/fetch_outputs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "actuate/move/ssh_mover.hpp"
#include "base/fd.hpp"
#include "depot/file_tools.hpp"
#include "driver/grid_launch.hpp"
#include "store/file_sync.hpp"

namespace gantry::operate {

namespace {

using store::Store;

constexpr int kLookMs = 100;
constexpr std::size_t kTogether = 1000;

/// Nobody has typed its name: one that is like it is another site.
Result<std::uint32_t> find_site(const Grid& grid, const std::string& name) {
  for (std::uint32_t i = 1; i < grid.sites.size(); ++i)
    if (grid.sites[i].access != SiteAccess::none && grid.sites[i].name == name) return i;
  return fail(
      ErrorCode::usage,
      fmt::format("outputs are at site '{}', which {} does not have (with 'via')", name, grid.file),
      "describe it there again, or name the grid file that has it with --grid FILE");
}

bool is_here(const RemoteFile& file) {
  const auto here = open_file(file.path, O_RDONLY | O_NONBLOCK);
  struct stat info {};
  if (!here || ::fstat(here->get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (static_cast<std::uint64_t>(info.st_size) != file.bytes) return false;
  const auto content = depot::hash_of(here->get());
  return content && *content == file.content;
}

/// "work/HOLDER/kept/RUN.TASK.ATTEMPT", of a file below it.
std::string folder_of(const std::string& remote) {
  constexpr int kParts = 4;
  std::size_t end = 0;
  for (int i = 0; i < kParts && end != std::string::npos; ++i) end = remote.find('/', end + 1);
  return remote.substr(0, end);
}

class Fetcher {
 public:
  Fetcher(Store& store, const RemoteSite& site, const AgentBinary& binary,
          const FetchOptions& options)
      : store_(store),
        site_(site.name),
        hosts_(site.hosts.size()),
        mover_(make_ssh_mover(site, binary)),
        options_(options) {
    std::vector<HostId> hosts;
    for (const RemoteHost& host : site.hosts) hosts.push_back(host.id);
    mover_->use_hosts(hosts);
  }

  Result<Fetched> run(const std::vector<Store::RemoteOutput>& outputs) {
    TRY_ASSIGN(const auto all, store_.remote_outputs());
    for (const auto& output : all)
      if (output.file.site == site_) ++in_folder_[folder_of(output.file.remote)];
    for (const auto& output : outputs) {
      if (output.replaced)
        remove(output.file);
      else if (is_here(output.file))
        arrived(output.file);
      else
        getting_.emplace(mover_->get({.remote = output.file.remote,
                                      .local = output.file.path,
                                      .expected = {{output.file.content, output.file.bytes}},
                                      .resume = true}),
                         output.file);
    }
    while (!getting_.empty() || !arrived_.empty() || !removing_.empty()) TRY(step());
    mover_->close();
    return std::move(fetched_);
  }

 private:
  Result<> step() {
    std::vector<MoverEvent> events;
    TRY(mover_->poll(events));
    for (const MoverEvent& event : events) TRY(take(event));
    TRY(remove_arrived());
    const auto [wait_fd, to_send] = mover_->waits_for();
    pollfd fd{wait_fd, static_cast<short>(to_send ? POLLIN | POLLOUT : POLLIN), 0};
    ::poll(&fd, 1, kLookMs);
    return {};
  }

  Result<> take(const MoverEvent& event) {
    if (const auto* done = std::get_if<TransferDone>(&event)) return on_answer(done->id, {});
    if (const auto* failed = std::get_if<TransferFailed>(&event))
      return on_answer(failed->id, *failed);
    if (const auto* silence = std::get_if<Interrupted>(&event); silence && options_.notice)
      options_.notice(fmt::format("site {}: {}; connecting anew", site_, silence->why));
    // One host after the other, until all have failed since something came.
    const auto* trouble = std::get_if<NotReached>(&event);
    if (trouble == nullptr || ++failures_ < hosts_) return {};
    return fail(ErrorCode::peer, fmt::format("site '{}': {}", site_, trouble->why),
                "what has arrived is here; the same command continues");
  }

  /// `failed.why` is empty when it was done.
  Result<> on_answer(TransferId id, const TransferFailed& failed) {
    if (const auto removed = removing_.extract(id)) {
      // Otherwise the next fetch takes it away.
      return failed.why.empty() ? store_.forget(removed.mapped()) : Result<>{};
    }
    const auto got = getting_.extract(id);
    return got ? on_fetched(got.mapped(), failed) : Result<>{};
  }

  Result<> on_fetched(const RemoteFile& file, const TransferFailed& outcome) {
    if (outcome.why.empty()) {
      failures_ = 0;
      ++fetched_.files;
      fetched_.bytes += file.bytes;
      arrived(file);
      return {};
    }
    if (!outcome.gone) {
      fetched_.problems.push_back(fmt::format("{}: {}", file.path, outcome.why));
      return {};
    }
    --in_folder_[folder_of(file.remote)];
    fetched_.problems.push_back(fmt::format(
        "{} is no longer at site '{}' as it was made; the next 'gantry run' makes it again",
        file.path, site_));
    return store_.forget(file);
  }

  void arrived(const RemoteFile& file) {
    on_disk_.add(file.path);
    arrived_.push_back(file);
  }

  /// Many at a time: each is to be on disk before its copy goes.
  Result<> remove_arrived() {
    if (arrived_.empty() || (arrived_.size() < kTogether && !getting_.empty())) return {};
    TRY(on_disk_.sync());
    for (const RemoteFile& file : std::exchange(arrived_, {})) remove(file);
    return {};
  }

  /// With the folder, when it is the last file there.
  void remove(const RemoteFile& file) {
    const std::string folder = folder_of(file.remote);
    const bool last = --in_folder_[folder] == 0;
    removing_.emplace(mover_->remove(last ? folder : file.remote), file);
  }

  Store& store_;
  std::string site_;
  std::size_t hosts_;
  std::unique_ptr<Mover> mover_;
  const FetchOptions& options_;
  std::map<TransferId, RemoteFile> getting_;
  std::vector<RemoteFile> arrived_;  ///< and still at the site
  store::FileSync on_disk_;          ///< of them
  std::map<TransferId, RemoteFile> removing_;
  std::map<std::string, std::uint32_t> in_folder_;  ///< files that the journal knows of
  std::size_t failures_ = 0;
  Fetched fetched_;
};

}  // namespace

Result<Fetched> fetch_outputs(Store& store, const Grid& grid, const std::string& site,
                              const std::vector<Store::RemoteOutput>& outputs,
                              const FetchOptions& options) {
  TRY_ASSIGN(const std::uint32_t index, find_site(grid, site));
  std::uint32_t next_host = 1;
  RemoteSite remote = driver::remote_site(grid.sites[index], SiteId(index), next_host);
  if (remote.hosts.empty())
    return fail(ErrorCode::usage, fmt::format("site '{}' has no hosts", site));
  TRY_ASSIGN(const std::string id, read_file(options.state_dir / "id", 100));
  remote.holder = id + "-fetch";  // a run has the name without it
  driver::SiteAgents agents;
  TRY_ASSIGN(const AgentBinary* agent, agents.of(grid.sites[index]));
  return Fetcher(store, remote, *agent, options).run(outputs);
}

}  // namespace gantry::operate
