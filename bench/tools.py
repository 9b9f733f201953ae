"""How each tool that the bench knows runs n tasks. A task's command is a list of words; {} becomes its number, 1 to n."""
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests/lib"))
from measure import ENVIRONMENT, GANTRY, children_of, descendants
from ssh_host import SshHost

PEERS = ["gantry_ssh", "xargs", "make", "ninja", "parallel", "makeflow", "dask", "snakemake"]
PROGRAM = {"dask": "/usr/bin/dask-scheduler"}
AGENT_PIDS = {"gantry": "state/agent/pid", "gantry_ssh": "sshd-far/scratch/work/*/hosts/far/agent/pid"}


def available(tool):
    if tool == "gantry_ssh":
        return os.path.exists("/usr/sbin/sshd")
    return tool == "gantry" or shutil.which(PROGRAM.get(tool, tool)) is not None


def helpers(tool, directory):
    """The processes of a tool, besides the one that was started, that are no tasks: ssh, sshd, the agent, its slots."""
    found = descendants(os.getpid()) if tool == "gantry_ssh" else []  # the agent, which has the tasks, is none of them
    for path in glob.glob(os.path.join(directory, AGENT_PIDS.get(tool, ""))):
        try:
            agent = int(open(path).read())
        except (OSError, ValueError):
            continue
        found += [agent, *children_of(agent)]
    return found


def write(directory, name, text):
    with open(os.path.join(directory, name), "w") as file:
        file.write(text)


def numbers(directory, n):
    write(directory, "list", "".join(f"{i}\n" for i in range(1, n + 1)))
    return open(os.path.join(directory, "list"))


def filled(command, number):
    return " ".join(command).replace("{}", str(number))


class Place:
    """What tests/lib/ssh_host.py wants to know of a test."""

    ends = []

    def __init__(self, directory):
        self.dir = pathlib.Path(directory)
        self.id_in_environment = "bench"

    @staticmethod
    def addCleanup(end):
        Place.ends.append(end)


class Tools:
    """A function for each tool: makes its input in directory `d` and returns (argv, stdin)."""

    @staticmethod
    def gantry(d, n, command, slots):
        return [GANTRY, "run", "--quiet", "--no-output", f"-j{slots}", "--state", os.path.join(d, "state"), "--",
                *command, ":::", f"1..{n}"], subprocess.DEVNULL

    @staticmethod
    def gantry_ssh(d, n, command, slots):
        """The same through a real sshd on the loopback: its cost, and ssh's, is in the figures."""
        host = SshHost(Place(d), "far", environment=ENVIRONMENT)
        write(d, "ssh_config", host.config())
        write(d, "grid.yaml", f"sites:\n  far: {{ via: ssh, hosts: [far], slots: {slots}, scratch: {host.scratch},"
                              f" ssh_config: {d}/ssh_config }}\n")
        return [GANTRY, "run", "--quiet", "--no-output", "--grid", "grid.yaml", "--state", os.path.join(d, "state"),
                "--", *command, ":::", f"1..{n}"], subprocess.DEVNULL

    @staticmethod
    def xargs(d, n, command, slots):
        return ["xargs", f"-P{slots}", "-I{}", *command], numbers(d, n)

    @staticmethod
    def make(d, n, command, slots):
        names = " ".join(f"t{i}" for i in range(1, n + 1))
        write(d, "Makefile", f".PHONY: all {names}\nall: {names}\n" +
              "".join(f"t{i}:\n\t@{filled(command, i)}\n" for i in range(1, n + 1)))
        return ["make", f"-j{slots}", "-s"], None

    @staticmethod
    def ninja(d, n, command, slots):
        write(d, "build.ninja", "rule t\n  command = $c\n" +
              "".join(f"build o{i}: t\n  c = {filled(command, i)}\n" for i in range(1, n + 1)) +
              "build all: phony " + " ".join(f"o{i}" for i in range(1, n + 1)) + "\ndefault all\n")
        return ["ninja", f"-j{slots}", "--quiet"], None

    @staticmethod
    def parallel(d, n, command, slots):
        return ["parallel", "--will-cite", f"-j{slots}", "--joblog", "log", *command], numbers(d, n)

    @staticmethod
    def snakemake(d, n, command, slots):
        write(d, "Snakefile", f'rule all:\n    input: expand("o/{{i}}", i=range(1, {n + 1}))\n'
              f'rule t:\n    output: touch("o/{{i}}")\n    shell: "{filled(command, "{wildcards.i}")}"\n')
        return ["snakemake", f"-j{slots}", "-q", "--scheduler", "greedy"], None

    @staticmethod
    def makeflow(d, n, command, slots):
        rules = [{"command": filled(command, i), "inputs": [], "outputs": [],
                  "resources": {"cores": 1, "memory": 1, "disk": 1}} for i in range(1, n + 1)]
        write(d, "f.jx", json.dumps({"rules": rules}))
        return ["makeflow", "-T", "local", f"-j{slots}", f"--local-cores={slots}", "--jx", "f.jx"], None

    @staticmethod
    def dask(d, n, command, slots):
        write(d, "d.py", f"""
import subprocess, dask
from dask.distributed import Client, LocalCluster
def one(i): return subprocess.run([word.replace("{{}}", str(i)) for word in {command!r}]).returncode
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker={max(1, slots // 2)}, processes=True,
                           dashboard_address=None, host="127.0.0.1")
    client = Client(cluster)
    assert not any(client.gather(client.map(one, range(1, {n + 1}), pure=False)))
    client.close(); cluster.close()
""")
        return ["/usr/bin/python3", "d.py"], None
