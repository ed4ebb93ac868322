"""Does a figure keep its bound?  The bounds stand in ../verdicts.toml, each with where it comes from; claims without a figure in
../absent.toml."""
import math
import pathlib
import re
import tomllib

PATH = pathlib.Path(__file__).resolve().parent.parent / "verdicts.toml"
ABSENT = PATH.with_name("absent.toml")
KEYS = {"quantity", "unit", "published", "shown", "source", "near", "within", "most", "least", "equal", "quick", "known", "basis"}
BOUNDS = ("near", "within", "most", "least", "equal")
BASES = ("paper", "theory", "seeds", "observed")
KINDS = ("pass", "observed", "miss", "known", "info", "failed")


class Mistake(Exception):
    """Of those who write modules and bounds."""


def load(path=PATH):
    """Experiment -> figure -> rule."""
    with open(path, "rb") as file:
        rules = tomllib.load(file)
    for name, figures in rules.items():
        for figure, rule in figures.items():
            where = f"{path.name}: {name}.{figure}"
            if unknown := set(rule) - KEYS:
                raise Mistake(f"{where}: unknown key {sorted(unknown)[0]}")
            if missing := {"quantity", "source"} - set(rule):
                raise Mistake(f"{where}: no {sorted(missing)[0]}")
            bounds = set(rule) & set(BOUNDS)
            if len(bounds) > 1:
                raise Mistake(f"{where}: more than one bound")
            if bounds and rule.get("basis") not in BASES:
                raise Mistake(f"{where}: the basis of its bound must be one of {', '.join(BASES)}")
            if not bounds and (misplaced := {"basis", "known"} & set(rule)):
                raise Mistake(f"{where}: {sorted(misplaced)[0]} without a bound")
            if rule.get("quick", "info") not in ("info", "left out"):
                raise Mistake(f"{where}: quick is \"info\" or \"left out\"")
    return rules


def load_absent(path=ABSENT):
    """Claims of the papers that no experiment measures: paper, where, claim, why."""
    with open(path, "rb") as file:
        claims = tomllib.load(file)["claim"]
    for k, one in enumerate(claims, 1):
        if set(one) != {"paper", "where", "claim", "why"} or not all(one.values()):
            raise Mistake(f"{path.name}: claim {k} needs paper, where, claim and why")
    return claims


def bound_text(rule):
    def number(x):
        return re.sub(r"e([-+])0", r"e\1", f"{x:g}").replace("e+", "e")
    if "near" in rule:
        return f"{number(rule['near'][0])} ± {number(rule['near'][1])}"
    if "within" in rule:
        return f"{number(rule['within'][0])} to {number(rule['within'][1])}"
    if "most" in rule:
        return f"≤ {number(rule['most'])}"
    if "least" in rule:
        return f"≥ {number(rule['least'])}"
    if "equal" in rule:
        return f"= {rule['equal']}"
    return "–"


def keeps(rule, value):
    if "equal" in rule:
        return value == rule["equal"]
    if isinstance(value, str) or not math.isfinite(value):
        return False
    if "near" in rule:
        return abs(value - rule["near"][0]) <= rule["near"][1]
    if "within" in rule:
        return rule["within"][0] <= value <= rule["within"][1]
    return value <= rule["most"] if "most" in rule else value >= rule["least"]


def judge(rule, value, quick):
    """One of KINDS: failed where there is no value; observed where a bound holds that was set after a look."""
    if value is None:
        return "failed"
    if not set(rule) & set(BOUNDS) or quick and rule.get("quick") == "info":
        return "info"
    if keeps(rule, value):
        return "observed" if rule.get("basis") == "observed" else "pass"
    return "known" if "known" in rule else "miss"


def rows(rules, measured, quick):
    """One for each rule of an experiment, in the file's order; `measured` maps figures to values."""
    if extra := set(measured) - set(rules):
        raise Mistake(f"no bound for {sorted(extra)[0]} in {PATH.name}")
    return [dict(rule, figure=figure, value=measured.get(figure), bound=bound_text(rule),
                 verdict=judge(rule, measured.get(figure), quick))
            for figure, rule in rules.items() if not (quick and rule.get("quick") == "left out")]
