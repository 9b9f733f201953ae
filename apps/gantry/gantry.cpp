#include <cstdio>
#include <exception>

#include "cli/cli.hpp"

int main(int argc, char** argv) {
  try {
    return gantry::cli::run_cli(argc, argv);
  } catch (const std::exception& error) {
    // Expected failures are Results: what arrives here is a bug, or memory that ran out.
    std::fprintf(stderr, "gantry: internal error: %s\n", error.what());
    return 3;
  }
}
