#include "model/expression.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numbers>

#include "model/expression_tokens.hpp"
#include "model/suggest.hpp"

namespace gantry {

namespace {

using Kind = ExpressionToken::Kind;

constexpr std::array<std::string_view, 33> kFunctions{
    "sin",   "cos",   "tan",  "asin",  "acos",  "atan", "sinh",  "cosh", "tanh", "asinh", "acosh",
    "atanh", "atan2", "log2", "log10", "log",   "ln",   "exp",   "sqrt", "sign", "rint",  "abs",
    "min",   "max",   "sum",  "avg",   "floor", "ceil", "round", "pow",  "mod",  "cbrt",  "trunc"};

/// Binds weaker than comparisons, stronger than `and`.
constexpr int kNotPrecedence = 3;

mu::value_type logical_not(mu::value_type value) {
  return value == 0 ? 1 : 0;
}
mu::value_type modulo(mu::value_type a, mu::value_type b) {
  return std::fmod(a, b);
}
mu::value_type power(mu::value_type a, mu::value_type b) {
  return std::pow(a, b);
}
mu::value_type floor_of(mu::value_type v) {
  return std::floor(v);
}
mu::value_type ceil_of(mu::value_type v) {
  return std::ceil(v);
}
mu::value_type round_of(mu::value_type v) {
  return std::round(v);
}
mu::value_type cbrt_of(mu::value_type v) {
  return std::cbrt(v);
}
mu::value_type trunc_of(mu::value_type v) {
  return std::trunc(v);
}

void define_extras(mu::Parser& parser) {
  parser.DefineConst("pi_", std::numbers::pi);  // muparser's own _pi has 12 digits only
  parser.DefineInfixOprt("!", logical_not);
  parser.DefineInfixOprt("~", logical_not, kNotPrecedence);
  parser.DefineOprt("%", modulo, mu::prMUL_DIV);
  parser.DefineFun("mod", modulo);
  parser.DefineFun("pow", power);
  parser.DefineFun("floor", floor_of);
  parser.DefineFun("ceil", ceil_of);
  parser.DefineFun("round", round_of);
  parser.DefineFun("cbrt", cbrt_of);
  parser.DefineFun("trunc", trunc_of);
}

/// May stand beside a comparison of two texts, so that nothing binds tighter than the comparison.
bool closes_comparison(const ExpressionToken* token) {
  if (token == nullptr) return true;
  constexpr std::string_view kOuter = "( ) && || ? : , ~";
  return token->kind == Kind::op && kOuter.find(token->text) != std::string_view::npos;
}

}  // namespace

struct ExpressionSet::Impl {
  struct Variable {
    std::string name;
    bool is_text = false;
    bool used = false;
    std::span<const std::string> values;
    std::vector<double> codes;  ///< of the values, when it is text
  };
  std::string file;
  // muparser keeps the addresses of what is in `numbers` and `literals`: containers that do not
  // move it.
  std::deque<Variable> variables;
  std::deque<double> numbers;
  std::map<std::string, double, std::less<>> literals;
  std::deque<mu::Parser> parsers;

  [[nodiscard]] std::ptrdiff_t find(std::string_view name) const {
    const auto found =
        std::find_if(variables.begin(), variables.end(),
                     [&](const Variable& variable) { return variable.name == name; });
    return found == variables.end() ? -1 : found - variables.begin();
  }
  [[nodiscard]] bool is_text(const ExpressionToken& token) const {
    if (token.kind == Kind::text) return true;
    const auto slot = token.kind == Kind::name ? find(token.text) : -1;
    return slot >= 0 && variables[static_cast<std::size_t>(slot)].is_text;
  }

  Result<> check_texts(const SourceText& source, const std::vector<ExpressionToken>& tokens) const;
  [[nodiscard]] tl::unexpected<Error> unknown_name(const SourceText& source,
                                                   const ExpressionToken& token, bool call) const;
  Result<std::string> rewrite(const SourceText& source, const ExpressionToken& token, bool call,
                              mu::Parser& parser);
  Result<> compile(const SourceText& source, const std::vector<ExpressionToken>& tokens);
};

/// Texts are compared by codes that stand for them, so each must be one side of a comparison with
/// another text and of nothing else: no number may ever meet a code.
Result<> ExpressionSet::Impl::check_texts(const SourceText& source,
                                          const std::vector<ExpressionToken>& tokens) const {
  const auto at = [&](std::size_t i) { return i < tokens.size() ? &tokens[i] : nullptr; };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_text(tokens[i])) continue;
    const bool compared =
        i + 2 < tokens.size() && is_comparison(tokens[i + 1]) && is_text(tokens[i + 2]) &&
        closes_comparison(i == 0 ? nullptr : at(i - 1)) && closes_comparison(at(i + 3));
    if (!compared) {
      const std::string what =
          tokens[i].kind == Kind::text ? fmt::format("\"{}\"", tokens[i].text) : tokens[i].text;
      return fail_at(file, source.at(tokens[i].offset),
                     fmt::format("{} is text: it can only be compared with another text", what),
                     "as in geometry == \"a.mdl\"");
    }
    i += 2;
  }
  return {};
}

