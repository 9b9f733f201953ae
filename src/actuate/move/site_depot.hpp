#pragma once
/// What home knows and wants of a site's depot: which contents are there, who needs them, what is
/// on its way. Goes through whichever Mover the site has. Never waits. Owned by a Site.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actuate/launcher.hpp"
#include "actuate/mover.hpp"
#include "model/action.hpp"

namespace gantry {

/// Another site, to which this one's hosts can log in.
struct GivingSite {
  SiteId id;
  std::string name;
  depot::PeerSite reach;
};

/// What is declared of a site's files.
struct SiteFacts {
  SiteId id;
  std::string name;
  /// Files and folders here, absolute, and what the person says is the same there.
  std::vector<std::pair<std::string, std::string>> staged{};
  std::vector<GivingSite> giving{};
  bool gives = false;  ///< others can log in to it
};

class SiteDepot {
 public:
  /// Both must outlive this.
  SiteDepot(const SiteFacts& site, Mover& mover) : site_(site), mover_(mover) {}

  Result<> poll();
  /// FileArrived, MoveFailed, FileGone, WayClosed, SiteEchoed and notices, to be taken away.
  std::vector<News>& events() { return events_; }
  /// Why nothing can be moved for a while; empty: it can. Once.
  std::string take_cut() { return std::exchange(cut_, {}); }
  /// Whoever waits for shared files to be there need not.
  void tell_not_brought();

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
  /// It turned out not to be there, or to be damaged.
  void lacks(const Digest& content);

  // Shared files, each a file or a folder of many. They are known by what they contain; a FileId is
  // the name that whoever asks has for one. Two names of the same contents are the same file.
  // -----------------------------------------------------------------------------------------

  void bring(const MoveFile& move, const std::vector<TaskFile>& contents);
  /// Its room is wanted for another, whoever sent it.
  void drop(FileId file) { forget(file, true); }

  // Files of tasks that ran there, relative to the site's scratch folder.
  // -----------------------------------------------------------------------------------------

  TransferId fetch(const Get& file) { return mover_.get(file); }
  /// What became of it, once; nothing while it is under way. `why` is empty when it has come.
  std::optional<TransferFailed> take_outcome(TransferId id);
  void remove_work(const std::string& folder) { unheeded_.insert(mover_.remove(folder)); }

  /// Files that are on their way there, or wait for that.
  [[nodiscard]] std::uint32_t to_send() const {
    return static_cast<std::uint32_t>(putting_.size());
  }

 private:
  struct Shared {
    std::vector<TaskFile> contents{};
    std::set<FileId> names{};
    std::set<FileId> told{};  ///< of these: those who know that it is there
  };
  using Key = std::vector<Digest>;  ///< what a shared file contains

  void on(const Inventory& inventory);
  void on(const TransferDone& done);
  void on(const TransferFailed& failed);
  void on(const SentAfterAll& sent);
  void on(const Interrupted& interrupted);
  void on(const NotReached& trouble);
  void on(const LinkEchoed& echo);
  /// The file there that should be the same; empty when nobody said so.
  [[nodiscard]] std::string staged_for(const std::string& path) const;
  void send(const TaskFile& file, SiteId from);
  /// How to reach the site that is to give it; nullptr when it comes from home.
  [[nodiscard]] const GivingSite* giver(SiteId site) const;
  void not_pulled(const SentAfterAll& sent);
  void tell_brought();
  void fail_names(const Key& key, const std::string& why);
  /// `whoevers`: also if it was there before.
  void forget(FileId file, bool whoevers);
  void drop_unneeded(const Digest& content, bool whoevers = false);

  const SiteFacts& site_;
  Mover& mover_;
  std::string cut_;
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
  std::map<Key, Shared> shared_;
  std::map<FileId, Key> names_;
  std::map<TransferId, TransferFailed> outcomes_;  ///< of gets
  std::set<TransferId> unheeded_;
  std::vector<News> events_;
};

}  // namespace gantry
