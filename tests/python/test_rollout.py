"""Rollouts: the bits of worlds stepped one by one, shapes of arguments, failures."""
import os
import signal
import threading

import numpy as np
import pytest

import sim

ARM = sim.load("scenes/articulated/arm.json")
CARDS = sim.load("scenes/contact/cards.json")
generator = np.random.default_rng(9)


def alone(scene, begin, controls, input, hold, steps, **options):
    world = sim.World(scene, **options)
    begin(world)
    q, v, readings = [], [], []
    for step in range(steps):
        if controls is not None and step % hold == 0:
            setattr(world, input, controls[step // hold])
        world.step()
        q.append(world.q.copy())
        v.append(world.v.copy())
        readings.append(world.sensor_values.copy())
    return np.array(q), np.array(v), np.array(readings)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_inputs_and_coordinates_give_the_bits_of_worlds_alone(threads):
    runs, steps, hold = 6, 20, 4
    q = sim.World(ARM).q + generator.normal(scale=0.05, size=(runs, ARM.nq))
    v = generator.normal(scale=0.1, size=(runs, ARM.nv))
    ctrl = generator.normal(scale=0.2, size=(runs, steps // hold, ARM.nactuator))
    ctrl[2, :, 1] = np.nan
    result = sim.rollout(ARM, None, ctrl, q=q, v=v, input="targets", hold=hold, threads=threads)
    assert result.q.shape == (runs, steps, ARM.nq) and (result.steps == steps).all() and result.failures == {}
    for k in range(runs):
        def begin(world):
            world.q, world.v = q[k], v[k]
        path = alone(ARM, begin, ctrl[k], "targets", hold, steps)
        assert np.array_equal(result.q[k], path[0]) and np.array_equal(result.v[k], path[1])


def test_velocities_in_contact_give_the_bits_of_worlds_alone():
    v = generator.normal(scale=0.05, size=(3, CARDS.nv))
    result = sim.rollout(CARDS, v=v, steps=25, threads=2)
    for k in range(3):
        path = alone(CARDS, lambda world: world.v.__setitem__(slice(None), v[k]), None, None, 1, 25)
        assert np.array_equal(result.q[k], path[0]) and np.array_equal(result.v[k], path[1])


def test_states_begin_with_their_warm_starts():
    world = sim.World(CARDS)
    states = []
    for _ in range(4):
        world.step(10)
        states.append(world.state)
    result = sim.rollout(CARDS, states, steps=15, every=5, threads=2)
    for k, state in enumerate(states):
        world.state = state
        world.step(15)
        assert np.array_equal(result.q[k, -1], world.q) and np.array_equal(result.v[k, -1], world.v)
    assert np.allclose(result.time, np.array([5, 10, 15]) * CARDS.dt)


def test_sensors_and_options_are_those_of_worlds():
    scene = sim.load("scenes/articulated/sensors.json")
    result = sim.rollout(scene, steps=12, sensors=True, solver="sap", dt=0.002)
    path = alone(scene, lambda world: None, None, None, 1, 12, solver="sap", dt=0.002)
    assert np.array_equal(result.sensors[0], path[2]) and result.time[-1] == pytest.approx(0.024)
    assert sim.rollout(scene, steps=2).sensors is None


def test_arrays_of_states_hold_q_and_v():
    world = sim.World(ARM)
    states = np.array([np.concatenate([world.q, world.v]), np.concatenate([world.q + 0.1, world.v + 1])])
    a = sim.rollout(ARM, states, steps=5)
    b = sim.rollout(ARM, q=states[:, :ARM.nq], v=states[:, ARM.nq:], steps=5)
    assert np.array_equal(a.q, b.q) and not np.array_equal(a.q[0], a.q[1])


def test_inputs_without_runs_are_those_of_all():
    ctrl = generator.normal(size=(7, ARM.nactuator))
    many = sim.rollout(ARM, ctrl=ctrl, v=np.zeros((3, ARM.nv)), input="feedforward")
    assert many.q.shape == (3, 7, ARM.nq) and np.array_equal(many.q[0], many.q[2])
    assert np.array_equal(sim.rollout(ARM, ctrl=ctrl, input="feedforward").q[0], many.q[0])


def test_a_run_that_fails_is_told_and_the_others_go_on():
    v = np.zeros((3, ARM.nv))
    v[1, 2] = 1e200
    result = sim.rollout(ARM, v=v, steps=10, every=2)
    assert list(result.failures) == [1] and "link" in result.failures[1]
    assert list(result.steps) == [10, 0, 10]
    assert np.isnan(result.q[1]).all() and np.isfinite(result.q[[0, 2]]).all()


def test_ctrl_c_ends_all_runs():
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.rollout(ARM, v=np.zeros((1000, ARM.nv)), steps=10**6, every=10**6, threads=2)
    timer.join()


def test_nothing_to_do_is_done():
    assert sim.rollout(ARM, [], steps=3).q.shape == (0, 3, ARM.nq)
    assert sim.rollout(ARM, steps=0).q.shape == (1, 0, ARM.nq)
    assert sim.rollout(ARM, steps=3, every=10).q.shape == (1, 0, ARM.nq)


@pytest.mark.parametrize("arguments, kind, text", [
    (dict(), TypeError, "steps or ctrl"), (dict(steps=-1), sim.InputError, "0 or more"),
    (dict(steps=1, every=0), sim.InputError, "1 or more"), (dict(steps=1, hold=0), sim.InputError, "1 or more"),
    (dict(steps=1, threads=0), sim.InputError, "threads"), (dict(steps=1, threads=99), sim.InputError, "threads"),
    (dict(steps=1, q=np.zeros((2, 3))), sim.InputError, "q has the shape"),
    (dict(steps=1, states=np.zeros((2, 3))), sim.InputError, "states has the shape"),
    (dict(steps=1, states=[1, 2]), TypeError, "State"), (dict(steps=2, ctrl=np.zeros((3, 7))), sim.InputError, "ctrl"),
    (dict(ctrl=np.zeros(7)), sim.InputError, r"ctrl has the shape \(7,\)"),
    (dict(steps=1, input="colour"), sim.InputError, "no input"), (dict(steps=1, colour=1), TypeError, "no option"),
    (dict(steps=1, v=np.full(7, np.nan)), sim.InputError, "run 0: .*not finite"),
    (dict(steps=1, states=[sim.World(CARDS).state]), sim.InputError, "another model"),
    (dict(steps=1, states=[sim.World(ARM).state], q=np.zeros((1, 7))), sim.InputError, "whole states"),
])
def test_wrong_arguments_are_refused(arguments, kind, text):
    with pytest.raises(kind, match=text):
        sim.rollout(ARM, **arguments)
