#include "model/json_view.hpp"

#include <gtest/gtest.h>

namespace gantry {
namespace {

/// What `keys` lead to, or "none".
std::string json_at(std::string_view text, const std::vector<std::string>& keys) {
  auto view = JsonView::parse(text);
  if (!view) return "invalid";
  for (const auto& key : keys) {
    view = view->find(key);
    if (!view) return "none";
  }
  return view->text();
}

TEST(JsonView, NumbersKeepTheirDigits) {
  for (const auto* number : {"1.10", "1e5", "-0", "-0.0", "1E+05", "12345678901234567890123",
                             "-12345678901234567890123", "0.1000000000000000055511151231257827"}) {
    EXPECT_EQ(json_at(number, {}), number);
    EXPECT_EQ(json_at(std::string("{\"a\" : [ 1, ") + number + " ]}", {"a", "1"}), number);
  }
}

TEST(JsonView, FindsMembersAndItems) {
  const std::string text =
      "\xEF\xBB\xBF { \"a\" : { \"b\" : [ 1 , \"]}\" , [ ] ] } , \"a,\\\"\\u00e9\": null , \"\": "
      "{}, "
      "\"two\": 1, \"two\" : 2 } \n";
  EXPECT_EQ(json_at(text, {"a"}), R"({"b":[1,"]}",[]]})");
  EXPECT_EQ(json_at(text, {"a", "b", "1"}), "]}");
  EXPECT_EQ(json_at(text, {"a", "b", "-1"}), "[]");
  EXPECT_EQ(json_at(text, {"a", "b", "-3"}), "1");
  EXPECT_EQ(json_at(text, {"a", "b", "-4"}), "none");
  EXPECT_EQ(json_at(text, {"a", "b", "3"}), "none");
  EXPECT_EQ(json_at(text, {"a", "b", "x"}), "none");
  EXPECT_EQ(json_at(text, {"a", "b", "1x"}), "none");
  EXPECT_EQ(json_at(text, {"a", "b", "2", "0"}), "none");
  EXPECT_EQ(json_at(text, {"a", "b", "2", "-1"}), "none");
  EXPECT_EQ(json_at(text, {"a,\"é"}), "null");
  EXPECT_EQ(json_at(text, {""}), "{}");
  EXPECT_EQ(json_at(text, {"", "a"}), "none");
  EXPECT_EQ(json_at(text, {"two"}), "2");  // as every reader of JSON does it
  EXPECT_EQ(json_at(text, {"two", "0"}), "none");
}

TEST(JsonView, StringsLoseTheirEscapes) {
  EXPECT_EQ(json_at(R"("a\n\"\\\u20ac")", {}), "a\n\"\\\u20ac");
  EXPECT_EQ(json_at(R"([ "a \" b" , true ])", {}), R"(["a \" b",true])");
  EXPECT_TRUE(JsonView::parse(" null ")->is_null());
  EXPECT_FALSE(JsonView::parse("\"null\"")->is_null());
}

TEST(JsonView, RefusesWhatIsNotJson) {
  using namespace std::string_view_literals;
  for (const auto text :
       {""sv, " "sv, "{"sv, "[1,]"sv, "{\"a\":}"sv, "nan"sv, "1NaN"sv, "[NaN1]"sv, "-NaN"sv, "01"sv,
        "1 2"sv, "\"\xff\""sv, "\"\\ud800\""sv, "[1]\0x"sv, "1\0"sv, "// a\n1"sv, "\""sv})
    EXPECT_EQ(json_at(text, {}), "invalid") << text;
}

TEST(JsonView, DepthCostsNothing) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  EXPECT_EQ(json_at(deep, {}), deep);
  EXPECT_EQ(json_at(deep, {"0", "0", "0"}).size(), deep.size() - 6);
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  objects += "1" + std::string(100'000, '}');
  EXPECT_EQ(json_at(objects, {}), objects);
  EXPECT_EQ(json_at(objects.substr(0, objects.size() - 1), {}), "invalid");
}

TEST(JsonView, NumbersThatOnlyPythonWrites) {
  const auto view =
      JsonView::parse(R"({"a": NaN, "b":[-Infinity,Infinity, 2], "NaN": "x \" NaN"})");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->find("a")->text(), "NaN");
  EXPECT_EQ(view->find("b")->text(), "[-Infinity,Infinity,2]");
  EXPECT_EQ(view->find("b")->find("2")->text(), "2");
  EXPECT_EQ(view->find("NaN")->text(), "x \" NaN");
}

}  // namespace
}  // namespace gantry
