#!/usr/bin/env python3
"""Gantry beside its peers and beside the floor, in one run.

    bench/bench.py [spawn] [sleep] [million] [--tasks N] [--rounds R] [--tools a,b] [--json FILE]

spawn    N x /bin/true, two at a time; output captured and ends journalled by those who do so
sleep    1,000 x `sleep 0.02` on 16 slots
million  a sweep of 1,000,000 tasks: first start, dry run, memory, `status` meanwhile

Each measurement stands between two short runs of the floor (posix_spawn by two threads), and is given as a ratio
to them, so that a machine that gets slower or faster meanwhile does not matter.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from measure import Measured, build_floor, children_of, peak_rss, wait_quiet

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GANTRY = os.environ.get("GANTRY_BIN", os.path.join(ROOT, "build/release/bin/gantry"))


def write(directory, name, text):
    with open(os.path.join(directory, name), "w") as file:
        file.write(text)


def lines(directory, n):
    write(directory, "list", "".join(f"{i}\n" for i in range(n)))
    return open(os.path.join(directory, "list"))


class Tools:
    """How each tool runs n times `command` on `slots`. Returns (argv, stdin)."""

    @staticmethod
    def gantry(d, n, command, slots):
        return [GANTRY, "run", "--quiet", "--no-output", f"-j{slots}", "--state", os.path.join(d, "state"), "--",
                *command, ":::", f"i=1..{n}"], subprocess.DEVNULL

    @staticmethod
    def xargs(d, n, command, slots):
        return ["xargs", f"-P{slots}", "-I{}", *command], lines(d, n)

    @staticmethod
    def make(d, n, command, slots):
        names = " ".join(f"t{i}" for i in range(n))
        write(d, "Makefile", f".PHONY: all {names}\nall: {names}\n" +
              "".join(f"t{i}:\n\t@{' '.join(command)}\n" for i in range(n)))
        return ["make", f"-j{slots}", "-s"], None

    @staticmethod
    def ninja(d, n, command, slots):
        write(d, "build.ninja", "rule t\n  command = $c\n" +
              "".join(f"build o{i}: t\n  c = {' '.join(command)}\n" for i in range(n)) +
              "build all: phony " + " ".join(f"o{i}" for i in range(n)) + "\ndefault all\n")
        return ["ninja", f"-j{slots}", "--quiet"], None

    @staticmethod
    def parallel(d, n, command, slots):
        return ["parallel", "--will-cite", f"-j{slots}", "--joblog", "log", "-N1", *command, ";:"], lines(d, n)

    @staticmethod
    def snakemake(d, n, command, slots):
        write(d, "Snakefile", f'rule all:\n    input: expand("o/{{i}}", i=range({n}))\n'
              f'rule t:\n    output: touch("o/{{i}}")\n    shell: "{" ".join(command)}"\n')
        return ["snakemake", f"-j{slots}", "-q", "--scheduler", "greedy"], None

    @staticmethod
    def makeflow(d, n, command, slots):
        rule = {"command": " ".join(command), "inputs": [], "outputs": [],
                "resources": {"cores": 1, "memory": 1, "disk": 1}}
        write(d, "f.jx", json.dumps({"rules": [rule] * n}))
        return ["makeflow", "-T", "local", f"-j{slots}", f"--local-cores={slots}", "--jx", "f.jx"], None

    @staticmethod
    def dask(d, n, command, slots):
        write(d, "d.py", f"""
