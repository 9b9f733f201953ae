"""Somebody sets the system's clock back while a run goes on: for gantry, its agent and the tasks, not for the machine."""
import unittest

from fault_case import FaultCase

HOUR = 3600

# The time is an hour earlier from the moment when the file `set-back` is there.
LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t which, struct timespec *time) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(which, time);
  int saved = errno;
  if (which == CLOCK_REALTIME && access(getenv("SET_BACK"), F_OK) == 0) time->tv_sec -= 3600;
  errno = saved;
  return result;
}
"""


class SetBackTest(FaultCase):
    def setUp(self):
        super().setUp()
        self.write("clock.c", LIBRARY)
        built = self.run_command(["cc", "-shared", "-fPIC", "-o", "clock.so", "clock.c", "-ldl"])
        self.assertEqual(built.code, 0, built)
        self.write("task", """
            #!/bin/sh
            touch "began-$1"
            while [ ! -e "go-$1" ]; do sleep 0.02; done
            """, executable=True)
        self.child = self.start_gantry(
            "run", "-j3", "--", "./task", "{}", ":::", "1..3",
            env={"LD_PRELOAD": str(self.dir / "clock.so"), "SET_BACK": str(self.dir / "set-back")})
        self.wait_until(lambda: len(list(self.dir.glob("began-*"))) == 3, "three tasks to begin")
        self.wait_counts(running=3)
        self.write("set-back", "")

    def wait_counts(self, **expected):
        def seen():
            status = self.gantry("status", "--json").json()
            return all(status[name] == count for name, count in expected.items())
        self.wait_until(seen, f"{expected} in the status")

    def test_ends_are_journalled_requests_taken_and_times_told(self):
        self.write("go-1", "")
        self.wait_counts(done=1, running=2)
        [(started, ended)] = self.journal("SELECT started, ended FROM events WHERE kind = 'ended'")
        self.assertLess(ended - started, -0.9 * HOUR * 1e9, "the clock was not set back")
        result = self.gantry("cancel", "3")
        self.assertEqual(result.code, 0, result)
        self.write("go-2", "")
        result = self.finish(self.child, timeout=20)
        self.assertEqual(result.code, 1, result)
        self.assertRegex(self.flat(result.stderr), r"2 done.* 1 cancelled.* in \d")


if __name__ == "__main__":
    unittest.main()
