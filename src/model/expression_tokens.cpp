#include "model/expression_tokens.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "base/characters.hpp"

namespace gantry {

namespace {

constexpr std::size_t kMaxExpression = 10'000;

// Longer ones first. `~` is our low-binding "not": `not a == b` is not (a == b), `!a` binds like a
// sign.
constexpr std::array<std::pair<std::string_view, std::string_view>, 23> kOperators{
    {{"==", "=="}, {"!=", "!="}, {"<=", "<="}, {">=", ">="}, {"&&", "&&"}, {"||", "||"},
     {"**", "^"},  {"<", "<"},   {">", ">"},   {"+", "+"},   {"-", "-"},   {"*", "*"},
     {"/", "/"},   {"%", "%"},   {"^", "^"},   {"!", "!"},   {"(", "("},   {")", ")"},
     {",", ","},   {"?", "?"},   {":", ":"},   {"&", ""},    {"|", ""}}};

class Tokenizer {
 public:
  Tokenizer(const SourceText& source, const std::string& file)
      : source_(source), text_(source.text), file_(file) {}

  Result<std::vector<ExpressionToken>> run() {
    if (text_.size() > kMaxExpression) {
      return error(0, fmt::format("an expression has at most {} characters", kMaxExpression));
    }
    for (skip_space(); at_ < text_.size(); skip_space()) TRY(next());
    if (tokens_.empty()) return error(0, "the expression is empty");
    return std::move(tokens_);
  }

 private:
  using Kind = ExpressionToken::Kind;

  [[nodiscard]] tl::unexpected<Error> error(std::size_t at, std::string_view message,
                                            std::string hint = {}) const {
    return fail_at(file_, source_.at(at), message, std::move(hint));
  }
  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }
  void add(Kind kind, std::string text, std::size_t length) {
    tokens_.push_back({kind, std::move(text), at_});
    at_ += length;
  }

  Result<> next() {
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1])))
      return number();
    if (is_letter(c)) return name();
    if (c == '"' || c == '\'') return quoted(c);
    for (const auto& [written, meant] : kOperators) {
      if (!text_.substr(at_).starts_with(written)) continue;
      if (meant.empty())
        return error(at_, fmt::format("'{}' is no operator here", c),
                     fmt::format("write {0}{0}", c));
      add(Kind::op, std::string(meant), written.size());
      return {};
    }
    if (c == '=') return error(at_, "'=' does not compare", "write == to compare");
    if (c == '{')
      return error(at_, "an expression names parameters without braces", "write seed, not {seed}");
    const bool printable = c > ' ' && c < 0x7f;
    return error(at_, printable ? fmt::format("'{}' cannot stand in an expression", c)
                                : "this character cannot stand in an expression");
  }

  Result<> number() {
    std::size_t end = at_;
    const auto digits = [&] {
      while (end < text_.size() && is_digit(text_[end])) ++end;
    };
    digits();
    if (end < text_.size() && text_[end] == '.') ++end;
    digits();
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      std::size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) {
        end = exponent;
        digits();
      }
    }
    if (end < text_.size() && (is_letter(text_[end]) || text_[end] == '.')) {
      return error(at_, fmt::format("'{}' is not a number", text_.substr(at_, end + 1 - at_)));
    }
    add(Kind::number, std::string(text_.substr(at_, end - at_)), end - at_);
    return {};
  }

  Result<> name() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const auto word = text_.substr(at_, end - at_);
    if (word == "and") {
      add(Kind::op, "&&", word.size());
    } else if (word == "or") {
      add(Kind::op, "||", word.size());
    } else if (word == "not") {
      add(Kind::op, "~", word.size());
    } else {
      add(Kind::name, std::string(word), word.size());
    }
    return {};
  }

  Result<> quoted(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return error(at_, "a quote is not closed");
    add(Kind::text, std::string(text_.substr(at_ + 1, end - at_ - 1)), end + 1 - at_);
    return {};
  }

  const SourceText& source_;
  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::vector<ExpressionToken> tokens_;
};

}  // namespace

Result<std::vector<ExpressionToken>> tokenize_expression(const SourceText& source,
                                                         const std::string& file) {
  return Tokenizer(source, file).run();
}

bool is_comparison(const ExpressionToken& token) {
  if (token.kind != ExpressionToken::Kind::op) return false;
  const std::string& op = token.text;
  return op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=";
}

}  // namespace gantry
