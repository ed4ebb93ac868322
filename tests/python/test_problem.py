"""Contacts, contact problems as arrays, and their solutions."""
import gc
import glob
import json
import os
import subprocess

import numpy as np
import pytest

import sim

PROGRAM = os.environ["SIM_PROGRAM"]


@pytest.fixture(scope="module")
def cards():
    world = sim.World("scenes/contact/cards.json")
    world.step(20)
    return world


def test_contact_forces_carry_the_weight():
    world = sim.World("scenes/contact/stack.json")
    world.step(600)
    contacts = world.contacts
    fixed = [k for k, name in enumerate(world.bodies) if name not in world.joints]
    on_world = np.isin(contacts["body_a"], fixed).astype(int) - np.isin(contacts["body_b"], fixed)
    moving = sum(world.mass_matrix()[k, k] for k, n in enumerate(world.dofs) if n.endswith("vz"))
    down = (on_world[:, None] * contacts["force"]).sum(axis=0)
    assert np.allclose(down, moving * world.scene.gravity, rtol=1e-4, atol=1e-4 * abs(down[2]))
    assert np.allclose(contacts["impulse"], contacts["force"] * world.dt)
    assert np.allclose(np.linalg.norm(contacts["normal"], axis=1), 1)


def test_contacts_of_now_are_those_that_the_next_step_has(cards):
    now = cards.collide()
    state = cards.state
    cards.step()
    then = cards.contacts
    cards.state = state
    assert len(then) > 0 and set(map(tuple, np.stack([then["shape_a"], then["shape_b"]], 1))) <= set(
        map(tuple, np.stack([now["shape_a"], now["shape_b"]], 1)))


def test_contacts_are_copies_that_outlive_the_world():
    world = sim.World("scenes/contact/cards.json")
    world.step(2)
    contacts, problem = world.contacts, world.problem()
    before, J = contacts.copy(), problem.J.toarray()
    world.step(2)
    del world
    gc.collect()
    assert np.array_equal(contacts, before) and np.array_equal(problem.J.toarray(), J)


def test_rays_and_overlaps_are_those_of_the_shapes():
    scene = {"sim": 1, "bodies": [
        {"name": "ball", "joint": "free", "pose": {"position": [0, 0, 2]}, "shapes": [{"type": "sphere", "radius": 0.5, "mass": 1}]},
        {"name": "box", "pose": {"position": [0, 0, 1.4]}, "shapes": [{"type": "box", "size": [1, 1, 1]}]}]}
    world = sim.World(scene)
    assert world.ray([0, 0, 5], [0, 0, -2]) == (pytest.approx(2.5), 0)
    assert world.ray([0, 0, 5], [0, 0, -1], but="ball") == (pytest.approx(3.1), 1)
    assert world.ray([0, 0, 5], [0, 0, 1]) == (np.inf, None) == world.ray([0, 0, 5], [0, 0, -1], 1)
    overlaps = world.overlaps()
    assert overlaps["depth"] == pytest.approx([0.4]) and overlaps["body"].tolist() == [[1, 2]]
    world.q[2] = 5
    assert len(world.overlaps()) == 0 and world.ray([0, 0, 9], [0, 0, -1]) == (pytest.approx(3.5), 0)
    for origin, direction, range in (([0, 0, np.nan], [0, 0, 1], 1), ([0, 0, 0], [0, 0, 0], 1), ([0, 0, 0], [0, 0, 1], -1)):
        with pytest.raises(sim.InputError):
            world.ray(origin, direction, range)


def test_looking_at_a_problem_changes_no_bit():
    one, two = sim.World("scenes/contact/cards.json"), sim.World("scenes/contact/cards.json")
    for _ in range(20):
        one.step()
        two.step()
        two.problem(), two.collide(), two.contacts, two.mass_matrix(), two.energy
    assert one.state == two.state


@pytest.mark.parametrize("scene", ["scenes/contact/cards.json", "scenes/articulated/four_bar.json", "scenes/bench/grasp.json"])
def test_matrices_and_solution_fit_the_equations(scene):
    world = sim.World(scene)
    world.step(10)
    problem = world.problem()
    A, J = problem.A.toarray(), problem.J.toarray()
    assert A.shape == (problem.nv,) * 2 and J.shape == (problem.nrow, problem.nv) and len(problem.kinds) > 0
    assert np.array_equal(A, A.T) and np.linalg.eigvalsh(A)[0] > 0
    s = sim.solve(problem)
    assert np.allclose(J @ s.v + problem.offset, s.u, atol=1e-12)
    assert np.allclose(A @ (s.v - problem.v_free), J.T @ s.impulse, rtol=1e-9, atol=1e-9 * abs(A @ s.v).max())
    R, target = problem.regularise("rigid")
    assert R.shape == target.shape == (problem.nrow,)
    contacts = problem.constraints[np.array(problem.kinds) == "contact"]
    for c in contacts[contacts["rows"] == 3]:
        g = s.impulse[c["row"]:c["row"] + 3]
        assert np.hypot(g[0], g[1]) <= c["friction"] * g[2] * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("solver", ["auto", "acn", "nsn", "incp", "canal", "subadmm", "mncp-rlm"])