tl::unexpected<Error> ExpressionSet::Impl::unknown_name(const SourceText& source,
                                                        const ExpressionToken& token,
                                                        bool call) const {
  std::vector<std::string_view> known;
  if (call) known.assign(kFunctions.begin(), kFunctions.end());
  for (const auto& variable : variables) {
    if (!call) known.emplace_back(variable.name);
  }
  std::string hint = did_you_mean(token.text, known);
  if (hint.empty() && !call)
    hint = fmt::format("to compare with a text, put it in quotes: \"{}\"", token.text);
  return fail_at(file, source.at(token.offset),
                 call ? fmt::format("there is no function '{}'", token.text)
                      : fmt::format("'{}' is not a parameter", token.text),
                 std::move(hint));
}

/// The token in muparser's words; variables are defined in `parser` as they appear.
Result<std::string> ExpressionSet::Impl::rewrite(const SourceText& source,
                                                 const ExpressionToken& token, bool call,
                                                 mu::Parser& parser) {
  if (token.kind == Kind::text) {
    const auto literal = literals.try_emplace(token.text, 0).first;
    const std::string name = fmt::format("t{}_", token.offset);
    parser.DefineVar(name, &literal->second);
    return name + " ";
  }
  if (token.kind != Kind::name) return token.text + " ";
  if (call) {
    if (std::find(kFunctions.begin(), kFunctions.end(), token.text) == kFunctions.end()) {
      return unknown_name(source, token, true);
    }
    return token.text;  // no blank: muparser wants the parenthesis right behind a function's name
  }
  const auto slot = find(token.text);
  if (slot < 0 && token.text == "pi") return std::string("pi_ ");
  if (slot < 0) return unknown_name(source, token, false);
  // A name of our own: parameters may be called like muparser's functions and constants.
  std::string name = fmt::format("v{}_", slot);
  variables[static_cast<std::size_t>(slot)].used = true;
  parser.DefineVar(name, &numbers[static_cast<std::size_t>(slot)]);
  return name + " ";
}

Result<> ExpressionSet::Impl::compile(const SourceText& source,
                                      const std::vector<ExpressionToken>& tokens) {
  mu::Parser& parser = parsers.emplace_back();
  define_extras(parser);
  std::string text;
  std::vector<std::size_t> begins;  // of each token in `text`
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool call =
        i + 1 < tokens.size() && tokens[i + 1].kind == Kind::op && tokens[i + 1].text == "(";
    TRY_ASSIGN(const auto words, rewrite(source, tokens[i], call, parser));
    begins.push_back(text.size());
    text += words;
  }
  try {
    parser.SetExpr(text);
    int results = 0;
    parser.Eval(results);
    if (results == 1) return {};
    return fail_at(file, source.mark, "an expression has one value, not several with commas");
  } catch (const mu::ParserError& error) {
    // muparser's position lies in our rewritten text: point at the token there.
    const auto position = static_cast<std::size_t>(std::max(0, static_cast<int>(error.GetPos())));
    const auto after = std::upper_bound(begins.begin(), begins.end(), position);
    const auto token = static_cast<std::size_t>(after - begins.begin()) - 1;
    const bool end = error.GetCode() == mu::ecUNEXPECTED_EOF;
    const auto offset = end ? source.text.size() : tokens[token].offset;
    const std::string found = end ? "the end" : fmt::format("'{}'", tokens[token].text);
    return fail_at(file, source.at(offset),
                   fmt::format("the expression cannot be understood at {}", found));
  }
}

ExpressionSet::ExpressionSet(std::string file) : impl_(std::make_unique<Impl>()) {
  impl_->file = std::move(file);
}
ExpressionSet::ExpressionSet(ExpressionSet&&) noexcept = default;
ExpressionSet& ExpressionSet::operator=(ExpressionSet&&) noexcept = default;
ExpressionSet::~ExpressionSet() = default;

void ExpressionSet::add_number(std::string name) {
  impl_->variables.push_back({std::move(name), false, false, {}, {}});
  impl_->numbers.push_back(0);
}

void ExpressionSet::add_text(std::string name, std::span<const std::string> values) {
  impl_->variables.push_back({std::move(name), true, false, values, {}});
  impl_->numbers.push_back(0);
}

Result<std::size_t> ExpressionSet::parse(const SourceText& source) {
  TRY_ASSIGN(const auto tokens, tokenize_expression(source, impl_->file));
  TRY(impl_->check_texts(source, tokens));
  TRY(impl_->compile(source, tokens));
  return impl_->parsers.size() - 1;
}

void ExpressionSet::finish() {
  std::vector<std::string_view> texts;
  for (const auto& [literal, code] : impl_->literals) texts.emplace_back(literal);
  for (const auto& variable : impl_->variables) {
    if (variable.used) texts.insert(texts.end(), variable.values.begin(), variable.values.end());
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  const auto code_of = [&](std::string_view text) {
    return static_cast<double>(std::lower_bound(texts.begin(), texts.end(), text) - texts.begin());
  };
  for (auto& [literal, code] : impl_->literals) code = code_of(literal);
  for (auto& variable : impl_->variables) {
    if (!variable.used) continue;
    for (const auto& value : variable.values) variable.codes.push_back(code_of(value));
  }
}

bool ExpressionSet::uses(std::size_t slot) const {
  return impl_->variables[slot].used;
}
void ExpressionSet::set_number(std::size_t slot, double value) {
  impl_->numbers[slot] = value;
}
void ExpressionSet::set_text(std::size_t slot, std::size_t value_index) {
  impl_->numbers[slot] = impl_->variables[slot].codes[value_index];
}

double ExpressionSet::evaluate(std::size_t expression) const {
  try {
    return impl_->parsers[expression].Eval();
  } catch (const mu::ParserError&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace gantry
