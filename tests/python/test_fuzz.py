"""Every function, method and attribute with arguments at random: a Python exception or a result, never a crash."""
import random

import numpy as np
import pytest

import sim

SCENES = ["scenes/articulated/sensors.json", "scenes/contact/cards.json", "scenes/articulated/arm.json"]


class Odd:
    """Raises wherever Python asks it for something."""

    def __float__(self):
        raise RuntimeError("float")

    def __index__(self):
        raise RuntimeError("index")

    def __len__(self):
        raise RuntimeError("len")

    def __getitem__(self, key):
        raise RuntimeError("item")

    def __bool__(self):
        raise RuntimeError("bool")

    def __fspath__(self):
        raise RuntimeError("path")

    def __hash__(self):
        raise RuntimeError("hash")


def values(world):
    return [None, 0, 1, -1, 2, 7, 2**31, 2**63, -2**70, 0.5, -1e300, float("inf"), float("nan"), "", "a", "\ud800", "x\0y",
            b"", b"abc", (), [], [1, 2, 3], {}, {"a": 1}, {1: 2}, {"tolerance": 1e-3}, set(), np.zeros(0), np.zeros(3),
            np.zeros((3, 3)), np.zeros(world.nq), np.ones(world.nv), np.array(["a"]), np.array([1 + 2j]), np.array(None),
            np.zeros(3, dtype="f4")[::-1], True, object(), Odd(), world, world.scene, world.state, world.q, sim, sim.World,
            sim.State, lambda: 0, *world.bodies[:2], *world.sites[:1], *world.joints[-1:], *sim.solvers()]


def attempt(call):
    try:
        return call()
    except (Exception, SystemError) as error:
        assert not isinstance(error, SystemError), error
        return None


@pytest.mark.parametrize("seed", range(4))
def test_no_argument_crashes_a_method(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dice = random.Random(seed)
    root = __file__.rsplit("/tests/", 1)[0]
    world = sim.World(f"{root}/{SCENES[seed % len(SCENES)]}")
    start = world.state
    choices = values(world)
    functions = [getattr(sim, n) for n in sim.__all__ if callable(getattr(sim, n))]
    keywords = ["n", "keyframe", "scene", "data", "solver", "dt", "text", "source", "set", "seed", "q", "v", "body", "point", "every"]
    small = [0, 1, 3]  # numbers of steps: the great ones take all day
    for _ in range(1500):
        target = dice.choice([world, start, world.scene])
        names = [n for n in dir(target) if n not in ("__class__", "__init__", "__new__", "__init_subclass__")]
        name = dice.choice(names)
        method = attempt(lambda: getattr(target, name))
        kind = dice.random()
        if kind < 0.3 and not name.startswith("_"):
            value = dice.choice(choices)
            attempt(lambda: setattr(target, name, value))
        elif kind < 0.8 and callable(method):
            pool = small if name == "step" else choices
            args = [dice.choice(pool) for _ in range(dice.randrange(4))]
            options = {dice.choice(keywords): dice.choice(pool) for _ in range(dice.randrange(3))}
            attempt(lambda: method(*args, **options))
        else:
            function = dice.choice(functions)
            args = [dice.choice(choices) for _ in range(dice.randrange(3))]
            options = {dice.choice(keywords): dice.choice(small) for _ in range(dice.randrange(2))}
            attempt(lambda: function(*args, **options))
    world.state = start
    world.applied = 0
    world.step()
    assert world.steps == start.step + 1
