#pragma once
/// The reports that gantry has not acknowledged yet. Owned by the agent; most of them are also in
/// the slots' logs, and this knows which are not.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/causes.hpp"
#include "agent/protocol.hpp"
#include "base/result.hpp"

namespace gantry::agent {

/// The body of an Ended frame for an attempt that no shepherd can speak for.
std::string unrun_report(const Started& started, Cause cause, const std::string& detail);

class ReportBook {
 public:
  static constexpr std::size_t kNoSlot = ~std::size_t{0};

  /// Where a report survives the death of the agent.
  enum class Kept : std::uint8_t {
    in_slot_log,
    in_own_file,  ///< the one that save() writes
    nowhere,      ///< the disk had no room
    not_needed,   ///< of a task that never started: gantry hands it over again
  };
  struct Report {
    std::uint64_t receipt = 0;
    std::size_t slot = kNoSlot;
    std::string body;  ///< of an Ended frame
    Kept kept = Kept::in_slot_log;
  };
  /// What a shepherd must know to keep its log short.
  struct SlotCount {
    std::uint64_t reports = 0;  ///< of this slot so far
    std::uint64_t safe = 0;     ///< acknowledged, from the first one on
  };

  const Report& add(std::size_t slot, std::string body, Kept kept);
  /// Gantry has all reports up to this receipt.
  void acknowledge(std::uint64_t receipt);

  [[nodiscard]] const std::deque<Report>& unacknowledged() const { return reports_; }
  [[nodiscard]] SlotCount count(std::size_t slot) const;
  /// Unacknowledged reports that would die with the agent.
  [[nodiscard]] std::size_t in_memory_only() const { return memory_only_; }

  /// Tries to put the reports that are in no slot's log into a file of their own. Until that
  /// succeeds the agent must live.
  Result<> save(const std::filesystem::path& path);

 private:
  std::deque<Report> reports_;
  std::vector<SlotCount> slots_;
  std::uint64_t next_receipt_ = 1;
  std::size_t memory_only_ = 0;
};

}  // namespace gantry::agent
