#include "agent/pilot.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

#include "agent/pilot_address.hpp"
#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

/// The first child of a process, once it has one.
pid_t child_of(pid_t parent) {
  const std::string id = std::to_string(parent);
  const auto path = "/proc/" + id + "/task/" + id + "/children";
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  while (std::chrono::steady_clock::now() < deadline) {
    if (const pid_t child = std::atoi(read_file(path).value_or("").c_str()); child > 0)
      return child;
    ::poll(nullptr, 0, 5);
  }
  return -1;
}

TEST(Pilot, ASecondJobOfTheSameNameHidesNotTheFirst) {
  const ScratchDir dir;
  const auto agent_dir = dir / "agent";
  std::filesystem::create_directories(agent_dir);
  // The first holds the lock, and can be reached.
  const auto lock = open_file(agent_dir / "lock", O_RDWR | O_CREAT, 0600);
  ASSERT_TRUE(lock);
  ASSERT_EQ(::flock(lock->get(), LOCK_EX), 0);
  ASSERT_TRUE(write_file_atomic(agent_dir / kAddressName, "of the first"));
  const pid_t pilot = ::fork();
  if (pilot == 0) {
    ::close(lock->get());  // it stays locked
    std::_Exit(serve_as_pilot(dir.path(), {}, std::chrono::nanoseconds(0)) ? 0 : 1);
  }
  const pid_t agent = child_of(pilot);
  ASSERT_GT(agent, 0);
  EXPECT_EQ(read_file(agent_dir / kAddressName).value_or("none"), "of the first");
  ::kill(agent, SIGKILL);
  ::kill(pilot, SIGKILL);
  ::waitpid(pilot, nullptr, 0);
}

}  // namespace
}  // namespace gantry::agent
