"""Outputs that stay at the site where they were made (keep: remote), and gantry fetch."""
import json
import signal
import unittest

from ssh_case import SshTestCase

SWEEP = """
    command: sh work.sh {x}
    parameters: { x: 1..3 }
    outputs:
      - { file: "out/{x}.bin", keep: remote }
      - "out/{x}.log"
"""
# The second is larger than what is sent in one piece.
WORK = """
    echo "${FAR_NAME:-home}" >>"$MARKS/ran-$1"
    yes "task $1" | head -n $(($1 * 30000)) >out/$1.bin
    echo "made $1" >out/$1.log
"""


def content(x):
    return f"task {x}\n" * (x * 30000)


class KeptTest(SshTestCase):
    def setUp(self):
        super().setUp()
        self.host = self.far()
        self.write_grid(self.host)
        self.write("sweep.yaml", SWEEP)
        self.write("work.sh", WORK.replace("$MARKS", str(self.dir / "marks")))
        (self.dir / "marks").mkdir()

    def kept(self) -> list:
        return sorted(str(path.relative_to(path.parents[1]))
                      for path in self.host.scratch.glob("work/*/kept/*/out/*"))

    def made(self, name) -> bool:
        return (self.dir / name).exists()

    def test_they_stay_until_they_are_fetched(self):
        result = self.run_it()
        self.assertEqual(result.code, 0, result)
        self.assertIn("3 outputs (1.202 MiB) are kept at far-site", result.stderr)
        self.assertEqual([self.read(f"out/{x}.log") for x in (1, 2, 3)], [f"made {x}\n" for x in (1, 2, 3)])
        self.assertEqual(self.kept(), ["out/1.bin", "out/2.bin", "out/3.bin"])
        self.assertFalse(self.made("out/1.bin"))
        self.assertEqual({row["outputs_at"] for row in self.gantry("tasks", "--json").json_lines()}, {"far-site"})
        self.assertIn("outputs at far-site", self.gantry("tasks", "1").stdout)
        self.assertIn("out/2.bin (at site far-site", self.gantry("explain", "2").stdout.replace("\n    ", " "))

        # Nothing is made again for it, in this run or another of the same tasks.
        for _ in range(2):
            self.assertEqual(self.run_it().code, 0)
            self.assertEqual(self.ran(), {x: ["far"] for x in (1, 2, 3)})
            self.write("sweep.yaml", SWEEP.replace("1..3", "[1, 2, 3]") + "    name: another\n")

        refused = self.gantry("grid", "remove", "grid.yaml", "far-site")
        self.assertNotEqual(refused.code, 0)
        self.assertIn("keeps 3 outputs that are not here", refused.stderr)

        # One of them, by a run that has only reused it; then the others.
        some = self.gantry("fetch", "2")
        self.assertEqual((some.code, some.stdout), (0, "fetched 1 file (410.2 KiB) from far-site\n"), some)
        self.assertEqual(self.read("out/2.bin"), content(2))
        self.assertEqual(self.kept(), ["out/1.bin", "out/3.bin"])
        rest = self.gantry("fetch", "--json")
        self.assertEqual(rest.json_lines(), [{"site": "far-site", "files": 2, "bytes": 840000, "failed": 0}], rest)
        for x in (1, 3):
            self.assertEqual(self.read(f"out/{x}.bin"), content(x))
        self.assertEqual(list(self.host.scratch.glob("work/*/kept/*")), [])
        self.assertIn("none of these outputs is kept", self.gantry("fetch").stderr)

        # From now on they are files like all others.
        (self.dir / "out/1.bin").unlink()
        self.assertEqual(self.run_it().code, 0)
        self.assertEqual(self.ran(), {1: ["far", "far"], 2: ["far"], 3: ["far"]})
        self.assertEqual(self.gantry("grid", "remove", "grid.yaml", "far-site", "--unfetched").code, 0)
        self.assertFalse(self.host.scratch.exists())

    def test_one_that_was_damaged_is_made_again(self):
        self.assertEqual(self.run_it().code, 0)
        for path in self.host.scratch.glob("work/*/kept/*/out/2.bin"):
            path.write_text(content(2).replace("k", "K", 1))
        for path in self.host.scratch.glob("work/*/kept/*/out/3.bin"):
            path.unlink()
        result = self.gantry("fetch")
        self.assertEqual(result.code, 1, result)
        self.assertIn("fetched 1 file", result.stdout)
        for x in (2, 3):
            self.assertIn(f"out/{x}.bin is no longer at site 'far-site'", result.stderr)
            self.assertFalse(self.made(f"out/{x}.bin"))
        self.assertEqual(self.run_it().code, 0)
        self.assertEqual(self.ran(), {1: ["far"], 2: ["far", "far"], 3: ["far", "far"]})
        self.assertEqual(self.gantry("fetch").code, 0)
        self.assertEqual(self.read("out/2.bin"), content(2))

    def test_a_site_that_is_away_and_a_fetch_that_goes_on(self):
        self.assertEqual(self.run_it().code, 0)
        self.host.stop()
        away = self.gantry("fetch")
        self.assertNotEqual(away.code, 0)
        self.assertIn("far-site", away.stderr)
        self.assertEqual(self.kept(), ["out/1.bin", "out/2.bin", "out/3.bin"])
        # What is here already is not fetched again, however it came.
        self.write("out/1.bin", "")
        (self.dir / "out/1.bin").write_text(content(1))
        self.host.start()
        again = self.gantry("fetch")
        self.assertEqual((again.code, again.stdout), (0, "fetched 2 files (1.001 MiB) from far-site\n"), again)
        self.assertEqual(list(self.host.scratch.glob("work/*/kept/*")), [])

    def test_the_end_of_a_run_and_fetch_count_the_same(self):
        self.assertEqual(self.run_it().code, 0)
        self.write("other.yaml", SWEEP.replace("{x}.", "other-{x}.").replace("1..3", "[7, 8]"))
        self.write("work.sh", "echo $1 >out/other-$1.bin; echo $1 >out/other-$1.log\n")
        other = self.gantry("run", "other.yaml", "--grid", "grid.yaml")
        self.assertEqual(other.code, 0, other)
        told = "2 outputs (4 B) are kept at far-site; gantry fetch brings them home, with --all also 3 of other runs"
        self.assertIn(told, " ".join(other.stderr.split()))
        self.assertIn("gantry fetch --run 1 brings", " ".join(self.gantry("results", "--run", "1").stderr.split()))
        self.assertEqual(self.gantry("fetch").stdout, "fetched 2 files (4 B) from far-site\n")
        self.assertIn("gantry fetch --all brings 3 of other", " ".join(self.gantry("fetch").stderr.split()))
        self.assertIn("3 outputs (1.202 MiB) of other runs are kept", " ".join(self.gantry("results").stderr.split()))
        self.assertEqual(self.gantry("fetch", "--all").stdout, "fetched 3 files (1.202 MiB) from far-site\n")

    def test_two_at_once(self):
        self.assertEqual(self.run_it().code, 0)
        self.host.sshd.send_signal(signal.SIGSTOP)  # the first gets no further than to its door
        try:
            first = self.start_gantry("fetch", "--json")
            self.wait_until((self.state / "fetch/lock").exists, "the first to begin")
            self.wait_until(lambda: (self.state / "fetch/lock").read_text().strip() == str(first.pid), "its turn")
            with open(self.dir / "said", "wb") as said:
                second = self.start_gantry("fetch", "--json", stderr=said)
            self.wait_until(lambda: f"waiting for another gantry fetch (process {first.pid})" in self.read("said"),
                            "the second to wait")
        finally:
            self.host.sshd.send_signal(signal.SIGCONT)
        for fetch, files in ((first, 3), (second, 0)):
            out, err = fetch.communicate(timeout=60)
            self.assertEqual(fetch.returncode, 0, err)
            self.assertEqual(sum(json.loads(line)["files"] for line in out.splitlines()), files)
        self.assertEqual([self.read(f"out/{x}.bin") for x in (1, 2, 3)], [content(x) for x in (1, 2, 3)])
        self.assertIn("none of these outputs is kept", self.read("said"))

    def test_a_grid_file_without_the_site(self):
        self.assertEqual(self.run_it().code, 0)
        self.write("other.yaml", "sites: { far-sit: { via: ssh, hosts: [x] } }\n")
        result = self.gantry("fetch", "--grid", "other.yaml")
        said = " ".join(result.stderr.split())
        self.assertNotEqual(result.code, 0, result)
        self.assertIn("outputs are at site 'far-site', which other.yaml does not have", said)
        self.assertIn("--grid FILE", said)
        self.assertNotIn("did you mean", said)

    def test_at_home_they_are_simply_there(self):
        result = self.gantry("run", "sweep.yaml")
        self.assertEqual(result.code, 0, result)
        self.assertEqual(self.read("out/3.bin"), content(3))
        self.assertIn("none of these outputs is kept", self.gantry("fetch").stderr)


if __name__ == "__main__":
    unittest.main()
