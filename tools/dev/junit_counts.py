"""junit_counts.py RESULTS.xml LOG: prints "PASSED FAILED SKIPPED" for ./dev, and on stderr what failed or was skipped."""
import sys
import xml.etree.ElementTree as ElementTree


def main() -> int:
    xml, log = sys.argv[1:]
    try:
        cases = ElementTree.parse(xml).getroot().findall("testcase")
    except (OSError, ElementTree.ParseError):
        with open(log, errors="replace") as text:  # ctest itself broke off: what it said is all there is
            sys.stderr.write(text.read()[-8000:])
        return 1
    counts = {"run": 0, "fail": 0, "skip": 0}
    for case in cases:
        # ctest says "run" for a pass, "notrun" for a skipped or an absent program, "disabled" for DISABLED_ tests.
        skipped = case.find("skipped")
        absent = skipped is not None and skipped.get("message", "").startswith("Unable to find executable")
        status = "fail" if absent or case.get("status") == "fail" else "skip" if skipped is not None else "run"
        if case.get("status") == "disabled":
            status = "skip"
        counts[status] += 1
        if status != "run":
            output = case.findtext("system-out") or ""
            detail = output[-8000:] if status == "fail" else ""
            print(f"{detail}\n  {status.upper()}  {case.get('name')}", file=sys.stderr)
    print(counts["run"], counts["fail"], counts["skip"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
