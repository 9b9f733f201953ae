#include "cli/cli.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "cli/display_text.hpp"
#include "cli/error_report.hpp"
#include "model/suggest.hpp"

namespace gantry::cli {
namespace {

struct GlobalOptions {
  std::string state;
  std::string color = "auto";
  bool version = false;
};

/// Everything that parsing fills in. Stays where it is: the commands refer to it.
struct CommandLine {
  CLI::App app{"Run a program for every combination of its parameters, and keep every result."};
  GlobalOptions globals;
  RunWords run_words;
  Action action;
};

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == name) return command;
  return nullptr;
}

/// `run` is the one command whose words CLI11 does not see.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    if (app->get_name() != "run") return CLI::Formatter::make_usage(app, std::move(name));
    return "Usage: gantry run [OPTIONS] SWEEP.yaml\n"
           "       gantry run [OPTIONS] [--] COMMAND... ::: VALUES... [::: VALUES...]\n\n";
  }
};

void add_help_command(CLI::App& app, Action& action) {
  auto topic = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("help", "Show help for a command");
  command->add_option("COMMAND", *topic, "The command");
  command->callback([&app, topic, &action] {
    action = [&app, topic](Context& context) -> Result<int> {
      const CLI::App* about = topic->empty() ? &app : find_command(app, *topic);
      if (about == nullptr)
        return fail(ErrorCode::usage, fmt::format("there is no command '{}'", one_line(*topic)),
                    "'gantry --help' lists the commands");
      context.out.write(about->help());
      return kExitOk;
    };
  });
}

