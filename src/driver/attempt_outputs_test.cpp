#include "driver/attempt_outputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::driver {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class AttemptOutputsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    incoming_ = dir_ / "incoming" / "1.1.1";
    fs::create_directories(incoming_);
    task_.outputs = {(dir_ / "new" / "out").string()};
  }

  ReportReceived arrived(const fs::path& folder, const std::string& path) {
    EXPECT_TRUE(write_file_atomic(folder / "0", "result"));
    ReportReceived received;
    received.outputs = {{(folder / "0").string(), path}};
    return received;
  }

  ScratchDir scratch_;
  fs::path dir_ = scratch_.path();
  fs::path incoming_;
  Task task_;
  store::Store store_ = store::Store::open(dir_, store::Access::read_write).value();
};

TEST_F(AttemptOutputsTest, GoWhereTheTaskDeclaresThem) {
  auto received = arrived(incoming_, task_.outputs[0]);
  EXPECT_EQ(place_outputs(received, task_, store_), "");
  EXPECT_EQ(received.report.cause, FailureCause::none);
  EXPECT_EQ(read_file(dir_ / "new" / "out").value_or(""), "result");
  EXPECT_FALSE(fs::exists(incoming_)) << "nothing stays of what has come";
}

TEST_F(AttemptOutputsTest, NeverGoElsewhereWhateverTheHostSays) {
  ASSERT_TRUE(write_file_atomic(dir_ / ".bashrc", "mine"));
  auto received = arrived(incoming_, (dir_ / ".bashrc").string());
  EXPECT_EQ(place_outputs(received, task_, store_), "");
  EXPECT_EQ(received.report.cause, FailureCause::missing_output);
  EXPECT_THAT(received.report.detail, HasSubstr("no output of it"));
  EXPECT_EQ(read_file(dir_ / ".bashrc").value_or(""), "mine");
  EXPECT_FALSE(fs::exists(incoming_));
}

TEST_F(AttemptOutputsTest, WaitUntilTheyCanBePutThere) {
  task_.outputs.push_back((dir_ / "other").string());
  ASSERT_TRUE(write_file_atomic(dir_ / "new", "a file where a folder should be"));
  auto received = arrived(incoming_, task_.outputs[0]);
  ASSERT_TRUE(write_file_atomic(incoming_ / "1", "second"));
  received.outputs.push_back({(incoming_ / "1").string(), task_.outputs[1]});
  EXPECT_THAT(place_outputs(received, task_, store_), HasSubstr(task_.outputs[0]));
  EXPECT_EQ(received.report.cause, FailureCause::none);
  EXPECT_EQ(read_file(incoming_ / "0").value_or(""), "result");
  fs::remove(dir_ / "new");
  EXPECT_EQ(place_outputs(received, task_, store_), "");
  EXPECT_EQ(read_file(task_.outputs[0]).value_or(""), "result");
  EXPECT_EQ(read_file(task_.outputs[1]).value_or(""), "second");
  EXPECT_FALSE(fs::exists(incoming_));
}

TEST_F(AttemptOutputsTest, AreMeasuredWhereTheyBelong) {
  auto received = arrived(incoming_, task_.outputs[0]);
  EXPECT_EQ(bytes_at_home(task_, received.report), std::nullopt) << "it is not there yet";
  EXPECT_EQ(place_outputs(received, task_, store_), "");
  EXPECT_EQ(bytes_at_home(task_, received.report), 6U);
  EXPECT_EQ(bytes_at_home(Task{}, received.report), std::nullopt) << "it makes none";
  const std::string far = (dir_ / "far").string();
  task_.outputs.push_back(far);
  EXPECT_EQ(bytes_at_home(task_, received.report), std::nullopt);
  task_.staying.push_back(far);
  EXPECT_EQ(bytes_at_home(task_, received.report), 6U) << "the other stays at its site";
  received.report.cause = FailureCause::exit_code;
  EXPECT_EQ(bytes_at_home(task_, received.report), std::nullopt);
}

TEST_F(AttemptOutputsTest, OfAFailureAreNotPutAnywhere) {
  auto received = arrived(incoming_, task_.outputs[0]);
  received.report.cause = FailureCause::missing_output;
  received.report.detail = "out/b: is not a plain file";
  EXPECT_EQ(place_outputs(received, task_, store_), "");
  EXPECT_EQ(received.report.detail, "out/b: is not a plain file");
  EXPECT_FALSE(fs::exists(task_.outputs[0]));
  EXPECT_FALSE(fs::exists(incoming_));
}

}  // namespace
}  // namespace gantry::driver
