#include "spec/one_liner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <set>

#include "base/fd.hpp"
#include "model/quantity.hpp"
#include "model/shell_words.hpp"
#include "model/template.hpp"
#include "spec/parameter_reader.hpp"
#include "spec/shell_warning.hpp"
#include "spec/sweep_file.hpp"

namespace gantry::spec {

namespace {

/// What a word that begins a list of values says. `:::#N[:name]` is how standard input is written
/// out: exactly N words follow that are values whatever they look like.
struct Separator {
  bool file = false;    ///< ::::
  bool linked = false;  ///< :::+
  std::optional<std::size_t> count;
  std::string name;
};

std::optional<Separator> parse_separator(std::string_view word) {
  Separator separator;
  if (word == ":::") return separator;
  separator.linked = word == ":::+" || word == "::::+" || word.starts_with(":::+#");
  separator.file = word == "::::" || word == "::::+";
  if (separator.file || word == ":::+") return separator;
  const std::string_view prefix = separator.linked ? ":::+#" : ":::#";
  if (!word.starts_with(prefix)) return std::nullopt;
  word.remove_prefix(prefix.size());
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc{}) return std::nullopt;
  separator.count = count;
  word.remove_prefix(static_cast<std::size_t>(end - word.data()));
  if (word.starts_with(':')) separator.name = std::string(word.substr(1));
  return separator;
}

/// "seed=…" -> "seed"; empty when the word has no such beginning.
std::string_view leading_name(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || !is_parameter_name(word.substr(0, equals))) return {};
  return word.substr(0, equals);
}

class OneLinerReader {
 public:
  OneLinerReader(const std::filesystem::path& base_dir, const ReadStdin& read_stdin)
      : base_dir_(base_dir), read_stdin_(read_stdin) {}

  Result<OneLiner> read(std::vector<std::string> words) {
    TRY(options(words));
    auto at = std::find_if(words.begin(), words.end(),
                           [](const auto& word) { return parse_separator(word); });
    TRY(command({words.begin(), at}));
    result_.args.emplace_back("--");
    result_.args.insert(result_.args.end(), words.begin(), at);
    const bool no_lists = at == words.end();
    find_names({at, words.end()});
    while (at != words.end()) {
      const Separator separator = *parse_separator(*at++);
      auto end =
          std::find_if(at, words.end(), [](const auto& word) { return parse_separator(word); });
      if (separator.count) {
        if (*separator.count > static_cast<std::size_t>(words.end() - at))
          return wrong("a stored list of values is cut off");
        end = at + static_cast<std::ptrdiff_t>(*separator.count);
      }
      TRY(list(separator, {at, end}));
      at = end;
    }
    if (no_lists) TRY(values_from_stdin_alone());
    name_unnamed();
    result_.definition.shell ? join_for_shell() : place_unnamed();
    return std::move(result_);
  }

 private:
  static tl::unexpected<Error> wrong(std::string message, std::string hint = {}) {
    return fail(ErrorCode::usage, std::move(message), std::move(hint));
  }

  /// What stands before `--`, and that itself.
  Result<> options(std::vector<std::string>& words) {
    auto& definition = result_.definition;
    auto at = words.begin();
    for (; at != words.end() && at->starts_with("--") && *at != "--"; ++at) {
      const std::string name = at->substr(0, at->find('='));
      const std::string value = at->substr(std::min(name.size() + 1, at->size()));
      if (name == "--shell") {
        definition.shell = true;
      } else if (name == "--timeout") {
        const auto timeout = parse_duration(value);
        if (!timeout || *timeout <= Duration{0})
          return wrong(
              fmt::format("--timeout must be a time like 90s, 1h30m or 00:10:00, not '{}'", value));
        definition.timeout = *timeout;
      } else if (name == "--retries") {
        const char* const end = value.data() + value.size();
        const auto read = std::from_chars(value.data(), end, definition.retry.retries);
        if (read.ec != std::errc{} || read.ptr != end || definition.retry.retries > kMaxRetries)
          return wrong(
              fmt::format("--retries must be a number from 0 to {}, not '{}'", kMaxRetries, value));
      } else {
        break;
      }
      result_.args.push_back(*at);
    }
    if (at != words.end() && *at == "--") ++at;
    words.erase(words.begin(), at);
    return {};
  }

