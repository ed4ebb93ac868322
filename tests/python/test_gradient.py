"""Derivatives of steps and gradients through many of them, against differences."""
import copy

import numpy as np
import pytest

import sim

ARM = {"sim": 1, "world": {"step": 0.005}, "bodies": [
    {"name": "upper", "joint": {"type": "hinge", "axis": [0, 1, 0], "damping": 0.2}, "q": 0.3,
     "shapes": [{"type": "box", "size": [0.1, 0.1, 0.5], "mass": 2, "pose": {"position": [0, 0, -0.25]}}]},
    {"name": "lower", "parent": "upper", "joint": {"type": "hinge", "axis": [0, 1, 0], "damping": 0.2},
     "pose": {"position": [0, 0, -0.5]}, "q": 0.5,
     "shapes": [{"type": "box", "size": [0.08, 0.08, 0.5], "mass": 1, "pose": {"position": [0, 0, -0.25]}}]}],
    "actuators": [{"name": "a", "joint": "upper", "gear": 5}, {"name": "b", "joint": "lower", "gear": 3}]}


def test_derivatives_of_a_step_equal_differences():
    world = sim.World(ARM, tolerance=1e-13)
    world.v, world.ctrl = [0.5, -1], [0.3, 0.2]
    start, h = world.state, 1e-5
    world.step()
    found = world.step_derivatives()
    assert found["residual"] < 1e-12 and found["kinks"] == 0
    for name, columns in [("ctrl", 2), ("v", 2)]:
        for j in range(columns):
            ends = []
            for sign in (1, -1):
                world.state = start
                getattr(world, name)[j] += sign * h
                world.step()
                ends.append(np.concatenate([world.q, world.v]))
            due = (ends[0] - ends[1]) / (2 * h)
            column = found["ctrl"][:, j] if name == "ctrl" else found["state"][:, 2 + j]
            assert np.abs(due - column).max() <= 1e-6 * np.abs(column).max()


@pytest.mark.parametrize("hold", [1, 3])
def test_gradients_equal_differences(hold):
    world, steps = sim.World(ARM, tolerance=1e-13), 8
    start, ctrl = world.state, np.random.default_rng(2).normal(size=(steps, 2))

    def end(w):
        return np.sum(w.q**2) + 0.5 * np.sum(w.v**2), 2 * w.q, w.v

    def running(w, k):
        return 0.1 * np.sum(w.q**2) + 0.01 * np.sum(w.ctrl**2), 0.2 * w.q, None, 0.02 * w.ctrl

    def loss(controls, q=(0, 0)):
        world.state = start
        world.q = start.q + np.asarray(q)
        return sim.gradient(world, controls, end, running, hold=hold)

    found, h = loss(ctrl), 1e-5
    assert found.residual < 1e-12
    for k, j in [(0, 0), (3, 1), (7, 0)]:
        along = np.zeros_like(ctrl)
        along[k, j] = h
        due = (loss(ctrl + along).value - loss(ctrl - along).value) / (2 * h)
        assert found.ctrl[k, j] == pytest.approx(due, rel=1e-6, abs=1e-9)
    for j in range(2):
        along = h * np.eye(2)[j]
        due = (loss(ctrl, along).value - loss(ctrl, -along).value) / (2 * h)
        assert found.q[j] == pytest.approx(due, rel=1e-6)


def test_steps_with_contacts_are_refused_by_name():
    world = sim.World({"sim": 1, "materials": [{"name": "rubber", "restitution": 0.8}], "bodies": [
        {"name": "ground", "shapes": [{"type": "half_space", "material": "rubber"}]},
        {"name": "ball", "joint": "free", "pose": {"position": [0, 0, 0.0505]}, "v": [0, 0, -2, 0, 0, 0],
         "shapes": [{"type": "sphere", "radius": 0.05, "density": 1000, "material": "rubber"}]}]})
    world.step()
    with pytest.raises(sim.InputError, match="the island of body"):
        world.step_derivatives()
    world.reset()
    with pytest.raises(sim.InputError, match="need a step"):
        world.step_derivatives()


