#pragma once
/// The words a person typed, understood: declares every command and option, tells `run`'s own
/// options from the command it is given, and turns what does not fit into an error with a
/// suggestion. One thread.

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/run_words.hpp"
#include "cli/context.hpp"

namespace gantry::cli {

struct GlobalOptions {
  std::string state;
  std::string color = "auto";
  bool version = false;
};

class CommandLine {
 public:
  CommandLine();
  // The commands refer to this object.
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// The words after the program's name. The value is help that was asked for, to print and be
  /// done, or nothing. Call once.
  Result<std::optional<std::string>> parse(std::vector<std::string> words);

  [[nodiscard]] const GlobalOptions& globals() const { return globals_; }
  /// The chosen command's; empty when none was chosen.
  [[nodiscard]] const Action& action() const { return action_; }
  [[nodiscard]] const CLI::App& app() const { return app_; }

 private:
  [[nodiscard]] std::vector<std::string> own_words(std::vector<std::string> words);
  [[nodiscard]] Error unexpected_word(const std::string& word) const;

  CLI::App app_;
  GlobalOptions globals_;
  RunWords run_words_;
  Action action_;
};

}  // namespace gantry::cli
