"""What breaks on a grid: three sites on a testbed (real sshd, links with bandwidth and latency), a study with a shared
file, and something that goes wrong in the middle. All results arrive, each once; what was lost is only what ran there."""
import collections
import os
import random
import signal
import subprocess
import unittest

import gantry_test
import testbed

SITES = """
    sites:
      s1: { hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 10ms } }
      s2: { hosts: 1, slots: 2, speed: 0.5, link: { bandwidth: 2 MB/s, latency: 40ms } }
      s3: { hosts: 1, slots: 2, speed: 0.5, link: { bandwidth: 20 MB/s, latency: 5ms } }
    """
TASKS = 240
PATIENCE = 180  # for the most loaded machine


@testbed.needed()
class GridTest(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.dice = random.Random(self.id())
        self.write("sweep.yaml", f"""
            command: sh work.sh {{x}} shared.bin out/{{x}}.txt
            parameters: {{ x: 1..{TASKS} }}
            inputs: [shared.bin]
            outputs: ["out/{{x}}.txt"]
            results:
              bytes: {{ stdout: 'bytes=(\\d+)' }}
        """)
        # Whatever starts is marked in the home folder of its site.
        self.write("work.sh", """
            mkdir -p ~/marks && echo "$(hostname)" >>~/marks/$1
            sleep 0.2
            echo "bytes=$(wc -c <"$2")"
            echo "$1" >"$3"
        """)
        self.write("shared.bin", self.dice.randbytes(1_000_000))

    def begin(self, grid):
        self.grid_dir = grid.dir
        run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid)
        self.wait_for_ends(self.dice.randrange(10, 60))
        return run

    def ended(self) -> int:
        folder = self.dir / "out"
        return len(list(folder.iterdir())) if folder.exists() else 0

    def wait_for_ends(self, count):
        self.wait_until(lambda: self.ended() >= count, f"{count} outputs", timeout=PATIENCE)

    def finish(self, run):
        _, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, err.decode())
        self.check_results()
        return err.decode()

    def check_results(self, most_twice=TASKS):
        self.assertEqual(sorted(int(path.stem) for path in (self.dir / "out").iterdir()), list(range(1, TASKS + 1)))
        for i in range(1, TASKS + 1):
            self.assertEqual(self.read(f"out/{i}.txt"), f"{i}\n")
        rows = self.gantry("results", "--json").json_lines()
        self.assertEqual([(row["task"], row["results"]["bytes"]) for row in rows],
                         [(i, 1_000_000) for i in range(1, TASKS + 1)])
        self.assertLessEqual(len(self.again()), most_twice)

    def again(self) -> list:
        """Tasks that were started more than once."""
        starts = collections.Counter()
        for path in self.grid_dir.glob("sites/*/home/marks/*"):
            starts[path.name] += len(path.read_text().split())
        self.assertEqual(len(starts), TASKS)
        return [task for task, count in starts.items() if count > 1]

    def test_nothing_breaks(self):
        with testbed.up(self, SITES) as grid:
            self.finish(self.begin(grid))
            self.assertEqual(self.again(), [])

    def test_gantry_is_killed(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            run.send_signal(signal.SIGKILL)
            run.communicate()
            self.finish(self.start_gantry("run", "sweep.yaml", "--grid", grid.grid))
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

    def test_a_site_goes_and_comes_back(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            grid.kill("s3h1")
            self.wait_for_ends(120)
            grid.revive("s3h1")
            self.finish(run)

    def test_an_agent_is_killed(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            pid = grid.ssh("s2h1", "cat /root/gantry/work/*/hosts/s2h1/agent/pid").stdout.strip()
            self.assertTrue(pid.isdigit(), pid)
            os.kill(int(pid), signal.SIGKILL)
            self.finish(run)

    def test_sshd_hangs(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            stopped = sessions("hosts/s3h1/sshd_config", grid.name)
            self.assertGreater(len(stopped), 1)
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)
            try:
                self.finish(run)
            finally:
                for pid in stopped:
                    try:
                        os.kill(pid, signal.SIGCONT)
                    except ProcessLookupError:
                        pass

    def test_a_staged_file_is_damaged(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            found = grid.ssh("s3h1", "for f in /root/gantry/depot/??/*; do test $(wc -c <$f) = 1000000 && "
                                     "chmod u+w $f && echo rubbish >$f; done; true")
            self.assertEqual(found.code, 0, found)
            self.finish(run)


def sessions(config, name) -> list:
    """The processes of one host's sshd."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    [sshd] = [pid for pid, _, args in rows if config in args and f"/{name}/" in args]
    return [int(pid) for pid, parent, _ in rows if sshd in (pid, parent)]


if __name__ == "__main__":
    unittest.main()
