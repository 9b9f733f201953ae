"""What a run foretells, and what it does about tasks that take far longer."""
import contextlib
import sqlite3

import gantry_test
import testbed

TWO_HOSTS = """
    sites:
      s1: { hosts: 2, slots: 2, link: { bandwidth: 20 MB/s, latency: 1ms } }
    """
# One task hangs; a second attempt finds the mark of the first.
HANGS_ONCE = """
    command: [sh, -c, "sleep 0.3; [ {x} = 40 ] && mkdir /tmp/mark && sleep 100; hostname"]
    parameters: { x: 1..40 }
"""


@testbed.needed()
class StragglerTest(gantry_test.TestCase):
    def test_a_task_that_hangs_is_run_on_a_second_host(self):
        self.write("sweep.yaml", HANGS_ONCE)
        with testbed.up(self, TWO_HOSTS) as grid:
            result = self.gantry("run", "sweep.yaml", "--grid", grid.grid, timeout=90)
            self.assertEqual(result.code, 0, result)
            self.assertIn("40 done", result.stderr)
        explained = self.gantry("explain", "40").stdout
        self.assertIn("attempt 2", explained, explained)


class ForecastTest(gantry_test.TestCase):
    def test_run_times_are_learnt_from_parameters_and_kept(self):
        command = """
            command: [sh, -c, "sleep {n}e-1"]
            parameters: { n: %s }
        """
        self.write("first.yaml", command % list(range(2, 25, 2)))
        first = self.gantry("run", "--json", "-j12", "first.yaml")
        self.assertEqual(first.code, 0, first)
        self.assertEqual([line["expected_seconds"] for line in first.json_lines() if line["event"] == "task"][0], 0)
        for _ in range(4):
            model = self.gantry("forecast", "--json").json()["run_time_model"]
            if model["family"] not in ("", "mean"):
                break
            # Other programs held up some of the tasks, and nothing could be learnt. The same tasks teach again.
            self.assertEqual(self.gantry("run", "--fresh", "-j12", "first.yaml").code, 0)
        self.assertNotIn(model["family"], ("", "mean"))
        self.assertGreater(model["tasks"], 3)
        self.assertIn(f"by parameters: {model['family']}", self.gantry("forecast").stdout)
        # Other values, and each task's time is known before any has ended.
        self.write("second.yaml", command % "[5, 19]")
        second = self.gantry("run", "--json", "-j2", "second.yaml")
        self.assertEqual(second.code, 0, second)
        expected = {line["parameters"]["n"]: line["expected_seconds"] for line in second.json_lines() if line["event"] == "task"}
        self.assertGreater(expected[5], 0)
        self.assertGreater(expected[19], expected[5])

    def test_sizes_of_outputs_are_learnt_from_parameters_and_kept(self):
        study = """
            command: [sh, -c, "head -c {n}00000 /dev/zero > {n}.out"]
            parameters: { n: %s }
            outputs: ["{n}.out"]
        """
        self.write("first.yaml", study % "1..12")
        self.assertEqual(self.gantry("run", "-j2", "first.yaml").code, 0)
        model = self.gantry("forecast", "--json").json()["output_model"]
        self.assertGreaterEqual(model["tasks"], 8)
        self.assertAlmostEqual(model["bytes"], 1_200_000, delta=120_000)
        self.assertIn(f"outputs: {model['family']}, from {model['tasks']} tasks", self.gantry("forecast").stdout)
        self.write("second.yaml", study % "[15]")
        self.assertEqual(self.gantry("run", "-j2", "second.yaml").code, 0)
        model = self.gantry("forecast", "--json").json()["output_model"]
        self.assertEqual((model["tasks"], model["task"]), (12, 1))
        self.assertAlmostEqual(model["bytes"], 1_500_000, delta=300_000)

    def test_a_damaged_model_is_left_out(self):
        run = ("run", "-j4", "--", "sh", "-c", "sleep 0.05; : {}", ":::", *map(str, range(6)))
        self.assertEqual(self.gantry(*run).code, 0)
        with contextlib.closing(sqlite3.connect(self.state / "gantry.db")) as store, store:
            changed = store.execute("UPDATE learned SET value = '[1e999' WHERE kind = 'run times'")
            self.assertEqual(changed.rowcount, 1)
        again = self.gantry(*run, "7")
        self.assertEqual(again.code, 0, again)
        self.assertIn("what earlier runs have learnt is not used", again.stderr)

    def test_what_is_no_time_to_learn_for_is_refused(self):
        for time in ("soon", "0s", "-5s"):
            result = self.gantry("run", f"--learn-for={time}", "--", "true")
            self.assertEqual(result.code, 2, result)
            self.assertIn("--learn-for 30s", result.stderr)
        self.assertEqual(self.gantry("run", "--learn-for", "1ms", "--", "true", "{}", ":::", "1", "2").code, 0)

    def test_tells_what_is_expected_also_when_the_run_is_over(self):
        nothing = self.gantry("forecast")
        self.assertNotEqual(nothing.code, 0)
        self.assertIn("gantry run", nothing.stderr)
        run = self.gantry("run", "--json", "-j2", "--", "sh", "-c", "sleep 0.05; : {}", *":::".split(), *map(str, range(40)))
        self.assertEqual(run.code, 0, run)
        expected = [line["expected_seconds"] for line in run.json_lines() if line["event"] == "task"]
        self.assertEqual(expected[0], 0, "of the first nothing was known")
        self.assertGreater(expected[-1], 0.04)
        shown = self.gantry("forecast")
        self.assertEqual(shown.code, 0, shown)
        self.assertIn("40 of 40 tasks done", shown.stdout)
        self.assertRegex(shown.stdout, r"run times: \d+ forecasts came due, off by \d+% on average")
        self.assertLessEqual(max(map(len, shown.stdout.splitlines())), 80)
        host = self.gantry("forecast", "--json").json()["hosts"][0]["pace_forecast"]
        self.assertEqual(host["observed"] + host["quarantined"], 40, host)
        self.assertGreater(host["scored"], 20)
        self.assertTrue(0 <= host["low"] <= host["value"] <= host["high"], host)
        self.assertGreater(host["value"], 0)
        self.assertGreaterEqual(host["high"], 0.05)

    def test_tells_of_an_earlier_run_too(self):
        for count in (6, 8):
            run = self.gantry("run", "-j2", "--", "sh", "-c", f"sleep 0.05; : {{}} {count}", ":::", *map(str, range(count)))
            self.assertEqual(run.code, 0, run)
        self.assertIn("run 2, ", self.gantry("forecast").stdout)
        self.assertIn("6 of 6 tasks done", self.gantry("forecast", "--run", "1").stdout)
        self.assertEqual(self.gantry("forecast", "--run", "last", "--json").json()["total"], 8)
        unknown = self.gantry("forecast", "--run", "77")
        self.assertEqual(unknown.code, 2, unknown)
        self.assertIn("77", unknown.stderr)

    def test_tells_what_a_run_knew_that_was_killed(self):
        run = self.start_gantry("run", "-j2", "--", "sh", "-c", "sleep 0.2; : {}", ":::", *map(str, range(500)))
        self.wait_until(lambda: self.gantry("forecast").code == 0 and "host" in self.gantry("forecast").stdout,
                        "something is known of the host")
        run.kill()
        run.wait()
        killed = self.gantry("forecast")
        self.assertEqual(killed.code, 0, killed)
        self.assertRegex(killed.stdout, "of 500 tasks done; it was killed")
        self.assertNotIn("ETA", killed.stdout)
        shown = self.gantry("forecast", "--json").json()
        self.assertEqual(shown["pid"], 0)
        self.assertNotIn("ends", shown)
