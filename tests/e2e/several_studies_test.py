"""gantry run a.yaml b.yaml: several studies at once, in one state directory."""
import json
import signal

from gantry_test import TestCase
from ssh_case import SshTestCase


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

    def test_nobody_else_waits_while_a_large_file_is_read(self):
        with open(self.dir / "large", "wb") as large:
            large.truncate(8 << 30)  # a hole: it takes seconds to read, and no room
        self.write("a.yaml", "name: a\ncommand: test -e large\ninputs: [large]\n")
        self.study("b", "echo {x}", range(20))
        done = self.gantry("run", "--json", "-j2", "a.yaml", "b.yaml")
        self.assertEqual(done.code, 0, done.stderr)
        self.assertEqual([task["run"] for task in self.ends(done.stdout)], [2] * 20 + [1])

    def test_mistakes_are_named(self):
        self.study("a", "echo {x}", [1])
        self.assertIn("named twice", self.gantry("run", "a.yaml", "a.yaml").stderr)
        self.study("b", "echo b {x}", [1])
        for weight in ("c.yaml=2", "b.yaml", "b.yaml=0", "b.yaml=-1", "b.yaml=nan", "b.yaml=x"):
            done = self.gantry("run", "a.yaml", "b.yaml", "--weight", weight)
            self.assertEqual(done.code, 2, weight)
        self.assertIn("goes with one study", self.gantry("run", "--tag", "a.yaml", "b.yaml").stderr)

    def test_they_must_not_write_the_same_file_however_it_is_spelt(self):
        for folder in ("a", "b"):
            self.write(f"{folder}/s.yaml", f"""
                command: sh -c 'echo {folder} {{x}} >../out{{x}}.txt'
                parameters: {{ x: [1] }}
                outputs: ["../out{{x}}.txt"]
            """)
        refused = self.gantry("run", "a/s.yaml", "b/s.yaml")
        self.assertEqual(refused.code, 2, refused)
        self.assertIn(f"both write {self.dir}/out1.txt", " ".join(refused.stderr.split()))
        for folder in ("a", "b"):
            self.assertEqual(self.gantry("run", f"{folder}/s.yaml").code, 0)
            self.assertEqual(self.read("out1.txt"), f"{folder} 1\n")

    def test_a_second_gantry_waits_if_asked_to(self):
        first = self.start_gantry("run", "--", "sh", "-c", "until test -e go; do sleep 0.05; done", ":::", "1")
        self.wait_until(lambda: '"running":1' in self.gantry("runs", "--json").stdout.replace(" ", ""), "the first task")
        refused = self.gantry("run", "--", "echo", ":::", "2")
        self.assertEqual(refused.code, 3, refused.stderr)
        self.assertIn("gantry run --wait", refused.stderr)
        self.assertIn("gantry run --join", refused.stderr)
        second = self.start_gantry("run", "--wait", "--", "echo", ":::", "2")
        self.write("go", "")
        self.assertEqual(first.wait(timeout=120), 0)
        self.assertEqual(second.wait(timeout=120), 0)


