#include <fcntl.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "cli/cli.hpp"

namespace {

/// A database or lock that got the number of a closed standard stream would be printed into.
void open_standard_streams() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) std::_Exit(3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  ::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is to us what a full disk is
  try {
    return gantry::cli::run_cli(argc, argv);
  } catch (const std::exception& error) {
    // Expected failures are Results: what arrives here is a bug, or memory that ran out.
    std::fprintf(stderr, "gantry: internal error: %s\n", error.what());
    return 3;
  }
}
