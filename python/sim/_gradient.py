"""Gradients of a loss through many steps, by vector-Jacobian products backwards in time.

    g_k = (dx_{k+1}/dx_k)' g_{k+1} + dl_k/dx,     dL/du_k = (dx_{k+1}/du_k)' g_{k+1} + dl_k/du,     x = (q, v, m)
    dL/dp = sum over k of (dx_{k+1}/dp)' g_{k+1}

m is the memory of the world: impulses and velocities of steps before, on which a step with contacts depends.

Every ceil(sqrt(N))-th state is kept on the way forwards, and the steps between two of these are taken again on the way
back: memory grows with the square root of the steps N, and each is taken twice.

Reference: A. Griewank, A. Walther, Evaluating Derivatives, 2008, chapter 12.
"""
import math
from typing import NamedTuple

import numpy as np

from . import _sim

INPUTS = ("ctrl", "targets", "rates", "feedforward", "applied")


class Gradient(NamedTuple):
    """A loss and its gradient."""
    value: float
    ctrl: np.ndarray
    q: np.ndarray
    v: np.ndarray
    parameters: np.ndarray
    residual: float
    kinks: int


Gradient.value.__doc__ = "The loss."
Gradient.ctrl.__doc__ = "By the inputs, in their shape."
Gradient.q.__doc__ = "By the coordinates at the start, a tangent vector [nv]."
Gradient.v.__doc__ = "By the velocities at the start [nv]."
Gradient.parameters.__doc__ = "By the parameters of the model that were asked for."
Gradient.kinks.__doc__ = "Actuators and constraints at a kink, over all steps: 0, or the gradient is one-sided there."
Gradient.residual.__doc__ = "Certificate: the worst residual of the linear systems of all steps (world.step_derivatives)."


def _take(world, input, u):
    """A step under an input."""
    setattr(world, input, u)
    world.step()


def _parts(loss, sizes):
    """The value of a loss and its derivatives, None: zero."""
    if not isinstance(loss, (tuple, list)):
        raise _sim.InputError(f"a loss gives a tuple of its value and {len(sizes)} derivatives (None: zero), not {loss!r}")
    value, *parts = loss
    if len(parts) != len(sizes):
        raise _sim.InputError(f"a loss gives its value and {len(sizes)} derivatives, not {len(parts)}")
    parts = [np.zeros(n) if p is None else np.asarray(p, float) for p, n in zip(parts, sizes)]
    for k, (part, n) in enumerate(zip(parts, sizes)):
        if part.shape != (n,):
            by = ("q (along the velocities, as in world.advance)", "v", "the input")[k]
            raise _sim.InputError(f"the derivative of a loss by {by} has {n} numbers, not an array {part.shape}")
    return float(value), parts


def _begins_here(world):
    """Are the velocities of the steps before those of the state, as of a state that was set?"""
    memory, nv = world.memory(), world.nv
    return len(memory) > 0 and np.array_equal(memory[:2 * nv], np.tile(world.v, 2))


def gradient(world, ctrl, end, running=None, *, input="ctrl", hold=1, parameters=None, near=0.0):
    """The loss of a run from the present state, and its gradient by inputs and by the state at the start.

    ctrl     inputs [controls, n], one for every `hold` steps
    end      end(world) -> (value, by q [nv], by v [nv]) of the last state
    running  running(world, k) -> (value, by q, by v, by input [n]) of the state before control k and that input,
             summed over the controls; derivatives may be None: zero
    parameters  numbers of the model, as in world.step_derivatives
    near     m/s: constraints whose velocity may reach another piece of their law within this count as kinks
    input    the input that `ctrl` is: "ctrl", "targets", "rates", "feedforward", or the forces "applied" [nv]

    Derivatives by q are tangent vectors, as in world.advance.  Those by q and v hold the rest of the state at the start;
    where its q and v have been set, velocities of steps before move with v.  The world is at the end of the run afterwards.
    """
    if input not in INPUTS:
        raise _sim.InputError(f'no input is called "{input}": {", ".join(INPUTS)}')
    if input != "applied" and world.options["integrator"] == "rk4":
        raise _sim.InputError(f'steps of rk4 have no derivatives by "{input}": choose "applied", or another integrator')
    if hold < 1:
        raise _sim.InputError(f"hold is 1 or more, not {hold}")
    ctrl = np.atleast_2d(np.asarray(ctrl, float))
    steps, nv = len(ctrl) * hold, world.nv
    every = max(1, math.ceil(math.sqrt(steps)))
    losses, kept, total, begins = [], [], 0.0, _begins_here(world)
    # forwards: losses, and some states
    for k in range(steps):
        setattr(world, input, ctrl[k // hold])
        if k % hold == 0 and running:
            value, parts = _parts(running(world, k // hold), (nv, nv, ctrl.shape[1]))
            total += value
            losses.append(parts)
        if k % every == 0:
            kept.append(world.state)
        world.step()
    value, (by_q, by_v) = _parts(end(world), (nv, nv))
    last, total = world.state, total + value
    # backwards: stretch by stretch
    g = np.concatenate([by_q, by_v, np.zeros(len(world.memory()))])
    by_ctrl, by_parameters, residual, kinks = np.zeros_like(ctrl), 0.0, 0.0, 0
    for first in reversed(range(0, steps, every)):
        past = min(first + every, steps)
        world.state, states = kept.pop(), []
        for k in range(first, past):
            states.append(world.state)
            if k + 1 < past:
                _take(world, input, ctrl[k // hold])
        for k in reversed(range(first, past)):
            world.state = states.pop()
            _take(world, input, ctrl[k // hold])
            step = world.step_derivatives(parameters, memory=True, near=near)
            residual, kinks = max(residual, step["residual"]), kinks + step["kinks"]
            by_ctrl[k // hold] += step[input].T @ g
            by_parameters = by_parameters + step["parameters"].T @ g
            g = step["state"].T @ g
            if k % hold == 0 and running:
                loss_q, loss_v, loss_u = losses.pop()
                g[:2 * nv] += np.concatenate([loss_q, loss_v])
                by_ctrl[k // hold] += loss_u
    world.state = last
    start_v = g[nv:2 * nv] + (g[2 * nv:3 * nv] + g[3 * nv:4 * nv] if begins else 0)
    return Gradient(total, by_ctrl, g[:nv], start_v, np.asarray(by_parameters), residual, kinks)
