"""Kinematics and dynamics against energies, finite differences and each other."""
import numpy as np
import pytest

import sim

SCENES = ["scenes/articulated/humanoid.json", "scenes/robots/panda.json", "scenes/articulated/sensors.json",
          "scenes/contact/cards.json"]
generator = np.random.default_rng(5)


@pytest.fixture(params=SCENES)
def world(request):
    world = sim.World(request.param)
    world.q = world.advance(world.q, generator.normal(size=world.nv), 0.3)
    world.v = generator.normal(size=world.nv)
    return world


def test_mass_matrix_gives_the_kinetic_energy(world):
    M = world.mass_matrix()
    assert np.array_equal(M, M.T) and np.linalg.eigvalsh(M)[0] > 0
    assert 0.5 * world.v @ M @ world.v == pytest.approx(world.energy.kinetic, rel=1e-12)


def test_inverse_dynamics_is_mass_times_acceleration_plus_bias(world):
    a = generator.normal(size=world.nv)
    tau = world.inverse_dynamics(a)
    assert np.allclose(tau, world.mass_matrix() @ a + world.bias(), rtol=1e-12, atol=1e-10)
    assert np.allclose(world.forward_dynamics(tau), a, rtol=1e-8, atol=1e-8)


def test_bias_at_rest_is_the_slope_of_the_potential():
    world = sim.World("scenes/robots/panda.json")
    world.q = world.advance(world.q, generator.normal(size=world.nv), 0.2)
    q, h = world.q.copy(), 1e-5
    slope = np.zeros(world.nv)
    for j in range(world.nv):
        for sign in (1, -1):
            world.q = world.advance(q, np.eye(world.nv)[j], sign * h)
            slope[j] += sign * world.energy.potential / (2 * h)
    assert np.allclose(world.bias(q, 0), slope, atol=1e-6)


def test_states_of_the_caller_stand_in_for_the_worlds(world):
    q, v = world.advance(world.q, world.v, 0.01), 2 * world.v
    a = generator.normal(size=world.nv)
    before = world.state
    given = [world.mass_matrix(q), world.bias(q, v), world.inverse_dynamics(a, q=q, v=v), world.forward_dynamics(a, q=q, v=v)]
    assert world.state == before
    world.q, world.v = q, v
    there = [world.mass_matrix(), world.bias(), world.inverse_dynamics(a), world.forward_dynamics(a)]
    assert all(np.array_equal(x, y) for x, y in zip(given, there))


def test_derivatives_equal_differences(world):
    a, h = generator.normal(size=world.nv), 1e-5
    q, v = world.q.copy(), world.v.copy()
    tau = world.inverse_dynamics(a)
    for function, x, given in [(world.inverse_dynamics, a, world.inverse_dynamics_derivatives(a)),
                               (world.forward_dynamics, tau, world.forward_dynamics_derivatives(tau))]:
        for j, along in enumerate(np.eye(world.nv)):
            by_q = (function(x, q=world.advance(q, along, h)) - function(x, q=world.advance(q, along, -h))) / (2 * h)
            by_v = (function(x, v=v + h * along) - function(x, v=v - h * along)) / (2 * h)
            for due, got in [(by_q, given[0]), (by_v, given[1])]:
                assert np.abs(due - got[:, j]).max() <= 1e-6 * max(1, np.abs(got).max())
    assert np.allclose(given[2] @ world.mass_matrix(), np.eye(world.nv), atol=1e-8)


def test_jacobians_give_velocities_and_the_motion_of_points(world):
    point, h = [0.3, -0.2, 0.1], 1e-6
    q = world.q.copy()
    for body in world.bodies[1::3]:
        J, twist = world.jacobian(body, point), world.velocity(body, point)
        assert np.allclose(J @ world.v, twist, atol=1e-12)
        ends = []
        for sign in (1, -1):
            world.q = world.advance(q, world.v, sign * h)
            ends.append(world.body_pose(body))
        world.q = q
        rate = (ends[0] - ends[1]) / (2 * h)
        assert np.allclose(rate @ [*point, 1], [*twist[3:], 0], atol=1e-6)
        spin = rate[:3, :3] @ world.body_pose(body)[:3, :3].T
        assert np.allclose([spin[2, 1], spin[0, 2], spin[1, 0]], twist[:3], atol=1e-6)


