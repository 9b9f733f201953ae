#include "model/shell_words.hpp"

#include <algorithm>

namespace gantry {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

/// Reads one word that begins at `at`; leaves `at` behind it.
class WordReader {
 public:
  WordReader(std::string_view text, std::size_t at) : text_(text), at_(at) { word_.offset = at; }

  Result<ShellWord> read(std::size_t& error_offset) {
    while (at_ < text_.size() && !is_blank(text_[at_])) {
      const char c = text_[at_];
      if (c != '\'' && c != '"' && c != '\\') {
        word_.text.push_back(c);
        ++at_;
        continue;
      }
      word_.verbatim = false;
      error_offset = at_;
      ++at_;
      if (c == '\'') TRY(single_quoted());
      if (c == '"') TRY(double_quoted());
      if (c == '\\') TRY(escaped());
    }
    return std::move(word_);
  }
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  Result<> single_quoted() {
    const std::size_t end = text_.find('\'', at_);
    if (end == std::string_view::npos)
      return fail(ErrorCode::usage, "a single quote is not closed");
    word_.text.append(text_.substr(at_, end - at_));
    at_ = end + 1;
    return {};
  }
  Result<> double_quoted() {
    for (; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '"') {
        ++at_;
        return {};
      }
      // Inside "…" a backslash quotes only these; before anything else it is itself.
      if (c == '\\' && at_ + 1 < text_.size()) {
        const char next = text_[at_ + 1];
        if (next == '\n') {
          ++at_;
          continue;
        }
        if (next == '"' || next == '\\' || next == '$' || next == '`') {
          c = next;
          ++at_;
        }
      }
      word_.text.push_back(c);
    }
    return fail(ErrorCode::usage, "a double quote is not closed");
  }
  Result<> escaped() {
    if (at_ == text_.size())
      return fail(ErrorCode::usage, "nothing follows the backslash at the end");
    if (text_[at_] != '\n') word_.text.push_back(text_[at_]);
    ++at_;
    return {};
  }

  std::string_view text_;
  std::size_t at_;
  ShellWord word_;
};

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-+=./:,@%").find(c) != std::string_view::npos;
}

}  // namespace

Result<std::vector<ShellWord>> split_shell_words(std::string_view text, std::size_t& error_offset) {
  std::vector<ShellWord> words;
  std::size_t at = 0;
  for (;;) {
    // A backslash-newline between words is a line continuation, not an empty word.
    while (at < text.size() && (is_blank(text[at]) || text.substr(at, 2) == "\\\n")) {
      at += is_blank(text[at]) ? 1 : 2;
    }
    if (at == text.size()) return words;
    WordReader reader(text, at);
    TRY_ASSIGN(auto word, reader.read(error_offset));
    words.push_back(std::move(word));
    at = reader.position();
  }
}

std::string quote_shell_word(std::string_view value) {
  if (!value.empty() && std::all_of(value.begin(), value.end(), is_plain))
    return std::string(value);
  std::string out;
  append_single_quoted(out, value);
  return out;
}

void append_single_quoted(std::string& out, std::string_view value) {
  out.push_back('\'');
  append_inside_single_quotes(out, value);
  out.push_back('\'');
}

void append_inside_single_quotes(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\'') {
      out.append("'\\''");
    } else {
      out.push_back(c);
    }
  }
}

void append_inside_double_quotes(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') out.push_back('\\');
    out.push_back(c);
  }
}

}  // namespace gantry
