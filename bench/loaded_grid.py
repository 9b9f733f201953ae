#!/usr/bin/env python3
"""Forecasts on a real grid whose machines have other users, too (a testbed: real sshd, shares of the processors). As root.

    bench/loaded_grid.py errors [--rounds R] [--seed S]    how far run-time forecasts are off as a run goes on
    bench/loaded_grid.py frozen [--rounds R] [--seed S]    a site gets busy in the midst of a run: forecasts that learn on, and frozen ones

errors: Casanova et al. (2000), Figure 6. Tasks compute for different times on three sites of different speed; competing
processes come and go on one host after another. Each task's time is foretold when it starts; the relative error is
|took - foretold| / took.

frozen: after LOAD_AT seconds the fastest site's hosts get competing processes, for the rest of the run. Forecasts learn on, or
stay as they were at that moment (`--learn-for`). No second attempts in either. Both runs of a round have the same tasks.
"""
import argparse
import contextlib
import datetime
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from measure import GANTRY, gantry

# Together less than two processors, so that hosts really have what they say.
TESTBED = """
name: loaded
sites:
  s1: { hosts: 2, slots: 1, speed: 0.4, link: { bandwidth: 20 MB/s, latency: 2ms } }
  s2: { hosts: 2, slots: 1, speed: 0.2, link: { bandwidth: 20 MB/s, latency: 5ms } }
  s3: { hosts: 2, slots: 1, speed: 0.2, link: { bandwidth: 20 MB/s, latency: 10ms } }
"""
HOSTS = [f"s{site}h{host}" for site in (1, 2, 3) for host in (1, 2)]
WORK = "i=0; while [ $i -lt $(($1 * {loops})) ]; do i=$((i + 1)); done\n"
LOAD_AT = 30  # seconds


def loops_a_second():
    """Of a whole processor: the best of some tries, since others may compute here, too."""
    count = 300_000
    fastest = float("inf")
    for _ in range(9):
        begin = time.monotonic()
        subprocess.run(["sh", "-c", WORK.format(loops=count), "work", "1"], check=True)
        fastest = min(fastest, time.monotonic() - begin)
    return int(count / fastest)


def write_study(directory, loops, tenths, seed):
    """A sweep of tasks that compute for these tenths of a second of a whole processor. What ran before does not count."""
    (directory / "work.sh").write_text(f"# {seed}\n" + WORK.format(loops=loops // 10))
    (directory / "tasks.csv").write_text("tenths\n" + "".join(f"{value}\n" for value in tenths))
    (directory / "sweep.yaml").write_text(
        "command: sh work.sh {tenths}\nparameters: { tenths: { csv: tasks.csv } }\ninputs: [work.sh]\ncost: tenths\n")


def run(directory, grid, *options):
    """What it says of each task that ended, and of the whole."""
    said = gantry(directory, "run", "--json", "--no-duplicates", *options, "sweep.yaml", "--grid", grid)
    lines = [json.loads(line) for line in said.splitlines()]
    return [line for line in lines if line["event"] == "task" and line["ok"]], lines[-1]["seconds"]


@contextlib.contextmanager
def in_background(work):
    """Runs work(stop) beside."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Bed:
    def __init__(self, work):
        self.work = work
        (work / "testbed.yaml").write_text(TESTBED)

    def __enter__(self):
        gantry(self.work, "testbed", "up", "testbed.yaml", "--dir", "bed")
        gantry(self.work, "grid", "check", "bed/grid.yaml")  # the agent gets there
        return self

    def __exit__(self, *_):
        gantry(self.work, "testbed", "down", "--dir", "bed")

    def load(self, host, load):
        subprocess.run([GANTRY, "testbed", "load", host, str(load), "--dir", "bed"], cwd=self.work, check=True,
                       stdout=subprocess.DEVNULL)

    def study(self, loops, tenths, seed, *options):
        with tempfile.TemporaryDirectory(dir=self.work) as name:
            write_study(pathlib.Path(name), loops, tenths, seed)
            return run(pathlib.Path(name), self.work / "bed/grid.yaml", *options)


# How far forecasts are off.
# ---------------------------------------------------------------------------------------------------------------------------


def errors_of_round(bed, loops, seed):
    dice = random.Random(seed)
    tenths = [dice.randint(4, 20) for _ in range(240)]

    def others_come_and_go(stop):
        while not stop.is_set():
            bed.load(dice.choice(HOSTS), dice.choice([0, 0, 0.25, 0.5, 1]))
            stop.wait(15)
        for host in HOSTS:
            bed.load(host, 0)

    with in_background(others_come_and_go):
        tasks, _ = bed.study(loops, tenths, seed)
    when = {line["task"]: [datetime.datetime.fromisoformat(line[key]).timestamp() for key in ("started", "ended")]
            for line in tasks}
    begin = min(started for started, _ in when.values())
    rows = []
    for line in tasks:
        started, _ = when[line["task"]]
        before = sum(1 for other in tasks if other["host"] == line["host"] and when[other["task"]][1] <= started)
        wrong = abs(line["seconds"] - line["expected_seconds"]) / line["seconds"]
        rows.append({"at": started - begin, "before": before, "error": wrong})
    return rows


def show_errors(bed, seeds):
    loops = loops_a_second()
    rows = []
    for seed in seeds:
        rows += errors_of_round(bed, loops, seed)
        print(f"  round {seed}: {len(rows)} tasks so far", flush=True)
    print("\n| tasks that its host had ended before | tasks | median error | mean error |\n|---|---:|---:|---:|")
    for first, last in ((0, 0), (1, 2), (3, 9), (10, 29), (30, 10**9), (3, 10**9)):
        those = [row["error"] for row in rows if first <= row["before"] <= last]
        if not those:
            continue
        name = f"{first}" if first == last else f"{first} and more" if last == 10**9 else f"{first} to {last}"
        print(f"| {name} | {len(those)} | {100 * statistics.median(those):.1f} % | {100 * statistics.mean(those):.1f} % |")


# Frozen forecasts.
# ---------------------------------------------------------------------------------------------------------------------------


def makespan(bed, loops, tenths, seed, *options):
    def site_gets_busy(stop):
        if stop.wait(LOAD_AT):
            return
        for host in HOSTS[:2]:
            bed.load(host, 4)

    try:
        with in_background(site_gets_busy):
            return bed.study(loops, tenths, seed, *options)[1]
    finally:
        for host in HOSTS[:2]:
            bed.load(host, 0)


def show_frozen(bed, seeds):
    loops = loops_a_second()
    print("| round | learning on, s | frozen, s | shorter by |\n|---|---:|---:|---:|")
    ratios = []
    for seed in seeds:
        dice = random.Random(seed)
        tenths = [dice.randint(10, 60) for _ in range(36)]
        live = makespan(bed, loops, tenths, f"live {seed}")
        frozen = makespan(bed, loops, tenths, f"frozen {seed}", "--learn-for", f"{LOAD_AT}s")
        ratios.append(live / frozen)
        print(f"| {seed} | {live:.1f} | {frozen:.1f} | {100 * (1 - live / frozen):.1f} % |", flush=True)
    print(f"| geometric mean | | | {100 * (1 - statistics.geometric_mean(ratios)):.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=["errors", "frozen"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1, help="of the first round; those that follow count up")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gantry-loaded-") as name, Bed(pathlib.Path(name)) as bed:
        {"errors": show_errors, "frozen": show_frozen}[args.study](bed, range(args.seed, args.seed + args.rounds))


if __name__ == "__main__":
    sys.exit(main())
