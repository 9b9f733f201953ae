#!/usr/bin/env python3
"""Files to a site behind a link of 8 MB/s and 10 ms: Gantry's mover beside scp and rsync, on a testbed. Needs root.

    bench/files.py [--rounds R] [--small N] [--json FILE]

large   one file of 200 MB that cannot be packed
small   N files of 1 KB (10,000); scp -r, which waits for every file, sends a twentieth of them, and its time is
        multiplied by twenty

Logging in is part of every time, as each is a command of its own: a run of Gantry logs in once.
"""
import argparse
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

from measure import GANTRY, gantry

ROOT = pathlib.Path(__file__).resolve().parents[1]
MOVE = ROOT / "build/bench/bin/move_bench"
TESTBED = "name: filesbench\nsites: { far: { hosts: 1, link: { bandwidth: 8 MB/s, latency: 5ms } } }\n"
FEWER = 20  # of the small files, for scp


def timed(words):
    began = time.monotonic()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{words}: exit code {done.returncode}\n{done.stderr[-1000:]}")
    return time.monotonic() - began


def make_files(folder, count, size, dice):
    folder.mkdir()
    for i in range(count):
        (folder / f"{i}.bin").write_bytes(dice.randbytes(size))
    return folder


def measure(work, rounds, small):
    dice = random.Random(1)
    ssh = ["-F", work / "bed/ssh_config"]
    remote_shell = f"ssh -F {work}/bed/ssh_config"
    agent = pathlib.Path(GANTRY).parent / "gantry-agent"
    subprocess.run(["scp", *map(str, ssh), "-q", agent, "far" + "h1:agent"], check=True)
    rows = {}
    for number in range(rounds):
        # New contents each time, and a new place there: nobody finds anything that is there already.
        cases = {"200 MB": make_files(work / f"large{number}", 1, 200_000_000, dice),
                 f"{small:,} x 1 KB": make_files(work / f"small{number}", small, 1000, dice)}
        fewer = make_files(work / f"fewer{number}", small // FEWER, 1000, dice)
        for case, folder in cases.items():
            there = f"farh1:{folder.name}"
            few = folder if case == "200 MB" else fewer
            factor = 1 if case == "200 MB" else FEWER
            ways = {"gantry": lambda: timed([MOVE, "put", folder, "ssh", *ssh, "farh1", f"./agent files gantry{number}"]),
                    "rsync -a": lambda: timed(["rsync", "-a", "-e", remote_shell, folder, f"{there}-rsync"]),
                    "scp -r": lambda: factor * timed(["scp", *ssh, "-q", "-r", few, f"{there}-scp"])}
            for name, way in ways.items():
                seconds = way()
                rows.setdefault((case, name), []).append(seconds)
                print(f"  {case:14} {name:9} {seconds:7.2f} s", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--json", help="append the medians to this file, a JSON object a line")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gantry-files-") as name:
        work = pathlib.Path(name)
        (work / "testbed.yaml").write_text(TESTBED)
        gantry(work, "testbed", "up", "testbed.yaml", "--dir", "bed")
        try:
            rows = measure(work, args.rounds, args.small)
        finally:
            gantry(work, "testbed", "down", "--dir", "bed")
    print("\n| what | tool | seconds | gantry takes |\n|---|---|---:|---:|")
    for (case, tool), times in rows.items():
        middle, ours = statistics.median(times), statistics.median(rows[case, "gantry"])
        print(f"| {case} | {tool} | {middle:.2f} | {ours / middle:.2f} x |")
        if args.json:
            with open(args.json, "a") as file:
                file.write(json.dumps({"bench": "files", "what": case, "tool": tool, "seconds": middle}) + "\n")


if __name__ == "__main__":
    main()
