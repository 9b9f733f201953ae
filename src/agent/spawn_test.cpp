#include "agent/spawn.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

class SpawnTest : public ::testing::Test {
 protected:
  SpawnTest() {
    null_ = open_file("/dev/null", O_RDONLY).value();
    output_ = open_file(dir_ / "output", O_RDWR | O_CREAT).value();
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, &old_mask_);
  }
  ~SpawnTest() override { ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr); }

  pid_t start(std::vector<std::string> argv, std::vector<std::string> environment = {}) {
    SpawnRequest request;
    for (auto& word : argv) request.argv.push_back(word.data());
    request.argv.push_back(nullptr);
    for (auto& entry : environment) request.envp.push_back(entry.data());
    request.envp.push_back(nullptr);
    request.program = program_.empty() ? argv[0] : program_;
    request.workdir = workdir_;
    request.stdin_fd = null_.get();
    request.stdout_fd = request.stderr_fd = output_.get();
    return spawn(request, failure_);
  }
  /// Runs it and returns what it printed.
  std::string output_of(std::vector<std::string> argv, std::vector<std::string> environment = {}) {
    const pid_t pid = start(std::move(argv), std::move(environment));
    EXPECT_GT(pid, 0) << failure_.stage << ": " << failure_.error;
    if (pid <= 0) return {};
    EXPECT_EQ(::waitpid(pid, &status_, 0), pid);
    return read_file(dir_ / "output").value();
  }
  static std::vector<std::string> shell(const std::string& script) {
    return {"/bin/sh", "-c", script};
  }
  void make_script(const std::string& name, const std::string& text, bool executable = true) {
    ASSERT_TRUE(write_file_atomic(dir_ / name, text));
    std::filesystem::permissions(dir_ / name, executable ? std::filesystem::perms::owner_all
                                                         : std::filesystem::perms::owner_read);
  }

  ScratchDir dir_;
  UniqueFd null_, output_;
  sigset_t old_mask_{};
  std::string program_;
  std::string workdir_ = "/";
  SpawnFailure failure_;
  int status_ = 0;
};

TEST_F(SpawnTest, StartsAProgramWithItsArgumentsEnvironmentAndDirectory) {
  workdir_ = dir_.path();
  EXPECT_EQ(output_of({"/bin/sh", "-c", "echo \"$1\" $A; pwd", "sh", "a  b"}, {"A=1"}),
            "a  b 1\n" + dir_.path().string() + "\n");
  EXPECT_EQ(status_, 0);
}

// The thread sanitizer makes a fork of every vfork, and a forked child cannot tell its failure
// through memory.
#ifndef __SANITIZE_THREAD__
TEST_F(SpawnTest, TellsWhyItCouldNotStart) {
  EXPECT_EQ(start({"/no/such/program"}), -1);
  EXPECT_EQ(failure_.error, ENOENT);
  make_script("data", "x", false);
  EXPECT_EQ(start({(dir_ / "data").string()}), -1);
  EXPECT_EQ(failure_.error, EACCES);
  EXPECT_EQ(start({dir_.path().string()}), -1);
  EXPECT_EQ(failure_.error, EACCES);
  workdir_ = dir_ / "missing";
  EXPECT_EQ(start({"/bin/true"}), -1);
  EXPECT_EQ(failure_.error, ENOENT);
  EXPECT_STREQ(failure_.stage, "cannot enter the working directory");
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no child is left behind
  EXPECT_EQ(errno, ECHILD);
}
#endif

TEST_F(SpawnTest, AScriptWithoutAnInterpreterLineIsAShellScript) {
  make_script("script", "echo \"plain $1\"\n");
  EXPECT_EQ(output_of({(dir_ / "script").string(), "it is"}), "plain it is\n");
}

TEST_F(SpawnTest, ARelativeProgramIsRelativeToTheWorkingDirectory) {
  make_script("tool", "#!/bin/sh\necho here\n");
  workdir_ = dir_.path();
  EXPECT_EQ(output_of({"./tool"}), "here\n");
}

TEST_F(SpawnTest, TheProgramMayHaveAnotherNameThanItsFirstArgument) {
  program_ = "/bin/sh";
  EXPECT_EQ(output_of({"nickname", "-c", "echo $0"}), "nickname\n");
}

