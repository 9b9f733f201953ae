#include "actuate/launch/ssh/connection_hint.hpp"

#include <gtest/gtest.h>

namespace gantry {
namespace {

TEST(ConnectionHint, TellsAnUnknownKeyFromADeniedLogin) {
  EXPECT_NE(connection_hint("Host key verification failed.", "far").find("ssh far"),
            std::string::npos);
  EXPECT_NE(connection_hint("me@far: Permission denied (publickey).", "far").find("BatchMode=yes"),
            std::string::npos);
}

TEST(ConnectionHint, ADeniedFolderIsNoDeniedLogin) {
  const auto hint =
      connection_hint("mkdir: cannot create directory '/x': Permission denied", "far");
  EXPECT_NE(hint.find("scratch:"), std::string::npos);
  EXPECT_EQ(hint.find("BatchMode"), std::string::npos);
  EXPECT_NE(connection_hint("sh: 1: bin/gantry-agent-1: Permission denied", "far").find("noexec"),
            std::string::npos);
}

TEST(ConnectionHint, AFullDiskIsToldBeforeTheProgramThatMetIt) {
  EXPECT_NE(connection_hint("mkdir: cannot create directory 'bin': No space left on device", "far")
                .find("room"),
            std::string::npos);
}

TEST(ConnectionHint, SaysNothingWithoutKnowing) {
  EXPECT_EQ(connection_hint("what?", "far"), "");
}

}  // namespace
}  // namespace gantry
