"""Parts that the studies share: options, the program `sim` and the programs of bench/, growth, ratios of times, profiles."""
import functools
import math
import os
import re
import shlex
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tools"))
from command_line import Options  # noqa: E402,F401

MAX_RATIO = 1000  # times the fastest, at the right edge of a profile


@functools.lru_cache(maxsize=None)
def program():
    """The path in SIM_PROGRAM, or the program of build/bench, built if need be together with those of bench/."""
    named = os.environ.get("SIM_PROGRAM")
    if named:
        if not os.access(named, os.X_OK):
            sys.exit(f"study: SIM_PROGRAM={named} is no program")
        return os.path.abspath(named)
    script = (f"self=study root={shlex.quote(ROOT)}; . \"$root/tools/common.sh\"; install_packages run; "
              "configure \"$root/build/bench\" -Dnative=true -Dtests=disabled -Dbenchmarks=true && { "
              "ninja -C \"$root/build/bench\" -n | grep -q 'no work to do' || { say 'building'; ninja --quiet -C \"$root/build/bench\" >&2; }; }")
    if subprocess.run(["sh", "-c", script], stdout=subprocess.DEVNULL, check=False).returncode:
        sys.exit("study: the program could not be built")
    return os.path.join(ROOT, "build", "bench", "src", "app", "sim")


def bench_program(name, sim=None):
    """A program of bench/: in the folder SIM_BENCH, or in the build of the program `sim`."""
    folder = os.environ.get("SIM_BENCH") or os.path.join(os.path.dirname(os.path.realpath(sim or program())), "..", "..", "bench")
    path = os.path.join(os.path.abspath(folder), name)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} is missing: a build with -Dbenchmarks=true has it")
    return path


def printed(*arguments):
    """Standard output of the program.  If it fails, it has printed the reason, and this process ends with its status."""
    done = subprocess.run([program(), *map(str, arguments)], stdout=subprocess.PIPE, text=True)  # its progress is seen
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def solvers_named(parser, texts):
    """Solvers with their options, as the program's --solver takes them: a comma before OPTION= continues the same solver."""
    named = [name for text in texts for name in re.split(r",(?![^:,=]*=)", text) if name]
    for name in named:
        done = subprocess.run([program(), "solve", "", "--solver", name], capture_output=True, text=True)
        if done.returncode == 2:  # a solver that it knows makes it look for the file, which does not exist
            parser.error(done.stderr.strip().removeprefix("sim: error: "))
    return list(dict.fromkeys(named))


def name_and_options(solver):
    """Name and given options of pgs:max_iterations=100,tolerance=1e-6."""
    name, *settings = re.split("[:,]", solver)
    return name, dict(setting.split("=", 1) for setting in settings)


def standard_error(values):
    """Of their mean."""
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf


def t_value(differences):
    """Their mean over its standard error; 0 where all are zero."""
    error = standard_error(differences)
    return statistics.mean(differences) / error if error > 0 else 0.0


def digits(x):
    """-log10; 17 at rounding."""
    return -math.log10(max(x, 1e-17))


def exponent(points):
    """The e of y ~ x^e: the slope of the logarithms of (x, y)."""
    return statistics.linear_regression(*zip(*((math.log(x), math.log(y)) for x, y in points))).slope


def ratio(time, least):
    """Times the fastest; infinite where it, or every solver, left the problem unsolved."""
    if math.isinf(time) or math.isinf(least):
        return math.inf
    if time <= 0 and least <= 0:
        return 1.0
    return time / least if least > 0 else math.inf


def profile(ratios, most=MAX_RATIO):
    """(tau, share) of those solved within tau times the fastest (Dolan, More 2002), as a staircase up to the right edge."""
    points = [(1, 0)] + [(max(r, 1), (k + 1) / len(ratios)) for k, r in enumerate(sorted(ratios)) if r <= most]
    return points + [(most, points[-1][1])]