TEST_F(SpawnTest, LeadsAProcessGroupOfItsOwn) {
  const std::string text = output_of(shell("cut -d' ' -f1,5 /proc/$$/stat"));
  const auto space = text.find(' ');
  ASSERT_NE(space, std::string::npos);
  EXPECT_EQ(text.substr(0, space) + "\n", text.substr(space + 1));
}

TEST_F(SpawnTest, NoSignalIsBlockedOrIgnored) {
  for (const int changed : {SIGPIPE, SIGXFSZ}) ::signal(changed, SIG_IGN);
  ::signal(SIGCHLD, [](int) {});
  const std::string text = output_of(shell("grep -E 'Sig(Blk|Ign)' /proc/self/status"));
  for (const int changed : {SIGPIPE, SIGXFSZ, SIGCHLD}) ::signal(changed, SIG_DFL);
  ASSERT_EQ(text.substr(0, 33), "SigBlk:\t0000000000000000\nSigIgn:\t");
  const auto ignored = std::strtoull(text.c_str() + 33, nullptr, 16);
  for (const int changed : {SIGPIPE, SIGXFSZ, SIGCHLD})
    EXPECT_EQ(ignored >> (changed - 1) & 1, 0U) << changed;
}

TEST_F(SpawnTest, InheritsItsThreeStreamsAndNothingOfOurs) {
  // High, so that it is not a number that the shell uses; whoever started us may have left others.
  const UniqueFd ours(::fcntl(null_.get(), F_DUPFD_CLOEXEC, 700));
  ASSERT_GE(ours.get(), 700);
  const auto text = "\n" + output_of(shell("for f in /proc/$$/fd/*; do echo ${f##*/}; done"));
  for (const char* stream : {"\n0\n", "\n1\n", "\n2\n"})
    EXPECT_NE(text.find(stream), std::string::npos) << text;
  EXPECT_EQ(text.find("\n" + std::to_string(ours.get()) + "\n"), std::string::npos) << text;
}

TEST_F(SpawnTest, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    const pid_t child = start({"/bin/sleep", "1000"});
    static_cast<void>(!::write(ends[1], &child, sizeof child));
    ::raise(SIGKILL);
  }
  pid_t child = -1;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ::close(ends[0]);
  ::close(ends[1]);
  ::waitpid(parent, nullptr, 0);
  const auto gone = [&] {
    const auto stat = read_file("/proc/" + std::to_string(child) + "/stat");
    return !stat || stat->find(") Z") != std::string::npos;
  };
  for (int i = 0; i < 60'000 && !gone(); ++i) ::usleep(1000);
  EXPECT_TRUE(gone());
}

// find_program.
// --------------------------------------------------------------------------------------

TEST_F(SpawnTest, FindsProgramsLikeAShell) {
  std::filesystem::create_directories(dir_ / "a/tool");  // a directory is no program
  std::filesystem::create_directories(dir_ / "b");
  std::filesystem::create_directories(dir_ / "c");
  make_script("b/tool", "", false);
  make_script("c/tool", "");
  const auto in = [&](const std::string& name) { return (dir_ / name).string(); };
  const std::string path = in("a") + ":" + in("b") + ":" + in("c");
  EXPECT_EQ(find_program("tool", path.c_str(), "/"), in("c/tool"));
  EXPECT_EQ(find_program("tool", in("c").c_str(), "/"), in("c/tool"));
  // Nothing better: so that the reason can be told.
  EXPECT_EQ(find_program("tool", in("b").c_str(), "/"), in("b/tool"));
  EXPECT_EQ(find_program("tool", in("a").c_str(), "/"), "");
  EXPECT_EQ(find_program("tool", "", "/nowhere"), "");
  EXPECT_EQ(find_program("./tool", "", "/"), "./tool");
  EXPECT_EQ(find_program("", path.c_str(), "/"), "");
  EXPECT_EQ(find_program("sh", nullptr, "/"), "/usr/bin/sh");
  // An empty part of PATH is the current directory: the task's, not ours.
  EXPECT_EQ(std::filesystem::path(find_program("tool", "/nowhere:", in("c"))).lexically_normal(),
            in("c/tool"));
}

}  // namespace
}  // namespace gantry::agent