def test_strict_solvers_agree(cards, solver):
    problem = cards.problem()
    reference, s = sim.solve(problem, "acn", tolerance=1e-12), sim.solve(problem, solver)
    assert s.solved and s.reason is None and s.certificate.E < 1e-5
    assert np.linalg.norm(s.u - reference.u) < 1e-3 * np.linalg.norm(reference.u)
    assert s.seconds > 0 and s.iterations > 0


def test_a_solver_that_is_stopped_says_why(cards):
    s = sim.solve(cards.problem(), "pgs", max_iterations=2)
    assert not s.solved and s.reason == "out of iterations" and s.iterations == 2
    assert s.certificate.own > 1e-6


def test_laws_and_options_are_those_asked_for(cards):
    problem = cards.problem()
    rigid, soft = problem.regularise("rigid"), problem.regularise("near-rigid", {"beta": 2})
    assert not rigid[0].any() and (soft[0] > 0).any()
    convex = sim.solve(problem, "sap")
    harder = sim.solve(problem, "sap", compliance="near-rigid", law={"beta": 0.5})
    assert convex.solved and harder.solved and not np.array_equal(convex.impulse, harder.impulse)
    assert np.array_equal(sim.solve(problem, "sap", compliance=None, law=None).impulse, convex.impulse)


def test_a_problem_in_a_file_is_the_same_problem(cards, tmp_path):
    problem = cards.problem()
    path = tmp_path / "step.h5"
    problem.write(path, title="cards")
    again = sim.load_problem(path)
    assert (again.J != problem.J).nnz == 0 and (again.A != problem.A).nnz == 0
    assert np.array_equal(again.v_free, problem.v_free) and again.kinds == problem.kinds
    a, b = sim.solve(problem, "acn"), sim.solve(again, "acn")
    assert np.array_equal(a.impulse, b.impulse) and a.certificate == b.certificate
    for guess in (True, False):
        out = subprocess.run([PROGRAM, "solve", path, "--solver", "acn", "--json"] + ["--guess"] * guess,
                             capture_output=True, text=True)
        told = json.loads(out.stdout)["problems"][0]
        s = sim.solve(problem, "acn", guess=guess)
        assert told["iterations"] == s.iterations and told["E"] == pytest.approx(s.certificate.E, rel=1e-6)


def test_local_problems_have_W_and_q():
    found = 0
    for path in sorted(glob.glob("tests/data/fclib/**/*.h*5", recursive=True)):
        problem = sim.load_problem(path)
        if problem.nv:
            continue
        found += 1
        s = sim.solve(problem, "nsn")
        assert problem.A.shape == (0, 0) and s.v is None
        assert np.allclose(problem.W @ s.impulse + problem.q, s.u, atol=1e-9 * (1 + abs(problem.q).max()))
        assert problem.v_free is None or problem.v_free.size == 0
    assert found > 0


def test_a_world_without_contacts_has_no_problem():
    with pytest.raises(sim.InputError, match="no contact is possible"):
        sim.World("scenes/basic/pendulum.json").problem()


@pytest.mark.parametrize("call, kind", [
    (lambda p: sim.solve(p, "none"), sim.InputError), (lambda p: sim.solve(p, "sap", colour=1), sim.InputError),
    (lambda p: sim.solve(p, "sap", tolerance="x"), TypeError), (lambda p: sim.solve(p, "sap", compliance="soft"), sim.InputError),
    (lambda p: sim.solve(p, "sap", compliance=3), TypeError), (lambda p: sim.solve(p, "sap", law=3), TypeError),
    (lambda p: sim.solve(p, "sap", law={"beta": -1}), sim.InputError), (lambda p: p.regularise("near-rigid", {"sigma": np.nan}), sim.InputError),
    (lambda p: sim.solve(3), TypeError), (lambda p: p.regularise("soft"), sim.InputError),
    (lambda p: p.write("/none/none.h5"), sim.Error), (lambda p: sim.load_problem("/none.h5"), sim.Error),
    (lambda p: sim.load_problem("README.md"), sim.Error), (lambda p: sim.Problem(), TypeError),
])
def test_wrong_arguments_are_refused(cards, call, kind):
    with pytest.raises(kind):
        call(cards.problem())
