#!/usr/bin/env python3
"""The experiment with three sites of Casanova et al. (2000), Figure 5, on a real grid and in the simulator.

    bench/three_sites.py [--scenarios abcd] [--schedulers workqueue,xsufferage,best] [--rounds R] [--json FILE]

1,200 tasks whose costs differ by up to 20 times and six shared files, each read by 200 of them, on a testbed (`gantry
testbed`: real sshd, links of real bandwidth): 32 slots behind a fast link, 8 behind one that is 20 times slower, 16 behind
one that is 40 times slower. Times are 1/40 of those of `gantry simulate apst-sites`, files 1/10, bandwidths 4 times. Tasks
sleep, so that two cores are enough for 56 slots. Scenarios: (a) the files are at home only, (b) two large ones also at ucsd,
(c) three also at utk, (d) all everywhere.

Every run has new files of its own, so that nothing is found at a site but what the scenario puts there. Beside each stands
what `gantry plan` predicts for the same sweep and grid file. Needs root.
"""
import argparse
import json
import pathlib
import random
import re
import shutil
import statistics
import tempfile

from measure import gantry

TASKS = 1200
SHORTEST = 0.25  # seconds; the longest is 20 times that
FILE_BYTES = [100_000, 100_000, 2_000_000, 2_000_000, 10_000_000, 10_000_000]
TESTBED = """
name: threesites
sites:
  titech: { hosts: 1, slots: 32, speed: 0.03, link: { bandwidth: 16 MB/s, latency: 5ms } }
  ucsd: { hosts: 1, slots: 8, speed: 0.05, link: { bandwidth: 800 kB/s, latency: 20ms } }
  utk: { hosts: 1, slots: 16, speed: 0.03, link: { bandwidth: 400 kB/s, latency: 20ms } }
"""
STAGED = {"a": {}, "b": {"ucsd": [4, 5]}, "c": {"ucsd": [4, 5], "utk": [2, 3, 4]},
          "d": {name: range(6) for name in ("titech", "ucsd", "utk")}}


def write_study(directory, seed):
    """A sweep whose files nobody has seen before. All have the same tasks."""
    dice = random.Random(seed)
    names = [f"f{i}.bin" for i in range(len(FILE_BYTES))]
    for name, size in zip(names, FILE_BYTES):
        (directory / name).write_bytes(dice.randbytes(size))
    dice = random.Random(1)
    rows = [(names[i % len(names)], SHORTEST * dice.randint(1, 20)) for i in range(TASKS)]
    (directory / "tasks.csv").write_text("file,seconds\n" + "".join(f"{name},{cost}\n" for name, cost in rows))
    (directory / "work.sh").write_text('test -s "$1" && exec sleep "$2"\n')
    (directory / "sweep.yaml").write_text(
        "command: sh work.sh {file} {seconds}\nparameters: { file: { csv: tasks.csv }, seconds: { csv: tasks.csv } }\n"
        "inputs: ['{file}', work.sh]\ncost: seconds\n")


def site_texts(grid_text):
    """name -> its lines, of the testbed's grid file. Tasks sleep: all hosts are as fast."""
    parts = re.split(r"(?m)^  (?=\w+:$)", re.sub(r"speed: .*", "speed: 1", grid_text).split("sites:\n")[1])
    return {part.split(":")[0]: "  " + part.rstrip() + "\n" for part in parts if part.strip()}


def stage(directory, bed, sites, staged):
    """Puts files where a site's hosts find them, and says so in the grid file."""
    text = "sites:\n"
    for name, lines in sites.items():
        text += lines
        if name not in staged:
            continue
        (bed / f"sites/{name}/home/data").mkdir(exist_ok=True)
        for i in staged[name]:
            shutil.copy(directory / f"f{i}.bin", bed / f"sites/{name}/home/data")
        text += "    staged: {" + ", ".join(f"f{i}.bin: /root/data/f{i}.bin" for i in staged[name]) + "}\n"
    (directory / "grid.yaml").write_text(text)


def trial(work, sites, scenario, scheduler, seed):
    with tempfile.TemporaryDirectory(dir=work) as name:
        directory = pathlib.Path(name)
        write_study(directory, f"{scenario} {scheduler} {seed}")
        stage(directory, work / "bed", sites, STAGED[scenario])
        said = gantry(directory, "run", "--json", "--scheduler", scheduler, "sweep.yaml", "--grid", "grid.yaml")
        seconds = json.loads(said.splitlines()[-1])["seconds"]
        plan = json.loads(gantry(directory, "plan", "--json", "--scheduler", scheduler, "--interval", "10s", "sweep.yaml",
                                 "--grid", "grid.yaml"))
        [planned] = [row for row in plan["schedulers"] if row["scheduler"] == scheduler]
        return {"scenario": scenario, "scheduler": scheduler, "seed": seed, "seconds": seconds,
                "predicted": planned["makespan"], "bound": plan["bound"]}


def show(rows):
    print("\n| files beforehand | scheduler | measured, s | predicted, s | error |\n|---|---|---:|---:|---:|")
    names = {"a": "(a) none", "b": "(b) some at ucsd", "c": "(c) some at utk too", "d": "(d) everywhere"}
    for scenario, scheduler in dict.fromkeys((row["scenario"], row["scheduler"]) for row in rows):
        those = [row for row in rows if (row["scenario"], row["scheduler"]) == (scenario, scheduler)]
        real, planned = (statistics.mean(row[key] for row in those) for key in ("seconds", "predicted"))
        print(f"| {names[scenario]} | {scheduler} | {real:.1f} | {planned:.1f} | {100 * (planned / real - 1):+.1f} % |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", default="abcd")
    parser.add_argument("--schedulers", default="workqueue,xsufferage,best")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", help="append each run to this file, a JSON object a line")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="gantry-three-sites-") as name:
        work = pathlib.Path(name)
        (work / "testbed.yaml").write_text(TESTBED)
        gantry(work, "testbed", "up", "testbed.yaml", "--dir", "bed")
        try:
            sites = site_texts((work / "bed/grid.yaml").read_text())
            gantry(work, "grid", "check", "bed/grid.yaml")  # the agent gets there
            for seed in range(1, args.rounds + 1):
                for scenario in args.scenarios:
                    for scheduler in args.schedulers.split(","):
                        row = trial(work, sites, scenario, scheduler, seed)
                        rows.append(row)
                        print(f"  ({scenario}) {scheduler:12} {row['seconds']:6.1f} s, predicted {row['predicted']:6.1f} s,"
                              f" bound {row['bound']:6.1f} s", flush=True)
                        if args.json:
                            with open(args.json, "a") as file:
                                file.write(json.dumps(row) + "\n")
        finally:
            gantry(work, "testbed", "down", "--dir", "bed")
    show(rows)


if __name__ == "__main__":
    main()
