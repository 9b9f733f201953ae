#include "model/template.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/characters.hpp"
#include "model/shell_context.hpp"
#include "model/shell_words.hpp"
#include "model/suggest.hpp"

namespace gantry {

namespace {

std::string_view base_name(std::string_view value) {
  return value.substr(value.rfind('/') + 1);
}

std::string_view directory(std::string_view value) {
  const std::size_t slash = value.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : value.substr(0, slash);
}

/// Without ".ext" of the last component; a leading dot (".profile") begins no extension.
std::string_view no_extension(std::string_view value) {
  const std::size_t dot = value.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || value[dot - 1] == '/') return value;
  return value.find('/', dot) == std::string_view::npos ? value.substr(0, dot) : value;
}

}  // namespace

bool is_parameter_name(std::string_view name) {
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

std::string_view value_part(std::string_view value, ValuePart part) {
  switch (part) {
    case ValuePart::whole:
      return value;
    case ValuePart::no_extension:
      return no_extension(value);
    case ValuePart::base_name:
      return base_name(value);
    case ValuePart::directory:
      return directory(value);
    case ValuePart::base_name_no_extension:
      return no_extension(base_name(value));
  }
  return value;
}

std::optional<PlaceholderName> parse_placeholder(std::string_view inside) {
  PlaceholderName result{inside, ValuePart::whole};
  const auto take = [&](std::string_view suffix, ValuePart part) {
    if (result.part != ValuePart::whole || !result.name.ends_with(suffix)) return;
    result.name.remove_suffix(suffix.size());
    result.part = part;
  };
  take("//", ValuePart::directory);
  take("/.", ValuePart::base_name_no_extension);
  take("/", ValuePart::base_name);
  take(".", ValuePart::no_extension);
  const std::string_view name = result.name;
  const bool number = std::all_of(name.begin(), name.end(), is_digit);  // also: no name at all
  if (number || name == "#" || is_parameter_name(name)) return result;
  return std::nullopt;
}

std::vector<std::string_view> placeholder_names(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = text.find('{'); at < text.size(); at = text.find('{', at + 1)) {
    if (text.substr(at, 2) == "{{") {
      ++at;
      continue;
    }
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos) break;
    if (const auto found = parse_placeholder(text.substr(at + 1, end - at - 1)))
      names.push_back(found->name);
  }
  return names;
}

bool has_placeholder(std::string_view text) {
  return !placeholder_names(text).empty();
}

std::optional<std::uint32_t> SlotNames::find(std::string_view name) const {
  for (const auto& [known, slot] : names_) {
    if (known == name) return slot;
  }
  return std::nullopt;
}

std::string SlotNames::suggest(std::string_view name) const {
  std::vector<std::string_view> known;
  for (const auto& [text, slot] : names_) {
    if (is_parameter_name(text)) known.emplace_back(text);
  }
  return did_you_mean(name, known);
}

class TemplateParser {
 public:
  TemplateParser(const SourceText& source, const SlotNames& names, const std::string& file,
                 bool shell)
      : source_(source), text_(source.text), names_(names), file_(file), shell_(shell) {}

