"""junit_counts.py RESULTS.xml LOG [AGAIN.xml]: prints "PASSED FAILED SKIPPED FLAKY" for ./dev; on stderr what did not just pass.

AGAIN.xml has what became of the tests that failed when each was run once more, alone: those that pass then are
counted as passed and named as FLAKY, unless a sanitizer had spoken: what it finds is true however rarely it happens.
"""
import sys
import xml.etree.ElementTree as ElementTree

SANITIZER = ("Sanitizer", "runtime error:")


def verdict(case) -> str:
    """ctest says "run" for a pass, "notrun" for a skipped or an absent program, "disabled" for DISABLED_ tests."""
    skipped = case.find("skipped")
    absent = skipped is not None and skipped.get("message", "").startswith("Unable to find executable")
    if absent or case.get("status") == "fail":
        return "FAIL"
    return "SKIP" if skipped is not None or case.get("status") == "disabled" else "run"


def cases_of(xml: str):
    return ElementTree.parse(xml).getroot().findall("testcase")


def main() -> int:
    xml, log, *again = sys.argv[1:]
    try:
        cases = cases_of(xml)
        passed_alone = {case.get("name") for more in again for case in cases_of(more) if verdict(case) == "run"}
    except (OSError, ElementTree.ParseError):
        with open(log, errors="replace") as text:  # ctest itself broke off: what it said is all there is
            sys.stderr.write(text.read()[-8000:])
        return 1
    counts = {"run": 0, "FAIL": 0, "SKIP": 0, "FLAKY": 0}
    for case in cases:
        name, said, output = case.get("name"), verdict(case), case.findtext("system-out") or ""
        is_flaky = said == "FAIL" and name in passed_alone and not any(word in output for word in SANITIZER)
        counts["run" if is_flaky else said] += 1
        counts["FLAKY"] += is_flaky
        if said != "run":
            detail = output[-8000:] if said == "FAIL" else ""
            print(f"{detail}\n  {'FLAKY' if is_flaky else said}  {name}", file=sys.stderr)
    print(*counts.values())
    return 0


if __name__ == "__main__":
    sys.exit(main())
