"""Runs whose gantry is gone: cancel and clean reach what still runs, results that ended meanwhile are believed only
as long as they hold."""
import signal
import subprocess
import unittest

from fault_case import FaultCase
from ssh_case import SshTestCase


class UndrivenCase(FaultCase):
    """A task that is given `wait` goes on until the file `go` is there."""

    def setUp(self):
        super().setUp()
        self.write("task", """
            #!/bin/sh
            echo "$GANTRY_TASK" >> began
            value=$(cat "${2:-/dev/null}")
            case $1 in
              wait) while [ ! -e go ]; do sleep 0.02; done ;;
              fail) [ -e mended ] || exit 3; while [ ! -e go ]; do sleep 0.02; done ;;
            esac
            echo "value=$value"
            echo "$GANTRY_TASK" >> ended
            """, executable=True)

    def start_run(self, *options, began: int):
        child = self.start_gantry("run", "-j4", "--no-progress", *options, "sweep.yaml")
        self.wait_until(lambda: self.line_count("began") == began, f"{began} tasks to begin")
        return child

    def kill_gantry(self, child):
        child.kill()
        child.communicate()

    def states(self) -> dict:
        return {number: task["state"] for number, task in self.tasks().items()}

    def wait_counts(self, **expected):
        def seen():
            status = self.gantry("status", "--json").json()
            return all(status[name] == count for name, count in expected.items())
        self.wait_until(seen, f"{expected} in the status")

    def assert_cancels(self, *words):
        result = self.gantry("cancel", *words)
        self.assertEqual(result.code, 0, result)
        self.assertIn("cancelled", result.stderr)
        self.assertEqual(self.task_processes(), {}, "these were to be ended")
        return result


class CancelTest(UndrivenCase):
    def test_takes_no_result_back(self):
        for name in ("quick", "fail", "wait"):
            self.write(f"in-{name}", "1")
        self.write("sweep.yaml", "command: [./task, '{x}', 'in-{x}']\n"
                                 "parameters: {x: [quick, fail, wait]}\ninputs: ['in-{x}']\n")
        child = self.start_run(began=3)
        self.wait_counts(done=1, failed=1)
        self.kill_gantry(child)
        self.write("in-quick", "2")
        self.assert_cancels()
        self.assertEqual(self.states(), {1: "done", 2: "failed", 3: "cancelled"})
        status = self.gantry("status", "--json").json()
        self.assertEqual((status["done"], status["failed"], status["cancelled"]), (1, 1, 1))
        self.assertIn("nothing to cancel", self.gantry("cancel").stderr)

    def test_reaches_a_failed_task_that_was_tried_again(self):
        self.write("sweep.yaml", "command: [./task, fail]\n")
        self.assertEqual(self.gantry("run", "sweep.yaml").code, 1)
        self.write("mended", "")
        child = self.start_run(began=2)
        self.kill_gantry(child)
        self.assert_cancels("1")
        self.assertEqual(self.states(), {1: "cancelled"})

    def test_takes_in_what_ended_meanwhile(self):
        self.write("sweep.yaml", "command: [./task, '{x}', '/dev/null']\nparameters: {x: [wait]}\n"
                                 "results: {value: {stdout: 'value=(.*)'}}\n")
        child = self.start_run(began=1)
        self.kill_gantry(child)
        self.write("go", "")
        self.wait_until(lambda: self.line_count("ended") == 1, "the task to end")
        self.wait_until(lambda: not self.task_processes(), "its processes to be gone")
        self.assertIn("nothing to cancel", self.gantry("cancel").stderr)
        self.assertEqual(self.states(), {1: "done"})


class ChangedStudyTest(UndrivenCase):
    """The folder that the study's values come from has changed: it does not give the same tasks any more."""

    def setUp(self):
        super().setUp()
        self.write("in/a", "1")
        self.write("sweep.yaml", "command: [./task, wait, '{f}']\nparameters: {f: {glob: 'in/*'}}\n")
        self.kill_gantry(self.start_run(began=1))
        self.write("in/b", "2")
        self.assertNotEqual(self.task_processes(), {})

    def test_cancel(self):
        self.assert_cancels()
        self.assertEqual(self.states(), {1: "cancelled"})

    def test_clean(self):
        result = self.gantry("clean", "all", "--yes")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.task_processes(), {}, "cleaned away, and still running")
        self.assertIn("tasks that still ran were ended", self.flat(result.stderr))
        self.assertEqual(self.gantry("runs", "--json").json_lines(), [])