  Result<TextTemplate> parse() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c != '{' && c != '}') {
        literal(c, 1);
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == c) {
        doubled_ = std::min(doubled_, at_);
        literal(c, 2);
      } else if (c == '{') {
        TRY(brace());
      } else {
        single_ = std::min(single_, at_);
        literal(c, 1);
      }
    }
    if (doubled_ != kNowhere && single_ != kNowhere) {
      return fail_at(file_, source_.at(single_), "single and doubled braces are mixed in one text",
                     "for literal braces write {{ and }} everywhere in it");
    }
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kNowhere = std::string_view::npos;

  void literal(char c, std::size_t width) {
    result_.tail_.push_back(c);
    if (shell_) context_.feed(c);
    at_ += width;
  }

  /// At a '{' that is not doubled.
  Result<> brace() {
    const std::size_t end = text_.find('}', at_);
    const auto inside =
        end == kNowhere ? std::string_view("{") : text_.substr(at_ + 1, end - at_ - 1);
    const auto placeholder = parse_placeholder(inside);
    if (!placeholder) {
      single_ = std::min(single_, at_);
      literal('{', 1);
      return {};
    }
    const auto slot = names_.find(placeholder->name);
    if (!slot) return unknown(inside, placeholder->name);
    ValueQuoting quoting = ValueQuoting::none;
    if (shell_) {
      const auto place = context_.quoting();
      if (!place) return unsafe(inside, place.error().message);
      quoting = *place;
      context_.feed_value();
    }
    result_.pieces_.push_back({std::move(result_.tail_), *slot, placeholder->part, quoting});
    result_.tail_.clear();
    at_ = end + 1;
    return {};
  }

  [[nodiscard]] tl::unexpected<Error> unknown(std::string_view inside,
                                              std::string_view name) const {
    std::string hint = names_.suggest(name);
    if (hint.empty())
      hint = fmt::format("{}, or write {{{{{}}}}} for literal braces",
                         file_.empty() ? fmt::format("give it values: ::: {}=1..10", name)
                                       : fmt::format("define '{}' under parameters:", name),
                         inside);
    if (!is_parameter_name(name))
      hint = fmt::format(
          "{}, or write {{{{{}}}}} for literal braces",
          file_.empty() ? "the lists after ::: are counted from 1" : "give the parameter's name",
          inside);
    return fail_at(file_, source_.at(at_), fmt::format("{{{}}} is not a parameter", inside),
                   std::move(hint));
  }
  [[nodiscard]] tl::unexpected<Error> unsafe(std::string_view inside,
                                             std::string_view where) const {
    return fail_at(
        file_, source_.at(at_), fmt::format("{{{}}} cannot be put {} safely", inside, where),
        fmt::format("assign it to a shell variable first (v={{{}}}) and use \"$v\"", inside));
  }

  const SourceText& source_;
  std::string_view text_;
  const SlotNames& names_;
  const std::string& file_;
  bool shell_;
  ShellContext context_;
  std::size_t at_ = 0;
  std::size_t doubled_ = kNowhere;
  std::size_t single_ = kNowhere;
  TextTemplate result_;
};

Result<TextTemplate> TextTemplate::parse(const SourceText& source, const SlotNames& names,
                                         const std::string& file) {
  return TemplateParser(source, names, file, false).parse();
}

Result<TextTemplate> TextTemplate::parse_shell(const SourceText& source, const SlotNames& names,
                                               const std::string& file) {
  return TemplateParser(source, names, file, true).parse();
}

void TextTemplate::append_to(std::string& out, std::span<const std::string_view> values) const {
  for (const auto& piece : pieces_) {
    out.append(piece.before);
    const std::string_view value = value_part(values[piece.slot], piece.part);
    switch (piece.quoting) {
      case ValueQuoting::none:
        out.append(value);
        break;
      case ValueQuoting::shell_word:
        append_single_quoted(out, value);
        break;
      case ValueQuoting::inside_single:
        append_inside_single_quotes(out, value);
        break;
      case ValueQuoting::after_name:
        out.append("\"\"");  // ends the name
        [[fallthrough]];
      case ValueQuoting::inside_double:
        append_inside_double_quotes(out, value);
        break;
    }
  }
  out.append(tail_);
}

std::vector<std::uint32_t> TextTemplate::slots() const {
  std::vector<std::uint32_t> slots;
  for (const auto& piece : pieces_) slots.push_back(piece.slot);
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
  return slots;
}

std::size_t TextTemplate::longest(std::span<const std::size_t> longest_values) const {
  std::size_t length = tail_.size();
  for (const auto& piece : pieces_) {
    // Quoting makes four characters of one at the worst.
    const std::size_t factor = piece.quoting == ValueQuoting::none ? 1 : 4;
    length += piece.before.size() + factor * longest_values[piece.slot] + 2;
  }
  return length;
}

bool TextTemplate::tells_values_apart(
    const std::function<bool(std::uint32_t, char)>& may_contain) const {
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const auto& piece = pieces_[i];
    if (piece.part != ValuePart::whole) return false;
    const bool last = i + 1 == pieces_.size();
    const std::string& next = last ? tail_ : pieces_[i + 1].before;
    if (next.empty() && !last) return false;
    if (!last && may_contain(piece.slot, next[0])) return false;
  }
  return true;
}

}  // namespace gantry
