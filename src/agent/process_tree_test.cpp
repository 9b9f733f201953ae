#include "agent/process_tree.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/fd.hpp"

namespace gantry::agent {
namespace {

/// Runs `body` in a process of its own that is a child subreaper; its result must be true.
void in_subreaper(const std::function<bool()>& body) {
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::alarm(120);
    const bool good = body();
    kill_descendants(60'000);
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// A process that does `body` and then sleeps.
pid_t fork_sleeper(const std::function<void()>& body = [] {}) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    body();
    for (;;) ::pause();
  }
  return pid;
}

/// A daemon as books have it: forked twice, its own session. Tells its pid through a pipe.
pid_t fork_daemon(const std::function<void()>& body = [] {}) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t middle = ::fork();
  if (middle == 0) {
    ::setsid();
    fork_sleeper([&] {
      body();
      const pid_t self = ::getpid();
      static_cast<void>(!::write(ends[1], &self, sizeof self));
    });
    ::_exit(0);
  }
  ::waitpid(middle, nullptr, 0);
  pid_t daemon = -1;
  const bool got = ::read(ends[0], &daemon, sizeof daemon) == sizeof daemon;
  ::close(ends[0]);
  ::close(ends[1]);
  return got ? daemon : -1;
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

bool exists(pid_t pid) {
  return ::kill(pid, 0) == 0;
}

TEST(ProcessTree, FindsChildrenAndTheirs) {
  in_subreaper([] {
    if (!children(::getpid()).empty()) return false;
    const pid_t one = fork_sleeper();
    const pid_t two = fork_sleeper([] { fork_sleeper(); });
    if (children(::getpid()) != std::vector<pid_t>{one, two}) return false;
    while (children(two).empty()) ::usleep(1000);
    const auto all = descendants(::getpid());
    return all.size() == 3 && all[2] == children(two)[0] &&
           descendants(::getpid(), 2) == std::vector<pid_t>{one, two};
  });
}

TEST(ProcessTree, FindsChildrenOfEveryThread) {
  in_subreaper([] {
    // The child is forked by a second thread of the middle process.
    const pid_t middle = fork_sleeper([] {
      static const auto start = [](void*) -> void* {
        fork_sleeper();
        for (;;) ::pause();
      };
      pthread_t thread{};
      pthread_create(&thread, nullptr, start, nullptr);
    });
    while (children(middle).empty()) ::usleep(1000);
    return descendants(::getpid()).size() == 2;
  });
}

TEST(ProcessTree, DaemonsBelongToTheSubreaperAndAreKilled) {
  in_subreaper([] {
    const pid_t daemon = fork_daemon();
    const pid_t stopped = fork_daemon([] {
      ::signal(SIGTERM, SIG_IGN);
      ::signal(SIGHUP, SIG_IGN);
    });
    if (daemon < 0 || stopped < 0) return false;
    ::kill(stopped, SIGSTOP);
    const auto all = descendants(::getpid());
    if (!contains(all, daemon) || !contains(all, stopped)) return false;
    return kill_descendants(60'000) && !exists(daemon) && !exists(stopped) &&
           children(::getpid()).empty();
  });
}

TEST(ProcessTree, OutrunsProcessesThatForkAllTheTime) {
  in_subreaper([] {
    // Each process forks a successor and leaves: nobody is there twice.
    fork_sleeper([] {
      for (;;) {
        if (::fork() > 0) ::_exit(0);
        ::setsid();
      }
    });
    ::usleep(20'000);
    return kill_descendants(60'000) && children(::getpid()).empty();
  });
}

TEST(ProcessTree, SignalsEveryone) {
  in_subreaper([] {
    const pid_t one = fork_daemon();
    const pid_t two = fork_sleeper();
    signal_descendants(SIGTERM);
    int status = 0;
    for (const pid_t pid : {one, two}) {
      if (::waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status)) return false;
    }
    return true;
  });
}

// The thread sanitizer keeps a shadow of the memory in each process, which counts as theirs.
#ifndef __SANITIZE_THREAD__
TEST(ProcessTree, CountsSharedMemoryOnceWhenItMatters) {
  in_subreaper([] {
    constexpr std::size_t kSize = std::size_t{64} << 20;
    const auto make = [] {
      void* memory =
          ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
      std::fill_n(static_cast<char*>(memory), kSize, 'x');
      const auto* bytes = static_cast<volatile char*>(memory);
      for (int i = 0; i < 3; ++i) {
        fork_sleeper([&] {
          for (std::size_t at = 0; at < kSize; at += 4096) static_cast<void>(bytes[at]);
        });
      }
    };
    fork_sleeper(make);
    while (resident_memory_of_descendants() < 4 * kSize) ::usleep(1000);
    // The last of them may still be at it: then the others have a quarter each already, and it
    // less.
    const auto proportional = proportional_memory_of_descendants();
    return proportional >= kSize / 2 && proportional < 2 * kSize;
  });
}
#endif

TEST(ProcessTree, KillsWhatIsMarkedAndNothingElse) {
  const std::string marker = "GANTRY_TEST_MARK=" + std::to_string(::getpid()) + "-x";
  const auto start_marked = [](std::string mark) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      char program[] = "/bin/sleep";
      char time[] = "1000";
      char other[] = "A=b";
      char* argv[] = {program, time, nullptr};
      char* envp[] = {other, mark.data(), nullptr};
      ::execve(program, argv, envp);
      ::_exit(127);
    }
    // Until it is what it will be.
    while (read_file("/proc/" + std::to_string(pid) + "/comm").value_or("") != "sleep\n")
      ::usleep(1000);
    return pid;
  };
  const pid_t marked = start_marked(marker);
  const pid_t longer = start_marked(marker + "y");
  // Not waited for yet: a zombie counts as gone.
  EXPECT_EQ(kill_processes_marked(marker), 1);
  int status = 0;
  EXPECT_EQ(::waitpid(marked, &status, WNOHANG), marked);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(::waitpid(longer, &status, WNOHANG), 0);
  EXPECT_EQ(kill_processes_marked(marker), 0);
  ::kill(longer, SIGKILL);
  ::waitpid(longer, nullptr, 0);
}

}  // namespace
}  // namespace gantry::agent
