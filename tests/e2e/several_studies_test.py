"""gantry run a.yaml b.yaml: several studies at once, in one state directory."""
import json
import signal

from gantry_test import TestCase


class SeveralStudiesTest(TestCase):
    def study(self, name, command, values):
        self.write(f"{name}.yaml", f"name: {name}\ncommand: {command}\nparameters:\n  x: [{', '.join(map(str, values))}]\n")

    def ends(self, out):
        return [event for event in map(json.loads, out.splitlines()) if event["event"] == "task"]

    def test_each_has_a_run_of_its_own(self):
        self.study("a", "echo a {x}", range(5))
        self.study("b", "echo b {x}", range(3))
        done = self.gantry("run", "--json", "a.yaml", "b.yaml")
        self.assertEqual(done.code, 0, done.stderr)
        tasks = self.ends(done.stdout)
        self.assertEqual(sorted(task["run"] for task in tasks), [1] * 5 + [2] * 3)
        again = self.gantry("run", "--json", "b.yaml", "a.yaml")
        self.assertEqual(self.ends(again.stdout), [], "nothing runs twice")
        alone = self.gantry("run", "--json", "b.yaml")
        self.assertEqual(self.ends(alone.stdout), [])

    def test_weights_share_the_slots(self):
        # Long before the end of either, the heavier one has started about three times as many.
        self.study("a", "sleep 0.02", range(300))
        self.study("b", "sleep 0.02 {x}", [f"{i}e-9" for i in range(300)])
        done = self.gantry("run", "--json", "-j2", "a.yaml", "b.yaml", "--weight", "b.yaml=3")
        first = self.ends(done.stdout)[40:200]
        heavy = sum(task["run"] == 2 for task in first)
        self.assertGreater(heavy, len(first) * 0.6, "three of four, but for what was started before run times were known")
        self.assertLess(heavy, len(first) * 0.9)

    def test_one_failure_is_told_with_its_study_and_spoils_no_other(self):
        self.study("good", "true {x}", range(3))
        self.study("bad", "false {x}", [1])
        done = self.gantry("run", "good.yaml", "bad.yaml")
        self.assertEqual(done.code, 1)
        self.assertIn("bad: task 1: exit code 1", done.stderr)
        self.assertIn("gantry explain 1 --run 2", done.stderr)
        runs = self.gantry("runs", "--json").json_lines()
        self.assertEqual([(run["done"], run["failed"]) for run in runs], [(3, 0), (0, 1)])

    def test_an_interrupt_stops_all_and_the_same_command_goes_on(self):
        self.study("a", "sleep 0.05", range(100))
        self.study("b", "sleep 0.05 {x}", [f"{i}e-9" for i in range(100)])
        run = self.start_gantry("run", "--no-progress", "-j2", "a.yaml", "b.yaml")
        self.wait_until(lambda: '"done":' in (status := self.gantry("runs", "--json").stdout)
                        and '"done":0' not in status.replace(" ", ""), "tasks of both to be done")
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=120)
        runs = self.gantry("runs", "--json").json_lines()
        self.assertTrue(all(0 < each["done"] < 100 for each in runs), runs)
        done = self.gantry("run", "--json", "a.yaml", "b.yaml")
        self.assertEqual(len(self.ends(done.stdout)), 200 - sum(each["done"] for each in runs))

    def test_who_watches_sees_each_of_them(self):
        wait = "sh -c 'until test -e go; do sleep 0.05; done' {x}"
        self.study("a", wait, [1])
        self.study("b", wait, [2])
        run = self.start_gantry("run", "--no-progress", "-j2", "a.yaml", "b.yaml")
        def both_run():
            top = self.gantry("top", "--json")
            return top.code == 0 and json.loads(top.stdout)["running"] == 2
        self.wait_until(both_run, "both tasks to run")
        live = json.loads(self.gantry("top", "--json").stdout)
        self.assertEqual([(each["name"], each["running"]) for each in live["runs"]], [("a", 1), ("b", 1)])
        for number in ("1", "2"):
            told = self.gantry("explain", "1", "--run", number).stdout
            self.assertIn("running", told.splitlines()[0], told)
        self.write("go", "")
        self.assertEqual(run.wait(timeout=120), 0)

    def test_mistakes_are_named(self):
        self.study("a", "echo {x}", [1])
        self.assertIn("named twice", self.gantry("run", "a.yaml", "a.yaml").stderr)
        self.study("b", "echo b {x}", [1])
        for weight in ("c.yaml=2", "b.yaml", "b.yaml=0", "b.yaml=-1", "b.yaml=nan", "b.yaml=x"):
            done = self.gantry("run", "a.yaml", "b.yaml", "--weight", weight)
            self.assertEqual(done.code, 2, weight)
        self.assertIn("goes with one study", self.gantry("run", "--tag", "a.yaml", "b.yaml").stderr)

    def test_a_second_gantry_waits_if_asked_to(self):
        first = self.start_gantry("run", "--", "sh", "-c", "until test -e go; do sleep 0.05; done", ":::", "1")
        self.wait_until(lambda: '"running":1' in self.gantry("runs", "--json").stdout.replace(" ", ""), "the first task")
        refused = self.gantry("run", "--", "echo", ":::", "2")
        self.assertEqual(refused.code, 3, refused.stderr)
        self.assertIn("gantry run --wait", refused.stderr)
        second = self.start_gantry("run", "--wait", "--", "echo", ":::", "2")
        self.write("go", "")
        self.assertEqual(first.wait(timeout=120), 0)
        self.assertEqual(second.wait(timeout=120), 0)
