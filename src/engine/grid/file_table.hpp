#pragma once
/// Which files are at which sites, or on their way there, and what room the depots have. Home is a
/// site without a limit. A value, owned by the grid.

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

  /// A file exists, and the site has it. Its number may be any; numbers before it that nobody has
  /// told of are files that nobody has.
  void made(FileId file, SiteId site, double bytes);
  /// Of each file, by its number.
  [[nodiscard]] std::span<const double> bytes() const { return bytes_; }

  [[nodiscard]] bool known(FileId file) const { return file.value() < bytes_.size(); }
  [[nodiscard]] bool there(FileId file, SiteId site) const;
  /// A site that has it, home if none does.
  [[nodiscard]] SiteId a_site_with(FileId file) const;
  [[nodiscard]] bool all_there(std::span<const FileId> files, SiteId site) const;
  [[nodiscard]] bool moving(FileId file, SiteId site) const;
  [[nodiscard]] bool any_moving(SiteId site) const;
  /// From where, and when it began; nothing when it is not moving.
  [[nodiscard]] std::optional<Sent> sent(FileId file, SiteId site) const;
  /// Neither there nor moving, and not kept waiting because moving it failed.
  [[nodiscard]] bool may_move(FileId file, SiteId site, TimePoint now) const;

  /// From where the last try failed, if moving it failed.
  [[nodiscard]] std::optional<SiteId> failed_source(FileId file, SiteId site) const;

  /// REQUIRES (here and below): known(file). Takes room from now on. The source keeps the file
  /// until the move is over; when it has yet to get it, the move begins then.
  void move(FileId file, const schedule::FileSource& from, SiteId to, TimePoint now);
  /// Moves whose sources got the file since: they begin now.
  std::vector<MoveFile> begin_awaited(TimePoint now);
  /// The source will not get the file: to which sites it does not come now.
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
  /// So many bytes are missing before all of these files have room there; 0 or less: none are.
  [[nodiscard]] double lacking(std::span<const FileId> files, SiteId site) const;
  /// What to drop for so many bytes, beside these files: what nobody uses, first what is not
  /// `wanted` (by file), then what was not used for longest. Nothing when that would not do.
  [[nodiscard]] std::optional<std::vector<FileId>> victims(double lacking,
                                                           std::span<const FileId> beside,
                                                           SiteId site,
                                                           const std::vector<bool>& wanted,
                                                           bool drop_wanted) const;
  /// A task that was given to a host of the site reads these files, or does no more.
  void use(std::span<const FileId> files, SiteId site);
  void disuse(std::span<const FileId> files, SiteId site);

  /// When the first wait that is not over ends; kNever if there is none.
  [[nodiscard]] TimePoint next_try(TimePoint now) const;
  /// By site, home excepted; valid until something changes or time goes on.
  [[nodiscard]] const std::vector<schedule::SiteFiles>& view(TimePoint now);
  /// Something may not be moved somewhere at the moment, because moving it failed again and again.
  [[nodiscard]] bool any_barred(TimePoint now) const;

 private:
  enum class State : std::uint8_t { absent, moving, there };
  struct Entry {
    State state = State::absent;
    std::uint8_t failures = 0;    ///< in a row
    bool awaits_source = false;   ///< moving: begins when the file is at `from`
    SiteId from{};                ///< moving: source; absent: of the last failure
    TimePoint when = kNever;      ///< moving: since; absent: not moved before
    TimePoint arrives = kNever;   ///< moving: as expected
    std::uint32_t copies = 0;     ///< moves to other sites that need it here
    std::uint32_t users = 0;      ///< tasks there
    std::uint64_t last_used = 0;  ///< by the table's count of uses
    [[nodiscard]] bool idle() const { return state == State::there && users == 0 && copies == 0; }
  };
  struct Site {
    double limit = std::numeric_limits<double>::infinity();
    double taken = 0;  ///< by what is there and what is on its way
    std::uint32_t moving = 0;
    std::map<FileId, Entry> files{};
  };

  [[nodiscard]] static bool is_barred(const Entry& entry, TimePoint now);
  [[nodiscard]] const Entry* find(FileId file, SiteId site) const;
  /// Keeps the sums of the site right.
  void change(Site& site, FileId file, Entry& entry, State state);

  std::vector<double> bytes_;
  std::vector<bool> at_home_;
  std::map<SiteId, Site> sites_;
  std::uint64_t uses_ = 0;
  std::size_t awaiting_ = 0;  ///< moves that have not begun
  bool any_failed_ = false;   ///< ever
  std::vector<schedule::SiteFiles> view_;
  bool view_outdated_ = true;
};

}  // namespace gantry::engine
