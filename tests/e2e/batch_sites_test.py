"""gantry run --grid with clusters: a few jobs of Slurm or Grid Engine, each an agent, take all tasks of a sweep; or, where
the operators want it so, each task is a job. The same cases for all, and also for hosts behind ssh and for this machine."""
import contextlib
import json
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import time
import types
import unittest

import gantry_test
import testbed

SLURM_SITE = "sites: { c1: { via: slurm, hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 5ms } } }\n"
SSH_SITE = "sites: { c1: { hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 5ms } } }\n"
SGE_SITE = "sites: { g1: { via: sge, hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 5ms } } }\n"
TASKS = 40
PATIENCE = 120  # for the most loaded machine


class BatchTestCase(gantry_test.TestCase):
    SITE_TEXT = SLURM_SITE
    SITE = "c1"
    QUEUE = "squeue --noheader"
    JOBS = "squeue --noheader --array --states=all --format=%i"  # those that have ended, too

    def up(self):
        return testbed.up(self, self.SITE_TEXT)

    def setUp(self):
        super().setUp()
        self.write("shared.txt", "".join(f"{i}\n" for i in range(100)))

    def write_study(self, tasks=TASKS, work="true", cores=1):
        self.write("sweep.yaml", f"""
            resources: {{ cores: {cores} }}
            command: sh work.sh {{x}} shared.txt out/{{x}}.txt
            parameters: {{ x: 1..{tasks} }}
            inputs: [shared.txt]
            outputs: ["out/{{x}}.txt"]
            results:
              sum: {{ stdout: 'sum=(\\d+)' }}
        """)
        # Whatever starts at a site is marked in its home folder, which all its hosts share.
        self.write("work.sh", f"""
            case $(hostname) in [cg]1h?) marks=~/marks ;; *) marks={self.dir}/marks ;; esac
            mkdir -p "$marks"; hostname >>"$marks/$1"
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

    def check_login_host_itself(self, site):
        """gantry runs there."""
        with self.up() as grid:
            study = grid.dir / f"sites/{self.SITE}/home/study"
            study.mkdir()
            for program in ("gantry", "gantry-agent"):  # a site sees its own files only
                shutil.copy(gantry_test.GANTRY.with_name(program), study)
            (study / "sweep.yaml").write_text("command: hostname\nparameters: {x: 1..4}\nresults: {at: {stdout: '(\\S+)'}}\n")
            (study / "grid.yaml").write_text(f"sites: {{{self.SITE}: {site}}}\n")
            result = grid.ssh(self.SITE, "cd ~/study && ./gantry run sweep.yaml --grid grid.yaml --no-output", timeout=PATIENCE)
            self.assertEqual(result.code, 0, result)
            rows = grid.ssh(self.SITE, "cd ~/study && ./gantry results --json").json_lines()
            self.assertEqual(len(rows), 4)
            self.assertLessEqual({row["results"]["at"] for row in rows}, {f"{self.SITE}h1", f"{self.SITE}h2"})
            self.wait_for_empty_queue(grid)

    def wait_for_empty_queue(self, grid):
        self.wait_until(lambda: grid.ssh(self.SITE, self.QUEUE).stdout.strip() == "", "the queue to be empty",
                        timeout=PATIENCE)


class SiteCases:
    """What holds wherever tasks run."""

    def check_jobs(self, grid, tasks):
        """How many there were."""

    def check_queue_forecast(self):
        """What is expected of a queue, where there is one."""

    WORK = "true"

    def run_through(self, grid):
        return self.run_it(grid)

    def hosts(self):
        return {f"{self.SITE}h1", f"{self.SITE}h2"}

    def test_a_sweep_goes_through(self):
        self.write_study(work=self.WORK)
        with self.up() as grid:
            result = self.run_through(grid)
            self.assertEqual(result.code, 0, result)
            self.check_results()
            self.check_once(grid)
            self.assertLessEqual({place for [place] in self.ran(grid).values()}, self.hosts())
            self.wait_for_empty_queue(grid)
            self.check_jobs(grid, TASKS)
            self.check_queue_forecast()

    def test_a_killed_gantry_finds_its_jobs_and_their_tasks_again(self):
        self.write_study(tasks=12, work="sleep 1")
        with self.up() as grid:
            run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
            self.wait_until(lambda: len(self.ran(grid)) >= 5, "five tasks to run", timeout=PATIENCE)
            run.send_signal(signal.SIGKILL)
            run.wait()
            result = self.run_it(grid)
            self.assertEqual(result.code, 0, result)
            self.check_results(tasks=12)
            self.check_once(grid, tasks=12)
            self.wait_for_empty_queue(grid)
            self.check_jobs(grid, 12)


class Queues:
    """How long jobs wait is learnt."""

    def check_queue_forecast(self):
        [site] = [site for site in self.gantry("forecast", "--json").json()["sites"] if site["site"] == self.SITE]
        self.assertGreater(site["queue_forecast"]["value"], 0)
        self.assertGreaterEqual(site["queue_forecast"]["observed"], 1)
        self.assertRegex(self.gantry("forecast").stdout, rf"(?m)^queue of +wait .*\n{self.SITE} ")
        with contextlib.closing(sqlite3.connect(self.state / "gantry.db")) as store:
            [kept] = store.execute("SELECT value FROM learned WHERE kind = 'queue waits'").fetchone()
        self.assertEqual(len(json.loads(kept)["waits"]), min(64, site["queue_forecast"]["observed"]))


class JobMode(Queues):
    """Each task is a job."""

    def up(self):
        return self.with_jobs(super().up())

    @contextlib.contextmanager
    def with_jobs(self, testbed):
        with testbed as grid:
            text = grid.grid.read_text().replace("    pilots: 2\n", "    mode: jobs\n    jobs: 30\n    rate: 10\n")
            self.assertIn("mode: jobs", text)
            grid.grid.write_text(text)
            yield grid

    def check_refused(self, grid, why):
        """A run that has nothing but the cluster ends, and says why; with home it goes on there."""
        alone = self.run_it(grid)
        self.assertNotEqual(alone.code, 0, alone)
        self.assertIn(why, " ".join(alone.stderr.split()))
        self.assertEqual(self.ran(grid), {})
        grid.grid.write_text(grid.grid.read_text().replace("sites:\n", "sites:\n  home: { hosts: 1, slots: 8 }\n"))
        result = self.run_it(grid)
        self.assertEqual(result.code, 0, result)
        self.check_results(tasks=3)
        self.assertEqual(self.ran(grid), {})
        self.wait_for_empty_queue(grid)

    def test_what_no_node_is_large_enough_for_is_told_and_runs_elsewhere(self):
        self.write_study(tasks=3, cores=8)
        with self.up() as grid:
            self.check_refused(grid, self.TOO_LARGE)

    def test_a_job_that_is_cancelled_runs_again(self):
        self.write_study(tasks=6, work='[ $1 != 1 ] || [ -e ~/go ] || { touch ~/go; sleep 600; }')
        with self.up() as grid:
            run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid)
            self.wait_until(lambda: len(self.ran(grid)) == 6 and len(self.running(grid)) == 1, "the last job",
                            timeout=PATIENCE)
            self.cancel(grid, self.running(grid)[0])
            _, err = run.communicate(timeout=PATIENCE)
            self.assertEqual(run.returncode, 0, err)
            self.check_results(tasks=6)
            self.assertEqual({task: len(places) for task, places in self.ran(grid).items()},
                             {task: 2 if task == 1 else 1 for task in range(1, 7)})

    def test_what_is_interrupted_leaves_nothing_in_the_queue(self):
        self.write_study(tasks=12, work="while [ ! -e ~/go ]; do sleep 0.1; done")
        with self.up() as grid:
            run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid)
            self.wait_until(lambda: len(self.ran(grid)) == 4, "the slots to be full", timeout=PATIENCE)
            run.send_signal(signal.SIGINT)
            self.wait_until(lambda: len(grid.ssh(self.SITE, self.LIST).stdout.split()) == 4, "the others to be taken back",
                            timeout=PATIENCE)
            (grid.dir / f"sites/{self.SITE}/home/go").touch()
            _, err = run.communicate(timeout=PATIENCE)
            self.assertNotEqual(run.returncode, 0, err)
            self.wait_for_empty_queue(grid)
            result = self.run_it(grid)
            self.assertEqual(result.code, 0, result)
            self.check_results(tasks=12)
            self.check_once(grid, tasks=12)


class HomeTest(SiteCases, BatchTestCase):
    @contextlib.contextmanager
    def up(self):
        grid = types.SimpleNamespace(dir=self.dir, grid=self.write("grid.yaml", "sites: { home: { hosts: 1, slots: 4 } }\n"))
        yield grid

    def ran(self, grid) -> dict:
        return {int(path.name): path.read_text().split() for path in grid.dir.glob("marks/*")}

    def hosts(self):
        return {socket.gethostname()}

    def wait_for_empty_queue(self, grid):
        """There is none."""


@testbed.needed()
class SshTest(SiteCases, BatchTestCase):
    SITE_TEXT = SSH_SITE
    QUEUE = "true"
    WORK = f"[ $1 != {TASKS} ] || while [ ! -e ~/go ]; do sleep 0.1; done"

    def run_through(self, grid):
        """The last task waits until the link has been measured, for which it must be silent for a while."""
        def is_measured():
            with contextlib.suppress(OSError, ValueError):
                sites = json.loads((self.state / "live.json").read_text())["sites"]
                return any(site.get("echo_forecast", {}).get("value", 0) > 0 for site in sites)
        started = time.monotonic()
        run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid)
        self.wait_until(lambda: is_measured() or run.poll() is not None, "an answer that was measured")
        (grid.dir / f"sites/{self.SITE}/home/go").touch()
        return self._result(run.args, run, *run.communicate(timeout=PATIENCE), started)

    def check_queue_forecast(self):
        # There is none; but the link has a latency of 5 ms each way.
        [site] = [site for site in self.gantry("forecast", "--json").json()["sites"] if site["site"] == self.SITE]
        self.assertGreaterEqual(site["echo_forecast"]["value"], 0.01)
        self.assertRegex(self.gantry("forecast").stdout, rf"(?m)^answer of +takes .*\n{self.SITE} ")


@testbed.needed(*testbed.SLURM)
class SlurmTest(Queues, SiteCases, BatchTestCase):
    def check_jobs(self, grid, tasks):
        # Two pilots, and never a job for each task.
        jobs = grid.ssh("c1", self.JOBS).stdout.split()
        self.assertIn(len(jobs), (1, 2), jobs)

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
            self.assertIn(len(jobs), (1, 2, 3), jobs)

    def test_jobs_ask_for_what_the_grid_file_says(self):
        self.write_study(tasks=8, work="sleep 0.5")
        with testbed.up(self, SLURM_SITE) as grid:
            keys = ("    pilots: 1\n    nodes: 2\n    account: phys\n    walltime: 5m\n"
                    "    directives: ['--comment swept', --nice=7]\n")
            grid.grid.write_text(grid.grid.read_text().replace("    pilots: 2\n", keys))
            result = self.run_it(grid)
            self.assertEqual(result.code, 0, result)
            # Its queue was looked at with one question for all jobs, every other second at the most.
            asked = re.findall(r"REQUEST_JOB_\w*INFO\w* +\( *\d+\) count:(\d+)", grid.ssh("c1", "sdiag").stdout)
            self.assertTrue(asked)
            self.assertLessEqual(sum(map(int, asked)), result.seconds / 2 + 8)  # some after each submission
            self.check_results(tasks=8)
            self.check_once(grid, tasks=8)
            jobs = grid.ssh("c1", "squeue --noheader --states=all '--format=%P|%a|%l|%D|%C|%k|%y'").stdout.split()
            self.assertEqual(jobs, 2 * ["debug|phys|5:00|1|2|swept|7"])
            self.wait_for_empty_queue(grid)

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

    def test_slurm_may_be_on_this_machine(self):
        self.check_login_host_itself("{via: slurm, partition: debug, slots: 2}")


@testbed.needed(*testbed.SLURM)
class SlurmJobsTest(JobMode, SiteCases, BatchTestCase):
    LIST = "squeue --noheader --array --format=%i"
    TOO_LARGE = "PartitionConfig"

    def check_jobs(self, grid, tasks):
        self.assertEqual(len(grid.ssh("c1", self.JOBS).stdout.split()), tasks)
        batches = grid.ssh("c1", "squeue --noheader --array --states=all --format=%F").stdout.split()
        self.assertLess(len(set(batches)), tasks)  # arrays, not one by one

    def running(self, grid) -> list:
        return grid.ssh("c1", f"{self.LIST} --states=RUNNING").stdout.split()

    def cancel(self, grid, job):
        self.assertEqual(grid.ssh("c1", "scancel", job).code, 0)

    def test_an_unknown_partition_is_told(self):
        self.write_study(tasks=2)
        with self.up() as grid:
            grid.grid.write_text(grid.grid.read_text().replace("partition: debug", "partition: nowhere"))
            result = self.run_it(grid)
            self.assertNotEqual(result.code, 0, result)
            self.assertIn("nvalid partition", " ".join(result.stderr.split()))


class GridEngineCase(BatchTestCase):
    SITE_TEXT = SGE_SITE
    SITE = "g1"
    QUEUE = "qstat"


@testbed.needed(*testbed.SGE)
class GridEngineTest(Queues, SiteCases, GridEngineCase):
    def test_grid_engine_may_be_on_this_machine(self):
        self.check_login_host_itself("{via: sge, queue: all.q, slots: 2}")


@testbed.needed(*testbed.SGE)
class GridEngineJobsTest(JobMode, SiteCases, GridEngineCase):
    LIST = "qstat -g d | awk '$1 ~ /^[0-9]/ { print $1 \".\" $NF }'"
    TOO_LARGE = "only offers 0 slots"

    def running(self, grid) -> list:
        return grid.ssh("g1", "qstat -g d -s r | awk '$1 ~ /^[0-9]/ { print $1 \".\" $NF }'").stdout.split()

    def cancel(self, grid, job):
        self.assertEqual(grid.ssh("g1", "qdel", job).code, 0)

    def test_an_unknown_queue_is_told_and_the_rest_goes_on(self):
        self.write_study(tasks=3)
        with self.up() as grid:
            grid.grid.write_text(grid.grid.read_text().replace("queue: all.q", "queue: nowhere"))
            self.check_refused(grid, "unknown queue")


if __name__ == "__main__":
    unittest.main()
