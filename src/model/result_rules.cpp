#include "model/result_rules.hpp"

#include <fmt/format.h>
#include <re2/re2.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "base/result_files.hpp"
#include "model/csv.hpp"
#include "model/json_view.hpp"
#include "model/quantity.hpp"
#include "model/template.hpp"

namespace gantry {

namespace {

/// Put before every pattern: ^ and $ mean lines, of which a task prints many.
constexpr std::string_view kByLine = "(?m)";
/// All values of a task together: a table of numbers and short texts is meant, and the journal has
/// to hold it.
constexpr std::size_t kMaxResultBytes = std::size_t{1} << 20;
/// One match takes linear time, but each may read on to the end before it turns out to be short:
/// all of them together can take the square. So a search that takes this much CPU time is given up.
constexpr int kSearchSeconds = 5;
constexpr std::size_t kMatchesBetweenLooks = 16;

tl::unexpected<Error> missing(std::string message) {
  return fail(ErrorCode::usage, std::move(message));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

re2::RE2::Options options_for(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  // A task's output need not be UTF-8: a plain pattern looks at bytes.
  if (is_ascii(pattern)) options.set_encoding(re2::RE2::Options::EncodingLatin1);
  return options;
}

/// The first group of the last match, or all of it when the pattern has no group.
Result<std::string> last_match(const re2::RE2& pattern, std::string_view written,
                               std::string_view text) {
  const re2::StringPiece whole(text.data(), text.size());
  const int groups = std::min(pattern.NumberOfCapturingGroups(), 1) + 1;
  const std::clock_t began = std::clock();
  re2::StringPiece found[2];
  std::size_t matches = 0;
  re2::StringPiece value;
  for (std::size_t at = 0; at <= text.size();) {
    if (!pattern.Match(whole, at, whole.size(), re2::RE2::UNANCHORED, found, groups)) break;
    value = found[groups - 1];
    const auto end = static_cast<std::size_t>(found[0].data() - whole.data()) + found[0].size();
    at = found[0].empty() ? end + 1 : end;
    if (++matches % kMatchesBetweenLooks == 0 &&
        std::clock() - began > kSearchSeconds * CLOCKS_PER_SEC) {
      return missing(fmt::format("looking for '{}' in {} bytes of output takes too long", written,
                                 text.size()));
    }
  }
  if (matches == 0) return missing(fmt::format("the output has no match of '{}'", written));
  return std::string(value.data() == nullptr ? std::string_view()
                                             : std::string_view(value.data(), value.size()));
}

Result<std::string> json_value(JsonView value, const ResultDefinition& rule,
                               const std::string& path) {
  std::string way;
  for (const auto& key : rule.keys) {
    way += (way.empty() ? "" : ".") + key;
    const auto next = value.find(key);
    if (!next || next->is_null()) return missing(fmt::format("{} has no '{}'", path, way));
    value = *next;
  }
  return value.text();
}

Result<std::string> csv_value(const CsvTable& table, const ResultDefinition& rule,
                              const std::string& path) {
  const auto column = table.column(rule.column);
  if (!column) return missing(fmt::format("{} has no column '{}'", path, rule.column));
  const std::size_t row = rule.row == 0 ? table.rows.size() : rule.row;
  if (row == 0 || row > table.rows.size()) {
    return missing(
        fmt::format("{} has no row {}", path, row == 0 ? "below its header" : std::to_string(row)));
  }
  return table.rows[row - 1][*column];
}

void add_place(Hasher& hasher, const ResultDefinition& rule) {
  hasher.add(static_cast<std::uint64_t>(rule.source)).add(rule.pattern.text);
  hasher.add(rule.file.text).add(rule.keys.size());
  for (const auto& key : rule.keys) hasher.add(key);
  hasher.add(rule.column).add(rule.row);
}

/// Of a file that was not collected.
std::string why_not_read(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "is not there";
  if (!S_ISREG(info.st_mode)) return "is not a plain file";
  const auto most = format_bytes(kMaxResultFile);
  if (static_cast<std::uint64_t>(info.st_size) > kMaxResultFile)
    return fmt::format("is {} long; values are read from files of up to {}",
                       format_bytes(static_cast<std::uint64_t>(info.st_size)), most);
  return fmt::format("could not be read, or has more than {} together with the others",
                     format_bytes(kMaxResultFiles));
}

/// The collected files of one attempt, each parsed at most once.
class Files {
 public:
  explicit Files(std::span<const std::pair<std::string, std::string>> collected)
      : collected_(collected) {}

  Result<std::string> value(const ResultDefinition& rule, const std::string& path) {
    const auto found = std::find_if(collected_.begin(), collected_.end(),
                                    [&](const auto& file) { return file.first == path; });
    if (found == collected_.end()) return missing(fmt::format("{} {}", path, why_not_read(path)));
    if (rule.source == ResultDefinition::Source::json) {
      auto document = documents_.find(path);
      if (document == documents_.end())
        document = documents_.emplace(path, JsonView::parse(found->second)).first;
      if (!document->second) return missing(fmt::format("{} is not valid JSON", path));
      return json_value(*document->second, rule, path);
    }
    auto table = tables_.find(path);
    if (table == tables_.end()) table = tables_.emplace(path, parse_csv(found->second)).first;
    if (!table->second) return missing(fmt::format("{}: {}", path, table->second.error().message));
    return csv_value(*table->second, rule, path);
  }

 private:
  std::span<const std::pair<std::string, std::string>> collected_;
  std::map<std::string, std::optional<JsonView>> documents_;
  std::map<std::string, Result<CsvTable>> tables_;
};

}  // namespace

struct ResultRules::Patterns {
  std::vector<std::unique_ptr<re2::RE2>> by_rule;
};

ResultRules::ResultRules() : patterns_(std::make_unique<Patterns>()) {}
ResultRules::ResultRules(ResultRules&&) noexcept = default;
ResultRules& ResultRules::operator=(ResultRules&&) noexcept = default;
ResultRules::~ResultRules() = default;

Result<ResultRules> ResultRules::compile(std::vector<ResultDefinition> definitions,
                                         const std::string& file) {
  ResultRules rules;
  for (const auto& rule : definitions) {
    auto& pattern = rules.patterns_->by_rule.emplace_back();
    if (!is_parameter_name(rule.name)) {
      return fail_at(file, rule.mark, fmt::format("'{}' cannot be a result's name", rule.name),
                     "a name has letters, digits and '_' and does not begin with a digit");
    }
    if (rule.source != ResultDefinition::Source::standard_output) continue;
    pattern = std::make_unique<re2::RE2>(std::string(kByLine) + rule.pattern.text,
                                         options_for(rule.pattern.text));
    if (!pattern->ok()) {
      std::string reason = pattern->error();
      if (const auto ours = reason.find(kByLine); ours != std::string::npos)
        reason.erase(ours, kByLine.size());
      return fail_at(
          file, rule.pattern.mark,
          fmt::format("the pattern of '{}' is not a regular expression: {}", rule.name, reason),
          "see https://github.com/google/re2/wiki/Syntax");
    }
    if (pattern->NumberOfCapturingGroups() > 1) {
      return fail_at(file, rule.pattern.mark,
                     fmt::format("the pattern of '{}' has more than one group", rule.name),
                     "write (?:…) for a group that is not the value");
    }
  }
  rules.definitions_ = std::move(definitions);
  return rules;
}

bool ResultRules::reads_stdout() const {
  return std::any_of(definitions_.begin(), definitions_.end(), [](const ResultDefinition& rule) {
    return rule.source == ResultDefinition::Source::standard_output;
  });
}

Digest ResultRules::digest() const {
  if (definitions_.empty()) return {};
  Hasher hasher;
  for (const auto& rule : definitions_) {
    hasher.add(rule.name);
    add_place(hasher, rule);
    hasher.add(rule.optional ? 1 : 0);
  }
  return hasher.digest();
}

std::vector<Digest> ResultRules::rule_digests() const {
  std::vector<Digest> digests;
  Hasher hasher;
  for (const auto& rule : definitions_) {
    hasher.reset();
    add_place(hasher, rule);
    digests.push_back(hasher.digest());
  }
  return digests;
}

Result<std::vector<std::pair<std::string, std::string>>> ResultRules::extract(
    std::string_view standard_output, std::span<const std::string> paths,
    std::span<const std::pair<std::string, std::string>> collected,
    std::span<const std::pair<std::string, std::string>> known, bool cut) const {
  std::vector<std::pair<std::string, std::string>> values;
  Files files(collected);
  std::size_t room = kMaxResultBytes;
  for (std::size_t i = 0; i < definitions_.size(); ++i) {
    const auto& rule = definitions_[i];
    const auto kept =
        std::ranges::find(known, rule.name, &std::pair<std::string, std::string>::first);
    auto value = kept != known.end() ? Result<std::string>(kept->second)
                 : rule.source == ResultDefinition::Source::standard_output
                     ? last_match(*patterns_->by_rule[i], rule.pattern.text, standard_output)
                     : files.value(rule, paths[i]);
    if (value) {
      if (value->size() > room) {
        return missing(fmt::format("'{}': the value has {} bytes; those of one task may have {}",
                                   rule.name, value->size(), kMaxResultBytes));
      }
      room -= value->size();
      values.emplace_back(rule.name, std::move(*value));
    } else if (cut && rule.source == ResultDefinition::Source::standard_output) {
      return missing(fmt::format("'{}': {}; only the end of the output was kept: the disk was full",
                                 rule.name, value.error().message));
    } else if (!rule.optional) {
      return missing(fmt::format("'{}': {}", rule.name, value.error().message));
    }
  }
  return values;
}

}  // namespace gantry
