/// The documentation is right: every example in docs/formats/sweep.md loads, and every key is
/// described there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"
#include "model/parameter_space.hpp"
#include "spec/spec.hpp"

namespace gantry::spec {
namespace {

std::filesystem::path source_dir() {
  return GANTRY_SOURCE_DIR;
}

std::string document() {
  const auto text = read_file(source_dir() / "docs/formats/sweep.md");
  return text ? *text : "";
}

std::vector<std::string> yaml_blocks(const std::string& text) {
  const std::string begin = "```yaml\n";
  std::vector<std::string> blocks;
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    at += begin.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

TEST(SweepDocs, EveryExampleLoads) {
  const ScratchDir directory;
  for (const auto* file : {"coarse.msh", "fine.msh"})
    ASSERT_TRUE(write_file_atomic(directory / file, ""));
  ASSERT_TRUE(write_file_atomic(directory / "cases.txt", "first\nsecond\n"));
  ASSERT_TRUE(write_file_atomic(directory / "bodies.csv", "mass,radius\n1,2\n3,4\n"));
  const auto blocks = yaml_blocks(document());
  EXPECT_GE(blocks.size(), 15U);
  for (const auto& block : blocks) {
    const auto loaded = parse_sweep(block, "doc.yaml", directory.path());
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message) << "\n" << block;
  }
}

TEST(SweepDocs, TheNumbersInTheTextAreRight) {
  const auto size = [](const std::string& needle) {
    for (const auto& block : yaml_blocks(document())) {
      if (block.find(needle) != std::string::npos)
        return parse_sweep(block, "doc.yaml", "/tmp")->sweep.size();
    }
    return 0U;
  };
  EXPECT_EQ(size("name: drag\n"), 40U);
  EXPECT_EQ(size("combine: [[x, y]]"), 12U);
  EXPECT_EQ(size("method: sobol"), 192U);
  static_assert(kMaxTasks == 100'000'000);
  EXPECT_THAT(document(), ::testing::HasSubstr("at most 100,000,000 tasks"));
}

TEST(SweepDocs, EveryKeyIsDescribed) {
  // The hint of an unknown key lists those there are.
  const auto loaded = parse_sweep("zzzzzzzzzz: 1\n", "s.yaml", "/tmp");
  ASSERT_FALSE(loaded);
  std::string keys = loaded.error().hint.substr(std::string("known keys: ").size()) + ",";
  const std::string text = document();
  for (std::size_t comma = 0; (comma = keys.find(',')) != std::string::npos;) {
    const std::string key = keys.substr(0, comma);
    keys.erase(0, std::min(comma + 2, keys.size()));
    EXPECT_THAT(text, ::testing::HasSubstr("| [`" + key + "`](#")) << key;
  }
}

TEST(SweepDocs, TheExampleStudiesLoad) {
  std::size_t studies = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(source_dir() / "examples")) {
    if (entry.path().filename() != "sweep.yaml") continue;
    const auto loaded = load_sweep(entry.path());
    EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
    ++studies;
  }
  EXPECT_GE(studies, 3U);
}

}  // namespace
}  // namespace gantry::spec
