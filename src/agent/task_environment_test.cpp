#include "agent/task_environment.hpp"

#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

using Strings = std::vector<std::string>;

Strings strings(const std::vector<char*>& envp) {
  EXPECT_EQ(envp.back(), nullptr);
  return {envp.begin(), envp.end() - 1};
}

void make_program(const std::filesystem::path& path) {
  std::filesystem::create_directories(path.parent_path());
  ASSERT_TRUE(write_file_atomic(path, "#!/bin/sh\n"));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

TEST(TaskEnvironment, ATasksOwnEntriesReplaceCommonOnesOfTheSameName) {
  TaskEnvironment environment("MARK=here");
  environment.set_common({"A=1", "AB=2", "C=3"});
  EXPECT_EQ(strings(environment.with({})), (Strings{"A=1", "AB=2", "C=3", "MARK=here"}));
  EXPECT_EQ(strings(environment.with({"A=x", "C=", "D=4"})),
            (Strings{"AB=2", "A=x", "C=", "D=4", "MARK=here"}));
}

TEST(TaskEnvironment, FindsProgramsInThePathOfTheTask) {
  const ScratchDir dir;
  make_program(dir / "a/tool");
  make_program(dir / "b/tool");
  TaskEnvironment environment("MARK=here");
  environment.set_common({"PATH=" + (dir / "a").string()});
  const Strings none;
  EXPECT_EQ(environment.find("tool", environment.with(none), "/"), (dir / "a/tool").string());
  const Strings own = {"PATH=" + (dir / "b").string()};
  EXPECT_EQ(environment.find("tool", environment.with(own), "/"), (dir / "b/tool").string());
  EXPECT_EQ(environment.find("other", environment.with(own), "/"), "");
}

TEST(TaskEnvironment, KeepsItsAnswerUntilItIsWrong) {
  const ScratchDir dir;
  make_program(dir / "a/tool");
  make_program(dir / "b/tool");
  TaskEnvironment environment("MARK=here");
  const Strings own = {"PATH=" + (dir / "a").string() + ":" + (dir / "b").string()};
  EXPECT_EQ(environment.find("tool", environment.with(own), "/"), (dir / "a/tool").string());
  std::filesystem::remove_all(dir / "a");
  EXPECT_EQ(environment.find("tool", environment.with(own), "/"), (dir / "a/tool").string());
  environment.forget();
  EXPECT_EQ(environment.find("tool", environment.with(own), "/"), (dir / "b/tool").string());
}

TEST(TaskEnvironment, ARelativePathBelongsToTheTasksDirectory) {
  const ScratchDir dir;
  make_program(dir / "one/bin/tool");
  make_program(dir / "two/bin/tool");
  TaskEnvironment environment("MARK=here");
  const Strings own = {"PATH=/nowhere:bin"};
  for (const std::string name : {"one", "two"}) {
    EXPECT_EQ(environment.find("tool", environment.with(own), dir / name),
              (dir / (name + "/bin/tool")).string());
  }
}

}  // namespace
}  // namespace gantry::agent
