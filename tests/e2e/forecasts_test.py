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
