"""Steps, arrays and inputs of worlds; agreement with the program to the bit."""
import collections
import csv
import json
import math
import os
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

import sim

PROGRAM = os.environ["SIM_PROGRAM"]
ARM = "scenes/articulated/arm.json"
PENDULUM = "scenes/basic/pendulum.json"


@pytest.mark.parametrize("scene, duration", [("scenes/basic/double_pendulum.json", 0.5), (ARM, 0.2),
                                             ("scenes/contact/cards.json", 0.1), ("scenes/articulated/sensors.json", 0.1)])
def test_coordinates_are_those_of_the_program_bit_by_bit(scene, duration, tmp_path):
    out = tmp_path / "run.csv"
    subprocess.run([PROGRAM, scene, "--duration", str(duration), "--out", out, "--quiet", "--set", "record/every=10",
                    "--set", 'record/signals=["coordinates"]'],
                   check=True)
    rows = list(csv.reader(open(out)))
    world = sim.World(scene)
    end = 2 + world.nq
    assert [name.split(" ")[0] for name in rows[0][2:end]] == list(world.coordinates) and len(rows) > 4
    for row in rows[1:]:
        assert [float(x) for x in row[2:end]] == list(world.q) and float(row[0]) == world.time
        world.step(10)


@pytest.mark.parametrize("threads", [2, 5])
def test_any_number_of_threads_gives_the_same_bits(threads):
    one, many = sim.World("scenes/contact/cards.json"), sim.World("scenes/contact/cards.json", threads=threads)
    one.step(50)
    many.step(50)
    assert one.state == many.state


def test_a_pendulum_swings_with_the_period_of_the_elliptic_integral():
    length, angle = 0.7, 1.2
    scene = {"sim": 1, "world": {"step": 1e-3},
             "bodies": [{"name": "bob", "joint": {"type": "hinge", "axis": [0, 1, 0]}, "q": angle,
                         "inertia": {"mass": 2, "com": [0, 0, -length], "moments": [0, 0, 0]}}]}
    a, b = 1.0, math.cos(angle / 2)
    for _ in range(20):
        a, b = (a + b) / 2, math.sqrt(a * b)
    period = 2 * math.pi * math.sqrt(length / 9.80665) / a
    world = sim.World(scene, dt=period / 4000)
    g = -world.scene.gravity[2]
    world = sim.World(scene, dt=2 * math.pi * math.sqrt(length / g) / a / 4000)
    world.step(4000)
    assert abs(world.q[0] - angle) < 1e-6 and abs(world.v[0]) < 5e-5


def test_one_array_shows_every_step():
    world = sim.World(PENDULUM)
    q, v = world.q, world.v
    before = q.copy()
    world.step()
    assert q[0] != before[0] and q[0] == world.q[0] and v[0] == world.v[0]


def test_what_is_written_into_q_and_v_holds():
    world, other = sim.World(PENDULUM), sim.World(PENDULUM)
    world.q[0], world.v[0] = 0.25, -1.5
    other.q, other.v = [0.25], -1.5
    assert world.energy == other.energy
    assert world.energy.kinetic > 0
    world.step(20)
    other.step(20)
    assert world.state == other.state and world.q[0] != 0.25


def test_coordinates_that_are_no_configuration_are_refused():
    world = sim.World("scenes/basic/tennis_racket.json")
    good = world.q.copy()
    world.q[3:] = 0
    with pytest.raises(sim.InputError, match="quaternion"):
        world.step()
    world.q[0] = np.nan
    with pytest.raises(sim.InputError, match="not finite"):
        world.energy
    world.q = good
    world.step()


def test_inputs_drive_actuators_and_nan_gives_them_back():
    scene = {"sim": 1, "world": {"gravity": [0, 0, 0]},
             "bodies": [{"name": "cart", "joint": {"type": "slider", "axis": [1, 0, 0]},
                         "inertia": {"mass": 2, "com": [0, 0, 0], "moments": [1, 1, 1]}}],
             "actuators": [{"name": "motor", "joint": "cart", "ctrl": 0}]}
    world = sim.World(scene, dt=0.001)
    world.ctrl[world.actuators.index("motor")] = 3.0
    world.step(1000)
    assert world.v[0] == pytest.approx(1.5, rel=1e-12) and world.q[0] == pytest.approx(0.75, rel=1e-9)
    world.ctrl = np.nan
    world.step(100)
    assert world.v[0] == pytest.approx(1.5, rel=1e-12)
    world.applied[:] = -3.0
    world.step(1000)
    assert world.v[0] == pytest.approx(0, abs=1e-12)
    world.reset()
    assert world.applied[0] == 0 and math.isnan(world.ctrl[0]) and world.time == 0


