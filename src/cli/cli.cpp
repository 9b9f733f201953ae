#include "cli/cli.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cli/command_line.hpp"
#include "cli/terminal/error_report.hpp"

namespace gantry::cli {
namespace {

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
  TRY_ASSIGN(const auto help, line.parse(std::move(words)));
  context.terminal = Terminal::detect(color_mode(line.globals().color));
  context.state_dir = state_dir(line.globals());
  if (help) {
    context.out.write(*help);
    return kExitOk;
  }
  if (line.globals().version) {
    context.out.line("gantry " GANTRY_VERSION);
    return kExitOk;
  }
  if (!line.action()) {
    context.err.write(line.app().help());
    return kExitUsage;
  }
  return line.action()(context);
}

}  // namespace

int run_cli(int argc, char** argv) {
  Output out(STDOUT_FILENO);
  Output err(STDERR_FILENO);
  const MonotonicClock clock;
  Context context{out, err, Terminal::detect(ColorMode::automatic), {}, clock};
  CommandLine line;
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
