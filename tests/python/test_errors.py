"""Exceptions: their kinds, texts and places."""
import pickle

import numpy as np
import pytest

import sim


def test_the_errors_of_a_scene_have_their_place(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{\n "sim": 1,\n "bodies": [\n  {"name": "a", "joint": {"type": "hinge", "dampling": 1}}]\n}\n')
    with pytest.raises(sim.SceneError) as caught:
        sim.load(path)
    error = caught.value
    assert error.file == str(path) and error.line == 4 and error.column == 44
    assert error.path == "/bodies/0/joint/dampling" and error.message == 'unknown key "dampling"'
    assert error.hint == 'did you mean "damping"?'
    assert str(error).splitlines() == error.errors
    assert error.errors[0] == f'{path}:4:44: error: {error.path}: {error.message} ({error.hint})'


def test_all_errors_are_listed():
    with pytest.raises(sim.SceneError) as caught:
        sim.load({"sim": 1, "bodys": [], "wurld": {}, "world": {"step": -1}})
    assert len(caught.value.errors) >= 3
    with pytest.raises(sim.SceneError) as caught:
        sim.load({"sim": 1, **{f"key{k}": k for k in range(50)}})
    assert len(caught.value.errors) == 21 and caught.value.errors[-1] == "and 30 more"


def test_a_robot_without_a_link_is_refused_with_its_place():
    with pytest.raises(sim.SceneError) as caught:
        sim.loads('<robot name="r">\n <joint name="j" type="fixed"/>\n</robot>', "r.urdf")
    assert caught.value.file == "r.urdf" and caught.value.line > 0


def test_warnings_of_a_scene_are_kept():
    text = '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><gazebo/></robot>'
    assert any("gazebo" in line for line in sim.loads(text).warnings)
    with pytest.raises(sim.SceneError, match="gazebo"):
        sim.loads(text, strict=True)


def test_a_missing_file_is_pythons_own_error(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        sim.load(tmp_path / "none.json")
    assert caught.value.filename == str(tmp_path / "none.json")


def test_a_folder_is_pythons_own_error(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        sim.load(tmp_path)
    assert caught.value.filename == str(tmp_path)


def test_seeds_may_be_numbers_of_numpy():
    assert sim.load("scenes/basic/pendulum.json", seed=np.int64(3)).seed == 3
    with pytest.raises(TypeError):
        sim.load("scenes/basic/pendulum.json", seed=3.0)


def test_what_has_no_numbers_is_no_array():
    world = sim.World("scenes/articulated/arm.json")
    for name in "q", "v", "ctrl", "targets", "applied":
        before = getattr(world, name).copy()
        for value in None, "1.5", b"1":
            with pytest.raises(TypeError, match=f"{name} has numbers, not"):
                setattr(world, name, value)
        assert np.array_equal(getattr(world, name), before, equal_nan=True)
    with pytest.raises(sim.InputError, match="q has 7 numbers"):
        world.q = [1, 2]


def test_a_missing_file_that_a_scene_names_has_its_place():
    with pytest.raises(sim.SceneError, match="no.stl") as caught:
        sim.load({"sim": 1, "bodies": [{"name": "a", "shapes": [{"type": "mesh", "file": "no.stl"}]}]})
    assert caught.value.path == "/bodies/0/shapes/0/file"


def test_kinds_of_errors_fit_those_of_python():
    assert issubclass(sim.SceneError, sim.InputError) and issubclass(sim.InputError, ValueError)
    assert issubclass(sim.StepError, RuntimeError) and issubclass(sim.InputError, sim.Error)


def test_errors_can_be_pickled():
    with pytest.raises(sim.SceneError) as caught:
        sim.load({"sim": 1, "bodys": []})
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.path == "/bodys" and again.errors == caught.value.errors


def test_a_step_that_fails_names_the_body_and_leaves_the_world_as_it_was():
    world = sim.World("scenes/basic/double_pendulum.json")
    world.step(7)
    before = world.state
    world.applied[1] = 1e308
    with pytest.raises(sim.StepError) as caught:
        for _ in range(3):
            world.applied[1] *= 1.0
            world.step()
    assert "lower_rod" in str(caught.value) or "upper_rod" in str(caught.value)
    assert caught.value.step >= 7 and caught.value.time == pytest.approx(caught.value.step * world.dt)
    assert world.steps == caught.value.step
    world.applied = 0
    world.state = before
    world.step()


@pytest.mark.parametrize("options, kind, text", [
    ({"solver": "magic"}, sim.InputError, "no solver is called"),
    ({"solver": 3}, TypeError, "solver is a text"),
    ({"solver_options": {"colour": 1}}, sim.InputError, "has no option 'colour'"),
    ({"solver_options": {"tolerance": -1}}, sim.InputError, "tolerance is a number from"),
    ({"solver": "pgs", "solver_options": {"max_iterations": 10.5}}, sim.InputError, "max_iterations is a whole number from"),
    ({"solver": "pgs", "solver_options": {"cone": 1}}, sim.InputError, "cone has no choice 1"),
    ({"solver_options": 5}, TypeError, "is a dict"),
    ({"integrator": "euler"}, sim.InputError, "midpoint, symplectic"),
    ({"compliance": "soft"}, sim.InputError, "rigid, near-rigid, elastic"),
    ({"law": {"gamma": 1}}, sim.InputError, "beta, sigma"),
    ({"sleep": "no"}, TypeError, "sleep is True or False"),
    ({"contacts": "False"}, TypeError, "contacts is True or False"),
    ({"sleep_speed": -1}, sim.InputError, "must not be negative"),
    ({"law": {"beta": -1}}, sim.InputError, "must be positive"),
    ({"dt": 0}, sim.InputError, "step"),
    ({"dt": "fast"}, TypeError, ""),
    ({"threads": 1000}, sim.InputError, "threads"),
    ({"threads": 2**40}, sim.InputError, "too large"),
    ({"colour": 1}, TypeError, "no option 'colour'"),
])
def test_wrong_options_are_refused_by_name(options, kind, text):
    with pytest.raises(kind, match=text):
        sim.World("scenes/basic/pendulum.json", **options)


@pytest.mark.parametrize("call, kind", [
    (lambda: sim.load(3), TypeError),
    (lambda: sim.load("x.json", base="loose"), sim.InputError),
    (lambda: sim.load({"sim": 1}, allow="gazebo"), TypeError),
    (lambda: sim.load({"sim": 1}, seed=-1), OverflowError),
    (lambda: sim.load({"sim": 1}, seed=2**60), sim.InputError),
    (lambda: sim.load({"sim": object()}), TypeError),
    (lambda: sim.load({"sim": 1}, set={"world/step": object()}), TypeError),
    (lambda: sim.load("a\0b"), ValueError),
    (lambda: sim.Scene(), TypeError),
    (lambda: sim.World(), TypeError),
])
def test_wrong_arguments_are_refused(call, kind):
    with pytest.raises(kind):
        call()
