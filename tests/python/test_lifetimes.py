"""Objects that outlive each other; memory over many worlds."""
import ctypes
import gc
import sys
import weakref

import numpy as np
import pytest

import sim

SCENE = "scenes/articulated/arm.json"


def arrays_of(world):
    return [world.q, world.v, world.sensor_values, world.ctrl, world.targets, world.rates, world.feedforward,
            world.applied, world.wrenches, world.efforts, world.momentum, world.state.q, *world.sensors.values()]


def test_arrays_outlive_their_world():
    world = sim.World("scenes/articulated/sensors.json")
    world.step(3)
    arrays = arrays_of(world)
    values = [a.copy() for a in arrays]
    del world
    gc.collect()
    junk = [np.full(1000, np.pi) for _ in range(100)]
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(arrays, values)) and junk
    for a in arrays:
        if a.flags.writeable:
            a[:] = 1


def test_an_array_of_inputs_keeps_its_world_and_q_does_not():
    world = sim.World(SCENE)
    seen = weakref.ref(world)
    ctrl, q = world.ctrl, world.q
    del world
    gc.collect()
    assert seen() is not None and ctrl.base is seen()
    del ctrl
    gc.collect()
    assert seen() is None and np.isfinite(q).all()


def test_a_world_keeps_its_scene():
    scene = sim.load(SCENE)
    world = sim.World(scene)
    del scene
    gc.collect()
    world.step(3)
    assert world.scene.nv == world.nv


def test_arrays_of_a_world_cannot_lose_their_memory():
    world = sim.World(SCENE)
    for array in (world.q, world.ctrl, world.applied):
        with pytest.raises(ValueError):
            array.resize(1000, refcheck=False)
    q = world.q
    q.shape = (q.size, 1)
    world.step()
    assert world.q.shape == (world.nq,) and np.array_equal(world.q, q[:, 0])


def test_references_are_counted():
    world = sim.World("scenes/articulated/sensors.json")
    names = [n for n in dir(world) if not n.startswith("_") and not callable(getattr(world, n))]
    scene_names = [n for n in dir(world.scene) if not n.startswith("_")]
    watched = [world, world.scene, world.bodies, world.sensors, None, sim.State, sim.World]

    def touch():
        for _ in range(200):
            for name in names:
                getattr(world, name)
            for name in scene_names:
                getattr(world.scene, name)
            world.state = world.state
            world.q = world.q
            world.ctrl = 0.0
            world.step()
            world.reset()
            repr(world), repr(world.state), repr(world.scene)

    touch()
    gc.collect()
    before = [sys.getrefcount(o) for o in watched]
    touch()
    gc.collect()
    after = [sys.getrefcount(o) for o in watched]
    assert all(abs(a - b) < 50 for a, b in zip(after, before)), (before, after)


class Mallinfo(ctypes.Structure):
    """struct mallinfo2 of the C library, byte counts over the arenas of all threads."""
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
                                                     "fsmblks", "uordblks", "fordblks", "keepcost")]


def kilobytes():
    """Memory that is allocated and not freed. The resident set would also count pages that the allocator keeps."""
    gc.collect()
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = Mallinfo
    info = mallinfo2()
    return (info.uordblks + info.hblkhd) / 1024


def test_ten_thousand_worlds_leak_nothing():
    scene = sim.load(SCENE)

    def make(count):
        for _ in range(count):
            world = sim.World(scene)
            world.q[0] = 0.1
            world.step()
            world.state = world.state

    make(2000)
    before = kilobytes()
    make(10000)
    assert kilobytes() - before < 500  # 50 bytes a world


def test_failures_leak_nothing():
    world = sim.World(SCENE)
    other = sim.World("scenes/basic/pendulum.json").state

    def fail(count):
        for _ in range(count):
            for call in (lambda: sim.load({"sim": 1, "bodys": [{"a": list(range(100))}]}),
                         lambda: sim.World(SCENE, solver="none"), lambda: setattr(world, "state", other),
                         lambda: setattr(world, "q", [1, 2]), lambda: setattr(world, "ctrl", "x"),
                         lambda: world.reset("none"), lambda: world.step(-1), lambda: sim.State(b"x" * 1000)):
                with pytest.raises((sim.Error, ValueError, TypeError)):
                    call()

    fail(150)
    before = kilobytes()
    fail(600)
    assert kilobytes() - before < 60  # 0.1 KB a round of eight failures


def test_problems_rollouts_recordings_and_kinematics_leak_nothing(tmp_path):
    world = sim.World("scenes/contact/cards.json")
    world.step(5)
    panda = sim.World("scenes/robots/panda.json")

    def use(count):
        for k in range(count):
            problem = world.problem()
            problem.A, problem.J, problem.constraints, problem.kinds, problem.gap, problem.regularise("near-rigid")
            sim.solve(problem, "pgs", max_iterations=2)
            world.contacts, world.collide(), world.state, world.info, world.certificate
            sim.rollout(world.scene, [world.state] * 3, steps=2, threads=2)
            panda.joint("link1"), panda.jacobian(site="tool"), panda.mass_matrix(), panda.bias(), panda.wrenches
            panda.inverse_kinematics({"tool": [0.5, 0.1, 0.3]}, starts=1, max_iterations=5)
            panda.push("link7", [1, 2, 3])
            panda.reset()  # no use meets more contacts than the first
            with panda.record(tmp_path / "a.csv", every=1):
                panda.step()
            for call in (lambda: world.joint("none"), lambda: sim.solve(problem, "none"), lambda: panda.record("a.txt"),
                         lambda: panda.inverse_kinematics({"tool": 1}), lambda: sim.rollout(world.scene, [3], steps=1)):
                with pytest.raises((sim.Error, ValueError, TypeError)):
                    call()

    use(10)
    before = kilobytes()
    use(60)
    assert kilobytes() - before < 60  # 1 KB a use; a problem holds more
