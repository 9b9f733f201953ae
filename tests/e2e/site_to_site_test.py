"""Files that go from one site to another without passing home, on a real network."""
import os
import re
import time

import gantry_test
import testbed

TWO_JOINED_SITES = """
    sites:
      s1: { hosts: 1, slots: 1, speed: 0.5, link: { bandwidth: 10 MB/s, latency: 5ms } }
      s2: { hosts: 1, slots: 1, speed: 0.5, link: { bandwidth: 3 MB/s, latency: 5ms } }
    links: [{ between: [s1, s2], bandwidth: 40 MB/s, latency: 1ms }]
    """
FILE_BYTES = 6_000_000


@testbed.needed()
class SiteToSiteTest(gantry_test.TestCase):
    def write_study(self):
        self.write("sweep.yaml", """
            command: [sh, -c, "hostname; cksum <data.bin; touch ~/began; until test -e ~/go; do sleep 0.05; done; : {x}"]
            parameters: { x: 1..6 }
            inputs: [data.bin]
        """)
        (self.dir / "data.bin").write_bytes(os.urandom(FILE_BYTES))

    def run_it(self, grid):
        """The first tasks wait for each other: neither site may take all before the other has the file."""
        homes = [grid.dir / f"sites/{site}/home" for site in ("s1", "s2")]
        started = time.monotonic()
        run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid)
        self.wait_until(lambda: all((home / "began").exists() for home in homes) or run.poll() is not None, "tasks at both")
        for home in homes:
            (home / "go").touch()
        return self._result(run.args, run, *run.communicate(timeout=gantry_test.PATIENCE), started)

    def sent_by_home(self, grid) -> int:
        with open(f"/sys/class/net/gt-{grid.name}/statistics/tx_bytes", encoding="ascii") as file:
            return int(file.read())

    def logins_from_s2_to_s1(self, grid) -> int:
        log = (grid.dir / "hosts/s1h1/sshd.log").read_text()
        return len(re.findall(r"Accepted publickey for root from 10\.\d+\.2\.11 ", log))

    def said(self) -> tuple:
        """Where tasks ran, and what they read there."""
        lines = [self.gantry("log", str(task)).stdout.splitlines() for task in range(1, 7)]
        return {line[0] for line in lines}, {line[1] for line in lines}

    def test_home_sends_a_shared_file_once(self):
        with testbed.up(self, TWO_JOINED_SITES) as grid:
            self.write_study()
            check = self.gantry("grid", "check", grid.grid)  # which also sends the agent's program
            self.assertEqual(check.code, 0, check)
            self.assertNotIn("cannot fetch", check.stdout)
            self.assertRegex(check.stdout, r"(?m)^s1 +s2 +s2h1 +[\d.]+ [kM]B/s +40 MB/s$")
            self.assertRegex(check.stdout, r"(?m)^s2 +s1 +s1h1 +[\d.]+ [kM]B/s +40 MB/s$")
            sent, logins = self.sent_by_home(grid), self.logins_from_s2_to_s1(grid)
            result = self.run_it(grid)
            self.assertEqual(result.code, 0, result)
            self.assertNotIn("cannot fetch", result.stderr)
            places, sums = self.said()
            self.assertEqual((places, len(sums)), ({"s1h1", "s2h1"}, 1))
            self.assertEqual(self.logins_from_s2_to_s1(grid) - logins, 1)
            sent = self.sent_by_home(grid) - sent  # it cannot be compressed
            self.assertGreater(sent, FILE_BYTES)
            self.assertLess(sent, 1.5 * FILE_BYTES)

    def test_sites_that_cannot_log_in_get_it_from_home(self):
        with testbed.up(self, TWO_JOINED_SITES) as grid:
            self.write_study()
            for site in ("s1", "s2"):
                config = grid.dir / f"sites/{site}/home/.ssh/config"
                config.write_text(re.sub(r"UserKnownHostsFile .*", "UserKnownHostsFile none", config.read_text()))
            check = self.gantry("grid", "check", grid.grid, "--json").json()
            advice = {each["host"]: each for each in check["findings"] if "cannot fetch" in each["what"]}
            self.assertEqual(set(advice), {"s1h1", "s2h1"}, check)
            self.assertIn("Host key verification failed", advice["s1h1"]["what"])
            self.assertIn("accept it once by hand: ssh s2h1", advice["s1h1"]["fix"])
            self.assertTrue(check["ok"], check)
            self.assertEqual([(each["site"], each["works"]) for site in check["sites"] for each in site["fetches_from"]],
                             [("s2", False), ("s1", False)])
            result = self.run_it(grid)
            self.assertEqual(result.code, 0, result)
            places, sums = self.said()
            self.assertEqual((places, len(sums)), ({"s1h1", "s2h1"}, 1))
            said = " ".join(result.stderr.split())
            self.assertEqual(said.count("cannot fetch files from"), 1, result)
            self.assertIn("site s2 cannot fetch files from site s1, they come from home "
                          "(ssh s1h1: Host key verification failed.); on s2h1: compare its key", said)
