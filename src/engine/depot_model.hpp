#pragma once
/// For property tests: a model of where shared files are. Fails the property if an action cannot be
/// carried out, or takes a file away from a task.

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "model/action.hpp"
#include "model/site_map.hpp"

namespace gantry::engine {

class DepotModel {
 public:
  DepotModel(std::vector<double> bytes, SiteMap map)
      : bytes_(std::move(bytes)), map_(std::move(map)) {}

  [[nodiscard]] bool is_there(FileId file, SiteId site) const {
    if (site == kHome) return true;
    const auto entry = files_.find({site, file});
    return entry != files_.end() && entry->second.there;
  }

  void begin(const MoveFile& move) {
    RC_ASSERT(move.file.value() < bytes_.size());
    RC_ASSERT(move.to != kHome);
    RC_ASSERT(is_there(move.file, move.from));
    RC_ASSERT(move.from == kHome || map_.way(move.from, move.to) != nullptr);
    // Neither there nor on its way.
    RC_ASSERT(files_.try_emplace({move.to, move.file}, Entry{.from = move.from}).second);
    RC_ASSERT(taken(move.to) <= map_.depot(move.to));
  }

  /// `is_read`: a task that was given to a host of the site reads the file.
  void drop(const DropFile& drop, bool is_read) {
    RC_ASSERT(drop.site != kHome);
    RC_ASSERT(is_there(drop.file, drop.site));
    RC_ASSERT(!is_read);
    RC_ASSERT(!std::ranges::any_of(files_, [&](const auto& file) {
      const auto& [where, entry] = file;
      return !entry.there && where.second == drop.file && entry.from == drop.site;
    }));
    files_.erase({drop.site, drop.file});
  }

  [[nodiscard]] std::vector<std::pair<SiteId, FileId>> moving() const { return listed(false); }
  [[nodiscard]] std::vector<std::pair<SiteId, FileId>> present() const { return listed(true); }

  void arrive(SiteId site, FileId file) { files_.at({site, file}).there = true; }
  void lose(SiteId site, FileId file) { files_.erase({site, file}); }

 private:
  struct Entry {
    SiteId from;
    bool there = false;  ///< else on its way
  };

  /// Bytes of what is there and what is on its way.
  [[nodiscard]] double taken(SiteId site) const {
    double sum = 0;
    for (const auto& [where, entry] : files_)
      if (where.first == site) sum += bytes_[where.second.value()];
    return sum;
  }

  [[nodiscard]] std::vector<std::pair<SiteId, FileId>> listed(bool there) const {
    std::vector<std::pair<SiteId, FileId>> list;
    for (const auto& [where, entry] : files_)
      if (entry.there == there) list.push_back(where);
    return list;
  }

  std::vector<double> bytes_;
  SiteMap map_;
  std::map<std::pair<SiteId, FileId>, Entry> files_;
};

}  // namespace gantry::engine
