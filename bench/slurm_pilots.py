"""1,000 x /bin/true through a real Slurm of four nodes: by Gantry's pilots, and as the elements of one sbatch --array."""
import os
import pathlib
import subprocess
import sys
import time
import uuid

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests/lib"))
import testbed

TASKS = 1000  # Slurm allows arrays of 1,001 unless it is told otherwise


class Cluster:
    """A testbed with one Slurm site: needs root."""

    def __init__(self, gantry, work):
        self.gantry = gantry
        name = f"b{uuid.uuid4().hex[:8]}"
        self.dir = pathlib.Path(work) / name
        self.file = pathlib.Path(work) / f"{name}.yaml"
        self.file.write_text(f"name: {name}\nsites: {{ c1: {{ via: slurm, hosts: 4, slots: 2, speed: 0.5, "
                             "link: { bandwidth: 100 MB/s, latency: 1ms } } }\n")

    def __enter__(self):
        subprocess.run([self.gantry, "testbed", "up", self.file, "--dir", self.dir], check=True, stdout=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        subprocess.run([self.gantry, "testbed", "down", "--dir", self.dir], check=True, stdout=subprocess.DEVNULL)

    def by_array(self, tasks):
        """Seconds from sbatch to the end of the last element."""
        command = f"sbatch --wait --array=1-{tasks} --output=/dev/null --wrap=/bin/true"
        began = time.perf_counter()
        subprocess.run(["ssh", "-F", self.dir / "ssh_config", "c1", command], check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began

    def by_pilots(self, tasks):
        """Seconds of `gantry run`: log in, submit, wait for the jobs, run all, take the results home, give the jobs back."""
        study = self.dir / f"study-{tasks}-{uuid.uuid4().hex[:4]}"
        study.mkdir()
        words = [self.gantry, "run", "--quiet", "--no-output", "--grid", self.dir / "grid.yaml", "--state", study / "state",
                 "--", "/bin/true", ":::", f"1..{tasks}"]
        began = time.perf_counter()
        subprocess.run(words, check=True, cwd=study, stdin=subprocess.DEVNULL)
        return time.perf_counter() - began


def missing():
    """What is not installed; or that we are not root."""
    if os.geteuid() != 0:
        return "root"
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    import shutil
    return ", ".join(tool for tool in (*testbed.TOOLS, *testbed.SLURM) if not shutil.which(tool, path=path))


def measure(gantry, work, rounds):
    """[{tool, n, wall}]: alternately, so that a machine that gets slower meanwhile does not matter."""
    records = []
    with Cluster(gantry, work) as cluster:
        cluster.by_pilots(10)  # sends the agent there, once and for all
        for _ in range(rounds):
            records.append({"tool": "sbatch --array", "n": TASKS, "wall": cluster.by_array(TASKS)})
            records.append({"tool": "gantry", "n": TASKS, "wall": cluster.by_pilots(TASKS)})
            records.append({"tool": "gantry", "n": 10 * TASKS, "wall": cluster.by_pilots(10 * TASKS)})
    return records
