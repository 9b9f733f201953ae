#pragma once
/// Which shared files are at which sites, or on their way there. At home is everything. A value,
/// owned by the engine.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::engine {

class FileTable {
 public:
  explicit FileTable(std::size_t files) : files_(files) {}

  [[nodiscard]] bool known(FileId file) const { return file.value() < files_; }
  [[nodiscard]] bool there(FileId file, SiteId site) const;
  [[nodiscard]] bool all_there(std::span<const FileId> files, SiteId site) const;
  [[nodiscard]] bool moving(FileId file, SiteId site) const;
  /// Neither there nor moving, and not kept waiting because moving it failed.
  [[nodiscard]] bool may_move(FileId file, SiteId site, TimePoint now) const;

  /// REQUIRES (here and below): known(file).
  void move(FileId file, SiteId from, SiteId to, TimePoint now);
  void arrived(FileId file, SiteId site);
  /// The wait before the next try doubles with each failure in a row, up to a minute.
  void failed(FileId file, SiteId site, TimePoint at);
  void gone(FileId file, SiteId site);

  /// When the first wait that is not over ends; kNever if there is none.
  [[nodiscard]] TimePoint next_try(TimePoint now) const;
  /// By site; valid until something changes.
  [[nodiscard]] const std::vector<schedule::SiteFiles>& view();

 private:
  enum class State : std::uint8_t { absent, moving, there };
  struct Entry {
    State state = State::absent;
    std::uint8_t failures = 0;  ///< in a row
    SiteId from{};              ///< while moving
    TimePoint when = kNever;    ///< moving: since; absent: not moved before
  };

  [[nodiscard]] const Entry* find(FileId file, SiteId site) const;

  std::size_t files_;
  std::map<SiteId, std::map<FileId, Entry>> sites_;
  bool any_failed_ = false;  ///< ever
  std::vector<schedule::SiteFiles> view_;
  bool view_outdated_ = false;
};

}  // namespace gantry::engine
