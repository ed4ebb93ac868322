#!/usr/bin/env python3
"""Counts the test cases of a `meson test` run: tally.py TESTLOG.json STAGE FAILURES

Prints `PASSED FAILED SKIPPED` and appends the failed cases to the file FAILURES, one a line.  A program that speaks TAP
counts case by case; any other is one case.  A program that died, timed out or reported fewer cases than it planned
counts as one failure more, unless a case of it has failed already.
"""
import json
import re
import sys

CASE = re.compile(r"^(not )?ok\b\s*\d*\s*(?:- )?(.*)$", re.M)
PLAN = re.compile(r"^1\.\.(\d+)", re.M)
GOOD = {"OK", "EXPECTEDFAIL"}


def main():
    log, stage, failures = sys.argv[1:]
    passed, skipped, bad = 0, 0, []
    for line in open(log, encoding="utf-8", errors="replace"):
        test = json.loads(line)
        name, output = test["name"].split(":", 1)[-1], test.get("stdout") or ""
        cases, plan = CASE.findall(output), PLAN.search(output)
        if not plan:
            passed += test["result"] in GOOD
            skipped += test["result"] == "SKIP"
            if test["result"] not in GOOD | {"SKIP"}:
                bad.append(f"{name}: {test['result'].lower()}")
            continue
        before = len(bad)
        for failed, sentence in cases:
            if failed:
                bad.append(f"{name}: {sentence.strip()}")
            elif re.search(r"#\s*SKIP", sentence, re.I):
                skipped += 1
            else:
                passed += 1
        if len(bad) == before and (len(cases) < int(plan.group(1)) or test["result"] not in GOOD | {"SKIP"}):
            bad.append(f"{name}: {test['result'].lower()} after {len(cases)} of {plan.group(1)} cases")
    with open(failures, "a", encoding="utf-8") as out:
        out.writelines(f"{stage}: {b}\n" for b in bad)
    print(passed, len(bad), skipped)


main()
