"""Bytes and time of worlds by their size, for docs/scaling.md: python3 study/scaling.py

Each size runs in a process of its own: resident memory that further worlds add after five steps each, and processor
time to create one and to step one.
"""
import os
import subprocess
import sys
import time

import sim

SIZES = [("boxes", n) for n in (1, 4, 16, 64, 256)] + [("chain", n) for n in (4, 16, 64, 256)]


def boxes(n):
    """Boxes at rest on the ground, side by side: four contacts each."""
    shape = {"type": "box", "size": [0.2, 0.2, 0.2], "mass": 1}
    return [{"name": "ground", "shapes": [{"type": "half_space"}]}] + [
        {"name": f"box{k}", "joint": {"type": "free"}, "pose": {"position": [0.5 * (k % 16), 0.5 * (k // 16), 0.0999]},
         "shapes": [shape]} for k in range(n)]


def chain(n):
    """A hanging chain of hinges, without contacts."""
    inertia = {"mass": 0.2, "com": [0.1, 0, 0], "moments": [1e-4, 1e-3, 1e-3]}
    return [{"name": f"link{k}", "joint": {"type": "hinge", "axis": [0, 1, 0]}, "inertia": inertia,
             "pose": {"position": [0.2 if k else 0, 0, 0]}, **({"parent": f"link{k - 1}"} if k else {})} for k in range(n)]


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure(kind, n):
    scene = sim.load({"sim": 1, "world": {"step": 0.002}, "bodies": {"boxes": boxes, "chain": chain}[kind](n)})
    first = sim.World(scene)
    first.step(5)
    count, before, since = max(6, min(200, 1000 // n)), resident(), time.process_time()
    worlds = [sim.World(scene) for _ in range(count)]
    created = (time.process_time() - since) / count
    for world in worlds:
        world.step(5)
    added, steps, since = (resident() - before) / count, max(20, 2000 // n), time.process_time()
    first.step(steps)
    step = (time.process_time() - since) / steps
    print(f"| {kind} {n} | {scene.nv} | {3 * len(first.contacts)} | {added / 1024:.0f} | {1e6 * created:.0f} | {1e6 * step:.1f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure(sys.argv[1], int(sys.argv[2]))
    else:
        print("| scene | dofs | rows | kB a world | us to create | us a step |\n|---|---|---|---|---|---|", flush=True)
        for size in SIZES:
            subprocess.run([sys.executable, __file__, size[0], str(size[1])], check=True)