class RequestTest(UndrivenCase):
    """A gantry that is stopped cannot take requests."""

    def setUp(self):
        super().setUp()
        self.write("sweep.yaml", "command: [./task, wait]\nparameters: {i: 1..2}\n")
        self.child = self.start_run(began=2)
        self.wait_counts(running=2)
        self.child.send_signal(signal.SIGSTOP)

    def test_that_nobody_took_does_not_cancel_a_later_run(self):
        result = self.gantry("cancel")
        self.assertEqual(result.code, 3, result)
        self.assertIn("has not taken the request", self.flat(result.stderr))
        self.kill_gantry(self.child)
        child = self.start_gantry("run", "sweep.yaml")
        self.wait_until(lambda: self.journal("SELECT count(*) FROM requests") == [(0,)], "the request to be dropped")
        self.write("go", "")
        result = self.finish(child)
        self.assertEqual(result.code, 0, result)
        self.assert_each_result_once(2)

    def test_whose_gantry_is_killed_is_carried_out_without_it(self):
        cancel = self.start_gantry("cancel")
        self.wait_until(lambda: self.journal("SELECT count(*) FROM requests") == [(1,)], "the request")
        self.kill_gantry(self.child)
        result = self.finish(cancel)
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.task_processes(), {})
        self.assertEqual(self.states(), {1: "cancelled", 2: "cancelled"})
        self.assertEqual(self.journal("SELECT count(*) FROM requests"), [(0,)])


class StaleResultTest(UndrivenCase):
    def setUp(self):
        super().setUp()
        self.write("in", "old")
        self.write("sweep.yaml", "command: [./task, wait, in]\ninputs: [in]\n"
                                 "results: {value: {stdout: 'value=(.*)'}}\n")
        self.child = self.start_run(began=1)

    def assert_new_value(self, result):
        self.assertEqual(result.code, 0, result)
        [row] = self.gantry("results", "--json").json_lines()
        self.assertEqual(row["results"], {"value": "new"})
        self.assertEqual(self.line_count("began"), 2)
        self.assertIn("input", self.gantry("explain", "1").stdout)

    def test_of_a_task_that_ended_before_its_input_changed(self):
        self.kill_gantry(self.child)
        self.write("go", "")
        self.wait_until(lambda: self.line_count("ended") == 1, "the task to end")
        self.write("in", "new")
        self.assert_new_value(self.gantry("run", "sweep.yaml"))

    def test_of_a_task_that_was_adopted_after_its_input_changed(self):
        self.kill_gantry(self.child)
        self.write("in", "new")
        child = self.start_gantry("run", "--json", "sweep.yaml")
        self.wait_counts(running=1)
        self.write("go", "")
        self.assert_new_value(self.finish(child))


class StateTest(UndrivenCase):
    """All commands say the same of a run that nobody drives."""

    def test_of_tasks_that_outlived_their_gantry(self):
        self.write("sweep.yaml", "command: [./task, '{x}']\nparameters: {x: [quick, wait, fail]}\n")
        self.write("mended", "")
        child = self.start_run(began=3)
        self.wait_counts(done=1, running=2)
        self.assertEqual(self.states(), {1: "done", 2: "running", 3: "running"})
        self.kill_gantry(child)
        self.assert_all_say(running=2, waiting_ends=0, states={1: "done", 2: "running", 3: "running"})
        self.assertIn("It runs without a gantry", self.flat(self.gantry("explain", "2").stdout))
        self.assertIn("running", self.gantry("tasks", "2").stdout)

        self.write("go", "")
        self.wait_until(lambda: self.gantry("status", "--json").json()["waiting_ends"] == 2, "both to end")
        self.assert_all_say(running=0, waiting_ends=2, states={1: "done", 2: "pending", 3: "pending"})
        self.assertEqual(self.tasks()[2]["waiting_end"], "ok")
        self.assertIn("2 tasks have ended without a gantry", self.flat(self.gantry("status").stdout))
        self.assertIn("waits for gantry run", self.gantry("tasks", "--wide").stdout)
        self.assertIn("no gantry has taken that in yet", self.flat(self.gantry("explain", "3").stdout))

        self.assertEqual(self.gantry("run", "sweep.yaml").code, 0)
        self.assertEqual(self.line_count("began"), 3, "their ends were taken in")
        self.assert_all_say(running=0, waiting_ends=0, states={1: "done", 2: "done", 3: "done"})

    def assert_all_say(self, states, **counts):
        for command in ("status", "runs"):
            said = self.gantry(command, "--json").json()
            self.assertEqual({name: said[name] for name in counts}, counts, command)
        self.assertEqual(self.states(), states)
        explained = {task["task"]: task["state"] for task in self.gantry("explain", "all", "--json").json_lines()}
        self.assertEqual(explained, states)


