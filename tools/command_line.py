"""Parts that the Python tools share: the options of a command, the program `sim`."""
import argparse
import functools
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Options(argparse.ArgumentParser):
    """Options of a command whose own text, which begins with its name, is its help.  An error is one sentence, status 2."""

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
    """The path in SIM_PROGRAM, or the program of tools/run, built if need be."""
    named = os.environ.get("SIM_PROGRAM")
    if named:
        return named
    subprocess.run([os.path.join(ROOT, "tools", "run"), "--version"], check=True, stdout=subprocess.DEVNULL)
    return os.path.join(ROOT, "build", "release", "src", "app", "sim")