def test_sensors_are_found_by_name_and_follow_the_steps():
    world = sim.World("scenes/articulated/sensors.json")
    arrays = dict(world.sensors)
    assert list(arrays) == list(world.scene.sensors)
    world.step(20)
    assert all(np.array_equal(world.sensors[name], array) for name, array in arrays.items())
    assert sum(a.size for a in arrays.values()) == world.sensor_values.size
    with pytest.raises(ValueError):
        world.sensor_values[0] = 1
    with pytest.raises(KeyError):
        world.sensors["none"]


def test_keyframes_are_found_by_name_and_number():
    scene = {"sim": 1, "bodies": [{"name": "a", "joint": {"type": "hinge"}, "inertia": {"mass": 1, "moments": [1, 1, 1]}}],
             "keyframes": [{"name": "up", "initial": {"a": {"q": 1.5}}}, {"name": "down", "time": 2, "initial": {"a": {"q": -1}}}]}
    world = sim.World(scene)
    world.reset("down")
    assert world.q[0] == -1 and world.time == 2
    world.reset(0)
    assert world.q[0] == 1.5 and world.time == 0
    world.reset()
    assert world.q[0] == 0
    with pytest.raises(sim.InputError, match="'up', 'down'"):
        world.reset("side")


def test_options_of_the_scene_hold_unless_others_are_given():
    scene = sim.load(PENDULUM, set={"world/solver": "pgs", "world/solver_options/max_iterations": 77})
    assert sim.World(scene).options["solver_options"]["max_iterations"] == 77
    world = sim.World(scene, dt=0.002, solver_options={"tolerance": 1e-5}, integrator="symplectic", law={"beta": 0.5})
    assert world.options["solver"] == "pgs" and world.options["solver_options"]["max_iterations"] == 77
    assert world.options["solver_options"]["tolerance"] == 1e-5 and world.dt == 0.002
    assert world.options["integrator"] == "symplectic" and world.options["law"]["beta"] == 0.5
    assert sim.World(scene, solver="sap").options["solver_options"] == sim.solvers()["sap"]["options"]
    assert sim.World(scene, dt=None).dt == scene.dt and sim.World(scene, step=0.002).dt == 0.002
    with pytest.raises(TypeError, match="one option"):
        sim.World(scene, dt=0.002, step=0.002)


def test_all_options_of_a_world_make_the_same_world_again():
    world = sim.World("scenes/contact/cards.json", solver="sap", dt=0.002)
    again = sim.World("scenes/contact/cards.json", **world.options)
    assert repr(again.options) == repr(world.options)
    world.step(20)
    again.step(20)
    assert world.state == again.state


def test_overrides_of_the_scene_hold():
    scene = sim.load(PENDULUM, set={"world/step": np.float64(0.004), "bodies/0/joint/damping": 0.5}, seed=7)
    assert scene.dt == 0.004 and scene.seed == 7 and '"damping": 0.5' in scene.text


def test_a_dict_a_text_and_a_file_are_the_same_scene():
    import json
    text = open(PENDULUM).read()
    worlds = [sim.World(sim.load(PENDULUM)), sim.World(sim.loads(text)), sim.World(json.loads(text))]
    for world in worlds:
        world.step(10)
    assert worlds[0].state == worlds[1].state == worlds[2].state


def test_the_interpreter_runs_while_a_world_steps():
    world = sim.World("scenes/contact/cards.json")
    done = threading.Event()

    def run():
        world.step(400)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    seen = refused = 0
    while not done.is_set():
        seen += 1
        try:
            world.energy
        except sim.Error as error:
            assert "busy" in str(error)
        try:
            world.ctrl = world.applied = 0.0
        except sim.Error as error:
            refused += "busy" in str(error)
        try:
            world.wrenches = 0.0
        except sim.Error as error:
            refused += "busy" in str(error)
        world.q, world.sensors, world.bodies
        time.sleep(0.001)
    thread.join()
    assert seen > 3 and refused > 3 and world.steps == 400


