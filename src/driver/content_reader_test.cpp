#include "driver/content_reader.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::driver {
namespace {

struct ContentReaderTest : ::testing::Test {
  std::string file(const std::string& name, const std::string& content, std::uintmax_t bytes) {
    const auto path = dir_ / name;
    EXPECT_TRUE(write_file_atomic(path, content));
    std::filesystem::resize_file(path, bytes);  // with holes
    return path.string();
  }

  /// Until all that was asked for has been read.
  std::vector<ReadContent> read_all() {
    std::vector<ReadContent> all;
    while (reader_.told() < reader_.asked()) {
      pollfd fd{reader_.fd(), POLLIN, 0};
      EXPECT_EQ(::poll(&fd, 1, 120'000), 1);
      for (auto& each : reader_.take()) all.push_back(std::move(each));
    }
    return all;
  }

  ScratchDir dir_;
  ContentReader reader_;
};

TEST_F(ContentReaderTest, ReadsInTheOrderOfTheRequestsAndEachFileOnce) {
  EXPECT_EQ(reader_.fd(), -1);
  EXPECT_TRUE(reader_.take().empty());
  // The first one is a batch of its own; the others are asked for while it is read.
  const std::vector paths = {file("large", "a", 65 << 20), file("one", "b", 1), file("two", "c", 1),
                             (dir_ / "missing").string()};
  for (const auto& path : paths) reader_.ask(path, std::filesystem::exists(path) ? 65 << 20 : 0);
  reader_.ask(paths[0], 65 << 20);
  EXPECT_EQ(reader_.asked(), 4U);
  const auto read = read_all();
  ASSERT_EQ(read.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(read[i].path, paths[i]);
  EXPECT_EQ(read[0].digest.value(), hash_file(paths[0]).value());
  EXPECT_EQ(read[0].stamp.size, std::uint64_t{65} << 20);
  EXPECT_EQ(read[1].digest.value(), hash_bytes("b"));
  EXPECT_EQ(read[2].digest.value(), hash_bytes("c"));
  EXPECT_FALSE(read[3].digest);
  EXPECT_EQ(reader_.fd(), -1);
}

TEST_F(ContentReaderTest, ReadsAFileAgainThatIsAskedForAgain) {
  const std::string path = file("input", "one", 3);
  reader_.ask(path, 3);
  EXPECT_EQ(read_all().at(0).digest.value(), hash_bytes("one"));
  ASSERT_TRUE(write_file_atomic(path, "two!"));
  reader_.ask(path, 4);
  EXPECT_EQ(read_all().at(0).digest.value(), hash_bytes("two!"));
}

TEST_F(ContentReaderTest, ItsEndDoesNotWaitForALargeFile) {
  ContentReader reader;
  reader.ask(file("large", "", std::uintmax_t{1} << 40), std::uint64_t{1} << 40);  // minutes
  EXPECT_NE(reader.fd(), -1);
  EXPECT_TRUE(reader.take().empty());
}

}  // namespace
}  // namespace gantry::driver