def test_sites_are_frames_on_their_bodies():
    world = sim.World("scenes/robots/panda.json")
    world.v = generator.normal(size=world.nv)
    for site in world.sites:
        H = world.site_pose(site)
        assert np.allclose(H[:3, :3] @ H[:3, :3].T, np.eye(3)) and np.allclose(H[3], [0, 0, 0, 1])
        assert np.allclose(world.jacobian(site=site) @ world.v, world.velocity(site=site), atol=1e-12)
    assert np.array_equal(world.site_pose(0), world.site_pose(world.sites[0]))


def test_difference_is_the_inverse_of_advance(world):
    v = 0.3 * generator.normal(size=world.nv)
    there = world.advance(world.q, v)
    assert np.allclose(world.difference(world.q, there), v, atol=1e-12)
    assert np.allclose(world.advance(world.q, v, 0.0), world.q)


def test_a_body_of_the_world_does_not_move():
    world = sim.World("scenes/robots/panda.json")
    assert np.array_equal(world.body_pose("world"), np.eye(4)) and not world.jacobian(0).any()


@pytest.mark.parametrize("call, kind", [
    (lambda w: w.body_pose("none"), sim.InputError), (lambda w: w.body_pose(999), IndexError),
    (lambda w: w.body_pose(-1), IndexError), (lambda w: w.jacobian(), TypeError),
    (lambda w: w.jacobian("link1", site="tool"), TypeError), (lambda w: w.jacobian("link1", [1, 2]), sim.InputError),
    (lambda w: w.jacobian(point=[0, 0, 0], site="tool"), TypeError), (lambda w: w.bias([1, 2]), sim.InputError),
    (lambda w: w.inverse_dynamics(), TypeError), (lambda w: w.mass_matrix("x"), TypeError),
])
def test_wrong_arguments_are_refused(call, kind):
    with pytest.raises(kind):
        call(sim.World("scenes/robots/panda.json"))


def test_coordinates_that_are_no_configuration_are_refused():
    world = sim.World("scenes/contact/cards.json")
    q = world.q.copy()
    q[3:7] *= 1.1
    with pytest.raises(sim.InputError, match="quaternion of body"):
        world.mass_matrix(q)


def test_inverse_kinematics_brings_sites_and_bodies_to_their_goals():
    world = sim.World("scenes/robots/panda.json")
    before = world.state
    for _ in range(10):
        ranges = world.scene.ranges
        world.q = generator.uniform(ranges[:, 0], ranges[:, 1])
        goal = world.site_pose("tool")
        world.state = before
        for target in (goal, goal[:3, 3]):
            answer = world.inverse_kinematics({"tool": target}, hold=["left_finger", 8])
            assert answer.reached and answer.distance < 1e-10 and world.state == before
            assert np.array_equal(answer.q[7:], world.q[7:])
            world.q = answer.q
            assert np.allclose(world.site_pose("tool")[:3, 3], goal[:3, 3], atol=1e-9)
            if target is goal:
                assert np.allclose(world.site_pose("tool"), goal, atol=1e-8)
            world.state = before
    away = world.inverse_kinematics({"link7": [5, 0, 0]}, starts=2)
    assert not away.reached and away.distance > 3


@pytest.mark.parametrize("goals, options", [
    ({"none": [0, 0, 0]}, {}), ({"tool": [0, 0]}, {}), ({"tool": np.ones((4, 4))}, {}), ({"tool": [0, 0, 0]}, {"q": [1]}),
    ({"tool": [0, 0, 0]}, {"hold": ["none"]}), ({"tool": [np.nan, 0, 0]}, {}), ({"tool": [0, 0, 0]}, {"starts": 0}), ({"tool": [0, 0, 0]}, {"tolerance": np.nan}),
    ({"tool": np.diag([1.0, 1, -1, 1])}, {}), ({"tool": [0.5, 0, 0.3]}, {"q": np.full(9, np.nan)}),
])
def test_goals_that_make_no_sense_are_refused(goals, options):
    with pytest.raises(sim.InputError):
        sim.World("scenes/robots/panda.json").inverse_kinematics(goals, **options)
