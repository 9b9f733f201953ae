#pragma once
/// How the values of `results:` are read from what a task printed and wrote: regular expressions
/// (RE2), JSON and CSV. What tasks produce is untrusted: malformed content is an error that names
/// the value, never more. Immutable after compile(); one thread.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "model/sweep_definition.hpp"

namespace gantry {

class ResultRules {
 public:
  /// Refuses bad patterns and names; `file` is for messages.
  static Result<ResultRules> compile(std::vector<ResultDefinition> definitions,
                                     const std::string& file);
  ResultRules();
  ResultRules(ResultRules&&) noexcept;
  ResultRules& operator=(ResultRules&&) noexcept;
  ~ResultRules();

  [[nodiscard]] const std::vector<ResultDefinition>& definitions() const { return definitions_; }
  [[nodiscard]] bool reads_stdout() const;
  [[nodiscard]] Digest digest() const;
  /// By rule: where and how its value is read. Its name, and whether it may be missing, are no
  /// part.
  [[nodiscard]] std::vector<Digest> rule_digests() const;

  /// `paths[i]` is the file of rule i (empty for standard output), `collected` the files' contents
  /// by path. A missing value is an error that names it, unless it is optional: then it is left
  /// out. Of an output of which only the end was kept (`cut`) nobody knows what it had: no match is
  /// an error there. A value in `known` is not looked for.
  [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> extract(
      std::string_view standard_output, std::span<const std::string> paths,
      std::span<const std::pair<std::string, std::string>> collected,
      std::span<const std::pair<std::string, std::string>> known = {}, bool cut = false) const;

 private:
  struct Patterns;
  std::vector<ResultDefinition> definitions_;
  std::unique_ptr<Patterns> patterns_;
};

}  // namespace gantry
