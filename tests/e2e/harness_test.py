"""The harness itself: it must notice what it promises to notice."""
import subprocess
import sys
import unittest

import gantry_test


class HarnessTest(gantry_test.TestCase):
    def test_run_reports_status_and_both_streams(self):
        result = self.run_command(["sh", "-c", "cat; echo err >&2; exit 3"], stdin="in")
        self.assertEqual((result.code, result.stdout, result.stderr), (3, "in", "err\n"))

    def test_time_limit_fails_the_test(self):
        with self.assertRaisesRegex(AssertionError, "still running after 0.1 s"):
            self.run_command(["sleep", "60"], timeout=0.1)

    def test_orphan_is_found_and_killed(self):
        case = OrphanMaker("make_orphan")
        result = unittest.TestResult()
        case.run(result)
        self.assertEqual(len(result.failures), 1, result)
        self.assertIn("left running", result.failures[0][1])
        self.assertIn("sleep 61", result.failures[0][1])
        self.assertEqual(case.processes(), {})

    def test_orphan_may_be_allowed_and_is_killed_all_the_same(self):
        case = OrphanMaker("leave_on_purpose")
        result = unittest.TestResult()
        case.run(result)
        self.assertTrue(result.wasSuccessful(), result.failures)
        self.assertEqual(case.processes(), {})


class OrphanMaker(gantry_test.TestCase):
    """Not tests: their names do not begin with test_."""

    orphan_patience = 1.0

    def make_orphan(self):
        # A daemon: its parent is gone, its session is its own, its output is closed.
        script = "import os, subprocess; subprocess.Popen(['sleep', '61'], start_new_session=True)"
        subprocess.run([sys.executable, "-c", script], env=self.env, check=True, stdout=subprocess.DEVNULL)

    def leave_on_purpose(self):
        self.make_orphan()
        self.allow_leftovers()
