#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>

#include "cli/commands/commands.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "model/suggest.hpp"

namespace gantry::cli {
namespace {

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == name) return command;
  return nullptr;
}

/// `run` is the one command whose words CLI11 does not see.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_name() == "run")
      return "Usage: gantry run [OPTIONS] SWEEP.yaml...\n"
             "       gantry run [OPTIONS] [--] COMMAND... ::: VALUES... [::: VALUES...]\n";
    const bool is_command = app->get_parent() != nullptr;
    return CLI::Formatter::make_usage(app, is_command ? "gantry " + name : name);
  }
  /// What the value is called; counts of values and excluded options stand in the descriptions.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string name = option->get_type_size() == 0 ? "" : option->get_type_name();
    return name.empty() ? "" : " " + name;
  }
};

void add_help_command(CLI::App& app, Action& action) {
  auto topic = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "Show help for a command");
  command->add_option("COMMAND", *topic, "The command")->type_name("");
  command->callback([&app, topic, &action] {
    action = [&app, topic](Context& context) -> Result<int> {
      const CLI::App* about = topic->empty() ? &app : find_command(app, *topic);
      if (about == nullptr)
        return fail(ErrorCode::usage, fmt::format("there is no command '{}'", one_line(*topic)),
                    "'gantry --help' lists the commands");
      // App::help() would show the command that is running, which is this one.
      context.out.write(about == &app ? app.get_formatter()->make_help(&app, app.get_name(),
                                                                       CLI::AppFormatMode::Normal)
                                      : about->help());
      return kExitOk;
    };
  });
}

/// Whether an option of the program, or of this command, takes the next word.
TakesValue taker(const CLI::App& app, const CLI::App* command) {
  return [&app, command](std::string_view word) {
    for (const CLI::App* owner : {command, &app}) {
      if (owner == nullptr) continue;
      const CLI::Option* option = owner->get_option_no_throw(std::string(word));
      if (option != nullptr) return option->get_items_expected_max() > 0;
    }
    return false;
  };
}

/// GNU parallel's options that gantry has no like of, and what to do instead.
std::string_view instead_of(std::string_view option) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kInstead{{
      {"--resume", "run the same command again to continue"},
      {"--resume-failed", "'gantry retry' runs again what failed"},
      {"--halt", "--max-fails N stops after N failures"},
      {"--bar", "a terminal shows progress by itself"},
      {"--progress", "a terminal shows progress by itself"},
      {"--results", "'gantry log' and 'gantry results' have them"},
  }};
  for (const auto& [name, instead] : kInstead)
    if (name == option) return instead;
  return {};
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

}  // namespace

CommandLine::CommandLine()
    : app_("Run a program for every combination of its parameters, and keep every result.") {
  CLI::App& app = app_;
  app.name("gantry");
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(26);
  app.add_option("--state", globals_.state, "State directory (default: .gantry)")->type_name("DIR");
  app.add_option("--color", globals_.color, "auto (default), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}).description(""));
  app.add_flag("--version", globals_.version, "Print the version");
  // Found by us afterwards, with a suggestion.
  app.allow_extras();
  add_run(app, run_words_, action_);
  add_status(app, action_);
  add_top(app, action_);
  add_forecast(app, action_);
  add_tasks(app, action_);
  add_log(app, action_);
  add_results(app, action_);
  add_fetch(app, action_);
  add_explain(app, action_);
  add_cancel(app, action_);
  add_retry(app, action_);
  add_runs(app, action_);
  add_clean(app, action_);
  add_plan(app, action_);
  add_simulate(app, action_);
  add_grid(app, action_);
  add_testbed(app, action_);
  add_completion(app, action_);
  add_help_command(app, action_);
  for (CLI::App* command : app.get_subcommands({})) {
    command->fallthrough();
    command->allow_extras();
    command->set_help_flag("-h,--help", "Show this help");
  }
  app.require_subcommand(0, 1);  // a file or task that is named like a command is none
  app.set_help_flag("-h,--help", "Show this help");
  app.footer(
      "'gantry COMMAND --help' says more, with examples. Exit codes: 0 all tasks\n"
      "succeeded, 1 some failed, 2 wrong usage or sweep file, 3 the machine's fault.\n"
      "\n"
      "Examples:\n"
      "  gantry run sweep.yaml\n"
      "  gantry run -- ./sim --seed {} ::: 1..200\n"
      "  gantry results --plot seed energy");
}

/// The words that CLI11 shall see: for `run` without the command that is to be run.
std::vector<std::string> CommandLine::own_words(std::vector<std::string> words) {
  const std::size_t at = find_first_plain_word(words, taker(app_, nullptr));
  // CLI11 would take the topic for a second command.
  if (at + 2 == words.size() && words[at] == "help" && find_command(app_, words[at + 1]) != nullptr)
    return {words[at + 1], "--help"};
  if (at == words.size() || words[at] != "run") return words;
  const auto after = std::next(words.begin(), static_cast<std::ptrdiff_t>(at) + 1);
  run_words_ = split_run_words({after, words.end()}, taker(app_, app_.get_subcommand("run")));
  words.erase(after, words.end());
  words.insert(words.end(), run_words_.options.begin(), run_words_.options.end());
  return words;
}

Error CommandLine::unexpected_word(const std::string& word) const {
  const auto chosen = app_.get_subcommands();
  if (word.starts_with('-') && word.size() > 1) {
    std::vector<std::string> known = option_names(app_);
    for (const CLI::App* command : chosen)
      for (auto& name : option_names(*command)) known.push_back(std::move(name));
    std::string hint(instead_of(word.substr(0, word.find('='))));
    if (hint.empty()) hint = did_you_mean(word.substr(0, word.find('=')), known);
    if (hint.empty())
      hint = fmt::format("'gantry {}--help' lists the options",
                         chosen.empty() ? "" : chosen[0]->get_name() + " ");
    return {ErrorCode::usage, fmt::format("unknown option '{}'", one_line(word)), std::move(hint)};
  }
  if (!chosen.empty())
    return {ErrorCode::usage,
            fmt::format("'{}' is one word too many for 'gantry {}'", one_line(word),
                        chosen[0]->get_name()),
            fmt::format("'gantry {} --help' shows what it takes", chosen[0]->get_name())};
  if (names_sweep_file(word))
    return {ErrorCode::usage, fmt::format("'{}' is not a command", one_line(word)),
            fmt::format("to run it: gantry run {}", shell_quote(word))};
  std::vector<std::string> commands;
  for (const CLI::App* command : app_.get_subcommands({})) commands.push_back(command->get_name());
  std::string hint = did_you_mean(word, commands);
  if (hint.empty())
    hint = "'gantry --help' lists the commands; to run a program: gantry run -- PROGRAM ...";
  return {ErrorCode::usage, fmt::format("there is no command '{}'", one_line(word)),
          std::move(hint)};
}

Result<std::optional<std::string>> CommandLine::parse(std::vector<std::string> words) {
  words = own_words(std::move(words));
  try {
    // CLI11 wants the last word first.
    app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app_.get_subcommands();
    return chosen.empty() ? app_.help() : chosen.front()->help();
  } catch (const CLI::ParseError& error) {
    const auto chosen = app_.get_subcommands();
    return fail(ErrorCode::usage, error.what(),
                fmt::format("'gantry {}--help' says more",
                            chosen.empty() ? "" : chosen[0]->get_name() + " "));
  }
  if (const auto extra = app_.remaining(true); !extra.empty())
    return tl::unexpected(unexpected_word(extra.front()));
  return std::nullopt;
}

}  // namespace gantry::cli
