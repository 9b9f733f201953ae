"""A bad day: a study of 2,000 tasks on a grid of ssh hosts and a Slurm cluster on which everything breaks, one thing after the
other, in an order of chance. All results arrive, each once."""
import os
import signal
import unittest

import testbed
from fault_case import seed
from grid_case import GridCase, sshd_processes

SITES = """
    sites:
      s1: { hosts: 3, slots: 2, speed: 0.3, link: { bandwidth: 8 MB/s, latency: 10ms } }
      s2: { hosts: 1, slots: 2, speed: 0.3, link: { bandwidth: 2 MB/s, latency: 40ms } }
      c1: { via: slurm, hosts: 2, slots: 2, speed: 0.3, link: { bandwidth: 20 MB/s, latency: 5ms } }
    """
HANDED_OVER = 4  # to each slot, at most: what runs in it, and what waits there


@testbed.needed(*testbed.SLURM)
class BadDayTest(GridCase):
    TASKS = 2000
    SLEEP = 0.3
    BETWEEN = 80  # ends between two strikes; most tasks are left for what strikes wait for

    def test_everything_breaks(self):
        number = seed()
        print(f"GANTRY_FAULT_SEED={number}", flush=True)
        self.dice.seed(number)
        self.stopped = []
        strikes = [self.kill_gantry, self.cut_a_link, self.kill_a_host, self.kill_a_site, self.kill_an_agent, self.kill_slurmctld,
                   self.cancel_a_pilot, self.damage_a_file, self.hang_sshd]
        self.dice.shuffle(strikes)
        with testbed.up(self, SITES) as grid:
            self.grid_dir = grid.dir
            self.run = self.start_run(grid)
            try:
                for i, strike in enumerate(strikes):
                    self.wait_for_ends(i * self.BETWEEN + self.dice.randrange(10, self.BETWEEN))
                    strike(grid)
                print("in this order: " + ", ".join(strike.__name__ for strike in strikes), flush=True)
                self.finish(self.run)
            finally:
                self.wake_stopped()
            # What ran, or waited, where something broke: one of s1's hosts and its link, s2, a job, ...
            self.assertLessEqual(len(self.again()), HANDED_OVER * 2 * (1 + 3 + 1 + 1 + 2 + 1))

    def kill_gantry(self, grid):
        self.run.send_signal(signal.SIGKILL)
        self.run.communicate()
        self.run = self.start_run(grid)

    def cut_a_link(self, grid):
        grid.cut("s1", "--for", "20s")

    def kill_a_host(self, grid):
        grid.kill("s1h3")

    def kill_a_site(self, grid):
        grid.kill("s2h1")
        self.wait_for_more(50)
        grid.revive("s2h1")

    def kill_an_agent(self, grid):
        pid = self.in_reach(grid, "s1h2", "cat /root/gantry/work/*/hosts/s1h2/agent/pid").stdout.strip()
        if pid.isdigit():  # it may have gone with its host's link
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass

    def kill_slurmctld(self, grid):
        grid.kill_slurmctld()
        self.wait_for_more(50)
        started = grid.ssh("c1", "slurmctld")
        self.assertEqual(started.code, 0, started)

    def cancel_a_pilot(self, grid):
        jobs = grid.ssh("c1", "squeue --noheader --states=RUNNING --format=%i").stdout.split()
        for job in jobs[:1]:
            grid.ssh("c1", "scancel", job)

    def damage_a_file(self, grid):
        self.in_reach(grid, "s1h1", "true")
        self.damage_shared_file(grid, "s1h1")

    def hang_sshd(self, grid):
        self.stopped = sshd_processes("s1h1", grid.name)
        for pid in self.stopped:
            os.kill(pid, signal.SIGSTOP)
        self.wait_for_more(50)
        self.wake_stopped()

    def wait_for_more(self, ends):
        self.wait_for_ends(min(self.TASKS, self.ended() + ends))

    def wake_stopped(self):
        for pid in self.stopped:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass
        self.stopped = []

    def in_reach(self, grid, host, *words):
        """Once the host can be reached again: its link may be cut."""
        self.wait_until(lambda: grid.ssh(host, "true", patience=3).code == 0, f"{host} to answer")
        return grid.ssh(host, *words)


if __name__ == "__main__":
    unittest.main()
