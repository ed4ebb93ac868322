"""Sweeps on executors: the bytes of the program whatever ran them, and nothing lost with a worker."""
import concurrent.futures
import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest

import sim

SIM = os.path.abspath(os.environ["SIM_PROGRAM"])
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3"]


def boxes(folder, duration=0.05, count=12):
    scene = {"sim": 1, "world": {"step": 0.005, "duration": duration}, "materials": [{"name": "wood"}],
             "bodies": [{"name": "floor", "shapes": [{"type": "half_space", "material": "wood"}]},
                        {"name": "box", "joint": "free", "pose": {"position": [0, 0, 0.12]}, "v": [0, 0, 0, 1, 0, 0],
                         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "mass": 1, "material": "wood"}]}]}
    plan = {"sweep": 1, "scene": "boxes.json", "signals": ["box.pose.x"],
            "inputs": [{"set": ["materials/wood/friction"], "values": [k / 10 for k in range(count - 1)] + [-1]},
                       {"set": ["world/solver"], "values": ["sap", "pgs"]}]}
    (folder / "boxes.json").write_text(json.dumps(scene))
    (folder / "sweep.json").write_text(json.dumps(plan))
    return folder / "sweep.json"


def bytes_of_the_program(folder):
    subprocess.run([SIM, "sweep", "sweep.json", "--out", "program.csv", "--jobs", "1", "-q"], cwd=folder, check=True)
    return (folder / "program.csv").read_bytes()


@pytest.fixture
def plan(tmp_path):
    return boxes(tmp_path)


@pytest.mark.parametrize("chunk", [1, 5])
def test_every_executor_gives_the_bytes_of_the_program(plan, chunk):
    expected = bytes_of_the_program(plan.parent)
    executors = {"own": None, "thread": concurrent.futures.ThreadPoolExecutor(3),
                 "process": concurrent.futures.ProcessPoolExecutor(2)}
    for name, executor in executors.items():
        out = plan.parent / f"{name}.csv"
        with executor or contextlib.nullcontext():
            assert sim.sweep(plan, out, executor, chunk=chunk, progress=False) == 2
        assert out.read_bytes() == expected, name
    assert sorted(p.name for p in plan.parent.iterdir()) == sorted(
        ["boxes.json", "sweep.json", "program.csv", *(f"{n}.csv" for n in executors)])


def test_a_dict_is_a_sweep_and_sweeps_are_pickled(plan):
    sweep = sim.load_sweep(json.loads(plan.read_text()), folder=plan.parent)
    assert (sweep.runs, sweep.columns[:3], sweep.groups[1]) == (24, ("run", "friction", "solver"), "inputs")
    again = pickle.loads(pickle.dumps(sweep))
    assert again.hash == sweep.hash and again.run(3) == sweep.run(3)
    assert sweep.run(23).startswith('23,-1,pgs,refused,"--set materials/wood/friction=-1: error: ')
    (plan.parent / "boxes.json").write_text((plan.parent / "boxes.json").read_text().replace("0.12", "0.13"))
    kept = pickle.dumps(sweep)
    sim._sweep._load_again.cache_clear()
    with pytest.raises(sim.Error, match="another one here"):
        pickle.loads(kept)


def test_errors_have_their_place(plan):
    with pytest.raises(sim.SceneError) as caught:
        sim.load_sweep({"sweep": 1, "scene": "boxes.json", "inputs": [{"set": ["world/stop"], "values": [1]}]}, plan.parent)
    assert caught.value.path == "/inputs/0" and "stop" in str(caught.value)
    with pytest.raises(sim.InputError):
        sim.load_sweep(plan).run(24)
    with pytest.raises(sim.InputError):
        sim.sweep(plan, plan.parent / "rows.txt")
    with pytest.raises(TypeError):
        sim.sweep(plan, plan.parent / "rows.csv", executor=3)