@pytest.mark.parametrize("integrator", ["symplectic", "implicit", "moreau"])
def test_products_of_derivatives_over_20_steps_of_a_spinning_box_equal_differences(integrator):
    close = {"solver": "sap", "solver_options": {"tolerance": 1e-14}, "tolerance": 1e-14}
    world = sim.World({"sim": 1, "world": {"step": 0.004, "integrator": integrator}, "bodies": [
        {"name": "ground", "shapes": [{"type": "half_space"}]},
        {"name": "box", "joint": "free", "pose": {"position": [0, 0, 0.0999]},
         "shapes": [{"type": "box", "size": [0.2, 0.3, 0.2], "density": 500}]}]}, **close)
    n, h = world.nv, 1e-5

    def run(v):
        world.reset()
        world.v = v
        product = np.eye(2 * n)
        for _ in range(20):
            world.step()
            product = world.step_derivatives()["state"] @ product
        return world.q.copy(), world.v.copy(), product

    start = np.array([2, 0.5, 0, 0, 0, 1.0])
    product = run(start)[2]
    for j in range(n):
        ahead, behind = run(start + h * np.eye(n)[j]), run(start - h * np.eye(n)[j])
        due = np.append(world.difference(behind[0], ahead[0]), ahead[1] - behind[1]) / (2 * h)
        assert np.abs(product[:, n + j] - due).max() < 1e-8


SLIDING_BOX = {"sim": 1, "world": {"step": 0.002}, "bodies": [
    {"name": "ground", "shapes": [{"type": "half_space"}]},
    {"name": "box", "joint": "free", "pose": {"position": [0, 0, 0.09999]},
     "shapes": [{"type": "box", "size": [0.2, 0.3, 0.2], "density": 500}]}]}


@pytest.mark.parametrize("solver, steps, aside", [("auto", 50, 1), ("sap", 20, 0)])  # by sap it tilts later, and may roll
def test_gradients_through_steps_of_a_sliding_box_equal_differences_with_the_default_integrator(solver, steps, aside):
    world = sim.World(SLIDING_BOX, solver=solver, solver_options={"tolerance": 1e-14}, tolerance=1e-14)
    start, controls, h = np.array([1, 0.25, -1.3e-3 * aside, 2e-3 * aside, 1.1e-3 * aside, 0.3]), np.zeros((steps, world.nv)), 1e-5

    def end(w):
        return np.sum(w.v**2) + np.sum(w.q[:3]), np.append([1, 1, 1], np.zeros(3)), 2 * w.v

    def loss(v):
        world.reset()
        world.v = v
        return sim.gradient(world, controls, end, input="applied")

    def value(v):
        world.reset()
        world.v = v
        world.step(steps)
        return end(world)[0]

    found = loss(start)
    assert found.kinks == 0 and found.residual < 1e-12
    for j in range(world.nv):
        along = h * np.eye(world.nv)[j]
        due = (8 * (value(start + along) - value(start - along)) - value(start + 2 * along) + value(start - 2 * along)) / (12 * h)
        assert found.v[j] == pytest.approx(due, rel=1e-6, abs=1e-8)


# A ball that rolls with slip, and a box that tilts about an edge.
ROLLING = {
    "ball": ({"type": "sphere", "radius": 0.1}, 0, 0.09999, [0.5, 0.2, 0, -2, 5, 0.5]),
    "box": ({"type": "box", "size": [0.2, 0.2, 0.2]}, 0.2, 0.1 * (np.cos(0.2) + np.sin(0.2)) - 1e-5, [0, 0, 0, 0, 0.3, 0])}


@pytest.mark.parametrize("solver", ["auto", "sap"])
@pytest.mark.parametrize("name", ROLLING)
def test_gradients_through_bodies_that_roll_equal_differences(name, solver):
    shape, tilt, height, start = ROLLING[name]
    pose = {"position": [0, 0, height], "quaternion": [np.cos(tilt / 2), 0, np.sin(tilt / 2), 0]}
    world = sim.World({"sim": 1, "world": {"step": 0.002}, "bodies": [
        {"name": "ground", "shapes": [{"type": "half_space"}]},
        {"name": name, "joint": "free", "pose": pose, "shapes": [{**shape, "density": 500}]}]},
        solver=solver, solver_options={"tolerance": 1e-14}, tolerance=1e-14)
    steps, h = 50, 1e-6

    def end(w):
        return np.sum(w.v**2) + np.sum(w.q[:3]), np.append([1, 1, 1], np.zeros(3)), 2 * w.v

    def value(v):
        world.reset()
        world.v = v
        world.step(steps)
        return end(world)[0]

    world.reset()
    world.v = start
    found = sim.gradient(world, np.zeros((steps, world.nv)), end, input="applied")
    for j in range(world.nv):
        along = h * np.eye(world.nv)[j]
        due = (8 * (value(start + along) - value(start - along)) - value(start + 2 * along) + value(start - 2 * along)) / (12 * h)
        assert found.v[j] == pytest.approx(due, rel=1e-6, abs=1e-6)


