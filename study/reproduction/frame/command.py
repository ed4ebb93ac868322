"""The command: which experiments, in which order, and what becomes of one that fails."""
import importlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time
import traceback

from shared import Options, program

from . import page, progress, record, verdict
from .context import ROOT, Context, Failure

FOLDER = pathlib.Path(__file__).resolve().parent.parent
STUDIES = ("ablation", "league", "nonsmooth", "refinements")
NEEDED = ("NAME", "TITLE", "PAPER", "SHOWN", "ABOUT", "SECONDS", "ORDER", "run")


def die(text, status=3):
    print(f"study/reproduce.py: {text}", file=sys.stderr)
    sys.exit(status)


def experiments():
    """Every module of study/reproduction, and the studies with an experiment of their own, in the order of the page."""
    found = [importlib.import_module(f"reproduction.{path.stem}") for path in sorted(FOLDER.glob("[a-z]*.py"))]
    found += [importlib.import_module(name) for name in STUDIES]
    for module in found:
        missing = [name for name in NEEDED if not hasattr(module, name)]
        if missing or module.PAPER not in page.PAPERS:
            raise verdict.Mistake(f"{module.__name__}: no {missing[0] if missing else 'paper ' + module.PAPER}")
    return sorted(found, key=lambda module: (module.ORDER, module.NAME))


def arguments(words, usage):
    parser = Options(usage)
    parser.add_argument("names", nargs="*")
    for flag in ("--list", "--quick", "--quiet", "--record", "--recount"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--json")
    parser.add_argument("--also", default="")
    return parser.parse_args(words)


def perform(module, rules, context):
    """The experiment as the page shows it; whatever goes wrong in it is part of that."""
    begun, failure = time.monotonic(), None
    try:
        module.run(context)
    except Failure as why:
        failure = str(why)
    except Exception as why:  # pylint: disable=broad-except
        place = traceback.extract_tb(why.__traceback__)[-1]
        failure = f"{type(why).__name__}: {why} ({os.path.basename(place.filename)}, line {place.lineno})"
    rows = verdict.rows(rules, {k: v for k, v in context.figures.items() if k in rules}, context.quick)
    if extra := sorted(set(context.figures) - set(rules)):
        failure = failure or f"no bound in {verdict.PATH.name} for: {', '.join(extra)}"
    if not failure and any(row["verdict"] == "failed" for row in rows):
        failure = "not told: " + ", ".join(row["figure"] for row in rows if row["verdict"] == "failed")
    counts = {kind: sum(row["verdict"] == kind for row in rows) for kind in verdict.KINDS}
    return {"name": module.NAME, "module": module, "rows": rows, "counts": counts, "failure": failure, "blocks": context.blocks,
            "commands": context.commands, "seconds": time.monotonic() - begun,
            "bad": bool(failure) or counts["miss"] + counts["failed"] > 0}


def said(done):
    words = [f"{count} {kind}" for kind, count in done["counts"].items() if count]
    return ("FAILED, " if done["failure"] else "") + (", ".join(words) or "no figures")


def versions(sim):
    told = subprocess.run([sim, "--version"], capture_output=True, text=True, check=True).stdout
    return told.strip().splitlines()


def rules_version():
    """Of the file with the bounds: the commit that wrote it last, and whether it was changed since."""
    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words, "--", str(verdict.PATH)], capture_output=True, text=True, check=False)
    log = git("log", "-1", "--format=%h of %cs").stdout.strip()
    if not log:
        return None
    return log + (", changed since" if git("diff", "--quiet", "HEAD").returncode else "")


def chosen(modules, names):
    known = [module.NAME for module in modules]
    for name in names:
        if name not in known:
            die(f"no experiment {name}; there are: {', '.join(known)}", 2)
    return [module for module in modules if not names or module.NAME in names]


def main(words, usage):
    options = arguments(words, usage)
    try:
        modules, rules = experiments(), verdict.load()
    except (verdict.Mistake, ValueError) as why:
        die(why, 2)
    if options.list:
        for module in modules:
            print(f"{module.NAME:20} {module.TITLE} ({page.PAPERS[module.PAPER][0]}, {module.SHOWN}); "
                  f"{module.SECONDS[1]:.0f} s, quick {module.SECONDS[0]:.0f} s")
        return 0
    if options.recount:
        record.recount(modules, rules)
        return 0
    if options.record and (options.quick or options.also):
        die("--record takes a full run, without --quick and --also", 2)
    modules_all, modules = modules, chosen(modules, options.names)
    sim = program()
    out = pathlib.Path(options.out or ROOT / "build" / f"reproduction{'-quick' if options.quick else ''}.html")
    out.parent.mkdir(parents=True, exist_ok=True)
    shown = progress.Progress({module.NAME: module.SECONDS[0 if options.quick else 1] for module in modules}, not options.quiet)
    done = []
    begun = time.monotonic()
    for module in modules:
        shown.start(module.NAME)
        with tempfile.TemporaryDirectory() as folder:
            context = Context(sim, folder, options.quick, shlex.split(options.also), shown.at)
            done.append(perform(module, rules.get(module.NAME, {}), context))
        shown.finish(said(done[-1]))
    shown.end()
    facts = {"quick": options.quick, "also": options.also, "names": options.names, "versions": versions(sim), "rules": rules_version(),
             "seconds": time.monotonic() - begun, "date": time.strftime("%Y-%m-%d")}
    out.write_text(page.page(done, facts), encoding="utf-8")
    if options.json:
        told = [{key: entry[key] for key in ("name", "rows", "counts", "failure", "seconds", "commands")} for entry in done]
        pathlib.Path(options.json).write_text(json.dumps({"quick": options.quick, "experiments": told}, indent=1) + "\n", encoding="utf-8")
    if options.record:
        record.keep(done, modules_all, rules)
    total = {kind: sum(entry["counts"][kind] for entry in done) for kind in verdict.KINDS}
    for entry in done:
        if entry["failure"]:
            print(f"{entry['name']}: failed: {entry['failure'].splitlines()[0]}")
        for row in entry["rows"]:
            if row["verdict"] == "miss":
                print(f"{entry['name']}.{row['figure']}: {page.number(row['value'])}, asked {row['bound']}")
    print(f"{out}: " + ", ".join(f"{count} {kind}" for kind, count in total.items()))
    return 1 if any(entry["bad"] for entry in done) else 0
