"""Runs a file of pytest, and says in TAP how each test went; a test's name is its sentence.

    tap.py FILE
"""
import contextlib
import io
import sys

import pytest


class Tap:
    def __init__(self):
        self.lines, self.count = [], 0

    def case(self, outcome, sentence):
        self.count += 1
        self.lines.append(f"{outcome} {self.count} - {sentence}")

    def pytest_runtest_logreport(self, report):
        sentence = report.nodeid.split("::", 1)[-1].removeprefix("test_").replace("_", " ")
        if report.skipped:
            self.case("ok", f"{sentence} # SKIP {report.longrepr[2]}")
        elif report.failed:
            self.case("not ok", f"{sentence} ({report.when})")
            self.say(report.longreprtext)
        elif report.when == "call":
            self.case("ok", sentence)

    def pytest_collectreport(self, report):
        if report.failed:
            self.case("not ok", f"{report.nodeid} is collected")
            self.say(str(report.longrepr))

    def say(self, text):
        self.lines += ["# " + line for line in text.splitlines()]


def main():
    tap = Tap()
    with contextlib.redirect_stdout(io.StringIO()):
        status = pytest.main(["-p", "no:cacheprovider", "--rootdir", ".", sys.argv[1]], plugins=[tap])
    print("\n".join(tap.lines))
    print(f"1..{tap.count}")
    sys.exit(status)


if __name__ == "__main__":  # processes that tests start import this file again
    main()