def kill_when(out, rows, victim):
    """Kills a process of that number or function once so many rows are there."""
    def wait():
        part = out.with_name(out.name + ".part")
        for _ in range(3000):
            if part.exists() and part.read_bytes().count(b"\n") > rows:
                with contextlib.suppress(ProcessLookupError, IndexError):
                    os.kill(victim() if callable(victim) else victim, signal.SIGKILL)
                return
            time.sleep(0.01)
    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def own_children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return [int(word) for word in file.read().split()]


def test_a_worker_that_is_killed_loses_nothing(tmp_path):
    plan, out = boxes(tmp_path, duration=10), tmp_path / "own.csv"
    expected = bytes_of_the_program(tmp_path)
    killer = kill_when(out, 4, lambda: own_children()[-1])
    assert sim.sweep(plan, out, jobs=2, progress=False) == 2
    killer.join()
    assert out.read_bytes() == expected


def test_the_same_call_goes_on_where_an_executor_broke(tmp_path):
    plan, out = boxes(tmp_path, duration=10), tmp_path / "broken.csv"
    expected = bytes_of_the_program(tmp_path)
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        executor.submit(int).result()
        killer = kill_when(out, 4, lambda: own_children()[-1])
        with pytest.raises(sim.Error, match="the same call goes on from there"):
            sim.sweep(plan, out, executor, progress=False)
    killer.join()
    kept = out.with_name("broken.csv.part").read_bytes()
    assert kept.count(b"\n") > 4
    seen = []
    assert sim.sweep(plan, out, jobs=2, progress=lambda done, runs, failures: seen.append(done)) == 2
    assert seen[0] == kept.count(b"\n") - 1 and seen[-1] == 24 and out.read_bytes() == expected


@contextlib.contextmanager
def dask_cluster(folder, workers):
    """A scheduler and workers, processes of their own, on loopback; their numbers of process with the address."""
    processes = []
    log = open(folder / "dask.log", "w")
    try:
        address = "tcp://127.0.0.1:18786"
        for words in (["scheduler", "--host", "127.0.0.1", "--port", "18786", "--no-dashboard"],
                      *[["worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]] * workers):
            name = {"scheduler": "dask_scheduler", "worker": "dask_worker"}[words[0]]
            processes.append(subprocess.Popen([sys.executable, "-m", f"distributed.cli.{name}", *words[1:]], cwd=folder,
                                              stdout=log, stderr=log))
        yield address, [p.pid for p in processes]
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()
        log.close()


def test_dask_gives_the_same_bytes_and_survives_a_worker(tmp_path):
    distributed = pytest.importorskip("distributed", reason="no Dask: install python3-distributed")
    plan = boxes(tmp_path, duration=5)
    expected = bytes_of_the_program(tmp_path)
    with dask_cluster(tmp_path, 2) as (address, pids), distributed.Client(address, timeout=200) as client:
        client.wait_for_workers(2, timeout=200)
        assert sim.sweep(plan, tmp_path / "dask.csv", client, chunk=2, progress=False) == 2
        assert (tmp_path / "dask.csv").read_bytes() == expected
        out = tmp_path / "killed.csv"
        killer = kill_when(out, 4, pids[1])
        assert sim.sweep(plan, out, client, progress=False) == 2
        killer.join()
        assert len(client.scheduler_info()["workers"]) == 1 and out.read_bytes() == expected


SCRIPT = """
import sys
import sim
from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor
if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        print(MPI.COMM_WORLD.size, sim.sweep("sweep.json", "mpi.csv", executor, progress=False))
"""


def test_mpi_gives_the_same_bytes(plan):
    pytest.importorskip("mpi4py", reason="no MPI: install python3-mpi4py")
    (plan.parent / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    done = subprocess.run([*MPIRUN, sys.executable, "-m", "mpi4py.futures", "script.py"], cwd=plan.parent, timeout=200,
                          capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stdout.split() == ["3", "2"], done.stdout + done.stderr
    assert (plan.parent / "mpi.csv").read_bytes() == bytes_of_the_program(plan.parent)
