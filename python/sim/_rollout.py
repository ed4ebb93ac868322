"""Many runs of one model, side by side."""
from typing import NamedTuple

import numpy as np

from . import _sim
from ._load import load


class Rollout(NamedTuple):
    """Paths of the runs of a rollout; records of a run after its failure are nan."""
    q: np.ndarray
    v: np.ndarray
    sensors: "np.ndarray | None"
    time: np.ndarray
    steps: np.ndarray
    failures: dict


Rollout.q.__doc__ = "Coordinates [runs, records, nq]."
Rollout.v.__doc__ = "Velocities [runs, records, nv]."
Rollout.sensors.__doc__ = "Readings of sensors [runs, records, ...], where they were asked for."
Rollout.time.__doc__ = "Time of the records after the start of a run [records], s."
Rollout.steps.__doc__ = "Steps that each run took [runs]."
Rollout.failures.__doc__ = "Why runs failed: a dict from the number of a run to the text."


def _shaped(value, name, shape):
    """An array of that shape, the same for all runs where the first dimension is missing."""
    array = np.asarray(value, dtype=float)
    try:
        return np.ascontiguousarray(np.broadcast_to(array, shape))
    except ValueError:
        raise _sim.InputError(f"{name} has the shape {array.shape}, and {shape} is expected") from None


def _count_runs(states, given):
    """Runs, by the first of the arguments that has one for each."""
    if states is not None:
        return len(states)
    for value, dimensions in given:
        if np.ndim(value) >= dimensions:
            return len(value)
    return 1


def rollout(scene, states=None, ctrl=None, steps=None, *, q=None, v=None, input="ctrl", hold=1, every=1, threads=1,
            sensors=False, **options):
    """Run many worlds of one scene on a pool of threads in C, with the bits of worlds stepped one by one.

    states   where the runs begin: a list of State (as world.state), or an array [runs, nq + nv]; None: the
             initial state of the scene, or with `q` [runs, nq] and `v` [runs, nv]
    ctrl     inputs of the actuators [runs, ceil(steps / hold), nactuator]; without the first dimension the same
             for all runs; nan: the scene's track
    steps    steps of a run; None: as many as `ctrl` has inputs for
    input    the input that `ctrl` is: "ctrl", "targets", "rates" or "feedforward"
    hold     steps for which an input stands
    every    steps between records
    threads  up to 64
    sensors  record the readings of sensors, too
    options  of each world, as sim.World has them

    Returns a Rollout. A run that fails is one of its `failures`. Ctrl-C ends all runs.
    """
    scene = scene if isinstance(scene, _sim.Scene) else load(scene)
    if states is not None and not isinstance(states, (list, tuple)):
        if q is not None or v is not None:
            raise TypeError("runs begin at states, or at q and v")
        states = np.atleast_2d(np.asarray(states, dtype=float))
        if states.shape[1:] != (scene.nq + scene.nv,):
            raise _sim.InputError(f"states has the shape {states.shape}, and (runs, {scene.nq + scene.nv}) is expected")
        q, v, states = states[:, :scene.nq], states[:, scene.nq:], None
    if steps is None:
        if ctrl is None:
            raise TypeError("steps or ctrl is expected")
        if np.ndim(ctrl) < 2:
            raise _sim.InputError(f"ctrl has the shape {np.shape(ctrl)}, and (controls, {scene.nactuator}), or one such for each run, "
                                  "is expected where steps are not given")
        steps = np.shape(ctrl)[-2] * hold
    runs = _count_runs(states, [(q, 2), (v, 2), (ctrl, 3)])
    controls = -(-steps // max(hold, 1))
    arrays = [None if value is None else _shaped(value, name, shape)
              for value, name, shape in ((q, "q", (runs, scene.nq)), (v, "v", (runs, scene.nv)),
                                         (ctrl, "ctrl", (runs, max(controls, 0), scene.nactuator)))]
    *paths, taken, failures = _sim._rollout(scene, runs, steps, None if states is None else list(states), *arrays,
                                            input, hold, every, threads, sensors, options)
    dt = options.get("dt") or options.get("step") or scene.dt
    return Rollout(*paths, np.arange(1, steps // every + 1) * every * dt, taken, failures)
