"""States: copies that continue with the same bits."""
import copy
import pickle

import numpy as np
import pytest

import sim

SCENES = ["scenes/contact/cards.json", "scenes/articulated/tendon_finger.json", "scenes/articulated/sensors.json",
          "scenes/articulated/muscle_arm.json", "tests/app/scenes/phases.json"]


@pytest.mark.parametrize("scene", SCENES)
def test_a_state_continues_with_the_same_bits_in_any_world(scene):
    world, other = sim.World(scene), sim.World(scene)
    world.step(30)
    state = world.state
    world.step(30)
    other.state = state
    assert other.state == state and other.steps == 30
    other.step(30)
    assert other.state == world.state
    world.state = state
    world.step(30)
    assert other.state == world.state


def test_a_state_with_sleep_continues_with_the_same_bits():
    scene = sim.load("scenes/contact/stack.json")
    world, other = sim.World(scene, sleep=True), sim.World(scene, sleep=True)
    world.step(300)
    other.state = world.state
    world.step(300)
    other.step(300)
    assert world.state == other.state


@pytest.mark.parametrize("scene", SCENES)
def test_reset_is_the_same_as_a_new_world(scene):
    world = sim.World(scene)
    first = world.state
    world.step(40)
    there = world.state
    world.reset()
    assert world.state == first
    world.step(40)
    assert world.state == there


def test_states_are_pickled_copied_compared_and_hashed():
    world = sim.World(SCENES[0])
    first = world.state
    world.step(5)
    state = world.state
    assert state != first and state == world.state and state is not world.state
    for same in (pickle.loads(pickle.dumps(state)), copy.copy(state), copy.deepcopy(state), sim.State(bytes(state))):
        assert same == state and hash(same) == hash(state) and bytes(same) == bytes(state)
    assert len({state, first, world.state}) == 2
    assert state.__eq__(3) is NotImplemented
    with pytest.raises(TypeError):
        state < first


def test_the_arrays_of_a_state_are_read_only_and_outlive_it():
    world = sim.World(SCENES[0])
    q = world.state.q
    assert np.array_equal(q, world.q)
    with pytest.raises(ValueError):
        q[0] = 1
    with pytest.raises(ValueError):
        q.setflags(write=True)
    del world
    assert q.sum() == q.sum()


def test_a_state_includes_what_was_written_into_q_and_the_inputs():
    world = sim.World("scenes/articulated/arm.json")
    before = world.state
    world.targets[0] = 0.125
    assert world.state != before
    world.state = before
    assert world.targets[0] != 0.125 and world.state == before
    world.applied[1] = 3
    pushed = world.state
    world.step(5)
    there = world.state
    world.reset()
    assert world.applied[1] == 0 and pushed != before
    world.state = pushed
    world.step(5)
    assert world.state == there


def test_states_of_other_models_are_refused():
    world = sim.World(SCENES[0])
    for other in SCENES[1:]:
        before = world.state
        with pytest.raises(sim.InputError, match="another model"):
            world.state = sim.World(other).state
        assert world.state == before


def test_states_of_another_time_step_are_refused():
    world = sim.World(SCENES[0])
    world.step(3)
    with pytest.raises(sim.InputError, match="time"):
        sim.World(SCENES[0], dt=0.5 * world.dt).state = world.state


