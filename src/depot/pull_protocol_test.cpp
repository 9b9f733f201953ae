#include "depot/pull_protocol.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gantry::depot {
namespace {

const PeerSite kPeer{"me@ada", "/scratch/it's me", "gantry-agent-0123"};

std::string body_of(const std::string& frame) {
  FrameReader reader(kMaxFilesFrame);
  reader.append(frame);
  return std::string(reader.next()->body);
}

std::string pull_body(const PeerSite& from, std::uint64_t bytes = 7) {
  std::string out;
  encode(out, Pull{3, {1, 2}, bytes, true, from});
  return body_of(out);
}

TEST(PullProtocol, CarriesWhatIsWanted) {
  const std::string body = pull_body(kPeer);
  const auto pull = decode<Pull>(body);
  ASSERT_TRUE(pull);
  EXPECT_EQ(pull->id, 3U);
  EXPECT_EQ(pull->content, (Digest{1, 2}));
  EXPECT_EQ(pull->bytes, 7U);
  EXPECT_TRUE(pull->executable);
  EXPECT_EQ(pull->from, kPeer);
  for (std::size_t size = 0; size < body.size(); ++size)
    EXPECT_FALSE(decode<Pull>(std::string_view(body).substr(0, size))) << size;
  EXPECT_FALSE(decode<Pull>(body + "x"));

  std::string out;
  encode(out, Want{4, {5, 6}, 9});
  const auto want = decode<Want>(body_of(out));
  ASSERT_TRUE(want);
  EXPECT_EQ(want->id, 4U);
  EXPECT_EQ(want->content, (Digest{5, 6}));
  EXPECT_EQ(want->skip, 9U);
}

TEST(PullProtocol, NothingBecomesAnOptionOrAnotherCommand) {
  for (const char* name : {"", "-oProxyCommand=touch x", "a b", "a;b", "$(x)", "me@-v", "a\nb"})
    EXPECT_FALSE(decode<Pull>(pull_body({name, kPeer.scratch, kPeer.agent}))) << name;
  for (const char* scratch :
       {"", "relative", "/", "/a/../b", "/a//b", "~", "~root/x", "~/../x", "/a\nb", "/a\x01", "-x"})
    EXPECT_FALSE(decode<Pull>(pull_body({kPeer.ssh, scratch, kPeer.agent}))) << scratch;
  for (const char* agent : {"", "sh", "gantry-agent-/../../x", "gantry-agent-a b",
                            "../gantry-agent", "gantry-agent-$x", "-gantry-agent-"})
    EXPECT_FALSE(decode<Pull>(pull_body({kPeer.ssh, kPeer.scratch, agent}))) << agent;
  EXPECT_FALSE(decode<Pull>(pull_body(kPeer, std::uint64_t{1} << 63U)));
}

TEST(PullProtocol, TheShellThereSeesTheFolderAsOneWord) {
  const auto words = peer_words(kPeer, "gantry-77");
  EXPECT_EQ(words.front(), "ssh");
  for (const char* option : {"BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no"})
    EXPECT_EQ(std::ranges::count(words, option), 1) << option;
  ASSERT_GE(words.size(), 3U);
  EXPECT_EQ(words[words.size() - 3], "--");
  EXPECT_EQ(words[words.size() - 2], "me@ada");
  // Quoted once for the script, and once more for the login shell.
  EXPECT_EQ(words.back().find("exec sh -c 'cd '\\''/scratch/it'\\''\\'\\'''\\''s me'\\'' && "), 0U)
      << words.back();
  EXPECT_NE(words.back().find("exec bin/gantry-agent-0123 give . gantry-77'"), std::string::npos);
  EXPECT_NE(peer_words({"ada", "~/x", kPeer.agent}, "t").back().find("cd \"$HOME\"/"),
            std::string::npos);
}

}  // namespace
}  // namespace gantry::depot