def test_worlds_of_one_scene_run_in_threads_with_the_same_bits():
    scene = sim.load("scenes/contact/cards.json")
    worlds = [sim.World(scene) for _ in range(4)]
    threads = [threading.Thread(target=w.step, args=(60,)) for w in worlds]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({w.state for w in worlds}) == 1


def test_ctrl_c_ends_a_long_run_between_two_steps():
    world = sim.World(PENDULUM)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        world.step(10**12)
    timer.join()
    assert world.steps > 0 and world.q[0] == world.state.q[0]
    world.step()


def test_certificate_and_info_are_those_of_the_last_step():
    world = sim.World("scenes/contact/cards.json")
    world.step(20)
    assert 0 < world.certificate.constraints and 0 <= world.certificate.own < 1e-8
    assert world.info.contacts > 0 and world.info.unsolved == 0 and world.info.gave_up == {}
    starved = sim.World("scenes/contact/cards.json", solver="pgs", solver_options={"max_iterations": 1})
    starved.step(20)
    assert starved.info.unsolved > 0 and sum(starved.info.gave_up.values()) == starved.info.unsolved
    assert starved.certificate.own > 1e-6


def test_unsolved_bodies_are_those_that_the_program_counts(tmp_path):
    scene, told = "scenes/contact/cards.json", tmp_path / "told.json"
    world = sim.World(scene, solver="pgs", solver_options={"max_iterations": 1})
    jammed = collections.Counter()
    for _ in range(60):
        world.step()
        if world.info.unsolved:
            jammed[tuple(world.bodies[body] for body in sorted(world.info.unsolved_body))] += 1
    subprocess.run([PROGRAM, scene, "--duration", repr(world.time), "--quiet", "--solver", "pgs:max_iterations=1",
                    "--summary", told], check=True)
    counted = {tuple(pair["bodies"]): pair["steps"] for pair in json.load(open(told))["contacts"]["jammed"]}
    assert 1 < len(counted) and counted.items() <= jammed.items()
    assert sorted(counted.values()) == sorted(jammed.values())[-len(counted):]


BOX = {"sim": 1, "world": {"gravity": [0, 0, 0]},
       "bodies": [{"name": "box", "joint": "free", "inertia": {"mass": 2, "moments": [1, 2, 3]}}]}


def test_pushes_add_up_to_wrenches_and_move_bodies():
    world = sim.World(BOX, dt=0.001)
    world.push("box", [4, 0, 0])
    world.push("box", [0, 2, 0], [0, 0, 0], moment=[0, 0, 0])
    assert np.array_equal(world.wrenches[1], [0, 0, 0, 4, 2, 0])
    world.step(500)
    assert np.allclose(world.v[:3], [1, 0.5, 0], rtol=1e-9) and not world.v[3:].any()
    world.wrenches = 0
    world.push("box", [0, 0, 3], [0, 1, 0], moment=[0, 0, 6])
    assert np.allclose(world.wrenches[1], [3, 0, 6, 0, 0, 3])
    world.reset()
    assert not world.wrenches.any()
    with pytest.raises(sim.InputError):
        world.push("none", [1, 2, 3])
    with pytest.raises(sim.InputError):
        world.push("box", [1, 2])


def test_constraints_are_switched_by_name():
    scene = {**BOX, "constraints": [{"name": "latch", "type": "weld", "first": "box"}]}
    world = sim.World(scene, dt=0.001)
    assert world.switches == ("on",)
    world.switch("latch", False)
    world.v[0] = 1
    world.step(1000)
    assert world.q[0] == pytest.approx(1) and world.switches == ("off",)
    world.switch("latch", "hold")
    world.step(10)
    assert world.switches == ("hold",) and world.q[0] == pytest.approx(1, abs=1e-2)
    held, state = world.q[0], world.state
    world.step(100)
    assert abs(world.v[0]) < 1e-9 and world.q[0] == pytest.approx(held, abs=1e-3)
    world.reset()
    world.state = state
    assert world.switches == ("hold",)
    with pytest.raises(sim.InputError, match="latch"):
        world.switch("none", True)
    with pytest.raises(sim.InputError, match="off"):
        world.switch("latch", "half")


