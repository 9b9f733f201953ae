#include "model/fingerprint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FingerprintTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto* file : {"sim", "sim.py", "app.jar", "data.csv"}) {
      ASSERT_TRUE(write_file_atomic(directory_ / file, file));
    }
    task_.workdir = directory_.path().string();
  }

  std::vector<std::string> implied(std::vector<std::string> argv) {
    task_.argv = std::move(argv);
    auto paths = implied_inputs(task_);
    for (auto& path : paths) path = std::filesystem::path(path).filename();
    return paths;
  }

  ScratchDir directory_;
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
  EXPECT_THAT(implied({"sh", "-c", "sim.py"}), IsEmpty()) << "looked up in PATH";
  EXPECT_THAT(implied({"python3", "-m", "sim", "data.csv"}), ElementsAre("sim.py"));
  EXPECT_THAT(implied({"python3", "-m", "json.tool", "data.csv"}), IsEmpty());
  EXPECT_THAT(implied({"pythonic", "sim.py"}), IsEmpty());
  EXPECT_THAT(implied({}), IsEmpty());
}

TEST_F(FingerprintTest, SoIsWhatStandsBehindWrappers) {
  EXPECT_THAT(implied({"nice", "./sim"}), ElementsAre("sim"));
  EXPECT_THAT(implied({"nice", "-n", "5", "timeout", "-k", "1", "10s", "python3", "sim.py"}),
              ElementsAre("sim.py"));
  EXPECT_THAT(implied({"env", "-u", "X", "A=1", "time", "-f", "%e", "./sim"}), ElementsAre("sim"));
  EXPECT_THAT(implied({"mpirun", "--mca", "btl", "self", "-np", "2", "./sim", "data.csv"}),
              ElementsAre("sim"));
  EXPECT_THAT(implied({"srun", "-n", "4", "--mem=1G", "./sim"}), ElementsAre("sim"));
  EXPECT_THAT(implied({"taskset", "-c", "0", "stdbuf", "-oL", "bash", "sim"}), ElementsAre("sim"));
  EXPECT_THAT(implied({"nice", "-n"}), IsEmpty());
  EXPECT_THAT(implied({"bash", "-e", "sim"}), ElementsAre("sim"));
  EXPECT_THAT(implied({"gnuplot", "-e", "a=1", "sim"}), ElementsAre("sim"));
  EXPECT_THAT(implied({"gnuplot", "-c", "sim", "1"}), ElementsAre("sim"));
  EXPECT_THAT(implied({"R", "--file=sim"}), ElementsAre("sim"));
  EXPECT_THAT(implied({"perl", "-e", "print", "sim"}), IsEmpty());
  EXPECT_THAT(implied({"echo", "./sim"}), IsEmpty());
}

TEST_F(FingerprintTest, SoIsWhatAShellsTextRuns) {
  EXPECT_THAT(implied({"/bin/sh", "-c", "./sim | sort > data.csv"}), Contains("sim"));
  const auto of_text = [&](const std::string& text) { return implied({"sh", "-c", text}); };
  EXPECT_THAT(of_text("A=1 ./sim x; python3 'sim.py'"), ElementsAre("sim", "sim.py"));
  EXPECT_THAT(of_text("if true; then x=\"$(nice ./sim 2>/dev/null)\"; fi"), ElementsAre("sim"));
  EXPECT_THAT(of_text("bash -c './sim && . ./sim.py'"), ElementsAre("sim", "sim.py"));
  EXPECT_THAT(of_text("cd / && cd " + directory_.string() + " && ./sim"), ElementsAre("sim"));
  EXPECT_THAT(of_text("echo ./sim # ; ./sim.py"), IsEmpty());
  EXPECT_THAT(of_text("cat <<END\n./sim\nEND"), IsEmpty());
  EXPECT_THAT(of_text("cat > ./sim; chmod +x sim; ./sim"), IsEmpty()) << "made by the task";
  EXPECT_THAT(of_text("cc -o sim sim.c && ./sim"), IsEmpty()) << "made by the task";
  task_.outputs = {directory_ / "sim"};
  EXPECT_THAT(of_text("make && ./sim"), IsEmpty()) << "an output";
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
  other.collect = {"/o"};
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
