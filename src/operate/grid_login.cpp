#include "operate/grid_login.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "actuate/launch/ssh/connection_hint.hpp"
#include "actuate/launch/ssh/remote_shell.hpp"
#include "base/ready_set.hpp"

namespace gantry::operate {

namespace {

using AskClock = std::chrono::steady_clock;

constexpr int kTickMs = 50;
constexpr auto kLookEvery = std::chrono::milliseconds(500);
constexpr std::string_view kJobs = "gantry-";
constexpr std::string_view kMissing = "missing ";
constexpr std::string_view kQueue = "queue ";

/// One command after the other over one connection.
class Asker {
 public:
  Asker(const RemoteSite& site, const AgentBinary& binary, Duration patience)
      : site_(site), shell_(site.target(site.hosts.front()), binary), patience_(patience) {}

  Result<RemoteShell::Answer> ask(const std::string& command) {
    const auto deadline = AskClock::now() + patience_;
    shell_.ask(command);
    for (;;) {
      auto answer = shell_.poll(AskClock::now());
      if (answer && answer->came) return std::move(*answer);
      if (answer) return lost(reason_in(answer->output));
      if (AskClock::now() >= deadline) return lost("it does not answer");
      std::vector<ReadySet::Wanted> wanted;
      shell_.add_wanted(wanted);
      ready_.watch(wanted);
      pollfd fd{ready_.fd(), POLLIN, 0};
      ::poll(&fd, 1, kTickMs);
    }
  }

 private:
  [[nodiscard]] tl::unexpected<Error> lost(const std::string& why) const {
    return fail(ErrorCode::peer, why,
                connection_hint(why, ssh_by_hand(site_.target(site_.hosts.front()))));
  }

  const RemoteSite& site_;
  RemoteShell shell_;
  ReadySet ready_;
  Duration patience_;
};

bool is_slurm(const RemoteSite& site) {
  return site.batch->system == BatchSystem::slurm;
}

/// Whatever else the commands print is not for us.
std::string look_command(const RemoteSite& site) {
  return fmt::format(
      "for c in {0}; do command -v $c >/dev/null 2>&1 || echo {1}$c; done\n"
      "if command -v {2} >/dev/null 2>&1; then {2} {3} | sed 's/^/{4}/'; fi",
      is_slurm(site) ? "sbatch squeue scancel" : "qsub qstat qdel", kMissing,
      is_slurm(site) ? "sinfo" : "qconf", is_slurm(site) ? "--noheader --format=%R" : "-sql",
      kQueue);
}

void take_lines(std::string_view text, std::string_view beginning,
                std::vector<std::string>& lines) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(beginning)) continue;
    line.remove_prefix(beginning.size());
    if (!line.empty()) lines.emplace_back(line);
  }
}

/// As a run would, but the batch system only says whether it would take it.
std::string trial_command(const RemoteSite& site) {
  BatchRequest request = site.batch->request;
  request.directives.emplace_back(is_slurm(site) ? "--test-only" : "-w v");
  return submit_command(site.batch->system, request, "gantry-check", "#!/bin/sh\ntrue\n",
                        "end-of-check");
}

}  // namespace

RemoteSite seen_from_login(RemoteSite site) {
  if (!site.batch) return site;
  // Where each task is a job, the one host has the slots of all of them.
  site.batch->request.slots =
      site.batch->jobs > 0 ? 1 : std::max(1U, site.hosts.empty() ? 1 : site.hosts.front().slots);
  const HostId id = site.hosts.empty() ? HostId(1) : site.hosts.front().id;
  site.hosts = {{.id = id, .name = site.batch->login.empty() ? "local" : site.batch->login}};
  return site;
}

std::vector<std::string> unknown_queues(const std::string& asked,
                                        const std::vector<std::string>& known) {
  std::vector<std::string> unknown;
  if (known.empty()) return unknown;
  for (std::size_t at = 0; at < asked.size();) {
    const std::size_t end = std::min(asked.find(',', at), asked.size());
    // Grid Engine's QUEUE@HOST is a part of QUEUE.
    const std::string name = asked.substr(at, std::min(end, asked.find('@', at)) - at);
    if (!name.empty() && std::ranges::find(known, name) == known.end()) unknown.push_back(name);
    at = end + 1;
  }
  return unknown;
}

Result<LoginCheck> check_login(const RemoteSite& site, const AgentBinary& binary,
                               Duration patience) {
  Asker asker(site, binary, patience);
  LoginCheck check;
  TRY_ASSIGN(const auto look, asker.ask(look_command(site)));
  take_lines(look.output, kMissing, check.missing);
  take_lines(look.output, kQueue, check.queues);
  if (!check.missing.empty()) return check;
  TRY_ASSIGN(const auto trial, asker.ask(trial_command(site)));
  if (trial.code != 0) check.refused = reason_in(trial.output);
  return check;
}

Result<std::vector<std::string>> jobs_in_queue(const RemoteSite& site, const AgentBinary& binary,
                                               Duration patience) {
  Asker asker(site, binary, patience);
  const auto deadline = AskClock::now() + patience;
  for (;;) {
    TRY_ASSIGN(const auto answer, asker.ask(queue_command(site.batch->system, {})));
    if (answer.code != 0)
      return fail(ErrorCode::peer, "its queue cannot be asked: " + reason_in(answer.output));
    std::vector<std::string> ids;
    bool ending = false;
    for (const BatchJob& job : parse_jobs(site.batch->system, answer.output)) {
      if (!job.name.starts_with(kJobs)) continue;
      if (job.state == JobState::ended) continue;
      ending = ending || job.state == JobState::ending;
      if (job.state != JobState::ending) ids.push_back(job.id);
    }
    if (!ids.empty() || !ending || AskClock::now() >= deadline) return ids;
    ::poll(nullptr, 0, static_cast<int>(kLookEvery.count()));
  }
}

}  // namespace gantry::operate
