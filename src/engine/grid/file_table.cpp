#include "engine/grid/file_table.hpp"

#include <algorithm>
#include <utility>

namespace gantry::engine {

namespace {
constexpr Duration kFirstWait = std::chrono::seconds(1);
constexpr Duration kLongestWait = std::chrono::minutes(1);
}  // namespace

FileTable::FileTable(const SiteMap& map) {
  for (std::uint32_t i = 1; i < map.depots.size(); ++i)
    if (const double most = map.depot(SiteId(i)); most < std::numeric_limits<double>::infinity())
      limit(SiteId(i), most);
}

void FileTable::made(FileId file, SiteId site, double bytes) {
  if (file.value() >= bytes_.size()) {
    bytes_.resize(file.value() + 1);
    at_home_.resize(file.value() + 1);
  }
  // It may have changed since an earlier run, which has sent it somewhere.
  const double grown = bytes - std::exchange(bytes_[file.value()], bytes);
  for (auto& [id, at] : sites_)
    if (const Entry* entry = find(file, id); entry != nullptr && entry->state != State::absent)
      at.taken += grown;
  view_outdated_ = true;
  arrived(file, site);
}

void FileTable::limit(SiteId site, double bytes) {
  sites_[site].limit = bytes;
  view_outdated_ = true;
}

const FileTable::Entry* FileTable::find(FileId file, SiteId site) const {
  const auto at = sites_.find(site);
  if (at == sites_.end()) return nullptr;
  const auto entry = at->second.files.find(file);
  return entry == at->second.files.end() ? nullptr : &entry->second;
}

bool FileTable::there(FileId file, SiteId site) const {
  if (site == kHome) return known(file) && at_home_[file.value()];
  const Entry* entry = find(file, site);
  return entry != nullptr && entry->state == State::there;
}

SiteId FileTable::a_site_with(FileId file) const {
  if (there(file, kHome)) return kHome;
  for (const auto& [id, site] : sites_)
    if (there(file, id)) return id;
  return kHome;
}

bool FileTable::all_there(std::span<const FileId> files, SiteId site) const {
  return std::ranges::all_of(files, [&](FileId file) { return there(file, site); });
}

std::optional<FileTable::Sent> FileTable::sent(FileId file, SiteId site) const {
  const Entry* entry = find(file, site);
  if (entry == nullptr || entry->state != State::moving || entry->awaits_source)
    return std::nullopt;
  return Sent{entry->from, entry->when};
}

bool FileTable::moving(FileId file, SiteId site) const {
  const Entry* entry = find(file, site);
  return entry != nullptr && entry->state == State::moving;
}

bool FileTable::any_moving(SiteId site) const {
  const auto at = sites_.find(site);
  return at != sites_.end() && at->second.moving > 0;
}

bool FileTable::may_move(FileId file, SiteId site, TimePoint now) const {
  if (!known(file) || there(file, site)) return false;
  const Entry* entry = find(file, site);
  if (entry == nullptr) return true;
  return entry->state == State::absent && (entry->when == kNever || entry->when <= now);
}

void FileTable::change(Site& site, FileId file, Entry& entry, State state) {
  view_outdated_ = true;
  const auto takes_room = [](State which) { return which != State::absent; };
  if (takes_room(entry.state) != takes_room(state))
    site.taken += (takes_room(state) ? 1 : -1) * bytes_[file.value()];
  if (entry.state == State::moving) {
    --site.moving;
    if (entry.from != kHome) --sites_.at(entry.from).files.at(file).copies;
    if (std::exchange(entry.awaits_source, false)) --awaiting_;
  }
  if (state == State::moving) ++site.moving;
  entry.state = state;
}

void FileTable::move(FileId file, const schedule::FileSource& from, SiteId to, TimePoint now) {
  Site& site = sites_[to];
  Entry& entry = site.files[file];
  change(site, file, entry, State::moving);
  entry.from = from.site;
  entry.when = now;
  entry.arrives = from.arrives;
  if (from.site == kHome) return;
  ++sites_[from.site].files[file].copies;
  entry.awaits_source = !there(file, from.site);
  if (entry.awaits_source) ++awaiting_;
}

std::vector<MoveFile> FileTable::begin_awaited(TimePoint now) {
  std::vector<MoveFile> begin;
  if (awaiting_ == 0) return begin;
  for (auto& [id, site] : sites_) {
    for (auto& [file, entry] : site.files) {
      if (!entry.awaits_source || !there(file, entry.from)) continue;
      entry.awaits_source = false;
      --awaiting_;
      entry.when = now;
      begin.push_back({file, entry.from, id});
      view_outdated_ = true;
    }
  }
  return begin;
}

std::vector<SiteId> FileTable::give_up_awaited(FileId file, SiteId from) {
  std::vector<SiteId> sites;
  if (awaiting_ == 0) return sites;
  for (auto& [id, site] : sites_) {
    const auto entry = site.files.find(file);
    if (entry == site.files.end() || !entry->second.awaits_source || entry->second.from != from)
      continue;
    change(site, file, entry->second, State::absent);
    entry->second.when = kNever;
    sites.push_back(id);
  }
  return sites;
}

std::optional<SiteId> FileTable::failed_source(FileId file, SiteId site) const {
  const Entry* entry = find(file, site);
  if (entry == nullptr || entry->failures == 0) return std::nullopt;
  return entry->from;
}

void FileTable::arrived(FileId file, SiteId at) {
  if (at == kHome) {
    at_home_[file.value()] = true;
    if (!moving(file, kHome)) return;
  }
  Site& site = sites_[at];
  Entry& entry = site.files[file];
  change(site, file, entry, State::there);
  entry.failures = 0;
  entry.when = kNever;
  entry.last_used = ++uses_;
}

void FileTable::failed(FileId file, SiteId to, TimePoint at) {
  Site& site = sites_[to];
  Entry& entry = site.files[file];
  if (entry.state != State::moving) return;
  change(site, file, entry, State::absent);
  any_failed_ = true;
  const Duration wait = kFirstWait * (1 << std::min<int>(entry.failures, 6));
  entry.when = at + std::min(wait, kLongestWait);
  if (entry.failures < 255) ++entry.failures;
}

void FileTable::gone(FileId file, SiteId from) {
  if (from == kHome) at_home_[file.value()] = false;
  const auto site = sites_.find(from);
  if (site == sites_.end()) return;
  const auto entry = site->second.files.find(file);
  if (entry == site->second.files.end()) return;
  change(site->second, file, entry->second, State::absent);
  entry->second.failures = 0;
  entry->second.when = kNever;
  // Whoever uses it must still be counted.
  if (entry->second.users == 0 && entry->second.copies == 0) site->second.files.erase(entry);
}

bool FileTable::has_limit(SiteId site) const {
  const auto at = sites_.find(site);
  return at != sites_.end() && at->second.limit < std::numeric_limits<double>::infinity();
}

double FileTable::bytes_of(std::span<const FileId> files) const {
  double sum = 0;
  for (const FileId file : files) sum += bytes_[file.value()];
  return sum;
}

double FileTable::lacking(std::span<const FileId> files, SiteId site) const {
  if (!has_limit(site)) return 0;
  const Site& at = sites_.at(site);
  double sum = at.taken - at.limit;
  for (const FileId file : files)
    if (!there(file, site) && !moving(file, site)) sum += bytes_[file.value()];
  return sum;
}

std::optional<std::vector<FileId>> FileTable::victims(double lacking,
                                                      std::span<const FileId> beside, SiteId site,
                                                      const std::vector<bool>& wanted,
                                                      bool drop_wanted) const {
  struct Candidate {
    bool wanted;
    std::uint64_t last_used;
    FileId file;
  };
  std::vector<Candidate> candidates;
  for (const auto& [file, entry] : sites_.at(site).files) {
    const bool is_wanted = wanted[file.value()];
    if (entry.idle() && (drop_wanted || !is_wanted) && !std::ranges::binary_search(beside, file))
      candidates.push_back({is_wanted, entry.last_used, file});
  }
  std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
    return std::pair(candidate.wanted, candidate.last_used);
  });
  std::vector<FileId> chosen;
  for (const Candidate& candidate : candidates) {
    if (lacking <= 0) break;
    lacking -= bytes_[candidate.file.value()];
    chosen.push_back(candidate.file);
  }
  if (lacking > 0) return std::nullopt;
  return chosen;
}