class FarStateTest(SshTestCase):
    """The same of a run whose tasks are at a site: nobody here can see them."""

    def setUp(self):
        super().setUp()
        self.write_grid(self.far(), slots=2)
        (self.dir / "marks").mkdir()
        self.write("work.sh", f"""
            echo far >>"{self.dir}/marks/ran-$1"
            until test $1 = 1 || test -e "{self.dir}/go"; do sleep 0.02; done
        """)
        self.write("sweep.yaml", "command: sh work.sh {x}\nparameters: { x: 1..6 }\n")

    def states(self, command="tasks", *words) -> list:
        return [task["state"] for task in self.gantry(command, *words, "--json").json_lines()]

    def counts(self, command, *words) -> dict:
        said = self.gantry(command, *words, "--json").json()
        return {name: said[name] for name in ("done", "running", "unknown", "pending")}

    def said(self, *words) -> str:
        result = self.gantry(*words)
        return " ".join((result.stdout + result.stderr).split())

    def agree(self, states) -> bool:
        counts = {name: states.count(name) for name in ("done", "running", "unknown", "pending")}
        return (self.states() == self.states("explain", "all") == states
                and self.counts("status") == self.counts("runs") == counts)

    def kill_while_two_run(self):
        run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml", stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        self.wait_until(lambda: self.states().count("running") == 2, "tasks to run", timeout=60)
        run.kill()
        run.wait()

    def test_all_commands_say_the_same(self):
        run = self.start_gantry("run", "sweep.yaml", "--grid", "grid.yaml", stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        running = ["done", "running", "running", "pending", "pending", "pending"]
        self.wait_until(lambda: self.agree(running), "two that run and one that is done", timeout=60)
        self.assertIn("on far (far-site)", self.said("tasks", "2"))
        self.assertEqual(self.gantry("tasks", "2", "--json").json()["at_site"], "far-site")
        run.kill()
        run.wait()

        # Those that waited at the site may have begun, too.
        states = self.states()
        self.assertEqual((states[:3], set(states[3:]) - {"unknown", "pending"}), (["done", "unknown", "unknown"], set()))
        self.assertTrue(self.agree(states), states)
        for words in (["status"], ["tasks"], ["explain", "2"], ["runs"]):
            self.assertRegex(self.said(*words), "may still run (there|at far-site)|at far-site when gantry was killed")
        for words in (["status"], ["tasks"]):
            self.assertIn("gantry run again asks the sites", self.said(*words))
            self.assertIn("gantry cancel --run 1 --grid grid.yaml", self.said(*words))
        self.assertIn("gantry cancel 2 --run 1 --grid grid.yaml", self.said("explain", "2"))
        self.assertIn("gantry status 1 says what to do", self.said("runs"))
        self.assertLessEqual(max(map(len, self.gantry("status").stdout.splitlines())), 80)
        self.assertIn("some of its tasks may still run", self.said("top"))

        self.write("go", "")
        again = self.run_it(timeout=60)
        self.assertEqual(again.code, 0, again)
        self.assertEqual(self.ran(), {x: ["far"] for x in range(1, 7)})
        self.assertTrue(self.agree(["done"] * 6))
        self.assertNotIn("may still run", self.said("status") + self.said("tasks") + self.said("runs"))

    def test_a_run_without_the_grid_is_warned(self):
        self.kill_while_two_run()
        self.write("go", "")
        again = self.gantry("run", "sweep.yaml", timeout=60)
        self.assertEqual(again.code, 0, again)
        self.assertIn("warning: tasks were at far-site when gantry was killed and may still run there; without --grid "
                      "grid.yaml they start again here", " ".join(again.stderr.split()))
        self.assertNotIn("warning", self.gantry("run", "sweep.yaml").stderr)

    def test_until_they_are_cancelled(self):
        self.kill_while_two_run()
        self.assertIn("may still run", self.said("status"))
        warned = self.said("clean", "all")
        self.assertIn("may still run at far-site; first gantry cancel --run 1 --grid grid.yaml ends them", warned)
        result = self.gantry("cancel", "--grid", "grid.yaml", timeout=60)
        self.assertEqual(result.code, 0, result)
        self.assertNotIn("may still run", self.said("status") + self.said("tasks"))
        self.assertLessEqual(set(self.states()), {"done", "cancelled"})


class ChangedWhileItRanTest(UndrivenCase):
    """The program reads its input at once; the input is changed before it ends, and is then as it was."""

    def test_the_result_is_kept_and_not_reused(self):
        self.write("in", "old")
        self.write("sweep.yaml", "command: [./task, '{x}', in]\nparameters: {x: [wait, quick]}\ninputs: [in]\n")
        child = self.start_run(began=2)
        self.wait_counts(done=1)
        self.write("in", "new")
        self.write("go", "")
        result = self.finish(child)
        self.assertEqual(result.code, 0, result)
        self.assertIn("in changed while 1 task ran: the next gantry run makes it again", self.flat(result.stderr))
        self.write("in", "old")
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertIn("1 finished task runs again: in changed while it ran", self.flat(result.stderr))
        self.assertEqual(self.lines("began").count("1"), 2)
        self.assertEqual(self.lines("began").count("2"), 1)


if __name__ == "__main__":
    unittest.main()
