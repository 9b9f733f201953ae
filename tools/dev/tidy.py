"""tidy.py [--all]: clang-tidy over the product's translation units in build/dev, one a core. Tests are left out: two
fifths of the units, and they are compiled with the same warnings and run under the sanitizers.

A unit that was clean is not looked at again until it, a header of ours that it includes, or .clang-tidy changes
(--all: look again regardless). What was clean is remembered as one empty file per content hash in build/tidy. Which
headers those are, the compiler tells: a unit that was not compiled since its last change is always looked at.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "dev"
CLEAN = ROOT / "build" / "tidy"


def own_headers() -> dict:
    """Object file -> the files of ours it was compiled from, as the compiler told ninja."""
    text = subprocess.run(["ninja", "-C", str(BUILD), "-t", "deps"], check=True, capture_output=True, text=True).stdout
    deps, current = {}, None
    for line in text.splitlines():
        if line.startswith("    ") and current is not None:
            path = (BUILD / line.strip()).resolve()  # through the include views' links
            if ROOT in path.parents:
                current.append(path)
        elif ": #deps" in line:
            current = deps.setdefault(line.split(": #deps")[0], []) if line.endswith("(VALID)") else None
    return deps


def compiled_from(output: str, unit: pathlib.Path, deps: dict):
    """The files of ours behind an object file; None when that is not known, or not known to be so any more."""
    headers, built = deps.get(output), BUILD / output
    if not headers or not built.exists():
        return None
    files = [*headers, unit]
    unchanged = all(path.exists() and path.stat().st_mtime <= built.stat().st_mtime for path in files)
    return files if unchanged else None


def content_key(paths) -> str:
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for path in sorted(set(paths)):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def tidy(unit: pathlib.Path):
    # The commands are g++'s: some of its warning options are news to clang, and clang's -Wconversion says more.
    extra = [f"--extra-arg={option}" for option in ("-Wno-unknown-warning-option", "-Wno-sign-conversion")]
    result = subprocess.run(["clang-tidy", "--quiet", "-p", str(BUILD), *extra, str(unit)],
                            capture_output=True, text=True)
    return result.returncode == 0, result.stdout + result.stderr


def main() -> int:
    everything = "--all" in sys.argv[1:]
    CLEAN.mkdir(parents=True, exist_ok=True)
    deps = own_headers()
    todo = {}
    for command in json.loads((BUILD / "compile_commands.json").read_text()):
        unit = pathlib.Path(command["file"])
        if unit.stem.endswith("_test"):
            continue
        words = shlex.split(command["command"])
        files = compiled_from(words[words.index("-o") + 1], unit, deps)
        clean = CLEAN / content_key(files) if files else None
        if everything or clean is None or not clean.exists():
            todo[unit] = clean
    print(f"{len(todo)} units to look at")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (unit, clean), (good, output) in zip(todo.items(), pool.map(tidy, todo)):
            if good and clean is not None:
                clean.touch()
            elif not good:
                bad += 1
                print(f"{unit.relative_to(ROOT)}:\n{output}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
