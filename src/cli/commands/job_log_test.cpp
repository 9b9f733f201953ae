#include "cli/commands/job_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>

#include "base/scratch_dir.hpp"

namespace gantry::cli {
namespace {

using namespace std::chrono_literals;

AttemptReport report(FailureCause cause, int code) {
  AttemptReport report;
  report.key = {RunId(1), TaskId(7), AttemptId(1)};
  report.cause = cause;
  report.code = code;
  report.started = TimePoint(1'700'000'000'250ms);
  report.ended = report.started + 1500ms;
  report.out.size = 12;
  return report;
}

TEST(JobLog, HasTheColumnsOfGnuParallel) {
  EXPECT_EQ(job_log_line(report(FailureCause::none, 0), "echo a"),
            "7\t:\t1700000000.250\t     1.500\t0\t12\t0\t0\techo a");
  EXPECT_THAT(job_log_line(report(FailureCause::exit_code, 3), "x"),
              ::testing::HasSubstr("\t12\t3\t0\tx"));
  EXPECT_THAT(job_log_line(report(FailureCause::signal, 9), "x"),
              ::testing::HasSubstr("\t12\t0\t9\tx"));
  EXPECT_THAT(job_log_line(report(FailureCause::timeout, 0), "x"),
              ::testing::HasSubstr("\t12\t-1\t0\tx"));
}

TEST(JobLog, ReplacesTheFile) {
  const ScratchDir dir;
  const std::string path = dir / "log";
  ASSERT_TRUE(write_file_atomic(path, "what was there before"));
  auto log =
      JobLog::create(path, [](TaskId task) { return "task " + std::to_string(task.value()); });
  ASSERT_TRUE(log) << log.error().message;
  log->add(report(FailureCause::none, 0));
  ASSERT_TRUE(log->flush());
  EXPECT_THAT(read_file(path).value(),
              ::testing::MatchesRegex("Seq\tHost\t[^\n]*\n7\t[^\n]*task 7\n"));
}

TEST(JobLog, AFullDiskIsAnErrorAtOnce) {
  const auto log = JobLog::create("/dev/full", [](TaskId) { return ""; });
  ASSERT_FALSE(log) << "the headings find no room";
  EXPECT_EQ(log.error().code, ErrorCode::io);
  EXPECT_THAT(log.error().message, ::testing::HasSubstr("/dev/full"));
}

TEST(JobLog, AFullDiskIsSaidOnce) {
  const ScratchDir dir;
  auto log = JobLog::create(dir / "log", [](TaskId) { return ""; });
  ASSERT_TRUE(log) << log.error().message;
  // Files may not grow beyond the headings any more, as on a disk that is full.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{std::filesystem::file_size(dir / "log"), before.rlim_max};
  const auto on_signal = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  log->add(report(FailureCause::none, 0));
  const auto first = log->flush();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, on_signal);
  ASSERT_FALSE(first);
  EXPECT_THAT(first.error().message, ::testing::HasSubstr("log: "));
  EXPECT_THAT(first.error().hint, ::testing::HasSubstr("incomplete"));
  log->add(report(FailureCause::none, 0));
  EXPECT_TRUE(log->flush());
  EXPECT_EQ(std::filesystem::file_size(dir / "log"), none.rlim_cur) << "a log with a hole";
}

}  // namespace
}  // namespace gantry::cli
