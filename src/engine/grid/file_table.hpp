#pragma once
/// Which files are at which sites or on their way there, and how much room depots have. Home is a
/// site without a limit. A value, owned by the Grid.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "model/ids.hpp"
#include "model/site_map.hpp"
#include "schedule/file_source.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::engine {

class FileTable {
 public:
  struct Sent {
    SiteId from;
    TimePoint at;
  };

  explicit FileTable(const SiteMap& map);

  /// A file exists, and the site has it; one that is known has this size from now on. Numbers need
  /// not come in order: lower numbers that were not mentioned yet are files that no site has.
  void made(FileId file, SiteId site, double bytes);
  /// Sizes of files, by number.
  [[nodiscard]] std::span<const double> bytes() const { return bytes_; }

  [[nodiscard]] bool known(FileId file) const { return file.value() < bytes_.size(); }
  [[nodiscard]] bool there(FileId file, SiteId site) const;
  /// A site that has the file; home if none does.
  [[nodiscard]] SiteId a_site_with(FileId file) const;
  [[nodiscard]] bool all_there(std::span<const FileId> files, SiteId site) const;
  [[nodiscard]] bool moving(FileId file, SiteId site) const;
  [[nodiscard]] bool any_moving(SiteId site) const;
  /// Where it comes from, and when the move began; nothing if it is not moving.
  [[nodiscard]] std::optional<Sent> sent(FileId file, SiteId site) const;
  /// Whether a move may begin: the file is neither there nor moving, and no wait after a failed
  /// move is left.
  [[nodiscard]] bool may_move(FileId file, SiteId site, TimePoint now) const;

  /// The source of the last move, if that failed.
  [[nodiscard]] std::optional<SiteId> failed_source(FileId file, SiteId site) const;

  /// Begins a move, which takes room at `to` from now on. The source keeps the file until the move
  /// is over. If the source does not have the file yet, the move begins when it does. REQUIRES
  /// (here and below): known(file).
  void move(FileId file, const schedule::FileSource& from, SiteId to, TimePoint now);
  /// Begins moves whose sources have received the file since the last call.
  std::vector<MoveFile> begin_awaited(TimePoint now);
  /// The source will not get the file. Returns the sites that do not get it from there.
  std::vector<SiteId> give_up_awaited(FileId file, SiteId from);
  void arrived(FileId file, SiteId at);
  /// The wait before the next try doubles with each failure in a row, up to a minute.
  void failed(FileId file, SiteId to, TimePoint at);
  void gone(FileId file, SiteId from);

  // Depots. Sites without a limit have room for everything, and count no users.
  // -------------------------------------------------------------------------
  /// REQUIRES: nothing was ever there.
  void limit(SiteId site, double bytes);
  [[nodiscard]] bool has_limit(SiteId site) const;
  [[nodiscard]] double bytes_of(std::span<const FileId> files) const;
  /// How many bytes must be freed there before all of these files have room; 0 or less if none.
  [[nodiscard]] double lacking(std::span<const FileId> files, SiteId site) const;
  /// Which files to drop to free `lacking` bytes, other than those in `beside`: only unused files,
  /// first those that are not `wanted` (indexed by file), then the least recently used. Nothing if
  /// that would not be enough.
  [[nodiscard]] std::optional<std::vector<FileId>> victims(double lacking,
                                                           std::span<const FileId> beside,
                                                           SiteId site,
                                                           const std::vector<bool>& wanted,
                                                           bool drop_wanted) const;
  /// A task on a host of the site reads these files, or no longer does.
  void use(std::span<const FileId> files, SiteId site);
  void disuse(std::span<const FileId> files, SiteId site);

  /// When the next wait after a failed move ends; kNever if there is none.
  [[nodiscard]] TimePoint next_try(TimePoint now) const;
  /// The files by site, without home. Valid until something changes or time passes.
  [[nodiscard]] const std::vector<schedule::SiteFiles>& view(TimePoint now);
  /// Whether any move must wait at the moment because it has failed more than once.
  [[nodiscard]] bool any_barred(TimePoint now) const;

 private:
  enum class State : std::uint8_t { absent, moving, there };
  struct Entry {
    State state = State::absent;
    std::uint8_t failures = 0;    ///< in a row
    bool awaits_source = false;   ///< moving: begins when the file is at `from`
    SiteId from{};                ///< moving: its source; absent: source of the last failed move
    TimePoint when = kNever;      ///< moving: since when; absent: not to be moved before this time
    TimePoint arrives = kNever;   ///< moving: expected arrival
    std::uint32_t copies = 0;     ///< moves to other sites that read it here
    std::uint32_t users = 0;      ///< tasks that read it there
    std::uint64_t last_used = 0;  ///< value of uses_ then
    [[nodiscard]] bool idle() const { return state == State::there && users == 0 && copies == 0; }
  };
  struct Site {
    double limit = std::numeric_limits<double>::infinity();
    double taken = 0;  ///< bytes there and on their way
    std::uint32_t moving = 0;
    std::map<FileId, Entry> files{};
  };

  [[nodiscard]] static bool is_barred(const Entry& entry, TimePoint now);
  [[nodiscard]] const Entry* find(FileId file, SiteId site) const;
  /// Changes the entry's state and updates the site's sums.
  void change(Site& site, FileId file, Entry& entry, State state);

  std::vector<double> bytes_;
  std::vector<bool> at_home_;
  std::map<SiteId, Site> sites_;
  std::uint64_t uses_ = 0;
  std::size_t awaiting_ = 0;  ///< moves that have not begun
  bool any_failed_ = false;   ///< a move has ever failed
  std::vector<schedule::SiteFiles> view_;
  bool view_outdated_ = true;
};

}  // namespace gantry::engine
