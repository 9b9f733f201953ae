#pragma once
/// What a slot started and how it ended, on disk: the part of the agent's memory that survives
/// `kill -9`. Written by the slot's shepherd alone, one write(2) a record; read by the next agent.
/// The records are the protocol's Started and Ended frames. Not synced: after power loss the
/// journal of gantry decides.

#include <filesystem>
#include <string>
#include <vector>

#include "agent/protocol.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

class SlotLog {
 public:
  /// When everything in it is acknowledged, a log longer than this starts anew.
  static constexpr std::uint64_t kResetSize = std::uint64_t{256} << 10;

  static Result<SlotLog> open(const std::filesystem::path& path);

  /// False when the disk is full or failing; the report then lives in the agent's memory only.
  bool append(std::string_view frame);
  /// Everything in it is acknowledged.
  void reset_if_long();

 private:
  SlotLog(UniqueFd fd, std::int64_t size) : fd_(std::move(fd)), size_(size) {}
  UniqueFd fd_;
  std::int64_t size_;
};

/// What a log says of an earlier life.
struct SlotHistory {
  std::vector<std::string> ended;   ///< bodies of Ended frames
  std::vector<Started> unfinished;  ///< started, and nobody saw the end
};

/// Reads a log and cuts off a torn last record (power loss, full disk), so that appending can go
/// on.
Result<SlotHistory> recover_slot_log(const std::filesystem::path& path);

}  // namespace gantry::agent
