#include "store/run_lock.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

TEST(RunLock, AdmitsOneAndNamesIt) {
  const ScratchDir directory;
  EXPECT_EQ(RunLock::holder(directory.path()), std::nullopt);
  {
    const RunLock lock = must(RunLock::acquire(directory.path() / "new"));
    EXPECT_EQ(RunLock::holder(directory.path() / "new"), ::getpid());
    const auto second = RunLock::acquire(directory.path() / "new");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::busy);
    EXPECT_THAT(second.error().message,
                testing::HasSubstr("(process " + std::to_string(::getpid()) + ")"));
    EXPECT_THAT(second.error().hint, testing::HasSubstr("gantry run --join"));
  }
  EXPECT_EQ(RunLock::holder(directory.path() / "new"), std::nullopt);
  EXPECT_TRUE(RunLock::acquire(directory.path() / "new"));
}

TEST(RunLock, IsFreeWhenItsHolderWasKilled) {
  const ScratchDir directory;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = RunLock::acquire(directory.path());
    if (::write(ends[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char ready = 0;
  ASSERT_EQ(::read(ends[0], &ready, 1), 1);
  EXPECT_EQ(RunLock::holder(directory.path()), child);
  EXPECT_FALSE(RunLock::acquire(directory.path()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(RunLock::holder(directory.path()), std::nullopt);
  EXPECT_TRUE(RunLock::acquire(directory.path()));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(RunLock, AskingDoesNotTakeIt) {
  const ScratchDir directory;
  { must(RunLock::acquire(directory.path())); }
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) RunLock::holder(directory.path());
  }
  int refused = 0;
  for (int i = 0; i < 2'000; ++i) refused += RunLock::acquire(directory.path()) ? 0 : 1;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(refused, 0);
}

TEST(RunLock, MistrustsWhatTheFileSays) {
  const ScratchDir directory;
  const RunLock lock = must(RunLock::acquire(directory.path()));
  for (const char* text : {"", "-7", "x", "99999999999999999999"}) {
    std::ofstream(directory.path() / "lock") << text;
    EXPECT_EQ(RunLock::holder(directory.path()), 0) << text;
  }
}

}  // namespace
}  // namespace gantry::store