  Result<> command(std::vector<std::string> words) {
    auto& definition = result_.definition;
    definition.base_dir = base_dir_.string();
    definition.values_are_inputs = true;
    // One quoted word holds a whole command line.
    if (!definition.shell && words.size() == 1 &&
        words[0].find_first_of(" \t\n") != std::string::npos) {
      std::size_t offset = 0;
      TRY_ASSIGN(const auto split, split_shell_words(words[0], offset));
      words.clear();
      for (const auto& word : split) words.push_back(word.text);
    }
    if (words.empty() || words[0].empty()) {
      return wrong("there is no command before the values",
                   "write gantry run -- ./program {} ::: a b c");
    }
    for (const auto& word : words) {
      const std::size_t slot = word.find("{%}");
      if (slot == std::string::npos || (slot > 0 && word[slot - 1] == '{')) continue;
      return wrong("there is no {%}: a task has no slot of its own, it runs where there is room",
                   "$GANTRY_TASK tells tasks apart; write {{%}} for the text itself");
    }
    for (auto& word : words) definition.command.push_back({std::move(word), {}, false});
    const std::string& first = definition.command[0].text;
    const std::size_t end = definition.shell ? first.find_first_of(" \t\n;|&<>(") : first.size();
    definition.name = std::filesystem::path(first.substr(0, end)).filename().string();
    return {};
  }

  /// A list has a name if the command uses that name; else `run=1.csv` is a value like any other.
  /// When the command uses one that no list has, all of them are names: the error will suggest one.
  void find_names(const std::vector<std::string>& after_command) {
    std::set<std::string, std::less<>> offered;
    for (const auto& word : after_command) offered.emplace(leading_name(word));
    std::set<std::string, std::less<>> used;
    for (const auto& word : result_.definition.command) {
      for (const auto name : placeholder_names(word.text)) used.emplace(name);
      for (const auto& name : offered)
        if (reads_variable(word.text, name)) used.insert(name);
    }
    const bool all = std::ranges::any_of(used, [&](const std::string& name) {
      return is_parameter_name(name) && name != "gantry_task" && name != "gantry_dir" &&
             !offered.contains(name);
    });
    for (const auto& name : offered)
      if (!name.empty() && (all || used.contains(name))) names_.insert(name);
  }

  [[nodiscard]] std::string list_name(std::string_view word) const {
    const std::string_view name = leading_name(word);
    return names_.contains(name) ? std::string(name) : std::string();
  }

  /// One `:::` and the words that follow it.
  Result<> list(const Separator& separator, std::vector<std::string> words) {
    std::uint32_t link = 0;
    if (separator.linked) {
      if (result_.definition.parameters.empty())
        return wrong(":::+ links to the list before it, and there is none");
      auto& previous = result_.definition.parameters.back();
      if (previous.link == 0) previous.link = ++links_;
      link = previous.link;
    }
    if (separator.count) {
      keep_words(separator, words);
      return add(separator.name, ParameterValues::list(std::move(words)), link);
    }
    if (words.empty()) return wrong("::: is not followed by any value");
    if (separator.file) return files(separator, words, link);
    keep_words(separator, words);
    return plain(std::move(words), link);
  }

  Result<> plain(std::vector<std::string> words, std::uint32_t link) {
    const std::string name = list_name(words[0]);
    if (name.empty()) {
      const std::string_view meant = leading_name(words[0]);
      const std::string rest = meant.empty() ? "" : words[0].substr(meant.size() + 1);
      const bool looks_listed = words.size() == 1 && rest.find(',') != std::string::npos;
      if (looks_listed || ParameterValues::range(rest))
        result_.warnings.push_back(
            fmt::format("'{}' is taken as one value; with {{{}}} in the command it would be a list "
                        "of that name",
                        words[0], meant));
      return expanded({}, words, false, link);
    }
    words[0].erase(0, name.size() + 1);
    if (!words[0].empty() || words.size() == 1) return expanded(name, words, true, link);
    // "name=" alone: what follows is taken as it is.
    words.erase(words.begin());
    return add(name, ParameterValues::list(std::move(words)), link);
  }

