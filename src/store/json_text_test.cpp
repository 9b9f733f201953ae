#include "store/json_text.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

namespace gantry::store {
namespace {

using namespace std::string_literals;

std::string json_of(const Pairs& pairs) {
  std::string out;
  write_json(pairs, out);
  return out;
}

TEST(JsonText, WritesNumbersAsNumbersAndKeepsTheirDigits) {
  const Pairs pairs{{"a", "1"},   {"b", "3.1400"}, {"c", "-0"}, {"d", "1e999"},
                    {"e", "007"}, {"f", "1."},     {"g", "+1"}, {"h", "nan"},
                    {"i", ""},    {"j", "0x10"},   {"k", "-"},  {"l", "1 "}};
  EXPECT_EQ(
      json_of(pairs),
      R"({"a":1,"b":3.1400,"c":-0,"d":1e999,"e":"007","f":"1.","g":"+1","h":"nan","i":"","j":"0x10",)"
      R"("k":"-","l":"1 "})");
  EXPECT_EQ(read_json_pairs(json_of(pairs)), pairs);
}

TEST(JsonText, NumbersFollowTheGrammar) {
  for (const char* good : {"0", "-0", "12", "1.50", "1e9", "-1.5E-300", "0.1", "1e999"})
    EXPECT_TRUE(is_json_number(good)) << good;
  for (const char* bad :
       {"", "-", "01", "+1", ".5", "1.", "1e", "nan", "inf", "0x10", "1 ", " 1", "1,5"})
    EXPECT_FALSE(is_json_number(bad)) << bad;
}

TEST(JsonText, EscapesWhatJsonMustNotHold) {
  const Pairs pairs{{"q\"\\", "a\nb\tc\r\x01\x7f\0z"s}, {"ü", "日本 🎉"}, {"", "$(rm -rf /); '"}};
  std::string out;
  EXPECT_TRUE(write_json(pairs, out));
  EXPECT_EQ(nlohmann::json::parse(out)["q\"\\"], pairs[0].second);
  EXPECT_EQ(read_json_pairs(out), pairs);
}

TEST(JsonText, KeepsDuplicateNamesAndOrder) {
  const Pairs pairs{{"x", "1"}, {"a", "2"}, {"x", "three"}};
  EXPECT_EQ(read_json_pairs(json_of(pairs)), pairs);
  EXPECT_EQ(read_json_pairs(json_of({})), Pairs{});
}

TEST(JsonText, TellsPlainTextFromOtherBytes) {
  EXPECT_TRUE(is_plain_text(""));
  EXPECT_TRUE(is_plain_text("plain\x1b[0m ü 日 🎉 \xF4\x8F\xBF\xBF"));
  for (const std::string bad :
       {"\x80", "\xC0\xAF", "\xC3", "\xED\xA0\x80", "\xE0\x80\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "ok\xE6\x97"}) {
    EXPECT_FALSE(is_plain_text(bad)) << nlohmann::json(std::vector<int>(bad.begin(), bad.end()));
  }
  EXPECT_FALSE(is_plain_text(std::string_view("a\0b", 3)));
}

// Whatever the bytes: valid JSON that an independent parser accepts, and the exact bytes by one way
// or the other.
TEST(JsonText, RoundTripsRandomBytes) {
  std::mt19937 random(1);
  const std::string alphabet =
      "a1.-e\"\\\n\0\x1f\x7f\x80\xBF\xC3\xA9\xE6\x97\xA5\xED\xA0\xF0\x9F\x8E\x89\xFF"s;
  int inexact = 0;
  for (int round = 0; round < 5000; ++round) {
    Pairs pairs(random() % 4);
    for (auto& [name, value] : pairs) {
      for (auto* s : {&name, &value}) {
        for (auto n = random() % 7; n > 0; --n) *s += alphabet[random() % alphabet.size()];
      }
    }
    std::string json;
    if (write_json(pairs, json)) {
      EXPECT_EQ(read_json_pairs(json), pairs);
    } else {
      ++inexact;
    }
    EXPECT_TRUE(nlohmann::json::accept(json)) << json;
    std::string framed;
    frame_pairs(pairs, framed);
    EXPECT_EQ(unframe_pairs(framed), pairs);
  }
  EXPECT_GT(inexact, 1000);
}

TEST(JsonText, RefusesWhatItDidNotWrite) {
  for (const char* bad :
       {"", "{", "{}x", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\u00ff\"}", "{\"a\":\"\\", "{\"a\":[1]}", "{\"a\":1", "[]", "{\"a\":01}"}) {
    EXPECT_FALSE(read_json_pairs(bad)) << bad;
  }
  EXPECT_FALSE(unframe_pairs("\xff\xff\xff\xff"));
  EXPECT_FALSE(unframe_words(std::string_view("\1\0\0\0\5\0\0\0ab", 10)));
  EXPECT_FALSE(read_json_words("[1]"));
}

TEST(JsonText, RoundTripsWords) {
  const std::vector<std::string> words{"--seed", "{}", ":::", "1", "", "a b\n", "ü"};
  std::string out;
  EXPECT_TRUE(write_json(words, out));
  EXPECT_EQ(read_json_words(out), words);
  const std::vector<std::string> bytes{"\xff", std::string("\0", 1)};
  EXPECT_FALSE(write_json(bytes, out));
  out.clear();
  frame_words(bytes, out);
  EXPECT_EQ(unframe_words(out), bytes);
}

}  // namespace
}  // namespace gantry::store
