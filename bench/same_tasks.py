"""Makes sure that every tool is measured with the same tasks: a program that starts does more or less work depending
on its arguments and environment (GNU true with one argument loads its locale, which takes as long as the rest).

Each tool once runs bench/probe.c in place of the program. All must have given it the same arguments, and ENVIRONMENT.
"""
import collections
import fnmatch
import os
import shutil
import sys

from measure import ENVIRONMENT, build

TASKS = 20
# The only difference allowed: variables that a tool, or sshd and the login shell, may add. Peers may add any but those below.
ADDED = {
    "the floor": [],
    "gantry": ["GANTRY_*"],
    "gantry_ssh": ["GANTRY_*", "FAR_NAME", "SSH_*", "USER", "LOGNAME", "MAIL", "PWD", "OLDPWD", "SHLVL", "_"],
}
# They change what a program does when it starts.
NEVER_ADDED = ["LANG", "LANGUAGE", "LC_*", "LOCPATH", "NLSPATH", "LD_*", "GLIBC_TUNABLES"]


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def words(path):
    with open(path, "rb") as file:
        return file.read().decode(errors="replace").split("\0")[:-1]


def argument_differences(argvs, program):
    expected = collections.Counter((program, str(i)) for i in range(1, TASKS + 1))
    seen = collections.Counter(map(tuple, argvs))
    for argv, count in (seen - expected).items():
        yield f"{count} x {' '.join(argv)!r} is no task, or ran too often"
    for argv, count in (expected - seen).items():
        yield f"{count} x {' '.join(argv)!r} did not run"


def environment_differences(variables, added):
    for name in {*variables, *ENVIRONMENT}:
        if name in ENVIRONMENT:
            if variables.get(name) != ENVIRONMENT[name]:
                yield f"{name} is {variables.get(name)!r}, not {ENVIRONMENT[name]!r}"
        elif matches(name, NEVER_ADDED) or not matches(name, added):
            yield f"{name}={variables[name]} is one variable more"


def differences(tool, program, seen):
    """Of what the probe saw (its folder `seen`) from what all tools are to give it; empty when there is none."""
    names = os.listdir(seen)
    found = set(argument_differences((words(f"{seen}/{n}") for n in names if n.endswith(".argv")), program))
    for name in names:
        if name.endswith(".env"):
            variables = dict(word.split("=", 1) for word in words(f"{seen}/{name}"))
            found.update(environment_differences(variables, ADDED.get(tool, ["*"])))
    return sorted(found)


def check(work, runs):
    """`runs`: a function for each tool that runs TASKS tasks with a command. Ends the program when a tool differs."""
    program = build("probe.c", work)
    seen = program + ".seen"
    wrong = []
    for tool, run in runs.items():
        shutil.rmtree(seen, ignore_errors=True)
        os.mkdir(seen)
        run([program, "{}"])
        wrong += [f"{tool}: {text}" for text in differences(tool, program, seen)]
    if wrong:
        sys.exit("bench: not every tool runs the same tasks:\n  " + "\n  ".join(wrong))
    print(f"the same arguments and environment for {', '.join(runs)}", flush=True)
