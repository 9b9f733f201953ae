"""What breaks on a grid: three sites on a testbed (real sshd, links with bandwidth and latency), a study with a shared
file, and something that goes wrong in the middle. All results arrive, each once; what was lost is only what ran there."""
import os
import signal
import unittest

import testbed
from grid_case import GridCase, sshd_processes

SITES = """
    sites:
      s1: { hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 10ms } }
      s2: { hosts: 1, slots: 2, speed: 0.5, link: { bandwidth: 2 MB/s, latency: 40ms } }
      s3: { hosts: 1, slots: 2, speed: 0.5, link: { bandwidth: 20 MB/s, latency: 5ms } }
    """


@testbed.needed()
class GridTest(GridCase):
    TASKS = 240
    OPTIONS = ("--no-duplicates",)  # what is started twice was lost

    def check_lost(self):
        """A host with two slots was lost: what ran in them, was handed over to them, or was on its way home from there."""
        self.assertLessEqual(len(self.again()), 2 * (1 + 4 + 4))

    def begin(self, grid):
        self.grid_dir = grid.dir
        run = self.start_run(grid)
        self.wait_for_ends(self.dice.randrange(10, 60))
        return run

    def test_nothing_breaks(self):
        with testbed.up(self, SITES) as grid:
            self.finish(self.begin(grid))
            self.assertEqual(self.again(), [])

    def test_gantry_is_killed(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            run.send_signal(signal.SIGKILL)
            run.communicate()
            self.finish(self.start_run(grid))
            self.assertEqual(self.again(), [])

    def test_a_link_is_cut_for_a_while(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            grid.cut("s1", "--for", "20s")
            self.finish(run)
            self.assertLessEqual(len(self.again()), 4 + 2 * 4)  # what ran there, and what was handed over

    def test_a_host_is_gone_for_good(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            grid.kill("s1h1")
            self.finish(run)
            self.check_lost()

    def test_a_site_goes_and_comes_back(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            grid.kill("s3h1")
            self.wait_for_ends(120)
            grid.revive("s3h1")
            self.finish(run)
            self.check_lost()

    def test_an_agent_is_killed(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            pid = grid.ssh("s2h1", "cat /root/gantry/work/*/hosts/s2h1/agent/pid").stdout.strip()
            self.assertTrue(pid.isdigit(), pid)
            os.kill(int(pid), signal.SIGKILL)
            self.finish(run)
            self.check_lost()

    def test_sshd_hangs(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            stopped = sshd_processes("s3h1", grid.name)
            self.assertGreater(len(stopped), 1)
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            try:
                self.finish(run)
                self.check_lost()
            finally:
                for pid in stopped:
                    try:
                        os.kill(pid, signal.SIGCONT)
                    except ProcessLookupError:
                        pass

    def test_a_staged_file_is_damaged(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            self.damage_shared_file(grid, "s3h1")
            self.finish(run)
            self.check_lost()


if __name__ == "__main__":
    unittest.main()
