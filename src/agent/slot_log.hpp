#pragma once
/// What a slot started and how it ended, on disk: the part of the agent's memory that survives
/// `kill -9`. Written by the slot's shepherd alone, one write(2) a record; read by the next agent.
/// The records are the protocol's Started and Ended frames, after a Hello that tells the version.
/// Not synced: after power loss the journal of gantry decides.
///
/// A slot has two segments, PATH and PATH.old: when the first is long and everything in the second
/// is acknowledged, the first takes the second's place. So the log stays short, although there is
/// always something in it that gantry has not acknowledged yet.

#include <filesystem>
#include <string>
#include <vector>

#include "agent/protocol.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

class SlotLog {
 public:
  static constexpr std::int64_t kSegment = std::int64_t{256} << 10;  ///< bytes

  static Result<SlotLog> open(std::filesystem::path path);

  /// Before the records of a task whose report will be the slot's number `serial`: drops what is
  /// not needed any more, as reports up to number `safe` are acknowledged. What was in the files
  /// when they were opened has smaller numbers than the first `serial`.
  void begin_task(std::uint64_t serial, std::uint64_t safe);

  /// False when the disk is full or failing; the report then lives in the agent's memory only.
  bool append(std::string_view frame);

 private:
  SlotLog(std::filesystem::path path, UniqueFd fd, std::int64_t size)
      : path_(std::move(path)), fd_(std::move(fd)), size_(size) {}

  std::filesystem::path path_;
  UniqueFd fd_;
  std::int64_t size_;
  bool began_ = false;
  std::uint64_t old_last_ = 0;  ///< the second segment holds no report beyond this number
};

/// What a log says of an earlier life.
struct SlotHistory {
  std::vector<std::string> ended;   ///< bodies of Ended frames
  std::vector<Started> unfinished;  ///< started, and nobody saw the end

  /// The body of the last Ended frame of an attempt; nullptr when there is none.
  [[nodiscard]] const std::string* end_of(const AttemptKey& key) const;
  [[nodiscard]] bool has_begun(const AttemptKey& key) const;
};

std::filesystem::path slot_log_path(const std::filesystem::path& agent_dir, unsigned slot);

/// The slots that have a log in this directory, in order.
std::vector<unsigned> logged_slots(const std::filesystem::path& agent_dir);

/// Reads a log and cuts off a torn last record (power loss, full disk), so that appending can go
/// on. A log that is not there is empty; one of another version of Gantry is an error.
Result<SlotHistory> recover_slot_log(const std::filesystem::path& path);

/// The same while the slot is at work: changes nothing.
Result<SlotHistory> peek_slot_log(const std::filesystem::path& path);

/// Replaces the log by one that holds these Ended bodies.
Result<> write_slot_log(const std::filesystem::path& path, const std::vector<std::string>& ended);

void remove_slot_log(const std::filesystem::path& path);

}  // namespace gantry::agent