  /// Words that may be ranges and, with a name, lists with commas.
  Result<> expanded(const std::string& name, const std::vector<std::string>& words, bool commas,
                    std::uint32_t link) {
    std::vector<std::string> pieces;
    for (const auto& word : words) {
      std::size_t from = 0;
      for (std::size_t comma = 0; commas && (comma = word.find(',', from)) != std::string::npos;
           from = comma + 1) {
        pieces.push_back(word.substr(from, comma - from));
      }
      pieces.push_back(word.substr(from));
    }
    std::vector<std::string> values;
    std::string scratch;
    for (const auto& piece : pieces) {
      auto range = ParameterValues::range(piece);
      if (!range) {
        values.push_back(piece);
        continue;
      }
      TRY_ASSIGN(auto part, std::move(*range));
      if (pieces.size() == 1) return add(name, std::move(part), link);
      if (values.size() > kMaxYamlNodes || part.size() > kMaxYamlNodes - values.size())
        return wrong(fmt::format("the range {} is too long to be part of a list", piece),
                     "make it the only value of its list");
      for (std::uint32_t i = 0; i < part.size(); ++i)
        values.emplace_back(part.text({i, 0}, scratch));
    }
    return add(name, ParameterValues::list(std::move(values)), link);
  }

  Result<> files(const Separator& separator, const std::vector<std::string>& words,
                 std::uint32_t link) {
    if (separator.linked && words.size() > 1) return wrong("::::+ takes one file");
    for (const auto& word : words) {
      const std::string name = list_name(word);
      const std::string file = name.empty() ? word : word.substr(name.size() + 1);
      TRY_ASSIGN(auto lines, file == "-" ? stdin_lines() : file_lines(file));
      write_out(separator.linked, name, lines);
      TRY(add(name, ParameterValues::list(std::move(lines)), link));
    }
    return {};
  }

  [[nodiscard]] Result<std::vector<std::string>> file_lines(const std::string& file) const {
    const auto content = read_file(base_dir_ / file, kMaxDataFile);
    if (!content) return wrong(content.error().message, content.error().hint);
    auto lines = split_lines(*content);
    if (lines.empty()) return wrong(fmt::format("{} has no lines", file));
    return lines;
  }

  Result<std::vector<std::string>> stdin_lines() {
    if (!read_stdin_)
      return wrong("the values should come from standard input, which is empty",
                   "pipe them in, or give them after :::");
    if (stdin_used_) return wrong("standard input can be read only once");
    stdin_used_ = true;
    TRY_ASSIGN(const auto text, read_stdin_());
    return split_lines(text);
  }

  /// No list was given: lines of standard input are the values, if there are any.
  Result<> values_from_stdin_alone() {
    const auto& words = result_.definition.command;
    const bool asks = std::any_of(words.begin(), words.end(),
                                  [](const auto& word) { return has_placeholder(word.text); });
    if (!read_stdin_) {
      if (!asks) return {};
      return wrong("the command has a placeholder, but no values are given",
                   "add values: ::: a b c, or ::: 1..10");
    }
    TRY_ASSIGN(auto lines, stdin_lines());
    if (lines.empty()) return wrong("standard input has no lines to run the command for");
    write_out(false, {}, lines);
    return add({}, ParameterValues::list(std::move(lines)), 0);
  }

  Result<> add(const std::string& name, ParameterValues values, std::uint32_t link) {
    auto& parameters = result_.definition.parameters;
    parameters.push_back(
        {name, std::move(values), {}, link, {std::to_string(parameters.size() + 1)}});
    return {};
  }

