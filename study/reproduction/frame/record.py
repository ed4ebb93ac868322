"""docs/results/reproduction.json: figures and verdicts of the last full run of every experiment, as tools/results prints them."""
import json
import pathlib
import subprocess
import time

from . import page, verdict

ROOT = pathlib.Path(__file__).resolve().parents[3]
PATH = ROOT / "docs" / "results" / "reproduction.json"
COUNTED = ("pass", "known", "miss", "observed", "absent", "not run")
OWN = ("own kept", "own")
HEAD = ["paper", "claims", "reproduced", "missed, reason known", "missed", "observed", "absent", "not run", "own checks kept, of those run"]


def processor():
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def git(*words):
    """(status, what it printed); a failure where there is no git."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    except OSError:
        return 1, ""
    return done.returncode, done.stdout.strip()


def where():
    return {"date": time.strftime("%Y-%m-%d"), "commit": git("rev-parse", "--short", "HEAD")[1], "machine": processor()}


def with_unit(value, unit):
    text = page.number(value)
    return f"{text} {unit}" if unit and value is not None and not isinstance(value, str) else text


def kept_row(row):
    unit = row.get("unit", "")
    return {"figure": row["figure"], "quantity": row["quantity"], "paper": with_unit(row.get("published"), unit),
            "here": with_unit(row["value"], unit), "bound": row["bound"] + (f" {unit}" if unit and row["bound"] != "–" else ""),
            "basis": row.get("basis", ""), "verdict": row["verdict"], "known": row.get("known", ""), "value": row["value"]}


def is_claim(rule):
    """Does the row judge a figure or words of the paper?  The others are checks of our own."""
    return rule.get("published", "not told") != "not told"


def count(experiments, modules, rules, absent):
    """By paper: claims, which are rows with a bound that tell of the paper, and those that are absent; and checks of our own that were run."""
    papers = {}
    def add(paper, kind):
        papers.setdefault(paper, dict.fromkeys(COUNTED + OWN, 0))[kind] += 1
    for module in modules:
        kept = {row["figure"]: row for row in experiments.get(module.NAME, {}).get("rows", [])}
        for figure, rule in rules[module.NAME].items():
            if not set(rule) & set(verdict.BOUNDS):
                continue
            kind = kept.get(figure, {}).get("verdict", "not run")
            if is_claim(rule):
                add(module.PAPER, {"failed": "miss", "info": "not run"}.get(kind, kind))
            elif kind not in ("not run", "info"):
                add(module.PAPER, "own")
                if kind in ("pass", "observed"):
                    add(module.PAPER, "own kept")
    for claim in absent:
        add(claim["paper"], "absent")
    return papers


def counts_table(papers):
    total = {kind: sum(one[kind] for one in papers.values()) for kind in COUNTED + OWN}
    lines = [(page.PAPERS[key][0], one) for key, one in papers.items()] + [("all", total)]
    def cells(one):
        counts = [one[kind] for kind in COUNTED]
        return [*(str(x) for x in (sum(counts), *counts)), f"{one['own kept']} of {one['own']}"]
    return {"head": HEAD, "rows": [[name, *cells(one)] for name, one in lines]}


def experiment_parts(name, kept):
    at = kept["measured"]
    parts = [{"text": [f"## {kept['title']}", "", f"{kept['paper']}, {kept['shown']}; `study/reproduce.py {name}`, measured on {at['date']} at commit "
                       f"{at['commit']}."]}]
    parts.append({"head": ["figure", "paper", "here", "bound", "basis", "verdict"], "rows": [
        [row["quantity"], row["paper"], row["here"], row["bound"], row["basis"], page.WORD[row["verdict"]]] for row in kept["rows"]]})
    reasons = [f"* {row['quantity']}: {row['known']}." for row in kept["rows"] if row["verdict"] == "known"]
    return parts + ([{"text": ["Known misses:", "", *reasons]}] if reasons else [])


def judged_anew(row, rule):
    """A kept row by the bound that stands; None where that cannot be told."""
    now = dict(rule, figure=row["figure"], value=row.get("value"), bound=verdict.bound_text(rule))
    if row.get("value") is None:
        same = row["bound"].startswith(now["bound"]) and row["basis"] == rule.get("basis", "")
        return dict(row, known=rule.get("known", "")) if same else None
    return kept_row(dict(now, verdict=verdict.judge(rule, row["value"], False)))


def write(experiments, modules, rules, measured):
    absent = verdict.load_absent()
    for module in modules:
        if entry := experiments.get(module.NAME):
            kept = {row["figure"]: row for row in entry["rows"]}
            anew = [judged_anew(kept[figure], rule) for figure, rule in rules[module.NAME].items() if figure in kept]
            entry["rows"] = [row for row in anew if row]
    parts = [{"text": ["Claims are the rows with a bound that judge a figure or words of the paper, and what the papers claim and nothing here measures.",
                       "*Observed* rows keep a bound that was set after a look, and are counted apart; *not run* rows have no record yet. Rows without",
                       "a figure or words of a paper are checks of our own: no claims."]},
             counts_table(count(experiments, modules, rules, absent))]
    for module in modules:
        if module.NAME in experiments:
            parts += experiment_parts(module.NAME, experiments[module.NAME])
    parts += [{"text": ["## Absent"]}, {"head": ["paper", "where", "claim", "reason"], "rows": [
        [page.PAPERS[one["paper"]][0], one["where"], one["claim"], one["why"]] for one in absent]}]
    written = {"title": "The papers' experiments", "command": "study/reproduce.py --record; tools/results", "measured": measured, "parts": parts,
               "experiments": experiments}
    PATH.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load():
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {"experiments": {}, "measured": where()}


def keep(done, modules, rules, measured=None):
    """The new figures in place of the old ones of the same experiments; `measured`: when and where, if not now and here."""
    experiments, here = load()["experiments"], measured or where()
    for entry in done:
        module = entry["module"]
        experiments[entry["name"]] = {"title": module.TITLE, "paper": page.PAPERS[module.PAPER][0], "shown": module.SHOWN, "measured": here,
                                      "rows": [kept_row(row) for row in entry["rows"]]}
    write(experiments, modules, rules, here)


def recount(modules, rules):
    """The kept figures by the bounds that stand, without a run."""
    old = load()
    write(old["experiments"], modules, rules, old["measured"])
