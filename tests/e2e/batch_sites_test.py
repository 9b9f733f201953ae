"""gantry run --grid with clusters: a few jobs of Slurm or Grid Engine, each an agent, take all tasks of a sweep."""
import signal
import subprocess
import unittest

import gantry_test
import testbed

SLURM_SITE = "sites: { c1: { via: slurm, hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 5ms } } }\n"
SGE_SITE = "sites: { g1: { via: sge, hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 5ms } } }\n"
TASKS = 40
PATIENCE = 120  # for the most loaded machine


class BatchTestCase(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.write("shared.txt", "".join(f"{i}\n" for i in range(100)))

    def write_study(self, tasks=TASKS, work="true"):
        self.write("sweep.yaml", f"""
            command: sh work.sh {{x}} shared.txt out/{{x}}.txt
            parameters: {{ x: 1..{tasks} }}
            inputs: [shared.txt]
            outputs: ["out/{{x}}.txt"]
            results:
              sum: {{ stdout: 'sum=(\\d+)' }}
        """)
        # Whatever starts at a site is marked in its home folder, which all its hosts share.
        self.write("work.sh", f"""
            case $(hostname) in [cg]1h?) mkdir -p ~/marks; hostname >>~/marks/$1 ;; esac
            {work}
            s=$(awk '{{ t += $1 }} END {{ print t + '$1' }}' "$2")
            echo "sum=$s"
            echo "$s" >"$3"
        """)

    def ran(self, grid) -> dict:
        """task -> where it ran, each time."""
        marks = grid.dir.glob("sites/*/home/marks/*")
        return {int(path.name): path.read_text().split() for path in marks}

    def run_it(self, grid, *args):
        return self.gantry("run", "sweep.yaml", "--grid", grid.grid, *args, timeout=PATIENCE)

    def check_results(self, tasks=TASKS):
        for i in range(1, tasks + 1):
            self.assertEqual(self.read(f"out/{i}.txt"), f"{4950 + i}\n")
        rows = self.gantry("results", "--json").json_lines()
        self.assertEqual([row["results"]["sum"] for row in rows], [4950 + i for i in range(1, tasks + 1)])

    def check_once(self, grid, tasks=TASKS):
        self.assertEqual(sorted(self.ran(grid)), list(range(1, tasks + 1)))
        self.assertEqual([x for x, places in self.ran(grid).items() if len(places) != 1], [])

    def wait_for_empty_queue(self, grid, site, command):
        self.wait_until(lambda: grid.ssh(site, command).stdout.strip() == "", "the queue to be empty", timeout=PATIENCE)


@testbed.needed(*testbed.SLURM)
class SlurmTest(BatchTestCase):
    QUEUE = "squeue --noheader"

    def test_a_sweep_goes_through_a_few_jobs(self):
        self.write_study()
        with testbed.up(self, SLURM_SITE) as grid:
            result = self.run_it(grid)
            self.assertEqual(result.code, 0, result)
            self.check_results()
            self.check_once(grid)
            self.assertLessEqual({place for [place] in self.ran(grid).values()}, {"c1h1", "c1h2"})
            self.wait_for_empty_queue(grid, "c1", self.QUEUE)
            # Two pilots, and never a job for each task.
            jobs = grid.ssh("c1", "squeue --noheader --states=all --format=%j").stdout.split()
            self.assertLessEqual(len(jobs), 2, jobs)
            self.assertTrue(all(job.startswith("gantry-") for job in jobs), jobs)

    def test_jobs_are_submitted_when_there_is_work_and_given_back_when_there_is_none(self):
        # Two slots a job. What runs last waits for a word, alone in one of the jobs.
        self.write_study(tasks=5, work='[ $1 != 5 ] || while [ ! -e ~/go ]; do sleep 0.1; done')
        with testbed.up(self, SLURM_SITE) as grid:
            grid.grid.write_text(grid.grid.read_text().replace("    pilots: 2\n", "    pilots: 8\n    idle: 1s\n"))
            run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid, stdout=subprocess.DEVNULL)
            self.wait_until(lambda: 5 in self.ran(grid), "the last task", timeout=PATIENCE)
            self.wait_until(lambda: len(grid.ssh("c1", self.QUEUE).stdout.splitlines()) == 1, "idle jobs to go",
                            timeout=PATIENCE)
            (grid.dir / "sites/c1/home/go").touch()
            _, err = run.communicate(timeout=PATIENCE)
            self.assertEqual(run.returncode, 0, err)
            self.assertNotIn(b"ends the job", err)  # nothing to tell
            self.check_results(tasks=5)
            self.check_once(grid, tasks=5)
            # Five tasks are work for three jobs, not for eight.
            jobs = grid.ssh("c1", "squeue --noheader --states=all --format=%j").stdout.split()
            self.assertLessEqual(len(jobs), 3, jobs)

    def test_an_unknown_partition_is_told_and_the_rest_goes_on(self):
        self.write_study(tasks=4)
        with testbed.up(self, SLURM_SITE) as grid:
            text = grid.grid.read_text().replace("partition: debug", "partition: nowhere")
            grid.grid.write_text(text)
            alone = self.run_it(grid)
            self.assertNotEqual(alone.code, 0, alone)
            said = " ".join(alone.stderr.split())
            self.assertIn("Invalid partition", said)
            self.assertIn("could be reached", said)
            grid.grid.write_text(text.replace("sites:\n", "sites:\n  home: { hosts: 1, slots: 1 }\n"))
            result = self.run_it(grid)
            self.assertEqual(result.code, 0, result)
            self.assertIn("Invalid partition", " ".join(result.stderr.split()))
            self.check_results(tasks=4)

    def test_a_killed_gantry_finds_its_jobs_and_their_tasks_again(self):
        self.write_study(tasks=12, work="sleep 1")
        with testbed.up(self, SLURM_SITE) as grid:
            run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
            self.wait_until(lambda: len(self.ran(grid)) >= 5, "five tasks to run", timeout=PATIENCE)
            run.send_signal(signal.SIGKILL)
            run.wait()
            result = self.run_it(grid)
            self.assertEqual(result.code, 0, result)
            self.check_results(tasks=12)
            self.check_once(grid, tasks=12)
            self.wait_for_empty_queue(grid, "c1", self.QUEUE)
            jobs = grid.ssh("c1", "squeue --noheader --states=all --format=%j").stdout.split()
            self.assertEqual(len(jobs), 2, jobs)


@testbed.needed(*testbed.SGE)
class GridEngineTest(BatchTestCase):
    def test_a_sweep_goes_through_a_few_jobs(self):
        self.write_study()
        with testbed.up(self, SGE_SITE) as grid:
            result = self.run_it(grid)
            self.assertEqual(result.code, 0, result)
            self.check_results()
            self.check_once(grid)
            self.wait_for_empty_queue(grid, "g1", "qstat")


if __name__ == "__main__":
    unittest.main()
