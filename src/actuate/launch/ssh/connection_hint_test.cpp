#include "actuate/launch/ssh/connection_hint.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

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

TEST(ConnectionHint, KnowsWhatToDoAboutEachUsualReason) {
  const std::pair<std::string_view, std::string_view> wanted[] = {
      {"No ED25519 host key is known for far", "accept it once by hand: ssh far"},
      {"me@far: Permission denied (publickey,password).", "ssh -o BatchMode=yes far true"},
      {"write error: No space left on device", "make room there"},
      {"mkdir: Disk quota exceeded", "make room there"},
      {"Quota exceeded", "make room there"},
      {"sh: 1: cd: can't cd to /scratch", "its scratch folder cannot be used"},
      {"bash: line 1: cd: /scratch: No such file or directory", "its scratch folder"},
      {"touch: cannot touch 'x': Read-only file system", "its scratch folder cannot be used"},
      {"sh: bin/gantry-agent-1: Exec format error", "programs cannot be run"},
      {"ssh: Could not resolve hostname far: Name or service not known", "is the name right"},
      {"ssh: connect to host far port 22: Connection refused", "is its ssh server running"},
      {"ssh: connect to host far port 22: Connection timed out", "try: ssh far true"},
      {"ssh: connect to host far port 22: No route to host", "try: ssh far true"},
      {"connect: Network is unreachable", "try: ssh far true"},
      {"Timeout, server far not responding: does not answer", "try: ssh far true"},
      {"sh: 1: head: not found", "install the basic tools"},
  };
  for (const auto& [why, hint] : wanted)
    EXPECT_NE(connection_hint(why, "far").find(hint), std::string::npos)
        << why << " -> " << connection_hint(why, "far");
}

TEST(ConnectionHint, SaysNothingWithoutKnowing) {
  // Each shares words with a reason that is known.
  for (const std::string_view why :
       {"",
        "what?",
        "Connection closed by 10.0.0.1 port 22",
        "Connection reset by peer",
        "kex_exchange_identification: read: Connection reset by peer",
        "Broken pipe",
        "far: no such host in this cluster",
        "unknown key type",
        "Permission is required",
        "No such file or directory",
        "Too many open files in system",
        "file system error",
        "cannot create a thread",
        "Could not load the profile",
        "the time limit is out",
        "found nothing",
        "not now",
        "its start failed",
        "File size limit exceeded",
        "beyond our reach",
        "the agent ended with exit code 255",
        "Received disconnect from far: 2: Too many authentication failures"})
    EXPECT_EQ(connection_hint(why, "far"), "") << why;
}

}  // namespace
}  // namespace gantry
