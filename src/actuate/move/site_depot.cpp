#include "actuate/move/site_depot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actuate/launch/ssh/connection_hint.hpp"

namespace gantry {

Result<> SiteDepot::poll() {
  std::vector<MoverEvent> news;
  TRY(mover_.poll(news));
  for (const auto& event : news) std::visit([this](const auto& e) { on(e); }, event);
  tell_brought();
  return {};
}

// Contents.
// -----------------------------------------------------------------------------------------

bool SiteDepot::need(const TaskFile& file, SiteId from) {
  ++users_[file.content];
  if (has(file.content)) return true;
  send(file, from);
  return false;
}

void SiteDepot::send(const TaskFile& file, SiteId from) {
  if (has(file.content) || putting_.contains(file.content)) return;
  failed_.erase(file.content);
  Put put{file.path, file.content, file.bytes, file.executable, staged_for(file.path)};
  const GivingSite* other = giver(from);
  if (other != nullptr) put.from = other->reach;
  const TransferId id = mover_.put(put);
  if (!put.staged.empty()) staged_[id] = put.staged;
  if (other != nullptr) pulls_[id] = from;
  putting_[file.content] = id;
  puts_[id] = file.content;
}

const GivingSite* SiteDepot::giver(SiteId site) const {
  const auto found = std::ranges::find(site_.giving, site, &GivingSite::id);
  return found == site_.giving.end() || no_way_.contains(site) ? nullptr : &*found;
}

std::string SiteDepot::staged_for(const std::string& path) const {
  for (const auto& [here, there] : site_.staged) {
    if (path == here) return there;
    if (path.starts_with(here + "/")) return there + path.substr(here.size());
  }
  return {};
}

void SiteDepot::release(const TaskFile& file) {
  drop_unneeded(file.content);
}

/// What we sent, no task needs and is no shared file has no business there any more. What was there
/// before may be another study's.
void SiteDepot::drop_unneeded(const Digest& content, bool whoevers) {
  const auto users = users_.find(content);
  if (users == users_.end() || --users->second > 0) return;
  users_.erase(users);
  const bool ours = sent_.erase(content) > 0;
  if (!(ours || whoevers) || there_.erase(content) == 0) return;
  unheeded_.insert(mover_.drop(content));
}

std::string SiteDepot::why_not(const Digest& content) const {
  const auto found = failed_.find(content);
  return found == failed_.end() ? "" : found->second;
}

void SiteDepot::lacks(const Digest& content) {
  there_.erase(content);
  sent_.erase(content);
  std::vector<FileId> gone;
  for (const auto& [key, shared] : shared_)
    if (std::ranges::find(key, content) != key.end())
      gone.insert(gone.end(), shared.names.begin(), shared.names.end());
  for (const FileId file : gone) {
    events_.emplace_back(FileGone{file, site_.id});
    forget(file, false);
  }
}

// Shared files.
// -------------------------------------------------------------------------------------

void SiteDepot::bring(const MoveFile& move, const std::vector<TaskFile>& contents) {
  Key key;
  for (const TaskFile& each : contents) key.push_back(each.content);
  if (const auto known = names_.find(move.file); known != names_.end() && known->second != key)
    forget(move.file, false);  // another content under the same name is another file
  auto [shared, is_new] = shared_.try_emplace(key);
  shared->second.contents = contents;
  if (is_new)
    for (const TaskFile& each : contents) need(each, move.from);
  else
    for (const TaskFile& each : contents) send(each, move.from);  // what it lacks by now
  shared->second.names.insert(move.file);
  shared->second.told.erase(move.file);
  names_[move.file] = std::move(key);
}

void SiteDepot::forget(FileId file, bool whoevers) {
  const auto name = names_.find(file);
  if (name == names_.end()) return;
  const auto found = shared_.find(name->second);
  names_.erase(name);
  found->second.names.erase(file);
  found->second.told.erase(file);
  if (!found->second.names.empty()) return;
  const std::vector<TaskFile> contents = std::move(found->second.contents);
  shared_.erase(found);
  for (const TaskFile& each : contents) drop_unneeded(each.content, whoevers);
}

void SiteDepot::tell_brought() {
  std::vector<std::pair<Key, std::string>> failed;
  for (auto& [key, shared] : shared_) {
    if (shared.told.size() == shared.names.size()) continue;
    const auto missing =
        std::ranges::find_if(key, [this](const Digest& content) { return !expects(content); });
    if (missing != key.end()) {
      const std::string why = why_not(*missing);
      failed.emplace_back(key, why.empty() ? "the site could not be reached" : why);
      continue;
    }
    if (!std::ranges::all_of(key, [this](const Digest& content) { return has(content); })) continue;
    const bool found = std::ranges::none_of(
        key, [this](const Digest& content) { return sent_.contains(content); });
    for (const FileId file : shared.names)
      if (shared.told.insert(file).second)
        events_.emplace_back(FileArrived{.file = file, .site = site_.id, .found = found});
  }
  for (const auto& [key, why] : failed) fail_names(key, why);
}

/// Those who wait for it need not.
void SiteDepot::fail_names(const Key& key, const std::string& why) {
  const Shared& shared = shared_.at(key);
  std::vector<FileId> waiting;
  std::ranges::set_difference(shared.names, shared.told, std::back_inserter(waiting));
  for (const FileId file : waiting) {
    forget(file, false);
    events_.emplace_back(MoveFailed{.file = file, .site = site_.id, .reason = why});
  }
}

/// Other sites may wait for files that were to come from this one. What is under way goes on when
/// it is back.
void SiteDepot::tell_not_brought() {
  std::vector<Key> waiting;
  for (const auto& [key, shared] : shared_)
    if (shared.told.size() < shared.names.size()) waiting.push_back(key);
  for (const Key& key : waiting) fail_names(key, "");
}

// What the mover says.
// ------------------------------------------------------------------------------

void SiteDepot::on(const Inventory& inventory) {
  for (const auto& file : inventory.files) there_.insert(file.content);
}

void SiteDepot::on(const Interrupted& interrupted) {
  events_.emplace_back(
      Notice{fmt::format("site {}: {}; connecting anew", site_.name, interrupted.why)});
}

void SiteDepot::on(const NotReached& trouble) {
  if (trouble.cut_off) cut_ = trouble.why;
}

void SiteDepot::on(const LinkEchoed& echo) {
  events_.emplace_back(SiteEchoed{.site = site_.id,
                                  .seconds = echo.seconds,
                                  .bytes = static_cast<double>(echo.bytes),
                                  .trip = echo.trip});
}

void SiteDepot::on(const TransferDone& done) {
  staged_.erase(done.id);
  pulls_.erase(done.id);
  if (unheeded_.erase(done.id) > 0) return;
  const auto put = puts_.find(done.id);
  if (put == puts_.end()) {
    outcomes_[done.id] = {.id = done.id, .why = ""};
    return;
  }
  putting_.erase(put->second);
  // What an inventory has listed meanwhile was there before, or its receipt was lost: it may stay.
  if (there_.insert(put->second).second) sent_.insert(put->second);
  puts_.erase(put);
}

void SiteDepot::on(const SentAfterAll& sent) {
  if (sent.pulled) return not_pulled(sent);
  const auto found = staged_.find(sent.id);
  // One of a thousand is enough to know that something is wrong.
  if (found == staged_.end() || std::exchange(told_of_staged_, true)) return;
  events_.emplace_back(
      Notice{fmt::format("site {}: {} is not what 'staged' says ({}); what is not there is sent",
                         site_.name, found->second, sent.why)});
}

/// A file that the other site has lost meanwhile says nothing of the next.
void SiteDepot::not_pulled(const SentAfterAll& sent) {
  const auto found = pulls_.find(sent.id);
  if (found == pulls_.end()) return;
  const SiteId from = found->second;
  const GivingSite* other = giver(from);
  pulls_.erase(found);
  if (!sent.no_way || other == nullptr) return;  // or it was told
  const std::string hint = connection_hint(sent.why, other->reach.ssh);
  events_.emplace_back(WayClosed{
      from, site_.id,
      fmt::format("site {} cannot fetch files from site {}, they come from home (ssh {}: {}); on "
                  "{}: {}",
                  site_.name, other->name, other->reach.ssh, sent.why,
                  sent.host.empty() ? site_.name : sent.host,
                  hint.empty()
                      ? fmt::format("make `ssh -o BatchMode=yes {} true` work", other->reach.ssh)
                      : hint)});
  no_way_.insert(from);
}

void SiteDepot::on(const TransferFailed& failed) {
  staged_.erase(failed.id);
  pulls_.erase(failed.id);
  if (unheeded_.erase(failed.id) > 0) return;
  const auto put = puts_.find(failed.id);
  if (put == puts_.end()) {
    TransferFailed& outcome = outcomes_[failed.id] = failed;
    if (outcome.why.empty()) outcome.why = "it did not come";
    return;
  }
  putting_.erase(put->second);
  if (!failed.lost_connection) failed_[put->second] = failed.why;
  puts_.erase(put);
}

std::optional<TransferFailed> SiteDepot::take_outcome(TransferId id) {
  const auto found = outcomes_.find(id);
  if (found == outcomes_.end()) return std::nullopt;
  return std::move(outcomes_.extract(found).mapped());
}

}  // namespace gantry