void FileTable::use(std::span<const FileId> files, SiteId site) {
  if (!has_limit(site)) return;
  view_outdated_ = true;
  for (const FileId file : files) {
    Entry& entry = sites_.at(site).files[file];
    ++entry.users;
    entry.last_used = ++uses_;
  }
}

void FileTable::disuse(std::span<const FileId> files, SiteId site) {
  if (!has_limit(site)) return;
  view_outdated_ = true;
  for (const FileId file : files) {
    Entry& entry = sites_.at(site).files[file];
    if (entry.users > 0) --entry.users;
    entry.last_used = ++uses_;
  }
}

TimePoint FileTable::next_try(TimePoint now) const {
  TimePoint first = kNever;
  if (!any_failed_) return first;
  for (const auto& [id, site] : sites_)
    for (const auto& [file, entry] : site.files)
      if (entry.state == State::absent && entry.when != kNever && entry.when > now)
        first = first == kNever ? entry.when : std::min(first, entry.when);
  return first;
}

/// A first failure may be chance, and is tried again at once.
bool FileTable::is_barred(const Entry& entry, TimePoint now) {
  return entry.state == State::absent && entry.failures > 1 && entry.when != kNever &&
         entry.when > now;
}

bool FileTable::any_barred(TimePoint now) const {
  return any_failed_ && std::ranges::any_of(sites_, [&](const auto& site) {
           return std::ranges::any_of(
               site.second.files, [&](const auto& file) { return is_barred(file.second, now); });
         });
}

const std::vector<schedule::SiteFiles>& FileTable::view(TimePoint now) {
  if (!std::exchange(view_outdated_, any_barred(now))) return view_;
  view_.clear();
  for (const auto& [id, site] : sites_) {
    if (id == kHome) continue;
    schedule::SiteFiles& shown = view_.emplace_back(schedule::SiteFiles{
        .site = id, .depot = site.limit, .free = std::max(site.limit - site.taken, 0.0)});
    for (const auto& [file, entry] : site.files) {
      if (entry.state == State::there) shown.there.push_back(file);
      if (entry.state == State::moving)
        shown.moving.push_back({file, entry.from, entry.when, entry.arrives});
      if (has_limit(id) && entry.idle()) shown.idle.push_back(file);
      if (is_barred(entry, now)) shown.barred.push_back(file);
    }
  }
  return view_;
}

}  // namespace gantry::engine
