#include "engine/file_table.hpp"

#include <algorithm>

namespace gantry::engine {

namespace {
constexpr Duration kFirstWait = std::chrono::seconds(1);
constexpr Duration kLongestWait = std::chrono::minutes(1);
}  // namespace

const FileTable::Entry* FileTable::find(FileId file, SiteId site) const {
  const auto at = sites_.find(site);
  if (at == sites_.end()) return nullptr;
  const auto entry = at->second.find(file);
  return entry == at->second.end() ? nullptr : &entry->second;
}

bool FileTable::there(FileId file, SiteId site) const {
  if (site == kHome) return true;
  const Entry* entry = find(file, site);
  return entry != nullptr && entry->state == State::there;
}

bool FileTable::all_there(std::span<const FileId> files, SiteId site) const {
  return std::ranges::all_of(files, [&](FileId file) { return there(file, site); });
}

bool FileTable::moving(FileId file, SiteId site) const {
  const Entry* entry = find(file, site);
  return entry != nullptr && entry->state == State::moving;
}

bool FileTable::may_move(FileId file, SiteId site, TimePoint now) const {
  if (!known(file) || site == kHome) return false;
  const Entry* entry = find(file, site);
  return entry == nullptr || (entry->state == State::absent && entry->when <= now);
}

void FileTable::move(FileId file, SiteId from, SiteId to, TimePoint now) {
  view_outdated_ = true;
  Entry& entry = sites_[to][file];
  entry.state = State::moving;
  entry.from = from;
  entry.when = now;
}

void FileTable::arrived(FileId file, SiteId site) {
  view_outdated_ = true;
  sites_[site][file] = {.state = State::there};
}

void FileTable::failed(FileId file, SiteId site, TimePoint at) {
  Entry& entry = sites_[site][file];
  if (entry.state != State::moving) return;
  view_outdated_ = true;
  any_failed_ = true;
  entry.state = State::absent;
  const Duration wait = kFirstWait * (1 << std::min<int>(entry.failures, 6));
  entry.when = at + std::min(wait, kLongestWait);
  if (entry.failures < 255) ++entry.failures;
}

void FileTable::gone(FileId file, SiteId site) {
  view_outdated_ = true;
  const auto at = sites_.find(site);
  if (at != sites_.end()) at->second.erase(file);
}

TimePoint FileTable::next_try(TimePoint now) const {
  TimePoint first = kNever;
  if (!any_failed_) return first;
  for (const auto& [site, files] : sites_)
    for (const auto& [file, entry] : files)
      if (entry.state == State::absent && entry.when > now)
        first = first == kNever ? entry.when : std::min(first, entry.when);
  return first;
}

const std::vector<schedule::SiteFiles>& FileTable::view() {
  if (!view_outdated_) return view_;
  view_outdated_ = false;
  view_.clear();
  for (const auto& [site, files] : sites_) {
    schedule::SiteFiles& shown = view_.emplace_back(schedule::SiteFiles{.site = site});
    for (const auto& [file, entry] : files) {
      if (entry.state == State::there) shown.there.push_back(file);
      if (entry.state == State::moving) shown.moving.push_back({file, entry.from, entry.when});
    }
  }
  return view_;
}

}  // namespace gantry::engine
