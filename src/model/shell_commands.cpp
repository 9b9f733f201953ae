#include "model/shell_commands.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/template.hpp"

namespace gantry {

namespace {

constexpr int kMaxNesting = 50;

/// Words before a command that are not part of it.
bool is_prefix(std::string_view word) {
  constexpr std::array<std::string_view, 9> kKeywords{"if",    "then",  "else", "elif", "do",
                                                      "while", "until", "!",    "{"};
  if (std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end()) return true;
  const std::size_t equals = word.find('=');
  return equals != std::string_view::npos && is_parameter_name(word.substr(0, equals));
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

class CommandLexer {
 public:
  explicit CommandLexer(std::string_view text) : text_(text) {}

  std::vector<ShellCommand> read() {
    list('\0', 0);
    return std::move(commands_);
  }

 private:
  /// One command while it is read.
  struct Open {
    ShellCommand command;
    std::string word;
    bool in_word = false;
    bool is_target = false;  ///< the word follows a redirection
  };

  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  static void end_word(Open& open) {
    if (!open.in_word) return;
    auto& list = open.is_target ? open.command.targets : open.command.words;
    list.push_back(std::exchange(open.word, {}));
    open.in_word = open.is_target = false;
  }

  void end_command(Open& open) {
    end_word(open);
    auto& words = open.command.words;
    words.erase(words.begin(), std::find_if_not(words.begin(), words.end(), is_prefix));
    if (!words.empty() || !open.command.targets.empty())
      commands_.push_back(std::move(open.command));
    open = {};
  }

  /// Commands up to `end`, which is taken too.
  void list(char end, int depth) {
    if (depth > kMaxNesting) at_ = text_.size();
    Open open;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == end && end != '\0') break;
      if (c == '\'' || c == '"' || c == '\\' || c == '$' || c == '`') {
        open.in_word = true;
        quoted(c, open.word, depth);
      } else if (c == ' ' || c == '\t') {
        end_word(open);
      } else if (c == '<' || c == '>' || (c == '&' && next() == '>')) {
        redirection(c, open, depth);
      } else if (c == '#' && !open.in_word) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '(') {
        end_command(open);
        list(')', depth + 1);
      } else if (std::string_view("\n;|&)").find(c) != std::string_view::npos) {
        end_command(open);
      } else {
        open.in_word = true;
        open.word.push_back(c);
      }
    }
    end_command(open);
  }

  void quoted(char c, std::string& word, int depth) {
    if (c == '\'') {
      const std::size_t close = std::min(text_.find('\'', at_), text_.size());
      word.append(text_.substr(at_, close - at_));
      at_ = std::min(close + 1, text_.size());
    } else if (c == '"') {
      double_quoted(word, depth);
    } else if (c == '\\') {
      if (at_ < text_.size() && text_[at_] != '\n') word.push_back(text_[at_]);
      at_ = std::min(at_ + 1, text_.size());
    } else {
      expansion(c, word, depth);
    }
  }

  void double_quoted(std::string& word, int depth) {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return;
      if (c == '\\' && std::string_view("\"\\$`\n").find(next()) != std::string_view::npos) {
        quoted(c, word, depth);
      } else if (c == '$' || c == '`') {
        expansion(c, word, depth);
      } else {
        word.push_back(c);
      }
    }
  }

  /// $(…) and `…` hold commands; ${…} stays as it is, blanks and all.
  void expansion(char c, std::string& word, int depth) {
    word.push_back(c);
    if (c == '`') {
      list('`', depth + 1);
    } else if (next() == '(') {
      ++at_;
      list(')', depth + 1);
    } else if (next() == '{') {
      const std::size_t close = std::min(text_.find('}', at_), text_.size());
      word.append(text_.substr(at_, close - at_));
      at_ = close;
    }
  }

  void redirection(char c, Open& open, int depth) {
    if (is_number(open.word)) {
      open.word.clear();
      open.in_word = false;
    }
    end_word(open);
    if (c == '<' && next() == '<') {
      at_ = text_.size();
    } else if (next() == '(') {
      ++at_;
      open.in_word = true;
      open.word.push_back(c);
      list(')', depth + 1);
    } else {
      at_ = std::min(text_.find_first_not_of("<>&|", at_), text_.size());
      open.is_target = true;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<ShellCommand> commands_;
};

}  // namespace

std::vector<ShellCommand> shell_commands(std::string_view text) {
  return CommandLexer(text).read();
}

}  // namespace gantry
