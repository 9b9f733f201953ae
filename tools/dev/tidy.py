"""tidy.py [--all]: clang-tidy over the product's translation units in build/asan, one a core. They are up to 24
sources together (GANTRY_TOGETHER): nearly all the time goes to the headers that these share. Tests are left out: two fifths of
the sources, and they are compiled with the same warnings and run under the sanitizers.

Only units that changed, or that include a header that changed, are looked at, and those that were clean not again until
they, such a header or .clang-tidy change (--all: all of them, regardless). What was clean is remembered as one empty
file per content hash in build/tidy.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "asan"
CLEAN = ROOT / "build" / "tidy"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def git(*args) -> list:
    """The lines that git prints; nothing when it fails."""
    result = subprocess.run(["git", "-C", str(ROOT), *args], capture_output=True, text=True)
    return result.stdout.splitlines() if result.returncode == 0 else []


def changed_files():
    """What a developer has changed: since the branch left main, or on main with the last commit, and whatever is not
    committed. None when there is no telling."""
    head = git("rev-parse", "HEAD")
    base = git("merge-base", "HEAD", "origin/main") or git("merge-base", "HEAD", "main")
    if not base or base == head:
        base = git("rev-parse", "--verify", "--quiet", "HEAD~1")
    if not base:
        return None
    names = git("diff", "--name-only", base[0]) + git("ls-files", "--others", "--exclude-standard")
    return {ROOT / name for name in names}


@functools.cache
def direct_includes(path: pathlib.Path) -> list:
    places = [folder / name for name in INCLUDE.findall(path.read_text()) for folder in (ROOT / "src", path.parent)]
    return [place for place in places if place.exists()]


def included(path: pathlib.Path) -> set:
    """The file itself and the files of ours that it includes, directly or not."""
    found, todo = {path}, [path]
    while todo:
        new = set(direct_includes(todo.pop())) - found
        found |= new
        todo += new
    return found


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
    changed = None if everything else changed_files()
    if changed is not None and ROOT / ".clang-tidy" in changed:
        changed = None
    CLEAN.mkdir(parents=True, exist_ok=True)
    todo = {}
    for command in json.loads((BUILD / "compile_commands.json").read_text()):
        unit = pathlib.Path(command["file"])
        if unit.stem.endswith("_test") or "/CMakeFiles/test_" in str(unit) or not unit.is_relative_to(ROOT):
            continue
        files = included(unit)
        clean = CLEAN / content_key(files)
        if everything or (not clean.exists() and (changed is None or files & changed)):
            todo[unit] = clean
    print(f"{len(todo)} units to look at")
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (unit, clean), (good, output) in zip(todo.items(), pool.map(tidy, todo)):
            if good:
                clean.touch()
            else:
                bad += 1
                print(f"{unit.relative_to(ROOT)}:\n{output}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
