"""What the programs beside this file share: options, the program `sim`, growth, ratios of times, profiles."""
import argparse
import functools
import math
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST = 1000  # times the fastest, at the right edge of a profile


class Options(argparse.ArgumentParser):
    """Those of a program whose own text, which begins with its name, is its help.  What is wrong is one sentence, status 2."""

    def __init__(self, text):
        super().__init__(prog=text.split()[0].rstrip(":"), add_help=False, allow_abbrev=False)
        self.text = text
        self.add_argument("-h", "--help", action="help")

    def format_help(self):
        return self.text.strip() + "\n"

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


@functools.lru_cache(maxsize=None)
def program():
    """That of SIM_PROGRAM, or the one of tools/run, built if need be."""
    named = os.environ.get("SIM_PROGRAM")
    if named:
        return named
    subprocess.run([os.path.join(ROOT, "tools", "run"), "--version"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(ROOT, "build", "release", "src", "app", "sim")


def printed(*arguments):
    """What the program prints for this.  If it fails it has said why, and so ends who asked."""
    done = subprocess.run([program(), *map(str, arguments)], stdout=subprocess.PIPE, text=True)  # its progress is seen
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def solvers_named(parser, texts):
    """Solvers with their options, as the program's --solver has them: a comma before OPTION= goes on with the same solver."""
    named = [name for text in texts for name in re.split(r",(?![^:,=]*=)", text) if name]
    for name in named:
        done = subprocess.run([program(), "solve", "", "--solver", name], capture_output=True, text=True)
        if done.returncode == 2:  # with words that it knows it looks for the file, which is none
            parser.error(done.stderr.strip().removeprefix("sim: error: "))
    return list(dict.fromkeys(named))


def name_and_options(solver):
    """Of pgs:max_iterations=100,tolerance=1e-6 the name, and the options that are given."""
    name, *settings = re.split("[:,]", solver)
    return name, dict(setting.split("=", 1) for setting in settings)


def digits(x):
    """-log10, of rounding 17."""
    return -math.log10(max(x, 1e-17))


def exponent(points):
    """y grows as x to the power of: the slope of the logarithms of (x, y)."""
    return statistics.linear_regression(*zip(*((math.log(x), math.log(y)) for x, y in points))).slope


def ratio(time, least):
    """Times the fastest; infinite where it, or nobody, has solved it."""
    if math.isinf(time) or math.isinf(least):
        return math.inf
    if time <= 0 and least <= 0:
        return 1.0
    return time / least if least > 0 else math.inf


def profile(ratios, most=MOST):
    """(tau, share) of those solved within tau times the fastest (Dolan, More 2002), as a staircase that ends at the right edge."""
    points = [(1, 0)] + [(max(r, 1), (k + 1) / len(ratios)) for k, r in enumerate(sorted(ratios)) if r <= most]
    return points + [(most, points[-1][1])]
