// gantry completion: the scripts of completions/, for those who installed nothing.
#include <memory>

#include "cli/commands/commands.hpp"
#include "cli/terminal/error_report.hpp"
#include "completion_scripts.hpp"

namespace gantry::cli {

void add_completion(CLI::App& app, Action& action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->add_option("SHELL", *shell, "bash or zsh")
      ->required()
      ->type_name("")
      ->check(CLI::IsMember({"bash", "zsh"}).description(""));
  command->footer(
      "Examples:\n"
      "  source <(gantry completion bash)                          this shell\n"
      "  gantry completion zsh > ~/.zfunc/_gantry                  every zsh");
  command->callback([shell, &action] {
    action = [shell](Context& context) -> Result<int> {
      context.out.write(*shell == "bash" ? kBashCompletion : kZshCompletion);
      return kExitOk;
    };
  });
}

}  // namespace gantry::cli
