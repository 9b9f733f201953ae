"""gantry grid with clusters: the login host and its batch system are checked, listed and left as they were found."""
import unittest

import gantry_test
import testbed

PATIENCE = 120  # for the most loaded machine


@testbed.needed(*testbed.SLURM, *testbed.SGE)
class ClusterCommandsTest(gantry_test.TestCase):
    def grid_file(self, grid, *changes):
        text = grid.grid.read_text()
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new)
        (self.dir / "grid.yaml").write_text(text)

    def problems(self, *sites) -> dict:
        """site -> what is wrong there, and what to do."""
        result = self.gantry("grid", "check", "grid.yaml", *sites, "--json", timeout=PATIENCE)
        report = result.json()
        found = {each["site"]: f"{each['what']}; {each['fix']}" for each in report["findings"] if each["kind"] == "problem"}
        self.assertEqual((result.code, report["ok"]), (1, False) if found else (0, True), result)
        for site in report["sites"]:
            self.assertEqual(site["takes_jobs"], site["site"] not in found, site)
        return found

    def remove(self, site):
        return self.gantry("grid", "remove", "grid.yaml", site, timeout=PATIENCE)

    def test_they_are_checked_used_and_removed(self):
        with testbed.up(self, testbed.BATCH_SITES) as grid:
            self.grid_file(grid)
            check = self.gantry("grid", "check", "grid.yaml", timeout=PATIENCE)
            self.assertEqual(check.code, 0, check)
            for site in ("c1", "g1"):  # the login host is called like its site
                self.assertRegex(check.stdout, rf"(?m)^{site} +{site} +yes +\d+ ")
                self.assertRegex(check.stdout, rf"(?m)^{site} +[\d.]+ .B/s +[\d.]+ .B/s +8 MB/s$")
            listed = self.gantry("grid", "list", "grid.yaml").stdout
            self.assertRegex(listed, r"c1-1 \.\.\. c1-2 +c1 +slurm")
            self.assertRegex(listed, r"g1-1 \.\.\. g1-2 +g1 +sge")

            self.grid_file(grid, ("partition: debug", "partition: debig"), ("queue: all.q", "queue: nowhere"))
            found = self.problems()
            self.assertIn("there is no partition 'debig'; did you mean 'debug'?", found["c1"])
            self.assertIn("there is no queue 'nowhere'; those that there are: all.q", found["g1"])
            # What the batch system itself would say of a job.
            self.grid_file(grid, ("partition: debug", "partition: debug\n    directives: [--constraint=none-has-it]"))
            self.assertIn("Slurm takes no job like this: ", self.problems("c1")["c1"])

            self.grid_file(grid)
            self.write("shared.txt", "x" * 5000)
            self.write("sweep.yaml", "command: wc -c shared.txt {x}\nparameters: { x: [a, b, c, d] }\ninputs: [shared.txt, '{x}']\n")
            for name in "abcd":
                self.write(name, name)
            result = self.gantry("run", "sweep.yaml", "--grid", "grid.yaml", timeout=PATIENCE)
            self.assertEqual(result.code, 0, result)

            # A job that waits would find nothing of what it needs.
            job = grid.ssh("c1", "sbatch --parsable --hold --job-name=gantry-somebody-c1-1 --wrap true").stdout.strip()
            refused = self.remove("c1")
            said = " ".join(refused.stderr.split())
            self.assertEqual(refused.code, 3, refused)
            self.assertIn(f"1 job of gantry is in its queue ({job})", said)
            self.assertIn(f"scancel {job}", said)
            self.assertTrue((grid.dir / "sites/c1/home/gantry").exists())
            self.assertEqual(grid.ssh("c1", "scancel", job).code, 0)
            for site in ("c1", "g1"):
                removed = self.remove(site)
                self.assertEqual(removed.code, 0, removed)
                self.assertRegex(removed.stdout, rf"^{site}: removed [\d.]+ .?i?B in \d+ files?\n$")
                self.assertFalse((grid.dir / f"sites/{site}/home/gantry").exists())


if __name__ == "__main__":
    unittest.main()
