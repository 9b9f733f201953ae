// Site: attempts whose files are on their way, and what happens when files cannot be brought.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actuate/launch/sandbox.hpp"
#include "actuate/site.hpp"

namespace gantry {

namespace {

/// Until it is worth another try when something is wrong with the site itself.
constexpr auto kPauseLength = std::chrono::seconds(60);

}  // namespace

void Site::start(LaunchRequest request) {
  if (!mover_) return launcher_->start(request);
  // Those that are not below the study's folder are expected to be there.
  const Sandbox here(request.base_dir, "");
  std::erase_if(request.files, [&](const TaskFile& file) { return !here.relative(file.path); });
  std::set<Digest> missing;
  if (!find_files(request, missing)) {
    news_.emplace_back(AttemptReturned{request.key, request.host});
    return;
  }
  auto& in_use = in_use_[request.key];
  for (const TaskFile& file : request.files) {
    depot_->need(file);
    in_use.push_back(file);
  }
  if (missing.empty()) return launcher_->start(request);
  const TaskKey key = request.key;
  waiting_.insert_or_assign(key, Waiting{std::move(request), std::move(missing)});
}

/// The engine waits for shared files before it starts a task: one that neither is there nor on its
/// way was lost since. The engine is told and brings it again; nobody waits for it here.
bool Site::find_files(const LaunchRequest& request, std::set<Digest>& missing) {
  std::set<FileId> lost;
  for (const TaskFile& file : request.files) {
    if (depot_->has(file.content)) continue;
    if (file.shared && !depot_->expects(file.content)) lost.insert(*file.shared);
    missing.insert(file.content);
  }
  for (const FileId file : lost) news_.emplace_back(FileGone{file, facts_.id});
  return lost.empty();
}

void Site::hand_over_ready() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    auto& [request, missing] = at->second;
    std::erase_if(missing, [&](const Digest& file) { return depot_->has(file); });
    const auto lost =
        std::ranges::find_if(missing, [&](const Digest& file) { return !depot_->expects(file); });
    if (lost != missing.end()) {
      pause(depot_->why_not(*lost));
      news_.emplace_back(AttemptReturned{at->first, request.host});
      release_files(at->first);
    } else if (missing.empty()) {
      launcher_->start(request);
    } else {
      ++at;
      continue;
    }
    at = waiting_.erase(at);
  }
}

void Site::give_back(const std::function<bool(const Waiting&)>& concerns) {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (!concerns(at->second)) {
      ++at;
      continue;
    }
    news_.emplace_back(AttemptReturned{at->first, at->second.request.host});
    release_files(at->first);
    at = waiting_.erase(at);
  }
}

void Site::release_files(const TaskKey& key) {
  const auto found = in_use_.find(key);
  if (found == in_use_.end()) return;
  for (const TaskFile& file : found->second) depot_->release(file);
  in_use_.erase(found);
}

void Site::pause(const std::string& why) {
  if (!pause_why_.empty() || why.empty()) return;
  pause_why_ = why;
  pause_end_ = std::chrono::steady_clock::now() + kPauseLength;
}

/// Tells of a pause that has begun, and of its end.
void Site::end_pause(std::vector<News>& news) {
  if (pause_why_.empty()) return;
  if (!std::exchange(pause_told_, true)) {
    for (const auto& [id, host] : up_) tell_paused(host, news);
    return;
  }
  if (std::chrono::steady_clock::now() < pause_end_) return;
  pause_why_.clear();
  pause_told_ = false;
  for (const auto& [id, host] : up_)
    if (!resting_.contains(id)) news.emplace_back(HostUp{host});
}

void Site::tell_paused(const Host& host, std::vector<News>& news) const {
  const std::string hint = hint_ ? hint_(pause_why_) : "";
  news.emplace_back(
      HostDraining{host.id, WaitingTasks::stay,
                   fmt::format("{} ({}): it takes no tasks for a while: {}{}{}", host.name,
                               facts_.name, pause_why_, hint.empty() ? "" : "; ", hint)});
}

}  // namespace gantry
