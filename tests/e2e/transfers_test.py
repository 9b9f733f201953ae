"""How files travel to a site, on a real network: many small ones in one stream, packed where that pays, large ones go on where
they stopped, and what is there is not sent again."""
import os
import signal
import unittest

import gantry_test
import testbed

SITE = "sites: { s1: { hosts: 2, slots: 2, link: { bandwidth: 4 MB/s, latency: 10ms } } }\n"
TEXT_BYTES = 8_000_000
SMALL_FILES = 300
LARGE_BYTES = 6_000_000


@testbed.needed()
class TransfersTest(gantry_test.TestCase):
    def sent(self, grid) -> int:
        with open(f"/sys/class/net/gt-{grid.name}/statistics/tx_bytes", encoding="ascii") as file:
            return int(file.read())

    def logins(self, grid) -> int:
        return sum((grid.dir / f"hosts/{host}/sshd.log").read_text().count("Accepted publickey") for host in ("s1h1", "s1h2"))

    def begin(self, grid, name, *words):
        return self.start_gantry("run", f"{name}.yaml", "--grid", grid.grid, "--fresh", "--no-progress", *words)

    def finish(self, run):
        out, err = run.communicate(timeout=120)
        self.assertEqual(run.returncode, 0, err.decode())

    def file_streams(self) -> list:
        """Processes of ssh over which files go."""
        return [pid for pid, command in self.processes().items() if command.startswith("ssh ") and "files" in command]

    def test_few_streams_few_bytes(self):
        self.write("text.dat", b"one line like all the others\n" * (TEXT_BYTES // 29))
        for i in range(SMALL_FILES):
            self.write(f"many/{i}.txt", f"number {i}\n")
        self.write("small.yaml", "command: [sh, -c, 'ls many | wc -l; wc -c <text.dat']\nparameters: { x: 1..8 }\n"
                                 "inputs: [many, text.dat]\n")
        self.write("large.bin", os.urandom(LARGE_BYTES))
        self.write("large.yaml", "command: [sh, -c, 'cksum large.bin; until test -e ~/go; do sleep 0.05; done']\n"
                                 "parameters: { x: 1..4 }\ninputs: [large.bin]\n")
        with testbed.up(self, SITE) as grid:
            self.assertEqual(self.gantry("grid", "check", grid.grid, timeout=60).code, 0)  # which sends the agent's program
            sent, logins = self.sent(grid), self.logins(grid)
            self.finish(self.begin(grid, "small"))
            self.assertEqual(self.gantry("log", "3").stdout.split(), [str(SMALL_FILES), str(TEXT_BYTES // 29 * 29)])
            self.assertLess(self.sent(grid) - sent, 0.8 * TEXT_BYTES)  # for both hosts, which share their files
            self.assertLess(self.logins(grid) - logins, 10)  # an agent each, and one for all files

            # Another state directory finds what is there.
            sent = self.sent(grid)
            self.finish(self.begin(grid, "small", "--state", self.dir / "other"))
            self.assertLess(self.sent(grid) - sent, 300_000)

            # When most of a large file is there, the connection breaks.
            sent = self.sent(grid)
            run = self.begin(grid, "large")
            self.wait_until(lambda: self.sent(grid) - sent > 0.75 * LARGE_BYTES, "most of it to be sent", timeout=60)
            streams = self.file_streams()
            self.assertEqual(len(streams), 1)
            os.kill(streams[0], signal.SIGKILL)
            (grid.dir / "sites/s1/home/go").touch()  # not before: the run would end, and its stream
            self.finish(run)
            sums = {self.gantry("log", str(task)).stdout for task in range(1, 5)}
            self.assertEqual(sums, {self.run_command(["cksum", "large.bin"]).stdout})
            self.assertLess(self.sent(grid) - sent, 1.5 * LARGE_BYTES)


if __name__ == "__main__":
    unittest.main()