import subprocess, dask
from dask.distributed import Client, LocalCluster
def one(i): return subprocess.run({command!r}).returncode
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker={max(1, slots // 2)}, processes=True,
                           dashboard_address=None, host="127.0.0.1")
    client = Client(cluster)
    assert not any(client.gather(client.map(one, range({n}), pure=False)))
    client.close(); cluster.close()
""")
        return ["/usr/bin/python3", "d.py"], None


PEERS = ["xargs", "make", "ninja", "parallel", "makeflow", "dask", "snakemake"]
PROGRAM = {"dask": "/usr/bin/dask-scheduler"}


def available(tool):
    return tool == "gantry" or shutil.which(PROGRAM.get(tool, tool)) is not None


class Bench:
    def __init__(self, work):
        self.work = work
        self.floor_binary = build_floor(work)
        self.records = []

    def floor(self, n, slots, threads, command):
        out = subprocess.run([self.floor_binary, str(n), str(slots), str(threads), "--", *command],
                             capture_output=True, text=True, check=True).stdout.split()
        return float(out[0]), float(out[1])

    def measure(self, tool, n, command, slots):
        directory = os.path.join(self.work, tool)
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        argv, stdin = getattr(Tools, tool)(directory, n, command, slots)

        def agent_processes():
            if tool != "gantry":
                return []
            try:
                agent = int(open(os.path.join(directory, "state/agent/pid")).read())
            except (OSError, ValueError):
                return []
            return [agent, *children_of(agent)]

        env = dict(os.environ, LC_ALL="C.UTF-8", SHELL="/bin/sh", PYTHONDONTWRITEBYTECODE="1")
        result = Measured(argv, cwd=directory, stdin=stdin, helpers=agent_processes, env=env)
        if result.code != 0:
            print(f"  {tool}: exit code {result.code}: {result.stderr[-300:]}", file=sys.stderr)
            return None
        return result

    def spawn(self, tools, n, rounds):
        """Ratios to the floor, and CPU beyond what the floor itself spends."""
        print(f"\n## {n:,} x /bin/true, two at a time\n", flush=True)
        command, rows = ["/bin/true"], {}
        for _ in range(rounds):
            for tool in tools:
                quiet = wait_quiet()
                before = Measured([self.floor_binary, str(n // 4), "2", "2", "--", *command])
                result = self.measure(tool, n, command, 2)
                after = Measured([self.floor_binary, str(n // 4), "2", "2", "--", *command])
                if result is None:
                    continue
                floor_wall = (before.wall + after.wall) / (2 * (n // 4))
                floor_cpu = (before.machine_cpu + after.machine_cpu) / (2 * (n // 4))
                row = {"tool": tool, "n": n, "per_s": n / result.wall, "ratio": floor_wall / (result.wall / n),
                       "extra_cpu_ms": 1e3 * (result.machine_cpu / n - floor_cpu),
                       "own_cpu_ms": 1e3 * result.own_cpu / n, "rss_mb": result.rss / 1e6,
                       "floor_per_s": 1 / floor_wall, "quiet": quiet}
                rows.setdefault(tool, []).append(row)
                self.records.append({"bench": "spawn", **row})
                print(f"  {tool:10} {row['per_s']:8.0f}/s  {row['ratio']:.2f} x floor ({row['floor_per_s']:.0f}/s)"
                      f"  CPU beyond the floor {row['extra_cpu_ms']:.3f} ms/task"
                      f"{'' if quiet else '  (machine was not quiet)'}", flush=True)
        print("\n| tool | tasks/s | ratio to the floor | CPU beyond the floor, ms/task | peak memory, MB |")
        print("|---|---:|---:|---:|---:|")
        middle = lambda tool, key: statistics.median(row[key] for row in rows[tool])
        for tool in sorted(rows, key=lambda t: -middle(t, "ratio")):
            print(f"| {tool} | {middle(tool, 'per_s'):.0f} | {middle(tool, 'ratio'):.2f} | "
                  f"{middle(tool, 'extra_cpu_ms'):.2f} | {middle(tool, 'rss_mb'):.0f} |")

    def sleep(self, tools, rounds):
        n, slots, command = 1000, 16, ["/bin/sleep", "0.02"]
        print(f"\n## {n:,} x sleep 0.02 on {slots} slots (ideal: 1.25 s)\n", flush=True)
        walls = {"floor, 1 thread": [], "floor, 2 threads": []}
        for _ in range(rounds):
            wait_quiet()
            walls["floor, 1 thread"].append(self.floor(n, slots, 1, command)[0])
            walls["floor, 2 threads"].append(self.floor(n, slots, 2, command)[0])
            for tool in tools:
                result = self.measure(tool, n, command, slots)
                if result:
                    walls.setdefault(tool, []).append(result.wall)
        print("| tool | wall, s | beyond the ideal |\n|---|---:|---:|")
        for tool, all_walls in sorted(walls.items(), key=lambda item: statistics.median(item[1])):
            wall = statistics.median(all_walls)
            self.records.append({"bench": "sleep", "tool": tool, "wall": wall})
            print(f"| {tool} | {wall:.3f} | {100 * (wall / 1.25 - 1):+.0f}% |", flush=True)

    def million(self, seconds=20):
        print("\n## A sweep of 1,000,000 tasks\n", flush=True)
        directory = os.path.join(self.work, "million")
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        base = [GANTRY, "run", "--quiet", "--no-output", "-j2", "--state", os.path.join(directory, "state")]
        sweep = ["--", "/bin/true", ":::", "i=1..1000000"]
        began = time.time()
        dry = subprocess.run(" ".join([*base, "--dry-run", *sweep]) + " | tail -n 1", shell=True, text=True,
                             capture_output=True, cwd=directory)
        dry_seconds = time.time() - began
        began = time.time()
        process = subprocess.Popen([*base, *sweep], cwd=directory, stdout=subprocess.DEVNULL)
        status = []
        while time.time() - began < seconds:
            time.sleep(0.5)
            at = time.perf_counter()
            subprocess.run([GANTRY, "status", "--json", "--state", os.path.join(directory, "state")],
                           capture_output=True, check=True)
            status.append(time.perf_counter() - at)
        rss = peak_rss(process.pid)
        process.send_signal(2)
        process.wait(timeout=60)
        import sqlite3
        db = sqlite3.connect(os.path.join(directory, "state/gantry.db"))
        first, done = db.execute("select min(started), count(*) from events where started > 0").fetchone()
        rows = {"dry run | tail, s": dry_seconds, "first task starts after, s": first / 1e9 - began,
                "peak memory, MB": rss / 1e6, "status, median ms": 1e3 * statistics.median(status),
                "status, worst ms": 1e3 * max(status), "tasks ended meanwhile": done}
        print(f"(last line of the dry run: {dry.stdout.strip()})\n\n| | |\n|---|---:|")
        for name, value in rows.items():
            print(f"| {name} | {value:.3g} |" if value < 1000 else f"| {name} | {value:,.0f} |")
        self.records.append({"bench": "million", **rows})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", default=[])
    parser.add_argument("--tasks", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tools", default=",".join(["gantry", *PEERS]))
    parser.add_argument("--json", help="append the figures to this file, a JSON object a line")
    args = parser.parse_args()
    what = args.what or ["spawn", "sleep", "million"]
    tools = [tool for tool in args.tools.split(",") if available(tool)]
    for tool in args.tools.split(","):
        if tool not in tools:
            print(f"{tool} is not installed and left out (./dev bench installs the peers)", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="gantry-bench-") as work:
        bench = Bench(work)
        if "spawn" in what:
            bench.spawn(tools, args.tasks, args.rounds)
        if "sleep" in what:
            bench.sleep([tool for tool in tools if tool not in ("dask", "snakemake", "makeflow")], args.rounds)
        if "million" in what:
            bench.million()
        if args.json:
            with open(args.json, "a") as file:
                file.writelines(json.dumps(record) + "\n" for record in bench.records)


if __name__ == "__main__":
    main()
