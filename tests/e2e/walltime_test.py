"""Jobs of a cluster end after their walltime: what cannot finish in time is not started in them, what can save its work is
told before the end, and what the end overtakes runs again. With the real Slurm, which ends jobs after two minutes; tasks have
one of them (docs/formats/grid.md)."""
import unittest

import gantry_test
import testbed

SITE = "sites: { c1: { via: slurm, hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 5ms } } }\n"
PATIENCE = 240  # for the most loaded machine


@testbed.needed(*testbed.SLURM)
class WalltimeTest(gantry_test.TestCase):
    def write_grid(self, grid, name, slots, home=""):
        text = grid.grid.read_text().replace("    pilots: 2\n", "    pilots: 1\n    walltime: 2m\n    idle: 1s\n")
        self.assertIn("walltime: 2m", text)
        text = text.replace("    slots: 2\n", f"    slots: {slots}\n").replace("sites:\n", f"sites:\n{home}")
        return self.write(f"{name}.grid.yaml", text)

    def write_study(self, name, keys, work):
        """Each task notes its job in the site's home folder."""
        self.write(f"{name}.yaml", f"command: sh {name}.sh {{x}}\n{keys}\n")
        self.write(f"{name}.sh", f"mkdir -p ~/{name}; echo \"${{SLURM_JOB_ID:-none}}\" >>~/{name}/$1\n{work}\n")

    def begin(self, name):
        return self.start_gantry("run", f"{name}.yaml", "--grid", f"{name}.grid.yaml", "--state", self.dir / f"{name}.state")

    def finish(self, run):
        _, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, err.decode())

    def jobs(self, grid, name) -> dict:
        """task -> the jobs that it was started in."""
        return {int(path.name): path.read_text().split() for path in grid.dir.glob(f"sites/c1/home/{name}/*")}

    def test_what_fits_is_started_and_what_can_save_is_told(self):
        with testbed.up(self, SITE) as grid:
            # After one of them less than 45 of the 60 seconds are left.
            self.write_grid(grid, "long", slots=1)
            self.write_study("long", "parameters: { x: [1, 2] }\nresources: { walltime: 45s }", "sleep 16")
            # Both are told after half a minute. The first goes on until the end, the second gives up.
            self.write_grid(grid, "saved", slots=2)
            self.write_study("saved", "parameters: { x: [1, 2] }\ncheckpoint: { signal: USR1, before: 30s }\n"
                                      "results: { found: { stdout: 'found=(\\w+)' } }", """
                if test -e ~/saved-$1; then echo "found=$(cat ~/saved-$1)"; exit; fi
                trap 'echo half >~/saved-$1; test $1 = 1 || exit 3' USR1
                while :; do sleep 0.1; done
                """)
            runs = [self.begin("long"), self.begin("saved")]

            # Meanwhile: one that fits into no job at all.
            self.write_grid(grid, "never", slots=1, home="  home: { hosts: 1, slots: 1 }\n")
            self.write_study("never", "parameters: { x: [1, 2] }\nresources: { walltime: 10m }", "")
            self.write("never.sh", f"hostname >>{self.dir}/never-$1\n")
            self.finish(self.begin("never"))
            self.assertEqual([(self.dir / f"never-{x}").exists() for x in (1, 2)], [True, True])

            for run in runs:
                self.finish(run)
            long = self.jobs(grid, "long")
            self.assertEqual(sorted(long), [1, 2])
            self.assertEqual([len(jobs) for jobs in long.values()], [1, 1], long)
            self.assertNotEqual(long[1], long[2])
            self.assertNotIn(["none"], long.values())

            saved = self.jobs(grid, "saved")
            self.assertEqual([len(saved[x]) for x in (1, 2)], [2, 2], saved)
            self.assertEqual(len(set(saved[1])), 2, saved)
            state = ("--state", self.dir / "saved.state")
            rows = self.gantry("results", "--json", *state).json_lines()
            self.assertEqual([row["results"]["found"] for row in rows], ["half", "half"])
            # Neither is to blame.
            for task in ("1", "2"):
                history = self.gantry("explain", task, "--json", *state).json()["history"]
                self.assertEqual(history[-1]["cause"], "ok", history)
                self.assertIn(history[0]["cause"], ("lost", "cancelled"), history)


if __name__ == "__main__":
    unittest.main()
