"""Sweeps on executors: processes of this machine, Dask, MPI, or any other with the interface of concurrent.futures."""
import concurrent.futures
import functools
import json
import os
import sys
import time
from collections import deque

from . import _sim
from ._load import _plain

_WINDOW = 1000  # tasks that an executor has at a time


def load_sweep(sweep, folder="."):
    """A sweep from a file, or from a dict with the keys of docs/sweeps.md; names of files in a dict are relative to `folder`."""
    if isinstance(sweep, dict):
        return _sim._sweep(json.dumps(sweep, default=_plain), os.path.abspath(os.path.join(folder, "dict")))
    path = os.path.abspath(os.fspath(sweep))  # for workers in other folders
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise _sim.Error(f"{path}: {error}") from None
    return _sim._sweep(text, path)


@functools.lru_cache(maxsize=2)
def _load_again(text, path, hash):
    """In another process: the same sweep, with the same scene, of the same build."""
    sweep = _sim._sweep(text, path)
    if sweep.hash != hash:
        raise _sim.Error(f"{path}: the scene, or the build of sim, is another one here")
    return sweep


def _run_rows(text, path, hash, runs):
    sweep = _load_again(text, path, hash)
    return [sweep.run(run) for run in runs]


class _Progress:
    def __init__(self, shown):
        self.shown, self.started, self.next, self.before = shown, time.monotonic(), 0.0, None

    def __call__(self, rows, runs):
        now = time.monotonic()
        self.before = rows.count if self.before is None else self.before
        if callable(self.shown):
            self.shown(rows.count, runs, rows.failures)
        elif self.shown and sys.stderr.isatty() and now >= self.next:
            self.next = now + 0.1
            ran = rows.count - self.before
            left = f", {(now - self.started) / ran * (runs - rows.count):.0f} s left" if ran else ""
            print(f"\r{rows.count} of {runs} runs, {rows.failures} failed{left}   ", end="", file=sys.stderr, flush=True)

    def end(self):
        if self.shown and not callable(self.shown) and sys.stderr.isatty():
            print(file=sys.stderr)


class _Tasks:
    """Chunks of runs on an executor; those that fail go back, and fail twice at most."""

    def __init__(self, sweep, rows, chunk, progress):
        self.sweep, self.rows, self.progress = sweep, rows, progress
        self.recipe = (sweep.text, sweep.path, sweep.hash)
        missing = [run for run in range(sweep.runs) if not rows.has(run)]
        self.waiting = deque(missing[k:k + chunk] for k in range(0, len(missing), chunk))
        self.failed = {}

    def take(self, rows):
        for row in rows:
            self.rows.add(row)
        self.progress(self.rows, self.sweep.runs)

    def put_back(self, runs, why):
        """A chunk is tried again run by run; a run that fails twice alone has a row that says so."""
        for run in runs:
            self.failed[run] = self.failed.get(run, 0) + (len(runs) == 1)
            if self.failed[run] >= 2:
                self.take([self.sweep.without(run, f"its worker ended twice: {type(why).__name__} {why}".strip())])
            else:
                self.waiting.append([run])

    def work(self, executor, window):
        """Until nothing waits, or the executor breaks: then the chunks that it had, and why."""
        pending = {}
        broken = None
        while (self.waiting or pending) and not broken:
            while self.waiting and len(pending) < window and not broken:
                runs = self.waiting.popleft()
                try:
                    pending[executor.submit(_run_rows, *self.recipe, runs)] = runs
                except (concurrent.futures.BrokenExecutor, RuntimeError) as error:
                    self.waiting.appendleft(runs)
                    broken = error
            if pending:
                done, _ = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    runs = pending.pop(future)
                    try:
                        self.take(future.result())
                    except concurrent.futures.BrokenExecutor as error:
                        pending[future] = runs
                        broken = error
                        break
                    except (Exception, concurrent.futures.CancelledError) as error:
                        if isinstance(error, _sim.Error):
                            raise
                        self.put_back(runs, error)
        return list(pending.values()), broken


def _processes(jobs):
    return concurrent.futures.ProcessPoolExecutor(jobs)


def _work_here(tasks, jobs):
    """On processes of our own. A pool that breaks is replaced; the runs that it had are run one at a time, each alone in a
    pool, so that the guilty one is found."""
    while tasks.waiting:
        with _processes(jobs) as pool:
            had, broken = tasks.work(pool, 2 * jobs)
        for run in [run for runs in had for run in runs]:
            if tasks.rows.has(run):
                continue
            with _processes(1) as pool:
                try:
                    tasks.take(pool.submit(_run_rows, *tasks.recipe, [run]).result())
                except concurrent.futures.BrokenExecutor as error:
                    tasks.failed[run] = 1
                    tasks.put_back([run], error)


def sweep(sweep, out, executor=None, *, jobs=None, chunk=1, progress=True):
    """Run a scene many times with values of its own each time, and write a row a run, as `sim sweep` does.

    sweep     a file, a dict with its keys, or a Sweep (docs/sweeps.md)
    out       file of the rows: .h5 or .csv; until all are there they stand in `out`.part, and the same call goes on there
    executor  runs the runs: any of concurrent.futures, a Client of Dask, an MPIPoolExecutor of mpi4py; None: processes
    jobs      processes, without an executor; None: as many as there are processors
    chunk     runs of a task: more for short runs on many machines
    progress  a line on a terminal; or a function of done, runs, failures

    The file has the same bytes whatever ran it. Returns the number of runs that did not finish.
    """
    if chunk < 1 or (jobs is not None and jobs < 1):
        raise _sim.InputError("chunk and jobs are 1 or more")
    plan = sweep if isinstance(sweep, _sim.Sweep) else load_sweep(sweep)
    if executor is not None and not hasattr(executor, "submit"):
        raise TypeError("an executor has a method submit")
    if hasattr(executor, "get_executor"):  # a Client of Dask
        executor = executor.get_executor(pure=False)
    rows = _sim._sweep_rows(plan, os.fspath(out))
    shown = _Progress(progress)
    try:
        tasks = _Tasks(plan, rows, chunk, shown)
        shown(rows, plan.runs)
        if executor is None:
            _work_here(tasks, jobs or os.cpu_count() or 1)
        else:
            _, broken = tasks.work(executor, _WINDOW)
            if broken:
                raise _sim.Error(f"the executor broke: {broken}; {rows.count} of {plan.runs} rows are kept, and the same call "
                                 "goes on from there") from broken
        rows.finish()
        return rows.failures
    finally:
        shown.end()
        rows.close()