  void keep_words(const Separator& separator, const std::vector<std::string>& words) {
    if (separator.count) return write_out(separator.linked, separator.name, words);
    result_.args.emplace_back(separator.linked ? ":::+" : ":::");
    result_.args.insert(result_.args.end(), words.begin(), words.end());
  }
  void write_out(bool linked, const std::string& name, const std::vector<std::string>& values) {
    result_.args.push_back(fmt::format(":::{}#{}{}{}", linked ? "+" : "", values.size(),
                                       name.empty() ? "" : ":", name));
    result_.args.insert(result_.args.end(), values.begin(), values.end());
  }

  void name_unnamed() {
    auto& parameters = result_.definition.parameters;
    for (std::size_t p = 0; p < parameters.size(); ++p) {
      if (!parameters[p].name.empty()) continue;
      unnamed_.push_back(p);
      parameters[p].name = fmt::format("arg{}", p + 1);
    }
    if (unnamed_.size() == 1) parameters[unnamed_[0]].aliases.emplace_back();
    if (parameters.size() == 1 && unnamed_.empty()) parameters[0].aliases.emplace_back();
  }

  /// As GNU parallel does: the words become one text. {} of several lists stands for all of them.
  void join_for_shell() {
    std::string text;
    for (const auto& word : result_.definition.command) {
      if (!text.empty()) text += ' ';
      text += word.text;
    }
    if (unnamed_.size() > 1) text = with_all_unnamed(text);
    if (!has_placeholder(text))
      for (const auto p : unnamed_) text += fmt::format(" {{{}}}", p + 1);
    result_.definition.command = {{std::move(text), {}, false}};
  }

  [[nodiscard]] std::string with_all_unnamed(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      const std::size_t open = std::min(text.find('{'), text.size());
      const std::size_t close = std::min(text.find('}', open), text.size());
      const auto inside = text.substr(std::min(open + 1, close), close - std::min(open + 1, close));
      const bool doubled = text.substr(open, 2) == "{{";
      const auto placeholder =
          doubled || close == text.size() ? std::nullopt : parse_placeholder(inside);
      if (!placeholder || !placeholder->name.empty()) {
        const std::size_t kept = std::min(open + (doubled ? 2 : 1), text.size());
        out.append(text.substr(0, kept));
        text.remove_prefix(kept);
        continue;
      }
      out.append(text.substr(0, open));
      for (const auto p : unnamed_)
        out += fmt::format("{}{{{}{}}}", p == unnamed_[0] ? "" : " ", p + 1, inside);
      text.remove_prefix(close + 1);
    }
    return out;
  }

  /// {} of several lists becomes one word each; a command without any placeholder gets the values
  /// at its end.
  void place_unnamed() {
    auto& command = result_.definition.command;
    if (unnamed_.size() > 1) {
      std::vector<SourceText> words;
      for (auto& word : command) {
        const auto inside = std::string_view(word.text);
        const bool whole = inside.starts_with('{') && inside.ends_with('}');
        const auto placeholder =
            whole ? parse_placeholder(inside.substr(1, inside.size() - 2)) : std::nullopt;
        if (!placeholder || !placeholder->name.empty()) {
          words.push_back(std::move(word));
          continue;
        }
        const auto part = inside.substr(1, inside.size() - 2);
        for (const auto p : unnamed_)
          words.push_back({fmt::format("{{{}{}}}", p + 1, part), {}, false});
      }
      command = std::move(words);
    }
    if (std::none_of(command.begin(), command.end(),
                     [](const auto& word) { return has_placeholder(word.text); })) {
      for (const auto p : unnamed_) command.push_back({fmt::format("{{{}}}", p + 1), {}, false});
    }
  }

  const std::filesystem::path& base_dir_;
  const ReadStdin& read_stdin_;
  OneLiner result_;
  std::vector<std::size_t> unnamed_;
  std::set<std::string, std::less<>> names_;  ///< of lists, as far as the command uses them
  std::uint32_t links_ = 0;
  bool stdin_used_ = false;
};

}  // namespace

Result<OneLiner> read_one_liner(const std::vector<std::string>& args,
                                const std::filesystem::path& base_dir,
                                const ReadStdin& read_stdin) {
  return OneLinerReader(base_dir, read_stdin).read(args);
}

}  // namespace gantry::spec
