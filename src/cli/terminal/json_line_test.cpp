#include "cli/terminal/json_line.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace gantry::cli {
namespace {

TEST(JsonLine, WritesOneObject) {
  std::string out;
  JsonLine(out)
      .number("task", 7U)
      .text("name", "a\"b")
      .flag("ok", true)
      .null("none")
      .real("x", 0.25)
      .real("bad", NAN)
      .texts("argv", {"a", "b c"})
      .scalars("results", {{"pi", "3.140"}, {"word", "01"}})
      .close();
  EXPECT_EQ(out,
            "{\"task\":7,\"name\":\"a\\\"b\",\"ok\":true,\"none\":null,\"x\":0.25,\"bad\":null,"
            "\"argv\":[\"a\",\"b c\"],\"results\":{\"pi\":3.140,\"word\":\"01\"}}\n");
}

TEST(JsonLine, AnyBytesGiveValidJson) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte += static_cast<char>(i);
  for (const std::string& hostile :
       {every_byte, std::string("\xed\xa0\x80"), std::string("\xf4\x90\x80\x80"),
        std::string("\xe0\x80\xaf"), std::string("\xc3"), std::string("\xf0\x9f\x98")}) {
    std::string out;
    JsonLine(out).text(hostile, hostile).close();
    const auto parsed = nlohmann::json::parse(out, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << out;
    EXPECT_EQ(out.find('\n'), out.size() - 1);
  }
}

TEST(JsonLine, KeepsGoodText) {
  std::string out;
  JsonLine(out).text("t", "größe 日本 😀\n\x01").close(false);
  EXPECT_EQ(nlohmann::json::parse(out).at("t").get<std::string>(), "größe 日本 😀\n\x01");
}

}  // namespace
}  // namespace gantry::cli
