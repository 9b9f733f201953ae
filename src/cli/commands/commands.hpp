#pragma once
/// The commands: each declares its subcommand and options, and sets `action` when the person chose
/// it. One file per command; add a new one here, in command_line.cpp, in completions/ and in
/// docs/man/gantry.1.

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/run_words.hpp"
#include "cli/context.hpp"

namespace gantry::cli {

template <class Options>
struct NewCommand {
  CLI::App* command;
  Options* options;  ///< live as long as the command
};

/// Declares a command. When a person chooses it, its action is `run` with the options.
template <class Options>
NewCommand<Options> add_command(CLI::App& app, Action& action, const std::string& name,
                                const std::string& about,
                                Result<int> (*run)(Context&, const Options&)) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(name, about);
  command->callback([&action, options, run] {
    action = [options, run](Context& context) { return run(context, *options); };
  });
  return {command, options.get()};
}

/// `words` holds what follows run's own options; it is filled before the command line is parsed.
void add_run(CLI::App& app, const RunWords& words, Action& action);
void add_status(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_forecast(CLI::App& app, Action& action);
void add_tasks(CLI::App& app, Action& action);
void add_log(CLI::App& app, Action& action);
void add_results(CLI::App& app, Action& action);
void add_fetch(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_cancel(CLI::App& app, Action& action);
void add_retry(CLI::App& app, Action& action);
void add_runs(CLI::App& app, Action& action);
void add_clean(CLI::App& app, Action& action);
void add_simulate(CLI::App& app, Action& action);
void add_plan(CLI::App& app, Action& action);
void add_grid(CLI::App& app, Action& action);
void add_testbed(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);

}  // namespace gantry::cli
