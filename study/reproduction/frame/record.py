"""docs/results/reproduction.json: figures and verdicts of the last full run of every experiment, as tools/results prints them."""
import json
import pathlib
import subprocess
import time

from . import page, verdict

ROOT = pathlib.Path(__file__).resolve().parents[3]
PATH = ROOT / "docs" / "results" / "reproduction.json"
COUNTED = ("pass", "known", "miss", "observed", "absent", "not run")
HEAD = ["paper", "claims", "reproduced", "missed, reason known", "missed", "observed", "absent", "not run"]


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def where():
    commit = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {"date": time.strftime("%Y-%m-%d"), "commit": commit.stdout.strip(), "machine": processor()}


def with_unit(value, unit):
    text = page.number(value)
    return f"{text} {unit}" if unit and value is not None and not isinstance(value, str) else text


def kept_row(row):
    unit = row.get("unit", "")
    return {"figure": row["figure"], "quantity": row["quantity"], "paper": with_unit(row.get("published"), unit),
            "here": with_unit(row["value"], unit), "bound": row["bound"] + (f" {unit}" if unit and row["bound"] != "–" else ""),
            "basis": row.get("basis", ""), "verdict": row["verdict"], "known": row.get("known", "")}


def count(experiments, modules, rules, absent):
    """Claims by paper: a row with a bound each, and those that are absent."""
    papers = {}
    def add(paper, kind):
        papers.setdefault(paper, dict.fromkeys(COUNTED, 0))[kind] += 1
    for module in modules:
        kept = {row["figure"]: row for row in experiments.get(module.NAME, {}).get("rows", [])}
        for figure, rule in rules[module.NAME].items():
            if set(rule) & set(verdict.BOUNDS):
                kind = kept.get(figure, {}).get("verdict", "not run")
                add(module.PAPER, {"failed": "miss", "info": "not run"}.get(kind, kind))
    for claim in absent:
        add(claim["paper"], "absent")
    return papers


def counts_table(papers):
    total = {kind: sum(one[kind] for one in papers.values()) for kind in COUNTED}
    lines = [(page.PAPERS[key][0], one) for key, one in papers.items()] + [("all", total)]
    return {"head": HEAD, "rows": [[name, *(str(x) for x in (sum(one.values()), *(one[kind] for kind in COUNTED)))] for name, one in lines]}


def experiment_parts(name, kept):
    at = kept["measured"]
    parts = [{"text": [f"## {kept['title']}", "", f"{kept['paper']}, {kept['shown']}; `study/reproduce.py {name}`, measured on {at['date']} at commit "
                       f"{at['commit']}."]}]
    parts.append({"head": ["figure", "paper", "here", "bound", "basis", "verdict"], "rows": [
        [row["quantity"], row["paper"], row["here"], row["bound"], row["basis"], page.WORD[row["verdict"]]] for row in kept["rows"]]})
    reasons = [f"* {row['quantity']}: {row['known']}." for row in kept["rows"] if row["verdict"] == "known"]
    return parts + ([{"text": ["Known misses:", "", *reasons]}] if reasons else [])


def keep(done, modules, rules):
    """The new figures in place of the old ones of the same experiments."""
    old = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {"experiments": {}}
    experiments, here, absent = old["experiments"], where(), verdict.load_absent()
    for entry in done:
        module = entry["module"]
        experiments[entry["name"]] = {"title": module.TITLE, "paper": page.PAPERS[module.PAPER][0], "shown": module.SHOWN, "measured": here,
                                      "rows": [kept_row(row) for row in entry["rows"]]}
    parts = [{"text": ["Claims are the rows with a bound, and what the papers claim and nothing here measures. *Observed* rows keep a bound that was",
                       "set after a look, and are counted apart; *not run* rows have no record yet."]},
             counts_table(count(experiments, modules, rules, absent))]
    for module in modules:
        if module.NAME in experiments:
            parts += experiment_parts(module.NAME, experiments[module.NAME])
    parts += [{"text": ["## Absent"]}, {"head": ["paper", "where", "claim", "reason"], "rows": [
        [page.PAPERS[one["paper"]][0], one["where"], one["claim"], one["why"]] for one in absent]}]
    written = {"title": "The papers' experiments", "command": "study/reproduce.py --record; tools/results", "measured": here, "parts": parts,
               "experiments": experiments}
    PATH.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