def test_broken_bytes_are_refused_and_never_crash():
    world = sim.World(SCENES[0])
    world.step(20)
    good = bytes(world.state)
    generator = np.random.default_rng(1)
    for size in (0, 1, 7, 8, 95, 96, len(good) - 1, len(good) + 1):
        with pytest.raises(sim.InputError):
            sim.State((good + b"\0")[:size])
    # one count may not make up for another: q would then reach beyond the bytes
    model = world.scene
    counts = [len(model.bodies), world.nq, world.nv, len(model.constraints), len(model.tendons), world.nactuator, 0, 0]
    head = np.frombuffer(good[8:8 + 8 * len(counts)], dtype=np.int64)
    assert list(head) == counts
    moved = head + np.array([0, 2**20, 0, 0, 0, 0, 0, -2**20])  # words of q, and of the history
    with pytest.raises(sim.InputError, match="not the bytes of a state"):
        sim.State(good[:8] + moved.tobytes() + good[8 + moved.nbytes:])
    accepted = 0
    for _ in range(3000):
        bad = bytearray(good)
        for _ in range(generator.integers(1, 4)):
            at = generator.integers(0, 200) if generator.random() < 0.5 else generator.integers(0, len(bad))
            bad[at] = generator.integers(0, 256)
        try:
            world.state = sim.State(bytes(bad))
            accepted += 1
            world.step()
        except (sim.InputError, sim.StepError):
            pass
    assert accepted > 0
    with pytest.raises(TypeError):
        world.state = good
    with pytest.raises(TypeError):
        del world.state


def test_scenes_and_worlds_are_pickled(tmp_path):
    path = tmp_path / "scene.json"
    path.write_text(open("scenes/basic/double_pendulum.json").read())
    world = sim.World(sim.load(path, set={"world/step": 0.003}, seed=4), solver="sap", integrator="symplectic")
    world.step(10)
    world.v[0] = 2
    for again in (pickle.loads(pickle.dumps(world)), copy.copy(world), copy.deepcopy(world)):
        assert again.state == world.state and repr(again.options) == repr(world.options)
        assert again.scene.hash == world.scene.hash and again.scene.seed == 4
        again.step(5)
        assert again.steps == 15 and world.steps == 10
    values, allowed = {"world/step": 0.004}, iter(["loop_joint"])
    scene = sim.load(path, set=values)
    values["world/step"] = 0.005  # the caller's dict may change, and a list be an iterator
    assert pickle.loads(pickle.dumps(scene)).dt == 0.004
    robot = sim.loads('<robot name="r"><link name="a"/><loop_joint/></robot>', allow=allowed)
    assert pickle.loads(pickle.dumps(robot)).hash == robot.hash
    pickled = pickle.dumps(world.scene)
    path.write_text(path.read_text().replace('"mass": 1,', '"mass": 1.5,'))
    with pytest.raises(sim.InputError, match="has changed"):
        pickle.loads(pickled)
    assert pickle.loads(pickle.dumps(sim.load({"sim": 1, "name": "x"}))).name == "x"


def test_worlds_run_in_processes():
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
    worlds = [sim.World(SCENES[0], dt=0.001 * k) for k in (1, 2)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(energy_after_ten_steps, worlds))
    for world, result in zip(worlds, results):
        world.step(10)
        assert result == tuple(world.energy)


def test_checkpoints_are_those_of_the_program(tmp_path):
    import os
    import subprocess
    scene, path = SCENES[0], tmp_path / "a.state"
    world = sim.World(scene)
    subprocess.run([os.environ["SIM_PROGRAM"], scene, "--duration", repr(20 * world.dt), "--quiet", "--checkpoint", path],
                   check=True)
    world.step(20)
    world.save(tmp_path / "b.state")
    for file in (path, tmp_path / "b.state"):
        other = sim.World(scene)
        other.restore(file)
        assert other.state == world.state and np.array_equal(other.q, world.q)
    subprocess.run([os.environ["SIM_PROGRAM"], "--resume", tmp_path / "b.state", "--duration", repr(30 * world.dt),
                    "--quiet", "--checkpoint", path], check=True)
    world.step(10)
    other.restore(path)
    assert other.state == world.state
    with pytest.raises(sim.Error):
        sim.World(SCENES[1]).restore(path)
    for call in (world.save, world.restore):
        with pytest.raises(sim.Error):
            call("/none/none.state")


def energy_after_ten_steps(world):
    world.step(10)
    return tuple(world.energy)
