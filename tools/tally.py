#!/usr/bin/env python3
"""Counts the test cases of a `meson test` run: tally.py TESTLOG.json STAGE FAILURES

Prints `PASSED FAILED SKIPPED` and appends the failed cases to the file FAILURES, one a line.  A program that speaks TAP
counts case by case, and so does a Criterion program by its last line; any other is one case.  A program that died, timed
out or reported fewer cases than it planned counts as one failure more, unless a case of it has failed already.
"""
import json
import re
import sys

CASE = re.compile(r"^(not )?ok\b\s*\d*\s*(?:- )?(.*)$", re.M)
PLAN = re.compile(r"^1\.\.(\d+)", re.M)
SYNTHESIS = re.compile(r"Tested: (\d+) .*Passing: (\d+) .*Failing: (\d+) .*Crashing: (\d+)")
CRITERION_FAILURE = re.compile(r"^\[FAIL\] (\S+?):? ", re.M)
GOOD = {"OK", "EXPECTEDFAIL"}


def main():
    log, stage, failures = sys.argv[1:]
    passed, skipped, bad = 0, 0, []
    for line in open(log, encoding="utf-8", errors="replace"):
        test = json.loads(line)
        name, output = test["name"].split(":", 1)[-1], test.get("stdout") or ""
        cases, plan = CASE.findall(output), PLAN.search(output)
        said = output + (test.get("stderr") or "")
        synthesis = SYNTHESIS.search(re.sub(r"\x1b\[[0-9;]*m", "", said))
        if not plan and synthesis and synthesis.group(3) == synthesis.group(4) == "0" and test["result"] in GOOD:
            passed += int(synthesis.group(2))
        elif not plan and synthesis:
            _, good, failing, crashing = map(int, synthesis.groups())
            passed += good
            names = CRITERION_FAILURE.findall(said)
            names += ["a test"] * (max(1, failing + crashing) - len(names))
            bad += [f"{name}: {n}" for n in names]
        elif not plan:
            passed += test["result"] in GOOD
            skipped += test["result"] == "SKIP"
            if test["result"] not in GOOD | {"SKIP"}:
                bad.append(f"{name}: {test['result'].lower()}")
        if not plan:
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
