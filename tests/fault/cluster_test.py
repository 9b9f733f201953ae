"""What breaks on a cluster: jobs are cancelled, nodes die, the batch system itself goes. All results arrive, each once."""
import os
import pathlib
import unittest

import gantry_test
import testbed

SITES = "sites: { c1: { via: slurm, hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 5ms } } }\n"
TASKS = 40
PATIENCE = 180  # for the most loaded machine


@testbed.needed(*testbed.SLURM)
class ClusterTest(gantry_test.TestCase):
    def setUp(self):
        super().setUp()
        self.write("sweep.yaml", f"""
            command: sh work.sh {{x}} out/{{x}}.txt
            parameters: {{ x: 1..{TASKS} }}
            outputs: ["out/{{x}}.txt"]
        """)
        # Whatever starts is marked in the site's home folder.
        self.write("work.sh", """
            mkdir -p ~/marks; hostname >>~/marks/$1
            sleep 0.5
            echo "$1" >"$2"
        """)

    def marks(self, grid) -> dict:
        """task -> where it ran, each time."""
        return {int(path.name): path.read_text().split() for path in grid.dir.glob("sites/c1/home/marks/*")}

    def begin(self, grid, marks=6):
        run = self.start_gantry("run", "sweep.yaml", "--grid", grid.grid)
        self.wait_until(lambda: len(self.marks(grid)) >= marks, "tasks to start", timeout=PATIENCE)
        return run

    def finish(self, grid, run, most_twice):
        _, err = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, err.decode())
        for i in range(1, TASKS + 1):
            self.assertEqual(self.read(f"out/{i}.txt"), f"{i}\n")
        marks = self.marks(grid)
        self.assertEqual(sorted(marks), list(range(1, TASKS + 1)))
        again = {task: places for task, places in marks.items() if len(places) > 1}
        self.assertLessEqual(len(again), most_twice, again)
        self.wait_until(lambda: self.squeue(grid) == [], "the queue to be empty", timeout=PATIENCE)
        return err.decode()

    def squeue(self, grid, *options) -> list:
        """A controller that is busy is asked again."""
        answers = []

        def answered():
            answers.append(grid.ssh("c1", "squeue", "--noheader", "--format=%i", *options))
            return answers[-1].code == 0

        self.wait_until(answered, "squeue to answer", timeout=PATIENCE)
        return answers[-1].stdout.split()

    def let_it_be_written_down(self, grid, job):
        """The controller writes down what it knows some seconds after a change, and else forgets it when it dies."""
        # Folders of tasks come and go meanwhile, which rglob does not bear.
        [file] = [pathlib.Path(folder, "job_state") for folder, _, files in os.walk(grid.dir) if "job_state" in files]
        before = file.stat().st_mtime_ns
        self.assertEqual(grid.ssh("c1", "scontrol", "update", f"JobId={job}", "Comment=known").code, 0)
        self.wait_until(lambda: file.exists() and file.stat().st_mtime_ns != before, "the jobs to be written down", timeout=PATIENCE)

    def test_a_pilot_is_cancelled(self):
        # What is left waits until another job has taken its place: the study must not end before.
        self.write("work.sh", """
            mkdir -p ~/marks; hostname >>~/marks/$1
            sleep 0.5  # short ones would all be given to the job that is left, ahead of time
            [ $1 -le 20 ] || while [ ! -e ~/go ]; do sleep 0.1; done
            echo "$1" >"$2"
        """)
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            first, *_ = sorted(self.squeue(grid, "--states=RUNNING"), key=int)
            self.assertEqual(grid.ssh("c1", "scancel", first).code, 0)
            self.wait_until(lambda: len(self.squeue(grid, "--states=all")) >= 3, "another job", timeout=PATIENCE)
            (grid.dir / "sites/c1/home/go").touch()
            self.finish(grid, run, most_twice=2)  # what ran in it

    def test_a_node_dies(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            grid.kill("c1h1")
            _, err = run.communicate(timeout=PATIENCE)
            self.assertEqual(run.returncode, 0, err.decode())
            self.assertEqual(sorted(self.marks(grid)), list(range(1, TASKS + 1)))

    def test_the_controller_dies_and_comes_back(self):
        with testbed.up(self, SITES) as grid:
            run = self.begin(grid)
            self.wait_until(lambda: len(self.squeue(grid, "--states=RUNNING")) == 2, "both jobs", timeout=PATIENCE)
            jobs = self.squeue(grid)
            self.let_it_be_written_down(grid, jobs[0])
            grid.kill_slurmctld()
            before = len(self.marks(grid))
            self.wait_until(lambda: len(self.marks(grid)) >= min(TASKS, before + 6), "tasks to go on", timeout=PATIENCE)
            again = grid.ssh("c1", "slurmctld")
            self.assertEqual(again.code, 0, again)
            self.finish(grid, run, most_twice=2)
            self.assertLessEqual(len(self.squeue(grid, "--states=all")), len(jobs))

    def test_a_queue_that_answers_from_a_cache(self):
        with testbed.up(self, SITES) as grid:
            # As at many sites: what squeue says may be 12 seconds old, and is nothing each third time.
            home = grid.dir / "sites/c1/home"
            (home / "wrap").mkdir()
            squeue = home / "wrap/squeue"
            squeue.write_text('''#!/bin/sh
cd ~/wrap; echo x >>asked; c=$(echo "$*" | md5sum | cut -c1-8)
[ $(($(wc -l <asked) % 3)) != 0 ] || exit 0
if [ ! -e $c ] || [ $(($(date +%s) - $(stat -c %Y $c))) -ge 12 ]; then /usr/bin/squeue "$@" >$c.new && mv $c.new $c; fi
cat $c
''')
            squeue.chmod(0o755)
            for profile in (".profile", ".bashrc"):
                (home / profile).write_text("PATH=~/wrap:$PATH\n")
            run = self.begin(grid)
            _, err = run.communicate(timeout=PATIENCE)
            self.assertEqual(run.returncode, 0, err.decode())
            self.assertEqual(sorted(self.marks(grid)), list(range(1, TASKS + 1)))
            self.assertTrue((home / "wrap/asked").exists())
            jobs = grid.ssh("c1", "/usr/bin/squeue --noheader --states=all --format=%i").stdout.split()
            self.assertIn(len(jobs), (1, 2), err.decode())
            self.wait_until(lambda: grid.ssh("c1", "/usr/bin/squeue --noheader").stdout == "", "the queue to be empty", timeout=PATIENCE)

    def test_a_run_ends_while_a_job_is_being_submitted(self):
        with testbed.up(self, SITES) as grid:
            # The second job is taken a while after the last task began, and none before tasks run.
            home = grid.dir / "sites/c1/home"
            (home / "wrap").mkdir()
            sbatch = home / "wrap/sbatch"
            sbatch.write_text(f'''#!/bin/sh
if [ -e ~/wrap/first ]; then
  [ -e ~/marks ] || {{ echo "temporarily not available" >&2; exit 1; }}
  while [ $(ls ~/marks | wc -l) -lt {TASKS} ]; do sleep 0.2; done
  echo x >>~/wrap/late; sleep 3
fi
touch ~/wrap/first; exec /usr/bin/sbatch "$@"
''')
            sbatch.chmod(0o755)
            for profile in (".profile", ".bashrc"):
                (home / profile).write_text("PATH=~/wrap:$PATH\n")
            run = self.begin(grid)
            _, err = run.communicate(timeout=PATIENCE)
            self.assertEqual(run.returncode, 0, err.decode())
            left = self.squeue(grid, "--states=PENDING,RUNNING,CONFIGURING")
            # On the most loaded machine it takes longer than gantry waits.
            self.assertTrue(left == [] or "nobody knows whether its job" in err.decode(), (left, err.decode()))
            self.wait_until(lambda: self.squeue(grid) == [], "the queue to be empty", timeout=PATIENCE)


if __name__ == "__main__":
    unittest.main()