class JoiningTest(TestCase):
    """gantry run --join: a study beside those that another gantry runs here."""

    WAIT = ("sh", "-c", "until test -e go; do sleep 0.05; done")

    def first(self, *options):
        process = self.start_gantry("run", "-j2", *options, "--", *self.WAIT, ":::", "1")
        self.wait_until(lambda: '"running":1' in self.gantry("runs", "--json").stdout.replace(" ", ""), "the first task")
        return process

    def runs(self):
        return self.gantry("runs", "--json").json_lines()

    def test_it_runs_at_once_and_prints_what_it_would_alone(self):
        first = self.first("--json")
        joined = self.gantry("run", "--join", "--tag", "--", "echo", "hello", ":::", "a", "b")
        self.assertEqual(joined.code, 0, joined.stderr)
        self.assertEqual(sorted(joined.stdout.splitlines()), ["a\thello a", "b\thello b"])
        self.assertIn("run 2: 2 done", joined.stderr)
        self.assertIsNone(first.poll(), "the first one goes on")
        again = self.gantry("run", "--join", "--json", "--", "echo", "hello", ":::", "a", "b").json_lines()
        self.assertEqual([event["event"] for event in again], ["started", "summary"], "nothing runs twice")
        self.write("go", "")
        out = first.communicate(timeout=120)[0].decode()
        self.assertEqual(first.returncode, 0)
        self.assertEqual({event["run"] for event in map(json.loads, out.splitlines())}, {1}, "the guest's tasks are its own affair")
        self.assertEqual([(run["done"], run["state"]) for run in self.runs()], [(1, "finished"), (2, "finished")])

    def test_a_run_that_grew_is_told_by_its_own_numbers(self):
        self.assertEqual(self.gantry("run", "--", "echo", "{}", ":::", "2", "4").code, 0)
        first = self.first()
        joined = self.gantry("run", "--join", "--tag", "--joblog", "log", "--", "echo", "{}", ":::", "1", "2", "4")
        self.assertEqual(joined.code, 0, joined)
        self.assertEqual(sorted(joined.stdout.splitlines()), ["1\t1", "2\t2", "4\t4"])
        self.assertTrue(self.read("log").endswith("\techo 1\n"), self.read("log"))
        self.write("go", "")
        self.assertEqual(first.wait(timeout=120), 0)

    def test_events_and_failures_are_told_to_who_asked(self):
        first = self.first()
        joined = self.gantry("run", "--join", "--json", "--", "sh", "-c", "exit {x}", ":::", "x=0,3")
        self.assertEqual(joined.code, 1)
        events = joined.json_lines()
        self.assertEqual(events[0]["event"], "started")
        self.assertEqual(sorted((event["parameters"]["x"], event["code"]) for event in events if event["event"] == "task"), [(0, 0), (3, 3)])
        self.assertEqual((events[-1]["done"], events[-1]["failed"]), (1, 1))
        self.write("go", "")
        err = first.communicate(timeout=120)[1].decode()
        self.assertEqual(first.returncode, 0, "another's failure is not ours")
        self.assertNotIn("exit code 3", err)

    def test_it_can_join_again_when_it_has_ended(self):
        first = self.first()
        self.assertEqual(self.gantry("run", "--join", "--", "sh", "-c", "test -e mended", ":::", "x").code, 1)
        self.write("mended", "")
        again = self.gantry("run", "--join", "--json", "--", "sh", "-c", "test -e mended", ":::", "x")
        self.assertEqual(again.code, 0, again.stderr)
        self.assertEqual(again.json_lines()[-1]["done"], 1, "what had failed was tried again")
        self.write("go", "")
        self.assertEqual(first.wait(timeout=120), 0)

    def test_who_cancels_a_guest_ends_its_watching(self):
        first = self.first()
        self.write("b.yaml", "name: b\ncommand: sh -c 'until test -e go; do sleep 0.05; done' {x}\nparameters: {x: [2]}\n")
        second = self.start_gantry("run", "--join", "b.yaml")
        self.wait_until(lambda: len(self.runs()) == 2 and self.runs()[1]["running"] == 1, "the guest's task")
        self.assertEqual(self.gantry("cancel", "--run", "2").code, 0)
        second.communicate(timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertIsNone(first.poll(), "the first one goes on")
        self.write("go", "")
        self.assertEqual(first.wait(timeout=120), 0)

    def test_twins_do_not_run_at_once(self):
        first = self.first()
        self.write("b.yaml", "name: b\ncommand: sh -c 'until test -e go; do sleep 0.05; done' {x}\nparameters: {x: [0, 1]}\n")
        refused = self.gantry("run", "--join", "b.yaml")
        self.assertNotEqual(refused.code, 0)
        self.assertIn("both run 'sh -c until test -e go", " ".join(refused.stderr.split()))
        self.write("go", "")
        self.assertEqual(first.wait(timeout=120), 0)

    def test_alone_it_runs_by_itself(self):
        done = self.gantry("run", "--join", "--", "echo", ":::", "a")
        self.assertEqual((done.code, done.stdout), (0, "a\n"))

    def test_an_interrupt_only_ends_the_watching(self):
        first = self.first()
        self.write("b.yaml", "name: b\ncommand: sh -c 'until test -e go; do sleep 0.05; done' {x}\nparameters: {x: [2]}\n")
        second = self.start_gantry("run", "--join", "b.yaml")
        self.wait_until(lambda: len(self.runs()) == 2 and self.runs()[1]["running"] == 1, "the guest's task")
        second.send_signal(signal.SIGINT)
        err = second.communicate(timeout=60)[1].decode()
        self.assertEqual(second.returncode, 1)
        self.assertIn("gantry cancel --run 2", err)
        self.write("go", "")
        self.assertEqual(first.wait(timeout=120), 0)
        self.assertEqual(self.runs()[1]["done"], 1, "the run went on")

    def test_when_the_host_is_stopped_the_guest_says_so_and_can_go_on(self):
        first = self.first()
        self.write("b.yaml", "name: b\ncommand: sh -c 'until test -e go; do sleep 0.05; done' {x}\nparameters: {x: [2, 3, 4]}\n")
        second = self.start_gantry("run", "--join", "b.yaml")
        self.wait_until(lambda: len(self.runs()) == 2 and self.runs()[1]["running"] == 1, "the guest's task")
        first.send_signal(signal.SIGINT)
        self.wait_until(lambda: "interrupted" in self.gantry("top", "--json").stdout, "it to drain")
        self.write("go", "")
        first.communicate(timeout=120)
        err = second.communicate(timeout=60)[1].decode()
        self.assertEqual(second.returncode, 1)
        self.assertIn("the gantry that ran it has stopped it", err)
        done = self.gantry("run", "b.yaml")
        self.assertEqual(done.code, 0, done.stderr)
        self.assertEqual(self.runs()[1]["done"], 3)

    def test_when_the_host_is_killed_the_guest_says_so(self):
        first = self.first()
        self.write("b.yaml", "name: b\ncommand: sh -c 'until test -e go; do sleep 0.05; done' {x}\nparameters: {x: [2]}\n")
        second = self.start_gantry("run", "--join", "b.yaml")
        self.wait_until(lambda: len(self.runs()) == 2 and self.runs()[1]["running"] == 1, "the guest's task")
        first.kill()
        first.communicate()
        err = second.communicate(timeout=60)[1].decode()
        self.assertIn(f"the gantry that ran it (process {first.pid}) has ended", err)
        self.write("go", "")
        self.assertEqual(self.gantry("run", "b.yaml").code, 0)

    def test_what_cannot_join_is_refused_with_the_reason(self):
        first = self.first()
        self.write("big.yaml", "name: big\ncommand: echo {x}\nparameters: {x: [1]}\nresources: {cores: 4000}\n")
        refused = self.gantry("run", "--join", "big.yaml")
        self.assertNotEqual(refused.code, 0)
        self.assertIn("4000 cores", refused.stderr)
        self.assertEqual(len(self.runs()), 1, "as if it had never been asked for")
        for option in (["--grid", "grid.yaml"], ["-j", "3"], ["--max-fails", "2"], ["--wait"], ["--fresh"]):
            self.assertEqual(self.gantry("run", "--join", *option, "big.yaml").code, 2, option)
        self.write("go", "")
        self.assertEqual(first.wait(timeout=120), 0)


class SeveralStudiesAtSitesTest(SshTestCase):
    def test_each_has_its_own_folder(self):
        self.write_grid(self.far())
        for name, number in (("one", 1), ("two", 2)):
            self.write(f"{name}/sweep.yaml", """
                command: sh -c 'cat shared own-{x} >out/{x}' {x}
                parameters: { x: [1, 2] }
                inputs: [shared, "own-{x}"]
                outputs: ["out/{x}"]
            """)
            self.write(f"{name}/shared", f"{name}\n")
            for x in (1, 2):
                self.write(f"{name}/own-{x}", f"{number * 10 + x}\n")
        done = self.gantry("run", "one/sweep.yaml", "two/sweep.yaml", "--grid", "grid.yaml")
        self.assertEqual(done.code, 0, done)
        for name, number in (("one", 1), ("two", 2)):
            for x in (1, 2):
                self.assertEqual(self.read(f"{name}/out/{x}"), f"{name}\n{number * 10 + x}\n")
