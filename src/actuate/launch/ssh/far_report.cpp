#include "actuate/launch/ssh/far_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actuate/launch/output_note.hpp"
#include "actuate/launch/sandbox.hpp"
#include "depot/file_tools.hpp"

namespace gantry {

namespace {

/// Long output of the task, to a place of its own.
void add_printed(ReportReceived& received, const std::string& host_folder) {
  AttemptReport& report = received.report;
  for (auto* stream : {&report.out, &report.err}) {
    if (stream->pack.empty()) continue;
    const std::string pack = std::exchange(stream->pack, {});
    if (!depot::is_below(pack)) {
      stream->truncated = true;
      continue;
    }
    stream->pack = fmt::format("run-{}/{}.{}.{}", report.key.run.value(), report.key.task.value(),
                               report.key.attempt.value(), stream == &report.out ? "out" : "err");
    const std::string remote = host_folder + "/output/" + pack;
    // An older agent may have other tasks' output in it.
    if (pack == stream->pack) received.left.rubbish.push_back(remote);
    received.left.printed.push_back(
        {remote, stream->pack, std::exchange(stream->offset, 0), stream->size});
  }
}

/// Of what the site says that it has kept, only what it was asked to, where it was asked to.
void take_kept(AttemptReport& report, const OutputNote& note, const Sandbox& there,
               const RemoteSite& site) {
  const std::vector<RemoteFile> claimed = std::exchange(report.remote_files, {});
  if (report.cause != FailureCause::none) return;
  for (const std::string& path : note.staying) {
    const auto found = std::ranges::find(claimed, there.there(path), &RemoteFile::path);
    const auto below = there.relative(path);
    if (found == claimed.end() || !below) continue;
    report.remote_files.push_back({path, site.name, kept_folder(site, report.key) + "/" + *below,
                                   found->bytes, found->content, site.grid_file});
  }
}

/// Outputs that are to come home.
void add_outputs(ReportReceived& received, const OutputNote& note, const Sandbox& below_scratch) {
  AttemptReport& report = received.report;
  for (const std::string& path : note.outputs) {
    const auto& kept = report.remote_files;
    if (std::ranges::find(kept, path, &RemoteFile::path) != kept.end()) continue;
    if (!below_scratch.relative(path)) {
      report.cause = FailureCause::missing_output;
      report.detail = path + ": is not below its study's folder";
      return;
    }
    received.left.outputs.push_back({below_scratch.there(path), path});
  }
}

}  // namespace

ReportReceived far_report(AgentReport told, const RemoteSite& site, const RemoteHost& host,
                          const std::string& scratch) {
  ReportReceived received = std::move(told.received);
  AttemptReport& report = received.report;
  const std::string folder = work_folder(site, report.key);
  if (!told.swept) received.left.rubbish.push_back(folder);
  add_printed(received, host_folder(site, host.name));
  const auto note = OutputNote::find_in(told.tag);
  if (!note) return received;
  const Sandbox there(note->base, scratch + "/" + folder);
  for (auto& [path, content] : report.collected)
    for (const auto& home : note->collect)
      if (there.there(home) == path) path = home;
  report.detail = there.as_here(std::move(report.detail));
  take_kept(report, *note, there, site);
  if (!report.remote_files.empty()) received.left.kept_folder = kept_folder(site, report.key);
  if (report.cause == FailureCause::none) add_outputs(received, *note, Sandbox(note->base, folder));
  return received;
}

}  // namespace gantry