def test_memory_goes_with_the_matrices_of_a_step():
    world = sim.World(SLIDING_BOX)
    world.step(2)
    before, now = len(world.memory()), None
    world.step()
    now = len(world.memory())
    step = world.step_derivatives(memory=True)
    assert step["state"].shape == (12 + now, 12 + before) and step["applied"].shape == (12 + now, 6)
    assert now == 5 * 6 + 3 * len(world.contacts)
    assert len(sim.World(ARM).memory()) == 0


def test_a_sliding_box_follows_the_friction_of_its_material():
    def slide(friction):
        world = sim.World({"sim": 1, "world": {"step": 0.002}, "materials": [{"name": "m", "friction": friction}], "bodies": [
            {"name": "ground", "shapes": [{"type": "half_space", "material": "m"}]},
            {"name": "box", "joint": "free", "pose": {"position": [0, 0, 0.09999]}, "v": [1, 0.5, 0, 0, 0, 0],
             "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "density": 1000, "material": "m"}]}]},
            solver="sap", solver_options={"tolerance": 1e-13})
        world.step()
        return world

    by = slide(0.4).step_derivatives()["friction"]
    h = 1e-5
    due = (slide(0.4 + h).v - slide(0.4 - h).v) / (2 * h)
    assert by[6:, 1] == pytest.approx(due, rel=1e-6, abs=1e-8)  # the first material is the default one
    assert abs(by[6, 1]) > 0.01 and np.all(by[:, 0] == 0)


def test_gradients_by_masses_equal_differences():
    parameters, ctrl = [("mass", "lower"), ("inertia", "upper", 0)], np.full((6, 2), 0.2)

    def loss(mass):
        scene = copy.deepcopy(ARM)
        scene["bodies"][1]["shapes"][0]["mass"] = mass
        world = sim.World(scene, tolerance=1e-13)
        world.v = [0.5, -1]
        return sim.gradient(world, ctrl, lambda w: (np.sum(w.v**2), None, 2 * w.v), parameters=parameters)

    found, h = loss(1), 1e-4
    due = (loss(1 + h).value - loss(1 - h).value) / (2 * h)
    assert found.parameters.shape == (2,)
    assert found.parameters[0] == pytest.approx(due, rel=1e-6)


def test_parameters_are_named():
    world = sim.World(ARM)
    world.step()
    assert world.step_derivatives([("inertia", "upper"), ("placement", 0, 2)])["parameters"].shape == (4, 11)
    assert world.step_derivatives([("size", 0), ("size", 0, 1)])["parameters"].shape == (4, 4)
    for wrong in ([("size", "upper")], [("mass", "middle")], [("inertia", "upper", 10)], [("inertia", "upper", -1)], [("mass",)], [3], 3):
        with pytest.raises((sim.InputError, TypeError)):
            world.step_derivatives(wrong)


def test_inputs_and_losses_are_checked():
    world = sim.World(ARM)
    with pytest.raises(sim.InputError, match="no input"):
        sim.gradient(world, np.zeros((2, 2)), lambda w: (0, None, None), input="force")
    with pytest.raises(sim.InputError, match="a loss gives a tuple"):
        sim.gradient(world, np.zeros((2, 2)), lambda w: 3.0)
    explicit = sim.World(ARM, integrator="rk4", contacts=False)
    with pytest.raises(sim.InputError, match="steps of rk4 have no derivatives by"):
        sim.gradient(explicit, np.zeros((2, 2)), lambda w: (0, None, None))
    assert sim.gradient(explicit, np.zeros((2, 2)), lambda w: (0, w.q, None), input="applied").ctrl.any()
    for hold in 0, -1:
        with pytest.raises(sim.InputError, match="hold is 1 or more"):
            sim.gradient(world, np.zeros((2, 2)), lambda w: (0, None, None), hold=hold)
    with pytest.raises(sim.InputError, match="2 derivatives"):
        sim.gradient(world, np.zeros((2, 2)), lambda w: (0, None))
    with pytest.raises(sim.InputError, match=r"by q .* has 2 numbers, not an array \(3,\)"):
        sim.gradient(world, np.zeros((2, 2)), lambda w: (0, np.zeros(3), None))