void declare(CommandLine& line) {
  CLI::App& app = line.app;
  app.name("gantry");
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(26);
  app.add_option("--state", line.globals.state, "State directory (default: .gantry)")
      ->type_name("DIR");
  app.add_option("--color", line.globals.color, "auto (default), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--version", line.globals.version, "Print the version");
  // Found by us afterwards, with a suggestion.
  app.allow_extras();
  add_run(app, line.run_words, line.action);
  add_status(app, line.action);
  add_tasks(app, line.action);
  add_log(app, line.action);
  add_results(app, line.action);
  add_explain(app, line.action);
  add_cancel(app, line.action);
  add_retry(app, line.action);
  add_runs(app, line.action);
  add_clean(app, line.action);
  add_completion(app, line.action);
  add_help_command(app, line.action);
  for (CLI::App* command : app.get_subcommands({})) {
    command->fallthrough();
    command->allow_extras();
    command->set_help_flag("-h,--help", "Show this help");
  }
  app.set_help_flag("-h,--help", "Show this help");
  app.footer(
      "'gantry COMMAND --help' tells more, with examples. Exit codes: 0 all tasks\n"
      "succeeded, 1 some failed, 2 wrong usage or sweep file, 3 the machine's fault.\n\n"
      "Examples:\n"
      "  gantry run sweep.yaml\n"
      "  gantry run -- ./sim --seed {} ::: 1..200\n"
      "  gantry results --plot seed energy");
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

/// The words that CLI11 shall see: for `run` without the command that is to be run.
std::vector<std::string> own_words(CommandLine& line, std::vector<std::string> words) {
  const std::size_t at = find_first_plain_word(words, taker(line.app, nullptr));
  if (at == words.size() || words[at] != "run") return words;
  const auto after = std::next(words.begin(), static_cast<std::ptrdiff_t>(at) + 1);
  line.run_words =
      split_run_words({after, words.end()}, taker(line.app, line.app.get_subcommand("run")));
  words.erase(after, words.end());
  words.insert(words.end(), line.run_words.options.begin(), line.run_words.options.end());
  return words;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

Error unexpected_word(const CommandLine& line, const std::string& word) {
  const auto chosen = line.app.get_subcommands();
  if (word.starts_with('-') && word.size() > 1) {
    std::vector<std::string> known = option_names(line.app);
    for (const CLI::App* command : chosen)
      for (auto& name : option_names(*command)) known.push_back(std::move(name));
    std::string hint = did_you_mean(word.substr(0, word.find('=')), known);
    if (hint.empty())
      hint = fmt::format("'gantry {}--help' lists the options",
                         chosen.empty() ? "" : chosen[0]->get_name() + " ");
    return {ErrorCode::usage, fmt::format("unknown option '{}'", one_line(word)), std::move(hint)};
  }
  if (!chosen.empty())
    return {ErrorCode::usage,
            fmt::format("'{}' is one word too many for 'gantry {}'", one_line(word),
                        chosen[0]->get_name()),
            fmt::format("'gantry {} --help' tells what it takes", chosen[0]->get_name())};
  if (names_sweep_file(word))
    return {ErrorCode::usage, fmt::format("'{}' is not a command", one_line(word)),
            fmt::format("to run it: gantry run {}", shell_quote(word))};
  std::vector<std::string> commands;
  for (const CLI::App* command : line.app.get_subcommands({}))
    commands.push_back(command->get_name());
  std::string hint = did_you_mean(word, commands);
  if (hint.empty())
    hint = "'gantry --help' lists the commands; to run a program: gantry run -- PROGRAM ...";
  return {ErrorCode::usage, fmt::format("there is no command '{}'", one_line(word)),
          std::move(hint)};
}

/// Help that was asked for, to print and be done; nothing otherwise.
Result<std::optional<std::string>> parse(CommandLine& line, const std::vector<std::string>& words) {
  try {
    // CLI11 wants the last word first.
    line.app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    const auto chosen = line.app.get_subcommands();
    return chosen.empty() ? line.app.help() : chosen.front()->help();
  } catch (const CLI::ParseError& error) {
    // A value that is missing is often a mistyped option's: name that first.
    const auto chosen = line.app.get_subcommands();
    return fail(ErrorCode::usage, error.what(),
                fmt::format("'gantry {}--help' tells more",
                            chosen.empty() ? "" : chosen[0]->get_name() + " "));
  }
  if (const auto extra = line.app.remaining(true); !extra.empty())
    return tl::unexpected(unexpected_word(line, extra.front()));
  return std::nullopt;
}

std::filesystem::path state_dir(const GlobalOptions& globals) {
  const char* from_environment = std::getenv("GANTRY_STATE");
  std::filesystem::path path = ".gantry";
  if (!globals.state.empty())
    path = globals.state;
  else if (from_environment != nullptr && *from_environment != '\0')
    path = from_environment;
  // Absolute, as the agent works in another directory.
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal();
}

ColorMode color_mode(const std::string& word) {
  if (word == "always") return ColorMode::always;
  return word == "never" ? ColorMode::never : ColorMode::automatic;
}

Result<int> act(CommandLine& line, Context& context, std::vector<std::string> words) {
  TRY_ASSIGN(const auto help, parse(line, own_words(line, std::move(words))));
  context.terminal = Terminal::detect(color_mode(line.globals.color));
  context.state_dir = state_dir(line.globals);
  if (help) {
    context.out.write(*help);
    return kExitOk;
  }
  if (line.globals.version) {
    context.out.line("gantry " GANTRY_VERSION);
    return kExitOk;
  }
  if (!line.action) {
    context.err.write(line.app.help());
    return kExitUsage;
  }
  return line.action(context);
}

}  // namespace

int run_cli(int argc, char** argv) {
  Output out(STDOUT_FILENO);
  Output err(STDERR_FILENO);
  Context context{out, err, Terminal::detect(ColorMode::automatic), {}};
  CommandLine line;
  declare(line);
  auto code = act(line, context, {argv + std::min(argc, 1), argv + argc});
  out.flush();
  if (code && !out.status()) code = tl::unexpected(out.status().error());
  if (!code) {
    context.report(code.error());
    return exit_code_of(code.error().code);
  }
  return *code;
}

}  // namespace gantry::cli
