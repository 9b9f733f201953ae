"""The state directory is removed while a run goes on: it ends soon, and says so."""
import shutil
import unittest

from fault_case import FaultCase


class RemovedStateTest(FaultCase):
    def setUp(self):
        super().setUp()
        self.write("task", """
            #!/bin/sh
            echo "$1" >> began
            while [ "$1" != 1 ] && [ ! -e go ]; do sleep 0.02; done
            """, executable=True)
        self.child = self.start_gantry("run", "-j2", "--", "./task", "{}", ":::", "1..100")
        self.wait_until(lambda: self.line_count("began") == 3, "two tasks to run, after the first")

    def assert_stops(self):
        result = self.finish(self.child)
        self.assertEqual(result.code, 3, result)
        text = self.flat(result.stderr)
        self.assertIn("gantry.db: removed or replaced while it was in use", text)
        self.assertIn("run the same command again to start over", text)
        self.wait_until(lambda: not self.task_processes(), "the tasks that ran to be ended")
        self.assertEqual(self.line_count("began"), 3)

    def remove_state(self):
        # The run still writes its live.json: a file may go or come between rmtree's look and its unlink.
        shutil.rmtree(self.state, ignore_errors=True)
        return not self.state.exists()

    def test_removed(self):
        self.wait_until(self.remove_state, "the state directory to be removed")
        self.assert_stops()
        self.write("go", "")
        self.assertEqual(self.gantry("run", "--", "./task", "{}", ":::", "1..100").code, 0)

    def test_moved_away(self):
        self.state.rename(self.dir / "elsewhere")
        self.assert_stops()
        # Nothing that ended is lost.
        shutil.rmtree(self.state, ignore_errors=True)
        (self.dir / "elsewhere").rename(self.state)
        self.write("go", "")
        self.assertEqual(self.gantry("run", "--no-output", "--", "./task", "{}", ":::", "1..100").code, 0)
        self.assertEqual(self.lines("began").count("1"), 1)


if __name__ == "__main__":
    unittest.main()
