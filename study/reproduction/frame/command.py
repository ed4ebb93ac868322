"""The command: which experiments, in which order or side by side, and what becomes of one that fails."""
import importlib
import json
import multiprocessing
import multiprocessing.connection
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
from .context import ROOT, Context, Failure, Room

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
    parser.add_argument("--keep", metavar="FILE")
    parser.add_argument("--also", default="")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    options = parser.parse_args(words)
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    return options


def perform(module, rules, context):
    """The experiment as the page shows it; whatever goes wrong in it is part of that."""
    return judged(module, rules, context, *attempt(module, context))


def attempt(module, context):
    """(seconds, what went wrong)"""
    begun, failure = time.monotonic(), None
    try:
        module.run(context)
    except Failure as why:
        failure = str(why)
    except Exception as why:  # pylint: disable=broad-except
        place = traceback.extract_tb(why.__traceback__)[-1]
        failure = f"{type(why).__name__}: {why} ({os.path.basename(place.filename)}, line {place.lineno})"
    return time.monotonic() - begun, failure


def judged(module, rules, context, seconds, failure):
    rows = verdict.rows(rules, {k: v for k, v in context.figures.items() if k in rules}, context.quick)
    if extra := sorted(set(context.figures) - set(rules)):
        failure = failure or f"no bound in {verdict.PATH.name} for: {', '.join(extra)}"
    if not failure and any(row["verdict"] == "failed" for row in rows):
        failure = "not told: " + ", ".join(row["figure"] for row in rows if row["verdict"] == "failed")
    counts = {kind: sum(row["verdict"] == kind for row in rows) for kind in verdict.KINDS}
    return {"name": module.NAME, "module": module, "rows": rows, "counts": counts, "failure": failure, "blocks": context.blocks,
            "commands": context.commands, "seconds": seconds,
            "bad": bool(failure) or counts["miss"] + counts["failed"] > 0}


def in_process(module, perform_one, pipe):
    """Of an experiment in a process of its own: (True, outcome) is the last that it sends, (False, what it does) are those before."""
    done = perform_one(module, lambda part: pipe.send((False, part)))
    pipe.send((True, {key: value for key, value in done.items() if key != "module"}))


def side_by_side(modules, jobs, perform_one, shown, lost):
    """Outcomes as they come, the longest experiments first; `lost(module)`: of one whose process ended without any."""
    fork, running = multiprocessing.get_context("fork"), {}
    waiting = sorted(modules, key=lambda module: -module.SECONDS[1])
    while waiting or running:
        while waiting and len(running) < jobs:
            module, (ours, theirs) = waiting.pop(0), fork.Pipe(duplex=False)
            shown.start(module.NAME)
            fork.Process(target=in_process, args=(module, perform_one, theirs), daemon=True).start()
            theirs.close()
            running[ours] = module
        for pipe in multiprocessing.connection.wait(list(running)):
            module = running[pipe]
            try:
                ended, told = pipe.recv()
            except EOFError:
                ended, told = True, lost(module)
            if ended:
                del running[pipe]
                yield {**told, "module": module}
            else:
                shown.at(module.NAME, told)


def performed(modules, rules, options, sim, shown):
    """Outcomes as they come: one experiment after another in this process, or several at once."""
    def one(module, report, room=None):
        with tempfile.TemporaryDirectory() as folder:
            context = Context(sim, folder, options.quick, shlex.split(options.also), report, room)
            return perform(module, rules.get(module.NAME, {}), context)

    def lost(module):
        context = Context(sim, ".", options.quick)
        return judged(module, rules.get(module.NAME, {}), context, 0, "its process ended without a word")

    if options.jobs == 1:
        for module in modules:
            shown.start(module.NAME)
            yield one(module, lambda part, name=module.NAME: shown.at(name, part))
        return
    room = Room(options.jobs)
    yield from side_by_side(modules, options.jobs, lambda module, report: one(module, report, room), shown, lost)


def write_json(path, done, options):
    told = [{key: entry[key] for key in ("name", "rows", "counts", "failure", "seconds", "commands")} for entry in done]
    pathlib.Path(path).write_text(json.dumps({"quick": options.quick, "also": options.also, "measured": record.where(), "experiments": told}, indent=1) + "\n",
                                  encoding="utf-8")


def keep_file(path, modules, rules):
    """The figures of a file that --json wrote on another machine, as if --record had been given there."""
    try:
        told = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        if told["quick"] or told["also"]:
            die(f"{path}: of a run with --quick or --also", 2)
        named, entries = {module.NAME: module for module in modules}, told["experiments"]
        record.keep([{**entry, "module": named[entry["name"]]} for entry in entries], modules, rules, told["measured"])
    except (OSError, ValueError, KeyError) as why:
        die(f"{path}: {why}", 2)
    for entry in entries:
        if entry["failure"]:
            print(f"{entry['name']}: failed: {entry['failure'].splitlines()[0]}")


def said(done):
    words = [f"{count} {kind}" for kind, count in done["counts"].items() if count]
    return ("FAILED, " if done["failure"] else "") + (", ".join(words) or "no figures")


def versions(sim):
    told = subprocess.run([sim, "--version"], capture_output=True, text=True, check=True).stdout
    return told.strip().splitlines()


def rules_version():
    """Of the file with the bounds: the commit that wrote it last, and whether it was changed since."""
    log = record.git("log", "-1", "--format=%h of %cs", "--", str(verdict.PATH))[1]
    if not log:
        return None
    return log + (", changed since" if record.git("diff", "--quiet", "HEAD", "--", str(verdict.PATH))[0] else "")


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
    if options.keep:
        keep_file(options.keep, modules, rules)
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
    for entry in performed(modules, rules, options, sim, shown):
        done.append(entry)
        shown.finish(entry["name"], said(entry))
        if options.json:
            write_json(options.json, done, options)  # anew as each ends: a run that is cut leaves what it had
    shown.end()
    done.sort(key=lambda entry: modules.index(entry["module"]))
    facts = {"quick": options.quick, "also": options.also, "names": options.names, "versions": versions(sim), "rules": rules_version(),
             "seconds": time.monotonic() - begun, "date": time.strftime("%Y-%m-%d")}
    out.write_text(page.page(done, facts), encoding="utf-8")
    if options.json:
        write_json(options.json, done, options)
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
