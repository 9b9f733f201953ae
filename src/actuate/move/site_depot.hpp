#pragma once
/// What a site's launcher knows and wants of the site's depot: which contents are there, who needs
/// them, what is on its way. Never waits. Owned by the launcher.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launch/ssh/ssh_connection.hpp"
#include "actuate/launcher.hpp"
#include "actuate/mover.hpp"
#include "base/ready_set.hpp"

namespace gantry {

class SiteDepot {
 public:
  using Clock = std::chrono::steady_clock;

  /// Both must outlive this.
  SiteDepot(const RemoteSite& site, const AgentBinary& binary);
  ~SiteDepot();

  /// The host over which files go from now on; nullptr while none can be reached.
  void set_way(const RemoteHost* host);
  /// Why the last attempt to connect failed, or the site fell silent once more; empty when it did
  /// not. Once.
  std::string take_trouble() { return std::exchange(trouble_, {}); }
  /// So often in a row that nothing can be brought there, or be fetched, for a while.
  [[nodiscard]] bool is_cut_off() const;
  /// Whoever waits for shared files to be there need not.
  void tell_not_brought();
  Result<> poll();
  /// FileArrived, MoveFailed, FileGone, WayClosed and notices, to be taken away.
  std::vector<News>& events() { return events_; }

  // Contents. A task that needs() a file keeps it there until it release()s it.
  // -----------------------------------------------------------------------------------------

  /// Whether it is there; if not, it is sent, or comes from a site that has it.
  bool need(const TaskFile& file, SiteId from = kHome);
  void release(const TaskFile& file);
  [[nodiscard]] bool has(const Digest& content) const { return there_.contains(content); }
  /// It is there or on its way. Why not, says why_not(); empty when only the way was lost.
  [[nodiscard]] bool expects(const Digest& content) const {
    return has(content) || putting_.contains(content);
  }
  [[nodiscard]] std::string why_not(const Digest& content) const;
  /// A host says that it is not there, or damaged.
  void lacks(const std::string& content_hex);

  void bring(const MoveFile& move, const std::vector<TaskFile>& contents);
  /// Its room is wanted for another, whoever sent it.
  void drop(FileId file) { forget(file, true); }

  // Files of tasks that ran there, relative to the site's scratch folder.
  // -----------------------------------------------------------------------------------------

  TransferId fetch(const Get& file) { return mover_->get(file); }
  TransferId remove(const std::string& folder) { return mover_->remove(folder); }
  struct Outcome {
    std::string why{};  ///< it failed; empty when it did not
    bool lost_connection = false;
    bool gone = false;  ///< as of TransferFailed, both
    bool here = false;
  };
  /// Nothing while it is under way. Once.
  std::optional<Outcome> take_outcome(TransferId id);
  void remove_work(const std::string& folder) { forget_outcome_of(mover_->remove(folder)); }

  void glance(SiteGlance& site) const {
    mover_->glance(site);
    site.to_send = static_cast<std::uint32_t>(putting_.size());
  }

  void add_wanted(std::vector<ReadySet::Wanted>& wanted) const;
  [[nodiscard]] bool wants_to_send() const { return mover_->wants_to_send(); }
  /// No file is on its way there, and none that is not small came when it was polled last.
  [[nodiscard]] bool is_quiet() const { return putting_.empty() && !streams_home_; }
  /// What was sent gets there until has_ended().
  void close() {
    mover_->close();
    if (connection_ && connection_->fd() >= 0) connection_.reset();  // nobody has used it yet
  }
  [[nodiscard]] bool has_ended() { return !connection_ || connection_->has_ended(); }

 private:
  struct Shared {
    std::vector<TaskFile> contents;
    bool told = false;  ///< that it is there
  };

  Result<UniqueFd> connect();
  void on(const Inventory& inventory);
  void on(const TransferDone& done);
  void on(const TransferFailed& failed);
  void on(const SentAfterAll& sent);
  void on(const Interrupted& interrupted);
  /// The file there that should be the same; empty when nobody said so.
  [[nodiscard]] std::string staged_for(const std::string& path) const;
  void send(const TaskFile& file, SiteId from);
  /// How to reach the site that is to give it; nullptr when it comes from home.
  [[nodiscard]] const GivingSite* giver(SiteId site) const;
  void not_pulled(const SentAfterAll& sent);
  void notice_stream();
  void tell_brought();
  /// `whoevers`: also if it was there before.
  void forget(FileId file, bool whoevers);
  void drop_unneeded(const Digest& content, bool whoevers = false);
  void forget_outcome_of(TransferId id) { unheeded_.insert(id); }

  const RemoteSite& site_;
  const AgentBinary& binary_;
  const RemoteHost* way_ = nullptr;
  std::unique_ptr<SshConnection> connection_;
  Clock::time_point connect_after_{};
  Clock::time_point began_at_{};  ///< to connect
  Clock::time_point listened_at_{};
  std::string why_down_;
  std::string trouble_;
  std::uint32_t failures_ = 0;       ///< to connect, in a row
  std::uint32_t interruptions_ = 0;  ///< since something was done
  std::unique_ptr<Mover> mover_;
  std::uint64_t received_ = 0;  ///< bytes of files that came home
  bool streams_home_ = false;
  std::set<Digest> there_;
  std::set<Digest> sent_;  ///< of these, by us
  std::map<Digest, TransferId> putting_;
  std::map<TransferId, Digest> puts_;
  std::map<TransferId, std::string> staged_;  ///< puts, and what is taken for them there
  bool told_of_staged_ = false;
  std::map<TransferId, SiteId> pulls_;     ///< puts, and the sites that they are to come from
  std::set<SiteId> no_way_;                ///< that could not be reached from here
  std::map<Digest, std::string> failed_;   ///< why a content could not be sent
  std::map<Digest, std::uint32_t> users_;  ///< tasks, and shared files
  std::map<FileId, Shared> shared_;
  std::map<TransferId, Outcome> outcomes_;
  std::set<TransferId> unheeded_;
  std::vector<News> events_;
};

}  // namespace gantry
