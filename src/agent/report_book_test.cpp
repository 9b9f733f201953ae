#include "agent/report_book.hpp"

#include <gtest/gtest.h>

#include "agent/slot_log.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

using Kept = ReportBook::Kept;

std::string report(std::uint32_t task) {
  return unrun_report({{1, task, 1}, 5}, Cause::lost, "gone");
}

TEST(ReportBook, AnUnrunReportSaysWhatIsKnown) {
  const auto decoded = decode_ended(report(7));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->second.key, (AttemptKey{1, 7, 1}));
  EXPECT_EQ(decoded->second.cause, static_cast<std::uint8_t>(Cause::lost));
  EXPECT_EQ(decoded->second.detail, "gone");
  EXPECT_EQ(decoded->second.started_ns, 5);
  const auto unstarted = decode_ended(unrun_report({{1, 1, 1}, 0}, Cause::cancelled, ""));
  EXPECT_EQ(unstarted->second.started_ns, unstarted->second.ended_ns);
}

TEST(ReportBook, KeepsReportsUntilTheyAreAcknowledged) {
  ReportBook book;
  const auto first = book.add(0, report(1), Kept::in_slot_log).receipt;
  const auto second = book.add(1, report(2), Kept::in_slot_log).receipt;
  const auto third = book.add(0, report(3), Kept::in_slot_log).receipt;
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  book.acknowledge(second);
  ASSERT_EQ(book.unacknowledged().size(), 1U);
  EXPECT_EQ(book.unacknowledged()[0].receipt, third);
  book.acknowledge(first);  // late, and nothing new
  EXPECT_EQ(book.unacknowledged().size(), 1U);
  book.acknowledge(~std::uint64_t{0});
  EXPECT_TRUE(book.unacknowledged().empty());
}

TEST(ReportBook, CountsForEachSlotWhatIsSafe) {
  ReportBook book;
  book.add(2, report(1), Kept::in_slot_log);
  book.add(ReportBook::kNoSlot, report(2), Kept::not_needed);
  const auto receipt = book.add(2, report(3), Kept::in_slot_log).receipt;
  book.add(2, report(4), Kept::in_slot_log);
  EXPECT_EQ(book.count(2).reports, 3U);
  EXPECT_EQ(book.count(2).safe, 0U);
  book.acknowledge(receipt);
  EXPECT_EQ(book.count(2).safe, 2U);
  EXPECT_EQ(book.count(2).reports, 3U);
  EXPECT_EQ(book.count(0).reports, 0U);
  EXPECT_EQ(book.count(99).reports, 0U);
}

TEST(ReportBook, KnowsWhatWouldDieWithTheAgent) {
  ReportBook book;
  book.add(0, report(1), Kept::nowhere);
  const auto receipt = book.add(0, report(2), Kept::nowhere).receipt;
  book.add(0, report(3), Kept::in_slot_log);
  book.add(ReportBook::kNoSlot, report(4), Kept::not_needed);
  book.add(0, report(5), Kept::nowhere);
  EXPECT_EQ(book.in_memory_only(), 3U);
  book.acknowledge(receipt);
  EXPECT_EQ(book.in_memory_only(), 1U);
}

TEST(ReportBook, SavesWhatIsInNoLogAndAgainWithWhatWasSavedBefore) {
  const ScratchDir dir;
  ReportBook book;
  book.add(0, report(1), Kept::nowhere);
  book.add(0, report(2), Kept::in_slot_log);
  EXPECT_FALSE(book.save(dir / "missing/unsaved.log"));
  EXPECT_EQ(book.in_memory_only(), 1U);
  ASSERT_TRUE(book.save(dir / "unsaved.log"));
  EXPECT_EQ(book.in_memory_only(), 0U);
  book.add(0, report(3), Kept::nowhere);
  ASSERT_TRUE(book.save(dir / "unsaved.log"));
  const auto history = recover_slot_log(dir / "unsaved.log");
  ASSERT_TRUE(history);
  ASSERT_EQ(history->ended.size(), 2U);
  EXPECT_EQ(peek_ended_key(history->ended[0])->task, 1U);
  EXPECT_EQ(peek_ended_key(history->ended[1])->task, 3U);
}

}  // namespace
}  // namespace gantry::agent
