#include "model/template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cstdio>

namespace gantry {
namespace {

SlotNames names() {
  SlotNames names;
  names.add("seed", 0);
  names.add("g", 1);
  names.add("#", 2);
  return names;
}

const std::vector<std::string_view> kValues{"7", "dir/a.tar.gz", "42"};

std::string rendered(const TextTemplate& text, const std::vector<std::string_view>& values) {
  std::string out;
  text.append_to(out, values);
  return out;
}

std::string render(const std::string& text) {
  const auto parsed = TextTemplate::parse({text, {1, 1}, true}, names(), "f");
  return parsed ? rendered(*parsed, kValues) : "ERROR " + parsed.error().message;
}

std::string shell(const std::string& text) {
  const auto parsed = TextTemplate::parse_shell({text, {1, 1}, true}, names(), "f");
  return parsed ? "ok" : parsed.error().message;
}

TEST(Template, SubstitutesNames) {
  EXPECT_EQ(render("--seed={seed}/{g}!{#}"), "--seed=7/dir/a.tar.gz!42");
  EXPECT_EQ(render("plain"), "plain");
  EXPECT_EQ(render(""), "");
  EXPECT_EQ(render("{seed}{seed}"), "77");
}

TEST(Template, PartsOfAPath) {
  EXPECT_EQ(render("{g.} {g/} {g//} {g/.}"), "dir/a.tar a.tar.gz dir a.tar");
  EXPECT_EQ(value_part("a", ValuePart::directory), ".");
  EXPECT_EQ(value_part("/a", ValuePart::directory), "/");
  EXPECT_EQ(value_part(".profile", ValuePart::no_extension), ".profile");
  EXPECT_EQ(value_part("d.x/file", ValuePart::no_extension), "d.x/file");
  EXPECT_EQ(value_part("d/.profile", ValuePart::base_name_no_extension), ".profile");
}

TEST(Template, BracesThatHoldNoPlaceholder) {
  EXPECT_EQ(render("{print $1}"), "{print $1}");
  EXPECT_EQ(render("{{seed}} {seed}"), "{seed} 7");
  EXPECT_EQ(render("{{{seed}}}"), "{7}");
  EXPECT_EQ(render("{\"a\": {seed}}"), "{\"a\": 7}");
  EXPECT_EQ(render("{"), "{");
  EXPECT_EQ(render("a}"), "a}");
  EXPECT_EQ(render("{a b} }}"), "ERROR f:1:1: single and doubled braces are mixed in one text");
}

TEST(Template, UnknownNames) {
  EXPECT_EQ(render("ab{sead}"), "ERROR f:1:3: {sead} is not a parameter");
  EXPECT_EQ(render("{}"), "ERROR f:1:1: {} is not a parameter");
  EXPECT_EQ(render("x{3}"), "ERROR f:1:2: {3} is not a parameter");
}

TEST(Template, KnowsItsSlotsAndLength) {
  const auto parsed = *TextTemplate::parse({"a{g}b{seed}c{g}", {}, false}, names(), "f");
  EXPECT_THAT(parsed.slots(), ::testing::ElementsAre(0, 1));
  EXPECT_FALSE(parsed.constant());
  EXPECT_EQ(parsed.tail(), "");
  EXPECT_GE(parsed.longest(std::vector<std::size_t>{10, 20, 0}), 53U);
}

TEST(Template, HasPlaceholder) {
  EXPECT_TRUE(has_placeholder("a{x}"));
  EXPECT_TRUE(has_placeholder("{}"));
  EXPECT_TRUE(has_placeholder("{{{x}}}"));
  EXPECT_FALSE(has_placeholder("{{x}}"));
  EXPECT_FALSE(has_placeholder("{print $1} {"));
}

TEST(Template, TellsWhenValuesCannotBeConfused) {
  const auto apart = [](const std::string& text) {
    const auto parsed = *TextTemplate::parse({text, {}, false}, names(), "f");
    return parsed.tells_values_apart([](std::uint32_t, char c) { return c >= '0' && c <= '9'; });
  };
  EXPECT_TRUE(apart("{seed}_{g}.dat"));
  EXPECT_TRUE(apart("{seed}/x{g}"));
  EXPECT_FALSE(apart("{seed}{g}"));
  EXPECT_FALSE(apart("{seed}1{g}"));
  EXPECT_FALSE(apart("{g/}_{seed}"));
}

TEST(ShellTemplate, RefusesPlacesThatCannotBeQuoted) {
  EXPECT_EQ(shell("echo {seed} '{seed}' \"{seed}\" a={seed} $(basename {g}) `date` {seed}"), "ok");
  EXPECT_EQ(shell("echo `x {seed}`"), "f:1:9: {seed} cannot be put inside backticks safely");
  EXPECT_EQ(shell("echo \"$(x {seed})\""),
            "f:1:11: {seed} cannot be put after a command substitution in double quotes safely");
  EXPECT_EQ(shell("cat <<EOF\n{seed}\nEOF"),
            "f:1:11: {seed} cannot be put after a here-document safely");
  EXPECT_EQ(shell("echo $(({seed}))"),
            "f:1:9: {seed} cannot be put after arithmetic in ((…)) safely");
  EXPECT_EQ(shell("echo # {seed}"), "f:1:8: {seed} cannot be put in a comment safely");
  EXPECT_EQ(shell("echo a#{seed}"), "ok");
  EXPECT_EQ(shell("echo \\{seed}"), "f:1:7: {seed} cannot be put after a backslash safely");
  EXPECT_EQ(shell("echo ${seed}"), "f:1:7: {seed} cannot be put after a $ safely");
  EXPECT_EQ(shell("echo \"${{HOME:-{seed}}}\""), "f:1:16: {seed} cannot be put inside ${…} safely");
  EXPECT_EQ(shell("echo $'{seed}'"), "f:1:8: {seed} cannot be put inside $'…' safely");
}

/// What /bin/sh makes of a command.
std::string run_shell(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string out;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    out.append(buffer.data(), n);
  ::pclose(pipe);
  return out;
}

TEST(ShellTemplate, TheShellSeesExactlyTheValue) {
  const auto parsed = TextTemplate::parse_shell(
      {"printf '%s|' {seed} pre{seed}post '{seed}' \"{seed}\" 'a'{seed}\"b\"", {}, false}, names(),
      "f");
  ASSERT_TRUE(parsed);
  for (const std::string value : {"plain",        "it's",
                                  "a\"b",         "$(echo pwned)",
                                  "`echo pwned`", "; echo pwned",
                                  "$HOME",        "a\nb",
                                  "\\",           "\\\\'",
                                  "-n",           "*",
                                  "!x",           "&& echo pwned",
                                  "'\"'\"'",      "",
                                  "a\tb",         "#x",
                                  "${HOME}",      "\\$HOME",
                                  "\xff\xfe"}) {
    const std::vector<std::string_view> values{value, "", ""};
    const std::string expected =
        value + "|pre" + value + "post|" + value + "|" + value + "|a" + value + "b|";
    EXPECT_EQ(run_shell(rendered(*parsed, values)), expected) << value;
  }
}

TEST(ShellTemplate, TheShellSeesAnyValueExactly) {
  const auto parsed = TextTemplate::parse_shell(
      {"printf '%s|' {seed} '{seed}' \"{seed}\"", {}, false}, names(), "f");
  // Starting a shell is slow: one string with much in it, not many.
  const auto characters = rc::gen::container<std::string>(
      rc::gen::element<char>('\'', '"', '\\', '$', '`', '(', ')', '{', '}', ';', '&', '|', '<', '>',
                             '*', '?', '~', '#', '\n', ' ', 'a', '!'));
  EXPECT_TRUE(rc::check([&] {
    std::string value;
    for (int i = 0; i < 4; ++i) value += *characters;
    const std::vector<std::string_view> values{value, "", ""};
    RC_ASSERT(run_shell(rendered(*parsed, values)) == value + "|" + value + "|" + value + "|");
  }));
}

}  // namespace
}  // namespace gantry
