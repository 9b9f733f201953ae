#!/usr/bin/env python3
"""How many tasks a second start at a site behind a slow line, against how many may be there at once, on a testbed. Needs root.

    bench/in_flight.py [--tasks N] [--rounds R] [--latency MS] [--json FILE]

Tasks do nothing. A launcher that waited for an answer before each start would start one in each round trip and slot.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import tempfile

from measure import gantry

SLOTS = (1, 2, 4, 8, 16, 32)


def starts_a_second(work, name):
    """By the site's own clock, from the first start to the last: connecting does not count."""
    ends = [json.loads(line) for line in gantry(work, "tasks", "--json", "--state", name).splitlines()]
    starts = sorted(datetime.datetime.fromisoformat(end["started"]).timestamp() for end in ends)
    return (len(starts) - 1) / (starts[-1] - starts[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--latency", type=int, default=50, help="one way, in ms")
    parser.add_argument("--json", help="append the medians to this file, a JSON object a line")
    args = parser.parse_args()
    rates = {}
    with tempfile.TemporaryDirectory(prefix="gantry-in-flight-") as name:
        work = pathlib.Path(name)
        (work / "testbed.yaml").write_text(
            f"name: inflight\nsites: {{ far: {{ hosts: 1, link: {{ bandwidth: 20 MB/s, latency: {args.latency}ms }} }} }}\n")
        gantry(work, "testbed", "up", "testbed.yaml", "--dir", "bed")
        try:
            for number in range(args.rounds):
                for slots in SLOTS:
                    grid = (work / "bed/grid.yaml").read_text().replace("slots: 1\n", f"slots: {slots}\n")
                    (work / "grid.yaml").write_text(grid)
                    state = f"state-{slots}-{number}"
                    gantry(work, "run", "--quiet", "--no-output", "--state", state, "--grid", "grid.yaml", "--", "/bin/true", ":::",
                           f"1..{args.tasks}")
                    rates.setdefault(slots, []).append(starts_a_second(work, state))
        finally:
            gantry(work, "testbed", "down", "--dir", "bed")
    print(f"| slots | starts a second | with a round trip of {2 * args.latency} ms for each |\n|---:|---:|---:|")
    for slots, found in rates.items():
        middle = statistics.median(found)
        print(f"| {slots} | {middle:,.0f} | {slots * 1000 / (2 * args.latency):,.0f} |")
        if args.json:
            with open(args.json, "a") as file:
                file.write(json.dumps({"bench": "in_flight", "slots": slots, "per_s": middle}) + "\n")


if __name__ == "__main__":
    main()
