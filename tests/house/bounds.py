#!/usr/bin/env python3
"""Bounds of study/reproduce.py: each has a basis and a source, and the record of the last run was judged by the bounds that stand.  The
frozen states of its problems are those that study/freeze.py wrote.  Prints TAP.

    bounds.py [ROOT]
"""
import json
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
sys.path[:0] = [str(ROOT / "study"), str(ROOT / "tools")]
import cases  # noqa: E402
import freeze  # noqa: E402
from reproduction.frame import command, record, verdict  # noqa: E402

SHORTEST_SOURCE = 8  # letters
LOOKED = ("set after", "first run", "first look", "run at hand")  # such a source tells of an observed bound


def rows():
    return [(f"{name}.{figure}", rule) for name, figures in verdict.load().items() for figure, rule in figures.items()]


def every_bound_has_a_source():
    return [where for where, rule in rows() if len(rule["source"]) < SHORTEST_SOURCE]


def every_bound_set_after_a_look_is_marked_observed():
    return [where for where, rule in rows() if any(word in rule["source"] for word in LOOKED) and rule.get("basis") != "observed"]


def every_known_miss_has_a_reason():
    return [where for where, rule in rows() if "known" in rule and len(rule["known"]) < SHORTEST_SOURCE]


def claims_without_a_figure_are_complete():
    return [] if verdict.load_absent() else ["absent.toml has none"]


def the_record_was_judged_by_the_bounds_that_stand():
    path = ROOT / "docs" / "results" / "reproduction.json"
    kept, rules = json.loads(path.read_text(encoding="utf-8"))["experiments"], verdict.load()
    stale = []
    for name, entry in kept.items():
        for row in entry["rows"]:
            rule = rules.get(name, {}).get(row["figure"])
            bound = rule and verdict.bound_text(rule)
            if not rule or not row["bound"].startswith(bound) or row["basis"] != rule.get("basis", ""):
                stale.append(f"{name}.{row['figure']}: recorded with {row['bound']}, now {bound}")
    return stale


def the_counts_are_those_of_the_record():
    kept, counts = record.load(), record.count(record.load()["experiments"], command.experiments(), verdict.load(), verdict.load_absent())
    shown, now = kept["parts"][1]["rows"], record.counts_table(counts)["rows"]
    return [] if shown == now else ["study/reproduce.py --recount, then tools/results", *(" ".join(row) for row in now if row not in shown)]


def the_frozen_states_are_those_of_their_hashes():
    frozen = [case for case in cases.CASES if case.frozen]
    wanted = {f"{case.name}_{k:03d}.h5" for case in frozen for k in range(case.states)}
    stored, sums = {name: told for case in frozen for name, told in freeze.stored_sums(case).items()}, freeze.written_sums()
    spare = {path.name for path in pathlib.Path(cases.FROZEN).glob("*.tar.xz")} - {case.name + ".tar.xz" for case in frozen}
    return sorted(spare | (wanted ^ set(stored)) | {name for name in wanted | set(sums) if stored.get(name) != sums.get(name)})


TESTS = [every_bound_has_a_source, every_bound_set_after_a_look_is_marked_observed, every_known_miss_has_a_reason,
         claims_without_a_figure_are_complete,
         the_frozen_states_are_those_of_their_hashes, the_record_was_judged_by_the_bounds_that_stand,
         the_counts_are_those_of_the_record]

print(f"1..{len(TESTS)}")
for number, test in enumerate(TESTS, 1):
    try:
        wrong = test()
    except (verdict.Mistake, OSError, ValueError) as why:
        wrong = [str(why)]
    for line in wrong:
        print(f"# {line}")
    print(f"{'not ok' if wrong else 'ok'} {number} - {test.__name__}")
