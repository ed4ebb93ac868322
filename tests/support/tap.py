"""Cases of a test program in Python, one after the other, as TAP."""
import inspect
import os
import random
import re
import resource
import sys
import tempfile


LONG_RUNS = "SIM_TEST_LONG" in os.environ  # tests/support/share.h


class LeaksNowAndThen:
    """To look for leaks takes the sanitized program half of its start: so the first start with each set of options looks for
    them, and of the others one in four, the same ones each time.  Hears of a start before the program has its environment;
    who hands over a copy of the present one decides for the next."""

    def __init__(self, options):
        self.options, self.seen, self.chance = options, set(), random.Random(1)

    def hear(self, event, details):
        if event == "subprocess.Popen":
            words = [os.fsdecode(word) for word in details[1]] if isinstance(details[1], (list, tuple)) else []
            named = tuple(sorted({word.partition("=")[0] for word in words[1:] if re.fullmatch("[a-z]+|--?[a-z].*", word)}))
            looks = self.chance.randrange(4) == 0 or named not in self.seen
            self.seen.add(named)
            os.environ["ASAN_OPTIONS"] = self.options + ("" if looks else ":detect_leaks=0")


if "detect_leaks=1" in os.environ.get("ASAN_OPTIONS", ""):
    sys.addaudithook(LeaksNowAndThen(os.environ["ASAN_OPTIONS"]).hear)


def long_run(case):
    """A case of long runs, or for those who name it."""
    case.long_run = True
    return case


def cases_of(program, word=""):
    """The functions of a program (its globals) that take nothing, and whose names hold the word."""
    return [value for name, value in list(program.items())
            if inspect.isfunction(value) and value.__module__ == "__main__" and word in name and name != "main"
            and value.__code__.co_argcount == 0 and value.__code__.co_flags & 4 == 0  # 4: takes *arguments
            and (LONG_RUNS or word or not hasattr(value, "long_run"))]


def processor_time():
    """Seconds, of this process and of those that it waited for."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def run(cases, folders=True, before=None):
    """The exit status.  Each case has a folder of its own, made ready by `before`, unless all share the present one; it may
    return why it was skipped.  Times are of processors.  Cases of a generator are counted in the end."""
    known = isinstance(cases, list)
    print(f"TAP version 13\n1..{len(cases)}" if known else "TAP version 13", flush=True)
    failed = number = 0
    for number, case in enumerate(cases, 1):
        word, more, began = "ok", "", processor_time()
        with tempfile.TemporaryDirectory() as folder:
            home = os.getcwd()
            if folders:
                os.chdir(folder)
            try:
                if before:
                    before()
                skip = case()
                more = f" # SKIP {skip}" if skip else ""
            except Exception as caught:  # one failure must not hide the others
                failed += 1
                said = f"{type(caught).__name__}: {str(caught)[:1500]}"
                word, more = "not ok", "".join(f"\n# {line}" for line in said.splitlines())
            os.chdir(home)
        of = "" if case.__module__ == "__main__" else f"{case.__module__}: "
        print(f"{word} {number} - {of}{case.__name__.replace('_', ' ')} ({processor_time() - began:.2f} s){more}", flush=True)
    if not known:
        print(f"1..{number}", flush=True)
    return int(failed > 0)


def part_of(usual):
    """A number of trials: the whole, or the share of SIM_TEST_SHARE percent (tests/support/share.h), at least one."""
    return max(1, int(usual * float(os.environ.get("SIM_TEST_SHARE", 100)) / 100))


def skip_without(program, name, needed):
    """Ends here if the program is not there; if it is needed, by failing."""
    if program:
        return
    if needed:
        print(f"TAP version 13\n1..1\nnot ok 1 - {name} is there # tools/check needs it (package {name.lower()})")
        sys.exit(1)
    print(f"TAP version 13\n1..0 # SKIP no {name}: tools/check installs one (package {name.lower()})")
    sys.exit(0)
