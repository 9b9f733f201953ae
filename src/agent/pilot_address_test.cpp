#include "agent/pilot_address.hpp"

#include <gtest/gtest.h>

namespace gantry::agent {
namespace {

const std::string kSecret(kSecretBytes, 'a');

TEST(PilotAddress, IsReadAsItWasWritten) {
  const auto read = parse_pilot_address(to_text({kSecret, 4711, {"10.0.0.7", "fd00::1"}}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->secret, kSecret);
  EXPECT_EQ(read->port, 4711);
  EXPECT_EQ(read->hosts, (std::vector<std::string>{"10.0.0.7", "fd00::1"}));
}

TEST(PilotAddress, APartOfItIsNone) {
  const std::string text = to_text({kSecret, 4711, {"10.1.0.7", "10.0.0.7"}});
  for (std::size_t n = 0; n + 1 < text.size(); ++n)
    EXPECT_FALSE(parse_pilot_address(text.substr(0, n))) << n;
}

TEST(PilotAddress, RubbishIsNone) {
  for (const std::string& text :
       {std::string(), std::string("x"), std::string(1000, 'a'), kSecret + " 0 10.0.0.1 .\n",
        kSecret + " 65536 10.0.0.1 .\n", kSecret + " -1 10.0.0.1 .\n",
        kSecret + " 22x 10.0.0.1 .\n", kSecret + " 22 .\n", kSecret + " 22 host .\n",
        kSecret + " 22 10.0.0.1;reboot .\n", std::string(kSecretBytes, 'g') + " 22 10.0.0.1 .\n",
        kSecret + "a 22 10.0.0.1 .\n"})
    EXPECT_FALSE(parse_pilot_address(text)) << text;
}

TEST(PilotAddress, SecretsAreTheirOwnAndComparedWhole) {
  const auto one = make_secret();
  const auto two = make_secret();
  ASSERT_TRUE(one && two);
  EXPECT_NE(*one, *two);
  EXPECT_TRUE(parse_pilot_address(to_text({*one, 1, {"10.0.0.1"}})));
  EXPECT_TRUE(is_same_secret(*one, *one));
  EXPECT_FALSE(is_same_secret(*one, *two));
  EXPECT_FALSE(is_same_secret(*one, one->substr(1)));
  EXPECT_FALSE(is_same_secret("", ""));
}

}  // namespace
}  // namespace gantry::agent
