#pragma once
/// Ctrl-C while a testbed is being made: takes down what exists before the program ends. One
/// thread.

#include <signal.h>

#include "base/result.hpp"

namespace gantry::testbed {

/// While this lives, signals that end a program wait; then they have their effect.
class HeldSignals {
 public:
  HeldSignals() {
    const sigset_t ending = ending_signals();
    ::sigprocmask(SIG_BLOCK, &ending, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  static sigset_t ending_signals() {
    sigset_t set{};
    ::sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&set, number);
    return set;
  }

 private:
  sigset_t before_{};
};

/// An error when one of them waits. For loops that take long.
inline Result<> check_interrupt() {
  sigset_t waiting{};
  ::sigpending(&waiting);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    if (::sigismember(&waiting, number) == 1) return fail(ErrorCode::io, "interrupted");
  return {};
}

}  // namespace gantry::testbed
