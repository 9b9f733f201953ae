"""Ctrl-C, SIGTERM and cancel: what runs ends as promised, and `run` goes on afterwards."""
import array
import fcntl
import os
import pathlib
import signal
import termios
import unittest

import gantry_test
from fault_case import FaultCase

TASKS = 12


class InterruptCase(FaultCase):
    """Two slots; every task waits until the file `go` is there, and then ends."""

    def setUp(self):
        super().setUp()
        self.write("task", """
            #!/bin/sh
            echo "$GANTRY_TASK" >> began
            while [ ! -e go ]; do sleep 0.02; done
            echo "$GANTRY_TASK" >> ended
            """, executable=True)
        self.write("sweep.yaml", f"command: [./task]\nparameters: {{i: 1..{TASKS}}}\n")

    def start_run(self):
        self.notices = self.dir / "notices"
        with self.notices.open("wb") as notices:
            child = self.start_gantry("run", "-j2", "--json", "sweep.yaml", stderr=notices)
        self.wait_until(lambda: self.line_count("began") == 2, "two tasks to run")
        return child

    def go(self):
        self.write("go", "")

    def await_notice(self, words: str):
        """Until gantry has said so: the signal has been taken."""
        self.wait_until(lambda: words in self.notices.read_text(), f"gantry to say '{words}'")

    def states(self) -> dict:
        status = self.gantry("status", "--json").json()
        states = {state: status[state] for state in ("done", "failed", "cancelled", "running", "pending")}
        return {state: count for state, count in states.items() if count}

    def assert_run_goes_on(self):
        """The rest runs, what was done does not run again."""
        done = set(self.lines("ended"))
        before = self.line_count("began")
        self.go()
        result = self.gantry("run", "-j2", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(done & set(self.lines("began")[before:]), set(), "ran again")
        self.assert_each_result_once(TASKS)


class SignalTest(InterruptCase):
    def drain(self, number: int):
        child = self.start_run()
        child.send_signal(number)
        self.await_notice("finishing what runs")
        self.go()
        result = self.finish(child)
        self.assertEqual(result.code, 1, result)
        self.assertTrue(result.json_lines()[-1]["interrupted"])
        # The two that ran have ended in their own time, and nothing new has begun.
        self.assertEqual(len(self.lines("began")), 2)
        self.assertEqual(sorted(self.lines("ended")), sorted(self.lines("began")))
        self.assertEqual(self.states(), {"done": 2, "pending": TASKS - 2})
        self.assertEqual(self.gantry("status", "--json").json()["state"], "interrupted")
        self.assert_run_goes_on()

    def test_ctrl_c_drains(self):
        self.drain(signal.SIGINT)

    def test_sigterm_drains(self):
        self.drain(signal.SIGTERM)

    def test_ctrl_c_twice_cancels(self):
        child = self.start_run()
        child.send_signal(signal.SIGINT)
        self.await_notice("finishing what runs")
        child.send_signal(signal.SIGINT)
        result = self.finish(child)
        self.assertEqual(result.code, 1, result)
        self.assertEqual(self.task_processes(), {}, "process trees outlive their cancellation")
        self.assertEqual(self.lines("ended"), [])
        self.assertEqual(len(self.lines("began")), 2)
        self.assertEqual(self.states(), {"cancelled": TASKS})
        self.assert_run_goes_on()

    def test_ctrl_c_three_times_leaves_at_once(self):
        """Tasks that will not go are left to the agent, which ends them."""
        self.write("task", """
            #!/bin/sh
            trap '' TERM
            echo "$GANTRY_TASK" >> began
            while [ ! -e go ]; do sleep 0.02; done
            echo "$GANTRY_TASK" >> ended
            """, executable=True)
        child = self.start_run()
        child.send_signal(signal.SIGINT)
        self.await_notice("finishing what runs")
        child.send_signal(signal.SIGINT)
        self.await_notice("cancelling")
        self.assertNotEqual(self.task_processes(), {})
        child.send_signal(signal.SIGINT)
        result = self.finish(child)
        self.assertEqual(result.code, 1, result)
        self.wait_until(lambda: not self.task_processes(), "the tasks to be killed")
        self.assertEqual(self.lines("ended"), [])
        self.assert_run_goes_on()

    def test_terminals_ctrl_c_does_not_reach_the_tasks(self):
        """A terminal signals the whole foreground group; draining must not kill what is to finish."""
        child = self.start_run()
        os.killpg(child.pid, signal.SIGINT)  # the group that start() made
        self.await_notice("finishing what runs")
        self.assertGreaterEqual(len(self.task_processes()), 3)  # gantry and two tasks
        self.go()
        self.assertEqual(self.finish(child).code, 1)
        self.assertEqual(len(self.lines("ended")), 2)
        self.assert_run_goes_on()


class UnreadyTest(FaultCase):
    """Ctrl-C is heard also while gantry is busy with something else than tasks."""

    def make_large(self, name: str):
        """Reading it takes minutes; it takes no room."""
        with (self.dir / name).open("wb") as file:
            file.truncate(1 << 40)

    def wait_reading(self, child, name: str):
        def reads():
            for link in pathlib.Path(f"/proc/{child.pid}/fd").iterdir():
                try:
                    if os.readlink(link) == str(self.dir / name):
                        return True
                except OSError:
                    pass
            return False
        self.wait_until(reads, f"gantry to read {name}")

    def test_while_the_input_of_the_first_task_is_read(self):
        self.make_large("large")
        self.write("sweep.yaml", "command: [touch, 'ran-{i}']\nparameters: {i: 1..3}\ninputs: [large]\n")
        child = self.start_gantry("run", "sweep.yaml")
        self.wait_reading(child, "large")
        child.send_signal(signal.SIGINT)
        result = self.finish(child)
        self.assertEqual(result.code, 1, result)
        self.assertIn("3 pending", self.flat(result.stderr))
        self.assertEqual([path.name for path in self.dir.glob("ran-*")], [])

    def test_while_results_of_earlier_runs_are_looked_for(self):
        self.assertEqual(self.gantry("run", "--", "true", ":::", "1").code, 0)
        self.make_large("large")
        self.write("sweep.yaml", "command: [true]\ninputs: [large]\n")
        child = self.start_gantry("run", "sweep.yaml")
        self.wait_reading(child, "large")
        child.send_signal(signal.SIGINT)
        self.assertEqual(self.finish(child).code, -signal.SIGINT)
        self.assertEqual(len(self.gantry("runs", "--json").json_lines()), 1)

    def test_a_pipe_among_the_inputs(self):
        os.mkfifo(self.dir / "pipe")
        self.write("sweep.yaml", "command: [true]\ninputs: [pipe]\n")
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 1, result)
        self.assertIn("pipe: an input must be a file or a folder", self.flat(result.stderr))

    def test_while_nobody_reads_what_is_printed(self):
        self.write("task", "#!/bin/sh\nhead -c 300000 /dev/zero | tr '\\0' x\n", executable=True)
        child = self.start_gantry("run", "-j2", "--", "./task", "{}", ":::", "1..200")
        pipe = child.stdout.fileno()

        def waiting():
            count = array.array("i", [0])
            fcntl.ioctl(pipe, termios.FIONREAD, count)
            return count[0]
        self.wait_until(lambda: waiting() > 60_000, "the pipe to fill")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(gantry_test.PATIENCE), 3)
        result = self.finish(child)
        self.assertIn("finishing what runs", self.flat(result.stderr))
        self.assertIn("nobody reads the output", self.flat(result.stderr))


