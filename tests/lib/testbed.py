"""A testbed for one test: up in the test's scratch folder, down in every case.

    with testbed.up(self, testbed.TWO_SITES) as grid:
        self.assertEqual(grid.ssh("s1h1", "hostname").stdout, "s1h1\\n")
        self.gantry("run", "--grid", grid.grid, "sweep.yaml")
        grid.cut("s1", "--for", "5s")

Each has a name and a network of its own, so that tests may run at once. Needs root on Linux.
"""
import contextlib
import os
import re
import shutil
import signal
import textwrap
import unittest
import uuid

TWO_SITES = """
    sites:
      s1: { hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 10ms } }
      s2: { hosts: 1, speed: 0.5, link: { bandwidth: 2 MB/s, latency: 40ms } }
    """

BATCH_SITES = """
    sites:
      c1: { via: slurm, hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 5ms } }
      g1: { via: sge, hosts: 2, slots: 2, speed: 0.5, link: { bandwidth: 8 MB/s, latency: 5ms } }
    """

TOOLS = ("ip", "tc", "sshd", "ssh", "ssh-keygen")
SLURM = ("slurmctld", "slurmd", "sbatch", "munged")
SGE = ("/usr/lib/gridengine/sge_qmaster", "/usr/lib/gridengine/sge_execd", "qsub")


def needed(*more):
    """A decorator for tests and classes that make testbeds: @testbed.needed(*testbed.SLURM)."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
    missing = [tool for tool in (*TOOLS, *more) if not shutil.which(tool, path=path)]
    if os.geteuid() != 0:
        return unittest.skip("a testbed needs root")
    return unittest.skipIf(missing, f"not installed: {missing}")


class Testbed:
    def __init__(self, case, text):
        self.case = case
        self.name = f"t{uuid.uuid4().hex[:8]}"
        self.dir = case.dir / self.name
        self.file = case.write(f"{self.name}.yaml", f"name: {self.name}\n{textwrap.dedent(text).lstrip()}")
        self.grid = self.dir / "grid.yaml"
        self.ssh_config = self.dir / "ssh_config"

    def __getattr__(self, action):
        """grid.cut("s1") is `gantry testbed cut s1`, which must succeed; its Result."""
        if action not in ("up", "status", "load", "cut", "mend", "kill", "revive", "down"):
            raise AttributeError(action)

        def act(*words):
            result = self.command(action, *words)
            self.case.assertEqual(result.code, 0, result)
            return result
        return act

    def command(self, *words, **options):
        return self.case.gantry("testbed", *words, "--dir", self.dir, **options)

    def state(self) -> dict:
        return self.status("--json").json()

    def host(self, name) -> dict:
        [found] = [host for host in self.state()["hosts"] if host["host"] == name]
        return found

    def link(self, site) -> dict:
        [found] = [link for link in self.state()["links"] if link["site"] == site]
        return found

    def ssh(self, host, *words, patience=30, **options):
        """Runs a command on a host. `patience`: seconds to connect."""
        return self.case.run_command(
            ["ssh", "-F", self.ssh_config, "-o", f"ConnectTimeout={patience}", host, *words], **options)

    def kill_slurmctld(self):
        """By its own number: hosts see the processes of other testbeds, too."""
        [file] = self.dir.rglob("slurmctld.pid")
        os.kill(int(file.read_text()), signal.SIGKILL)

    def remains(self) -> list:
        """What of it is still on this machine."""
        found = [f"/run/netns/{name}" for name in list_folder("/run/netns") if name.startswith(f"gantry-{self.name}-")]
        found += [f"device {name}" for name in list_folder("/sys/class/net") if name == f"gt-{self.name}"]
        found += [f"claim {name}" for name in list_folder("/run/gantry-testbed") if re.split(r"\.", name)[0] == self.name]
        for parent in ("/sys/fs/cgroup", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"):
            found += [f"group {name}" for name in list_folder(parent) if name == f"gantry-{self.name}"]
        return found + [f"process {line}" for line in self.case.processes().values()]


def list_folder(path) -> list:
    try:
        return sorted(os.listdir(path))
    except FileNotFoundError:
        return []


@contextlib.contextmanager
def up(case, text=TWO_SITES):
    testbed = Testbed(case, text)
    try:
        testbed.up(testbed.file)
        yield testbed
    finally:
        testbed.down()
