#include "driver/packed_output.hpp"

#include <gtest/gtest.h>

#include "driver/driver_fixture.hpp"

namespace gantry::driver {
namespace {

class PackedOutputTest : public DriverTest {};

TEST_F(PackedOutputTest, SmallOutputIsInTheReport) {
  CapturedOutput output;
  output.text = "hello";
  output.size = 5;
  EXPECT_EQ(whole_output(options_.state_dir, output, 100).value(), "hello");
}

TEST_F(PackedOutputTest, LargeOutputIsReadFromItsPlaceInThePack) {
  std::filesystem::create_directories(options_.state_dir / "output/run-1");
  ASSERT_TRUE(write_file_atomic(options_.state_dir / "output/run-1/slot-0.out", "otherMINEother"));
  CapturedOutput output;
  output.pack = "run-1/slot-0.out";
  output.offset = 5;
  output.size = 4;
  EXPECT_EQ(whole_output(options_.state_dir, output, 100).value(), "MINE");
  EXPECT_EQ(whole_output(options_.state_dir, output, 2).value(), "NE")
      << "the end matters more than the start";
}

TEST_F(PackedOutputTest, AShortPackIsAnError) {
  std::filesystem::create_directories(options_.state_dir / "output/run-1");
  ASSERT_TRUE(write_file_atomic(options_.state_dir / "output/run-1/slot-0.out", "otherMI"));
  CapturedOutput output;
  output.pack = "run-1/slot-0.out";
  output.offset = 5;
  output.size = 4;
  const auto text = whole_output(options_.state_dir, output, 100);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("slot-0.out: ends too early"), std::string::npos);
}

TEST_F(PackedOutputTest, AMissingPackIsAnError) {
  CapturedOutput output;
  output.pack = "run-9/slot-0.out";
  output.size = 4;
  const auto text = whole_output(options_.state_dir, output, 100);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message.find("run-9/slot-0.out"), std::string::npos);
}

}  // namespace
}  // namespace gantry::driver