class CancelTest(InterruptCase):
    def test_everything(self):
        child = self.start_run()
        cancelled = self.gantry("cancel")
        self.assertEqual(cancelled.code, 0, cancelled)
        result = self.finish(child)
        self.assertEqual(result.code, 1, result)
        self.assertEqual(self.task_processes(), {})
        self.assertEqual(self.states(), {"cancelled": TASKS})
        self.assert_run_goes_on()

    def test_some_that_run_and_some_that_wait(self):
        child = self.start_run()
        running = int(self.lines("began")[0])
        cancelled = self.gantry("cancel", f"{running},{TASKS - 1}-{TASKS}")
        self.assertEqual(cancelled.code, 0, cancelled)
        self.wait_until(lambda: self.line_count("began") == 3, "another task in the place of the cancelled one")
        self.go()
        result = self.finish(child)
        self.assertEqual(result.code, 1, result)
        self.assertEqual(self.states(), {"done": TASKS - 3, "cancelled": 3})
        self.assertEqual(set(self.tasks("--done")), set(range(1, TASKS - 1)) - {running})
        self.assertFalse({str(TASKS), str(TASKS - 1)} & set(self.lines("began")))
        self.assert_run_goes_on()

    def test_after_gantry_was_killed(self):
        """Its tasks run on without it; cancel ends them all the same."""
        child = self.start_run()
        child.kill()
        child.communicate()
        self.assertNotEqual(self.task_processes(), {})
        cancelled = self.gantry("cancel")
        self.assertEqual(cancelled.code, 0, cancelled)
        self.assertEqual(self.task_processes(), {})
        self.assertEqual(self.lines("ended"), [])
        self.assertEqual(self.states(), {"cancelled": TASKS})
        self.assert_run_goes_on()

    def test_what_has_ended_stays(self):
        self.go()
        self.assertEqual(self.gantry("run", "-j2", "sweep.yaml").code, 0)
        cancelled = self.gantry("cancel")
        self.assertEqual(cancelled.code, 0, cancelled)
        self.assertEqual(self.states(), {"done": TASKS})


if __name__ == "__main__":
    unittest.main()
