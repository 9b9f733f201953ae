#include "model/fingerprint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/fd.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FingerprintTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/gantry_fingerprint_XXXXXX";
    directory_ = ::mkdtemp(name.data());
    for (const auto* file : {"sim", "sim.py", "app.jar", "data.csv"}) {
      ASSERT_TRUE(write_file_atomic(directory_ / file, file));
    }
    task_.workdir = directory_.string();
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::vector<std::string> implied(std::vector<std::string> argv) {
    task_.argv = std::move(argv);
    auto paths = implied_inputs(task_);
    for (auto& path : paths) path = std::filesystem::path(path).filename();
    return paths;
  }

  std::filesystem::path directory_;
  Task task_;
};

TEST_F(FingerprintTest, TheProgramItselfIsAnInput) {
  EXPECT_THAT(implied({"./sim", "sim.py"}), ElementsAre("sim"));
  EXPECT_THAT(implied({directory_ / "sim"}), ElementsAre("sim"));
  EXPECT_THAT(implied({"./absent"}), IsEmpty());
  EXPECT_THAT(implied({"sim"}), IsEmpty()) << "looked up in PATH";
  EXPECT_THAT(implied({"./"}), IsEmpty()) << "a directory";
}

TEST_F(FingerprintTest, SoIsTheScriptOfAnInterpreter) {
  EXPECT_THAT(implied({"python3", "-u", "sim.py", "data.csv"}), ElementsAre("sim.py"));
  EXPECT_THAT(implied({"python3.11", "-W", "ignore", "sim.py"}), ElementsAre("sim.py"));
  EXPECT_THAT(implied({"java", "-jar", "app.jar"}), ElementsAre("app.jar"));
  EXPECT_THAT(implied({"sh", "-c", "sim.py"}), IsEmpty());
  EXPECT_THAT(implied({"pythonic", "sim.py"}), IsEmpty());
  EXPECT_THAT(implied({}), IsEmpty());
}

TEST_F(FingerprintTest, CommandDigestKnowsItsParts) {
  task_.argv = {"a", "b"};
  const Digest digest = command_digest(task_);
  Task other = task_;
  other.argv = {"a b"};
  EXPECT_NE(command_digest(other), digest);
  other = task_;
  other.workdir += "x";
  EXPECT_NE(command_digest(other), digest);
  other = task_;
  other.outputs = {"/o"};
  EXPECT_NE(command_digest(other), digest);
  Task collected = task_;
  collected.collect = {"/o"};
  EXPECT_NE(command_digest(collected), command_digest(other));
  other = task_;
  other.results_digest = Digest{1, 2};
  EXPECT_NE(command_digest(other), digest);
  other = task_;
  other.id = TaskId(7);
  other.resources.cores = 9;
  other.timeout = std::chrono::seconds(1);
  EXPECT_EQ(command_digest(other), digest) << "none of these changes what a task computes";
}

TEST_F(FingerprintTest, EnvironmentDigestKnowsVariablesAndParameters) {
  task_.environment = {{"A", "1"}};
  task_.parameters = {{"p", "2"}};
  const Digest digest = environment_digest(task_);
  Task other = task_;
  other.parameters[0].second = "3";
  EXPECT_NE(environment_digest(other), digest);
  other = task_;
  std::swap(other.environment, other.parameters);
  EXPECT_NE(environment_digest(other), digest);
}

}  // namespace
}  // namespace gantry
