"""What a run foretells, and what it does about tasks that take far longer."""
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
        self.assertEqual(host["observed"], 40)
        self.assertGreater(host["scored"], 20)
        self.assertTrue(0 < host["low"] <= host["value"] <= host["high"], host)
        self.assertGreaterEqual(host["high"], 0.05)