def test_joints_have_names_of_their_own_or_those_of_their_bodies():
    body = {"name": "link", "joint": {"name": "elbow", "type": "hinge"}, "inertia": {"mass": 1, "moments": [1, 1, 1]}}
    twin = {"name": "elbow2", "joint": {"name": "link", "type": "slider"}, "inertia": {"mass": 1, "moments": [1, 1, 1]}}
    world = sim.World({"sim": 1, "bodies": [body, twin]})
    assert world.joints == ("elbow", "elbow2") and world.dofs == ("elbow", "elbow2")
    assert world.joint("elbow").dofs == world.joint("link").dofs == slice(0, 1) and world.joint("link").name == "elbow"
    assert world.joint(1).name == "elbow2" and world.joint("elbow2").type == "slider"
    with pytest.raises(sim.InputError, match="'arm' is none of the joints"):
        world.joint("arm")


def test_joints_are_parts_of_the_state():
    world = sim.World("scenes/contact/quadruped.json")
    for name in world.joints:
        joint = world.joint(name)
        assert joint.name == name and np.shares_memory(joint.q, world.q) and np.shares_memory(joint.v, world.v)
        assert np.array_equal(world.q[joint.coordinates], joint.q) and np.array_equal(world.v[joint.dofs], joint.v)
    assert sum(world.joint(k).v.size for k in range(len(world.joints))) == world.nv
    assert {world.joint(n).type for n in world.joints} == {"free", "hinge"}
    world.joint(1).v[:] = 0.5
    world.step()
    assert 0.5 in world.state.v or abs(world.joint(1).v[0]) > 0
    with pytest.raises(sim.InputError):
        world.joint("none")


def test_numbers_of_the_model_are_those_of_the_file():
    scene = sim.load({"sim": 1, "bodies": [
        {"name": "a", "joint": {"type": "hinge", "range": [-1, 2], "effort": 3}, "inertia": {"mass": 4, "moments": [1, 1, 1]}, "q": 0.5},
        {"name": "b", "joint": "slider", "inertia": {"mass": 6, "moments": [1, 1, 1]}, "v": -2}],
        "actuators": [{"joint": "a", "ctrl": 0, "ctrl_range": [-5, 7], "force_range": [-1, 2]}, {"joint": "b", "ctrl": 0}]})
    infinite = [-np.inf, np.inf]
    assert list(scene.masses) == [0, 4, 6] and scene.mass == 10
    assert np.array_equal(scene.ranges, [[-1, 2], infinite])
    assert np.array_equal(scene.ctrl_ranges, [[-5, 7], infinite])
    assert np.array_equal(scene.force_ranges, [[-1, 2], infinite])
    assert list(scene.q_initial) == [0.5, 0] and list(scene.v_initial) == [0, -2]


def test_contacts_of_soft_solids_have_areas():
    world = sim.World(sim.load("tests/app/scenes/soft.json"))
    world.step(40)
    contacts = world.contacts
    soft = contacts[contacts["area"] > 0]
    assert len(soft) > 10 and len(contacts) > len(soft)
    pressure = soft["stiffness"] * -soft["gap"] / soft["area"]
    assert (pressure >= 0).all() and pressure.max() < 1e5


def test_nodes_of_soft_bodies_are_an_array():
    jelly = {"type": "box", "size": [0.4, 0.2, 0.2], "edge": 0.1, "modulus": 1e5, "thickness": 0}
    world = sim.World({"sim": 1, "world": {"solver": "sap", "step": 0.01, "integrator": "midpoint"}, "bodies": [
        {"name": "jelly", "pose": {"position": [1, 2, 3]}, "v": [1, 0, 0], "soft": jelly}, {"name": "hand"}]})
    start = world.nodes("jelly")
    assert start.shape == (5 * 3 * 3, 3) and np.allclose(start.min(axis=0), [0.8, 1.9, 2.9], atol=1e-15)
    world.step(10)
    assert np.allclose(world.nodes("jelly") - start, [0.1, 0, -9.81 * 0.01 / 2], atol=1e-12)
    with pytest.raises(sim.InputError, match='the body "hand" is not soft'):
        world.nodes("hand")
    with pytest.raises(sim.InputError, match='moves by its nodes: push "jelly/0"'):
        world.push("jelly", [0, 0, 1])
    before = world.momentum[5]
    world.push("jelly/0", [0, 0, 1])
    world.step()
    assert np.isclose(world.momentum[5] - before, (1 - 16 * 9.81) * 0.01, rtol=1e-9)
