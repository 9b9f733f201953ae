#include "actuate/move/site_depot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "actuate/launch/ssh/connection_hint.hpp"
#include "actuate/move/stream_mover.hpp"

namespace gantry {

namespace {

/// After a connection that failed.
constexpr auto kPause = std::chrono::seconds(3);
/// To what ssh has to say, lest it wait for us.
constexpr auto kListenEvery = std::chrono::seconds(1);
/// Fewer may be a line that is cut, which its hosts' agents tell soon.
constexpr std::uint32_t kMostFailures = 3;
/// Bytes that are over before an agent's answer comes.
constexpr std::uint64_t kSmallFile = 16 << 10;

}  // namespace

SiteDepot::SiteDepot(const RemoteSite& site, const AgentBinary& binary)
    : site_(site), binary_(binary) {
  mover_ = make_stream_mover({.connect = [this] { return connect(); },
                              .name = site_.holder,
                              .quota = site_.quota,
                              .first_pause = std::chrono::milliseconds(10),
                              .longest_pause = std::chrono::milliseconds(100)});
}

SiteDepot::~SiteDepot() = default;

void SiteDepot::set_way(const RemoteHost* host) {
  if (host == nullptr && way_ != nullptr && site_.gives) tell_not_brought();
  if (host == nullptr) failures_ = 0;
  way_ = host;
}

/// Asked again and again until it succeeds.
Result<UniqueFd> SiteDepot::connect() {
  const auto now = Clock::now();
  if (now < connect_after_) return fail(ErrorCode::busy, why_down_);
  if (way_ == nullptr) {
    connection_.reset();
    return fail(ErrorCode::busy, "no host of the site can be reached");
  }
  if (!connection_ || connection_->fd() < 0) {
    TRY_ASSIGN(connection_, SshConnection::begin(site_.target(*way_), binary_, {"files", "."}));
    began_at_ = now;
  }
  switch (connection_->advance()) {
    case SshConnection::State::ready:
      return connection_->take_socket();
    case SshConnection::State::connecting:
      if (now - began_at_ < connection_->patience()) return fail(ErrorCode::busy, "connecting");
      why_down_ = trouble_ = "it does not answer";
      break;
    case SshConnection::State::failed:
      why_down_ = trouble_ = connection_->why();
      break;
  }
  ++failures_;
  connect_after_ = now + kPause;
  connection_.reset();
  return fail(ErrorCode::peer, why_down_);
}

Result<> SiteDepot::poll() {
  if (const auto now = Clock::now(); connection_ && now - listened_at_ > kListenEvery) {
    listened_at_ = now;
    connection_->listen();
  }
  std::vector<MoverEvent> news;
  TRY(mover_->poll(news));
  notice_stream();
  for (const auto& event : news) std::visit([this](const auto& e) { on(e); }, event);
  tell_brought();
  return {};
}

/// What comes home at full speed keeps answers of agents waiting.
void SiteDepot::notice_stream() {
  SiteGlance site;
  mover_->glance(site);
  streams_home_ = site.received - std::exchange(received_, site.received) > kSmallFile;
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
  const TransferId id = mover_->put(put);
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
  forget_outcome_of(mover_->drop(content));
}

std::string SiteDepot::why_not(const Digest& content) const {
  const auto found = failed_.find(content);
  return found == failed_.end() ? "" : found->second;
}

void SiteDepot::lacks(const std::string& content_hex) {
  const auto content = Digest::from_hex(content_hex);
  if (!content) return;
  there_.erase(*content);
  sent_.erase(*content);
  for (auto at = shared_.begin(); at != shared_.end();) {
    const auto& contents = at->second.contents;
    if (std::ranges::find(contents, *content, &TaskFile::content) == contents.end()) {
      ++at;
      continue;
    }
    events_.emplace_back(FileGone{at->first, site_.id});
    for (const TaskFile& each : contents) drop_unneeded(each.content);
    at = shared_.erase(at);
  }
}

// Shared files.
// -------------------------------------------------------------------------------------

void SiteDepot::bring(const MoveFile& move, const std::vector<TaskFile>& contents) {
  forget(move.file, false);  // another content under the same number is another file
  shared_[move.file] = {contents, false};
  for (const TaskFile& each : contents) need(each, move.from);
}

void SiteDepot::forget(FileId file, bool whoevers) {
  const auto found = shared_.find(file);
  if (found == shared_.end()) return;
  const std::vector<TaskFile> contents = std::move(found->second.contents);
  shared_.erase(found);
  for (const TaskFile& each : contents) drop_unneeded(each.content, whoevers);
}

void SiteDepot::tell_brought() {
  std::vector<std::pair<FileId, std::string>> failed;
  for (auto& [file, shared] : shared_) {
    if (shared.told) continue;
    bool all = true;
    bool found = true;
    for (const TaskFile& each : shared.contents) {
      all = all && has(each.content);
      found = found && !sent_.contains(each.content);
      if (expects(each.content)) continue;
      const std::string why = why_not(each.content);
      failed.emplace_back(file, why.empty() ? "the site could not be reached" : why);
      break;
    }
    if (!all) continue;
    shared.told = true;
    events_.emplace_back(FileArrived{.file = file, .site = site_.id, .found = found});
  }
  for (auto& [file, why] : failed) {
    forget(file, false);
    events_.emplace_back(MoveFailed{.file = file, .site = site_.id, .reason = std::move(why)});
  }
}

bool SiteDepot::is_cut_off() const {
  return failures_ >= kMostFailures || interruptions_ > 1;
}

/// Other sites may wait for files that were to come from this one. What is under way goes on when
/// it is back.
void SiteDepot::tell_not_brought() {
  std::vector<FileId> waiting;
  for (const auto& [file, shared] : shared_)
    if (!shared.told) waiting.push_back(file);
  for (const FileId file : waiting) {
    forget(file, false);
    events_.emplace_back(MoveFailed{.file = file, .site = site_.id, .reason = ""});
  }
}

// What the mover says.
// ------------------------------------------------------------------------------

void SiteDepot::on(const Inventory& inventory) {
  failures_ = 0;
  for (const auto& file : inventory.files) there_.insert(file.content);
}

void SiteDepot::on(const Interrupted& interrupted) {
  if (interruptions_++ > 0) trouble_ = interrupted.why;
  events_.emplace_back(
      Notice{fmt::format("site {}: {}; connecting anew", site_.name, interrupted.why)});
}

void SiteDepot::on(const TransferDone& done) {
  interruptions_ = 0;
  staged_.erase(done.id);
  pulls_.erase(done.id);
  if (unheeded_.erase(done.id) > 0) return;
  const auto put = puts_.find(done.id);
  if (put == puts_.end()) {
    outcomes_[done.id] = {};
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
  const std::string host = way_ == nullptr ? site_.name : site_.target(*way_).host;
  events_.emplace_back(WayClosed{
      from, site_.id,
      fmt::format("site {} cannot fetch files from site {}, they come from home (ssh {}: {}); on "
                  "{}: {}",
                  site_.name, other->name, other->reach.ssh, sent.why, host,
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
    outcomes_[failed.id] = {failed.why.empty() ? "it did not come" : failed.why,
                            failed.lost_connection, failed.gone, failed.here};
    return;
  }
  putting_.erase(put->second);
  if (!failed.lost_connection) failed_[put->second] = failed.why;
  puts_.erase(put);
}

std::optional<SiteDepot::Outcome> SiteDepot::take_outcome(TransferId id) {
  const auto found = outcomes_.find(id);
  if (found == outcomes_.end()) return std::nullopt;
  return std::move(outcomes_.extract(found).mapped());
}

void SiteDepot::add_wanted(std::vector<ReadySet::Wanted>& wanted) const {
  wanted.push_back({mover_->wait_fd(), mover_->wants_to_send()});
  if (connection_) wanted.push_back({connection_->fd(), connection_->wants_to_send()});
}

}  // namespace gantry
