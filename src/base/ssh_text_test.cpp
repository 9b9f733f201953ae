#include "base/ssh_text.hpp"

#include <gtest/gtest.h>

namespace gantry {
namespace {

TEST(SshText, NamesAreNeverOptions) {
  for (const char* good : {"ada", "hpc.example.org", "10.1.2.3", "me@ada", "me.too@big-1", "_x"})
    EXPECT_TRUE(is_ssh_name(good)) << good;
  for (const char* bad : {"", "-oProxyCommand=x", "me@-v", "-l@ada", "a b", "a;b", "a\nb", "$(x)",
                          "@ada", "me@", "a@b@c", ".ada", "ssh://ada", "a'b", "[::1]", "a%h"})
    EXPECT_FALSE(is_ssh_name(bad)) << bad;
  EXPECT_FALSE(is_ssh_name(std::string(201, 'a')));
}

TEST(SshText, PathsAreOneWordBelowHomeOrNot) {
  EXPECT_EQ(shell_quoted_path("/a b/c"), "'/a b/c'");
  EXPECT_EQ(shell_quoted_path("~/it's"), "\"$HOME\"/'it'\\''s'");
  EXPECT_EQ(shell_quoted_path("~"), "\"$HOME\"");
}

}  // namespace
}  // namespace gantry
