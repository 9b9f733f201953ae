// What tasks print, however much and however strangely.
#include <gmock/gmock.h>

#include <algorithm>

#include "actuate/launch/local/launcher_fixture.hpp"

namespace gantry {
namespace {

class LauncherOutputTest : public LauncherTest {
 protected:
  void SetUp() override { open(); }

  std::string whole(const CapturedOutput& output) {
    const auto pack = read_file(site_.state_dir / "output" / output.pack);
    if (!pack) return "(" + pack.error().message + ")";
    return pack->substr(output.offset, output.size);
  }
};

TEST_F(LauncherOutputTest, TwoHundredMegabytesArriveWhole) {
  const std::uint64_t size = 200'000'000;
  const auto report = run(sh("yes 0123456789abcde | head -c 200000000; echo end >&2"));
  EXPECT_EQ(report.cause, FailureCause::none);
  EXPECT_EQ(report.out.size, size);
  EXPECT_FALSE(report.out.truncated);
  EXPECT_EQ(report.err.text, "end\n");
  EXPECT_LE(report.out.text.size(), 64U << 10);
  const auto text = whole(report.out);
  ASSERT_EQ(text.size(), size);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i + 16 <= text.size(); i += 16) {
    if (text.compare(i, 16, "0123456789abcde\n") != 0) ++wrong;
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(report.out.text, text.substr(text.size() - report.out.text.size()));
}

TEST_F(LauncherOutputTest, ManyTasksShareFewFiles) {
  for (unsigned n = 1; n <= 20; ++n) {
    start(n, sh("yes $GANTRY_TASK | head -c 100000"));
  }
  ASSERT_TRUE(poll_until([&] { return reports_.size() == 20; }));
  for (unsigned n = 1; n <= 20; ++n) {
    std::string expected;
    while (expected.size() < 100'000) expected += std::to_string(n) + "\n";
    expected.resize(100'000);
    EXPECT_EQ(whole(reports_[n].report.out), expected) << n;
  }
  const auto packs = std::filesystem::directory_iterator(site_.state_dir / "output/run-1");
  EXPECT_LE(std::distance(packs, {}), 2);  // a slot has one
}

TEST_F(LauncherOutputTest, ATaskMayCloseItsOutput) {
  const auto report = run(sh("echo before; exec >&- 2>&-; sleep 0.1; exit 3"));
  EXPECT_EQ(report.cause, FailureCause::exit_code);
  EXPECT_EQ(report.code, 3);
  EXPECT_EQ(report.out.text, "before\n");
}

TEST_F(LauncherOutputTest, ATaskThatMakesItsOutputNonBlockingDoesNotSpoilTheNext) {
  site_.cores = 1;  // one slot, so that the next task gets the same pipe
  close();
  open();
  const auto first = run(task({"/usr/bin/python3", "-c",
                               "import os, fcntl\n"
                               "fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)\nprint('first')"}));
  EXPECT_EQ(first.out.text, "first\n");
  const auto second =
      run(task({"/usr/bin/python3", "-c",
                "import os\nassert os.get_blocking(1)\nos.write(1, b'x' * 500000)"}));
  EXPECT_EQ(second.cause, FailureCause::none) << second.err.text;
  EXPECT_EQ(second.out.size, 500'000U);
}

TEST_F(LauncherOutputTest, BytesThatAreNoTextComeBackAsTheyAre) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  ASSERT_TRUE(write_file_atomic(dir_ / "bytes", all + "\x1b[2J\xff\xfe"));
  EXPECT_EQ(run(sh("cat bytes")).out.text, all + "\x1b[2J\xff\xfe");
}

TEST_F(LauncherOutputTest, WithoutAPlaceForLargeOutputTheTaskStillRuns) {
  std::filesystem::remove_all(site_.state_dir / "output");
  ASSERT_TRUE(write_file_atomic(site_.state_dir / "output", "not a directory"));
  const auto report = run(sh("yes | head -c 1000000; echo end"));
  EXPECT_EQ(report.cause, FailureCause::none);
  EXPECT_TRUE(report.out.truncated);
  EXPECT_TRUE(report.out.pack.empty());
  EXPECT_EQ(report.out.size, 1'000'004U);
  EXPECT_TRUE(report.out.text.ends_with("y\nend\n"));
}

}  // namespace
}  // namespace gantry
