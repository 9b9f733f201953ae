#include "cli/terminal/progress_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/terminal/display_text.hpp"

namespace gantry::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

driver::Progress sample() {
  driver::Progress progress;
  progress.run = RunId{3};
  progress.counts = {
      .total = 1000, .done = 420, .reused = 0, .failed = 10, .cancelled = 0, .running = 16};
  progress.elapsed = from_seconds(5.3);
  progress.eta = {from_seconds(7), from_seconds(6.9), from_seconds(7.1)};
  progress.tasks_per_second = 81.2;
  return progress;
}

TEST(ProgressBlock, ShowsBarCountsAndTimes) {
  const auto lines = progress_block(sample(), {});
  ASSERT_EQ(lines.size(), 2U);
  // Of 79 columns the counts take 31, " 43%" 4 and what is between 6: 38 are left for the bar, 43%
  // of it is 16.
  EXPECT_THAT(lines[0], HasSubstr("[################......................]"));
  EXPECT_THAT(lines[0], HasSubstr(" 43%  430/1000  10 failed  16 running"));
  EXPECT_EQ(lines[1], "ETA 7 s  elapsed 5.30 s  81 tasks/s  run 3");
}

TEST(ProgressBlock, FitsAnyWidth) {
  for (std::size_t columns = 1; columns < 200; ++columns)
    for (const bool utf8 : {false, true})
      for (const auto& line : progress_block(sample(), {columns, utf8, false}))
        EXPECT_LE(display_width(line), std::max<std::size_t>(columns, 2) - 1)
            << columns << ": " << line;
}

TEST(ProgressBlock, IsNotFullBeforeTheEnd) {
  auto progress = sample();
  progress.counts = {
      .total = 1000000, .done = 999999, .reused = 0, .failed = 0, .cancelled = 0, .running = 1};
  EXPECT_THAT(progress_block(progress, {})[0], HasSubstr(" 99%"));
  progress.counts.done = 1000000;
  EXPECT_THAT(progress_block(progress, {})[0], HasSubstr("100%"));
}

TEST(ProgressBlock, SaysWhyItStops) {
  auto progress = sample();
  progress.draining = true;
  progress.draining_why = "interrupted";
  const auto lines = progress_block(progress, {});
  EXPECT_THAT(lines[1], HasSubstr("interrupted: finishing what runs"));
  EXPECT_THAT(lines[1], HasSubstr("Ctrl-C again cancels"));
  EXPECT_THAT(lines[1], Not(HasSubstr("ETA")));
}

TEST(ProgressLine, IsPlain) {
  EXPECT_EQ(progress_line(sample()),
            "420/1000 done, 10 failed, 16 running, 81 tasks/s, elapsed 5.30 s, ETA 7 s");
}

TEST(CountsText, NamesWhatIsLeft) {
  EXPECT_EQ(counts_text(
                {.total = 3, .done = 3, .reused = 0, .failed = 0, .cancelled = 0, .running = 0}, 0),
            "3 done");
  EXPECT_EQ(counts_text(
                {.total = 9, .done = 3, .reused = 1, .failed = 2, .cancelled = 1, .running = 1}, 1),
            "3 done (1 unchanged), 2 failed, 1 cancelled, 1 running, 2 pending, 9 in all");
}

}  // namespace
}  // namespace gantry::cli
