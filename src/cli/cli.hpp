#pragma once
/// The command line: parses it, runs the chosen command, turns errors into messages and exit codes.

namespace gantry::cli {

/// The program's whole life; the value is its exit code.
int run_cli(int argc, char** argv);

}  // namespace gantry::cli
