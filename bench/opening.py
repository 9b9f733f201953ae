#!/usr/bin/env python3
"""What commands take in a state directory with many finished tasks: reading it, and running something else there.

    ./dev bench opening [--runs R] [--tasks N] [--rounds K] [--state FOLDER] [--json FILE]

R runs of N tasks each are written by bench/finished_state.cpp, which takes minutes for 10,000,000 tasks and 5 GB of disk. --state
keeps the folder, and uses it again.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time

from measure import GANTRY

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAKER = ROOT / "build/bench/bin/finished_state"


def measure(folder, words, rounds):
    """The median of the wall-clock and CPU times, in seconds. A first round, which does not count, may store what the next ones need."""
    walls, cpus = [], []
    for number in range(rounds + 1):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run([GANTRY, *(word.format(number) for word in words)], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if number > 0:
            walls.append(wall)
            cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(walls), statistics.median(cpus)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--tasks", type=int, default=1_000_000, help="of each run")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--state", type=pathlib.Path)
    parser.add_argument("--json", help="append the medians to this file, a JSON object a line")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gantry-opening-") as temporary:
        folder = args.state or pathlib.Path(temporary)
        if not (folder / ".gantry").exists():
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run([MAKER, folder, str(args.runs), str(args.tasks)], check=True)
        print(f"| {args.runs * args.tasks:,} finished tasks in {args.runs} runs | seconds | CPU seconds |\n|---|---:|---:|")
        for name, words in (("status", ["status"]), ("runs", ["runs"]),
                            ("another study of 3 tasks", ["run", "-q", "--", "/bin/echo", "{}", "{{}}", ":::", "a", "b", "c"]),
                            ("the same of them again", ["run", "-q", "--", "/bin/echo", "{{}}", ":::", "a", "b", "c"]),
                            (f"a finished run of {args.tasks:,} again", ["run", "-q", "study-1.yaml"])):
            wall, cpu = measure(folder, words, args.rounds)
            print(f"| {name} | {wall:.3f} | {cpu:.3f} |", flush=True)
            if args.json:
                with open(args.json, "a") as file:
                    file.write(json.dumps({"bench": "opening", "what": name, "seconds": wall, "cpu_s": cpu}) + "\n")


if __name__ == "__main__":
    main()
