"""A gantry that was killed left tasks behind, and another study begins: no twins, and nothing that ended is lost."""
import signal
import unittest

from fault_case import FaultCase


class TakeOverTest(FaultCase):
    """Each task goes on until the file `go` is there. The study is changed while they run."""

    def setUp(self):
        super().setUp()
        self.write("task", """
            #!/bin/sh
            echo "$1" >> began
            while [ ! -e go ]; do sleep 0.02; done
            echo "value=$1"
            echo "$1" >> ended
            """, executable=True)
        self.write_study("1..2")
        child = self.start_gantry("run", "-j4", "sweep.yaml")
        self.wait_until(lambda: self.line_count("began") == 2, "two tasks to begin")
        child.kill()
        child.communicate()

    def write_study(self, values, command="./task", name="first"):
        self.write("sweep.yaml", f"name: {name}\ncommand: [{command}, '{{i}}']\nparameters: {{i: {values}}}\n"
                                 "results: {value: {stdout: 'value=(.*)'}}\n")

    def start_changed(self, *options):
        """With another name it is another study, and a run of its own."""
        self.write_study("1..4", name="second")
        return self.start_gantry("run", "-j4", *options, "sweep.yaml")

    def wait_waiting(self, child) -> str:
        line = child.stderr.readline().decode()
        while "waiting" not in line and line:
            line = child.stderr.readline().decode()
        return line

    def assert_each_ran_once(self, result):
        self.assertEqual(result.code, 0, result)
        self.assertEqual(sorted(self.lines("began")), ["1", "2", "3", "4"])
        rows = self.gantry("results", "--json").json_lines()
        self.assertEqual([row["results"]["value"] for row in rows], [1, 2, 3, 4])

    def test_status_tells_what_still_runs(self):
        text = self.gantry("status").stdout
        self.assertIn("2 tasks still run without a gantry", text)
        status = self.gantry("status", "--json").json()
        self.assertEqual((status["state"], status["running"], status["pending"]), ("interrupted", 2, 0))
        self.write("go", "")
        self.wait_until(lambda: self.agent_pid() is None, "the agent to be gone")
        self.assertEqual(self.gantry("status", "--json").json()["running"], 0)

    def test_what_still_runs_is_waited_for_and_reused(self):
        child = self.start_changed()
        self.assertIn("waiting for 2 tasks of run 1 that still run; 'gantry cancel --run 1'", self.wait_waiting(child))
        self.assertEqual(self.line_count("began"), 2)
        self.write("go", "")
        self.assert_each_ran_once(self.finish(child))
        self.assertEqual(self.gantry("status", "1", "--json").json()["state"], "finished")

    def test_who_writes_the_same_file_is_waited_for(self):
        """Another command, another study: but both would write the file at once."""
        self.write("go", "")
        self.finish(self.start_gantry("run", "-j4", "sweep.yaml"))
        (self.dir / "go").unlink()
        self.write("writer", '#!/bin/sh\n./task "$1"; touch "out_$1"\n', executable=True)
        study = "command: [./writer, '{i}', %s]\nparameters: {i: 7..8}\noutputs: 'out_{i}'\n"
        self.write("sweep.yaml", study % "old")
        self.write("began", "")
        child = self.start_gantry("run", "-j4", "sweep.yaml")
        self.wait_until(lambda: self.line_count("began") == 2, "two tasks to begin")
        child.kill()
        child.communicate()
        self.write("sweep.yaml", study % "new")
        child = self.start_gantry("run", "-j4", "sweep.yaml")
        self.assertIn("waiting for 2 tasks", self.wait_waiting(child))
        self.write("go", "")
        self.assertEqual(self.finish(child).code, 0)

    def test_what_ended_meanwhile_is_reused(self):
        self.write("go", "")
        self.wait_until(lambda: self.line_count("ended") == 2, "both tasks to end")
        self.wait_until(lambda: not self.task_processes(), "their processes to be gone")
        self.assert_each_ran_once(self.finish(self.start_changed()))

    def test_cancel_ends_what_is_waited_for(self):
        child = self.start_changed()
        self.wait_waiting(child)
        result = self.gantry("cancel", "--run", "1")
        self.assertEqual(result.code, 0, result)
        self.assertIn("cancelled", result.stderr)
        self.wait_until(lambda: self.line_count("began") == 6, "all four to begin")
        self.write("go", "")
        self.assertEqual(self.finish(child).code, 0)
        self.assertEqual(self.gantry("status", "1", "--json").json()["cancelled"], 2)
        self.assertIn("nothing to cancel", self.gantry("cancel").stderr)

    def test_ctrl_c_while_it_waits(self):
        child = self.start_changed()
        self.wait_waiting(child)
        child.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(child).code, -signal.SIGINT)
        self.assertEqual(len(self.gantry("runs", "--json").json_lines()), 1)
        self.write("go", "")
        self.assert_each_ran_once(self.gantry("run", "sweep.yaml"))

    def test_another_study_does_not_wait_and_can_be_left_alone(self):
        self.write_study("1..2", "echo")
        result = self.gantry("run", "-j4", "sweep.yaml")
        self.assertNotIn("waiting", result.stderr)
        self.assertEqual(self.gantry("status", "--json").json()["failed"], 2, "echo prints no value")
        self.assertEqual(self.gantry("cancel", "--run", "1").code, 0)
        self.assertEqual(self.task_processes(), {})

    def test_cancel_of_another_run_than_the_one_that_is_driven(self):
        self.write("other.yaml", "command: [sh, -c, 'touch other-began; while [ ! -e go-other ]; do sleep 0.02; done']\n")
        child = self.start_gantry("run", "-j4", "other.yaml")
        self.wait_until((self.dir / "other-began").exists, "the other study to begin")
        result = self.gantry("cancel", "--run", "1")
        self.assertEqual(result.code, 0, result)
        self.wait_until(lambda: self.gantry("status", "1", "--json").json()["cancelled"] == 2, "two cancelled tasks")
        self.write("go-other", "")
        self.assertEqual(self.finish(child).code, 0)


if __name__ == "__main__":
    unittest.main()
