#include "actuate/launch/ssh/ssh_command.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), n);
  EXPECT_EQ(::pclose(pipe), 0);
  return text;
}

TEST(SshCommand, AsksNobodyAndTrustsNoUnknownHost) {
  const auto words = ssh_words({.host = "lab1", .user = "ada", .scratch = "~/g"}, "true");
  EXPECT_THAT(words, Contains("BatchMode=yes"));
  EXPECT_THAT(words, Contains("StrictHostKeyChecking=yes"));
  EXPECT_THAT(words, Not(Contains("-F")));
  EXPECT_EQ(words[words.size() - 3], "--");
  EXPECT_EQ(words[words.size() - 2], "lab1");
  EXPECT_EQ(words.back(), "true");
}

TEST(SshCommand, APersonCanDoTheSame) {
  EXPECT_EQ(ssh_by_hand({.host = "lab1", .scratch = "~/g"}), "lab1");
  EXPECT_EQ(
      ssh_by_hand({.host = "lab1", .user = "ada", .config = "/my lab/conf", .scratch = "~/g"}),
      "-F '/my lab/conf' -l ada lab1");
}

/// The script, run by a real shell here.
class RemoteStart : public ::testing::Test {
 protected:
  std::string start(const std::string& scratch, const std::string& program,
                    const std::vector<std::string>& words = {}) {
    EXPECT_TRUE(write_file_atomic(dir_ / "program", program));
    const AgentImage image{"agent-1", program.size(), "any"};
    const std::string command =
        remote_start({.host = "h", .scratch = scratch}, image, "TOKEN", words);
    return output_of("cd / && HOME='" + dir_.path().string() + "' sh -c " + shell_quoted(command) +
                     " <'" + (dir_ / "program").string() + "'");
  }
  ScratchDir dir_;
};

TEST_F(RemoteStart, TakesTheProgramOnceAndBecomesIt) {
  const std::string program = "#!/bin/sh\necho \"hello $1 from $(pwd)\"\n";
  const std::string folder = (dir_ / "it's here").string();
  const std::string first = start(folder, program, {"a 'b' $c"});
  EXPECT_THAT(first, HasSubstr("TOKEN send "));
  EXPECT_THAT(first, HasSubstr("TOKEN ready " + folder + "\nhello a 'b' $c from " + folder + "\n"));
  const std::string second = start(folder, program);
  EXPECT_THAT(second, Not(HasSubstr("send")));
  EXPECT_THAT(second, HasSubstr("TOKEN ready "));
}

TEST_F(RemoteStart, KnowsWhereHomeIs) {
  EXPECT_THAT(start("~/site", "#!/bin/sh\n"),
              HasSubstr("TOKEN ready " + dir_.path().string() + "/site\n"));
}

TEST_F(RemoteStart, AProgramThatArrivesInPartIsNotUsed) {
  const AgentImage image{"agent-1", 1000, "any"};
  const std::string command =
      remote_start({.host = "h", .scratch = dir_.path()}, image, "TOKEN", {});
  const std::string text =
      output_of("printf short | sh -c " + shell_quoted(command + " || true") + "; true");
  EXPECT_THAT(text, HasSubstr("TOKEN failed"));
  EXPECT_FALSE(std::filesystem::exists(dir_ / "bin/agent-1"));
}

}  // namespace
}  // namespace gantry
