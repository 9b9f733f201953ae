// The event kernel against SimGrid 3.32, an established simulator, on random grids: the same ends
// of all work to 1e-6 of their time. SimGrid runs in a process of its own (oracle.py) for each of
// them and is linked with nothing of ours.

#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <fstream>
#include <string>

#include "base/scratch_dir.hpp"
#include "scenario.hpp"

namespace gantry::simulate {
namespace {

constexpr double kTolerance = 1e-6;

struct Said {
  int status = -1;
  std::string text;
};

Said run(const std::string& command) {
  Said said;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return said;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = ::fread(buffer.data(), 1, buffer.size(), pipe)) {
    said.text.append(buffer.data(), n);
  }
  said.status = ::pclose(pipe);
  return said;
}

class SimGrid : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run("/usr/bin/python3 -c 'import simgrid' 2>&1").status != 0) {
      GTEST_SKIP() << "python3-simgrid is not installed: the kernel is not cross-checked";
    }
  }

  /// What SimGrid makes of it, by task. The paths have no character that a shell would read.
  nlohmann::json ask(const Scenario& scenario) const {
    std::ofstream(dir_ / "scenario.json") << scenario.json();
    const Said said =
        run("timeout 60 /usr/bin/python3 " GANTRY_SOURCE_DIR "/tests/simgrid/oracle.py " +
            (dir_ / "scenario.json").string());
    EXPECT_EQ(said.status, 0) << said.text;
    return nlohmann::json::parse(said.text);
  }

  void compare(const ScenarioOptions& options, std::uint64_t seed) {
    const Scenario scenario(options, seed);
    const auto ours = scenario.run_in_kernel();
    const auto theirs = ask(scenario);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t task = 0; task < ours.size(); ++task) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", task " + std::to_string(task));
      ASSERT_EQ(ours[task].size(), theirs[task].size()) << scenario.json();
      for (std::size_t i = 0; i < ours[task].size(); ++i) {
        const PhaseEnd& end = ours[task][i];
        const auto& other = theirs[task][i];
        ASSERT_EQ(end.phase, other[0].get<std::uint32_t>());
        ASSERT_EQ(end.failed, other[2].get<bool>());
        ASSERT_NEAR(end.time, other[1].get<double>(), kTolerance * end.time);
        worst_ = std::max(worst_, std::abs(end.time / other[1].get<double>() - 1));
        (end.failed ? failed_ : done_)++;
      }
    }
  }

  void compare_many(const ScenarioOptions& options) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      ASSERT_NO_FATAL_FAILURE(compare(options, seed));
    }
    printf("%d ends and %d failures compared, at most %.1e apart\n", done_, failed_, worst_);
    EXPECT_GT(done_, 100);
    EXPECT_GE(failed_, options.outages ? 20 : 0);
  }

 private:
  ScratchDir dir_;
  int done_ = 0;
  int failed_ = 0;
  double worst_ = 0;
};

TEST_F(SimGrid, FifoLinks) {
  compare_many({.sharing = LinkSharing::fifo});
}

TEST_F(SimGrid, FairLinks) {
  compare_many({.sharing = LinkSharing::fair});
}

TEST_F(SimGrid, FifoLinksWithTraces) {
  compare_many({.sharing = LinkSharing::fifo, .traces = true});
}

TEST_F(SimGrid, FairLinksWithTraces) {
  compare_many({.sharing = LinkSharing::fair, .traces = true});
}

TEST_F(SimGrid, FifoLinksWithTracesAndOutages) {
  compare_many({.sharing = LinkSharing::fifo, .traces = true, .outages = true});
}

TEST_F(SimGrid, FairLinksWithTracesAndOutages) {
  compare_many({.sharing = LinkSharing::fair, .traces = true, .outages = true});
}

}  // namespace
}  // namespace gantry::simulate
