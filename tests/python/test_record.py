"""Recordings and pages: those of the program, and their lifetimes."""
import gc
import os
import subprocess

import numpy as np
import pytest

import sim

PROGRAM = os.environ["SIM_PROGRAM"]
CARDS = "scenes/contact/cards.json"


@pytest.mark.parametrize("scene", [CARDS, "scenes/articulated/sensors.json", "scenes/articulated/arm.json"])
def test_a_trajectory_has_the_bytes_of_the_programs(scene, tmp_path):
    world = sim.World(scene)
    every = 5
    subprocess.run([PROGRAM, scene, "--duration", repr(20 * world.dt), "--out", tmp_path / "program.csv", "--quiet",
                    "--set", f"record/every={every}"], check=True)
    with world.record(tmp_path / "python.csv", every=every) as recorder:
        world.step(7)
        world.step(13)
    assert recorder.records == 5 and recorder.closed
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "program.csv").read_bytes()


def test_hdf5_holds_the_coordinates(tmp_path):
    h5py = pytest.importorskip("h5py")
    world = sim.World("scenes/articulated/arm.json")
    seen = [world.q.copy()]
    with world.record(tmp_path / "run.h5", every=1):
        for _ in range(6):
            world.step()
            seen.append(world.q.copy())
    with h5py.File(tmp_path / "run.h5") as file:
        found = []
        file.visititems(lambda name, item: found.append(np.array(item)) if getattr(item, "shape", ()) == (7, 7) else None)
    assert any(np.array_equal(array, seen) for array in found)


def test_a_page_is_written_whole_and_shown_in_notebooks(tmp_path):
    path = tmp_path / "run.html"
    page = sim.page(CARDS, path, duration=0.1)
    text = path.read_text()
    assert text.startswith("<!") and "</html>" in text[-200:] and "card" in text
    shown = page._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "<script" not in shown and page.path == str(path)
    with pytest.raises(sim.InputError):
        sim.page(CARDS, tmp_path / "run.csv")


def test_frames_of_a_page_are_sixty_a_second(tmp_path):
    world = sim.World("scenes/articulated/arm.json", dt=0.001)
    with world.record(tmp_path / "run.html") as recorder:
        assert recorder.every == 16


def test_records_are_due_by_the_number_of_steps(tmp_path):
    world = sim.World("scenes/articulated/arm.json")
    world.step(3)
    with world.record(tmp_path / "a.csv", every=10) as a, world.record(tmp_path / "b.csv", every=4) as b:
        world.step(20)
        a.write()
    steps = [[int(line.split(",")[1]) for line in (tmp_path / f"{n}.csv").read_text().splitlines()[1:]] for n in "ab"]
    assert steps == [[3, 10, 20, 23], [3, 4, 8, 12, 16, 20]]
    assert (a.records, b.records) == (4, 6)


def test_a_world_that_ends_closes_its_recordings(tmp_path):
    world = sim.World("scenes/articulated/arm.json")
    kept = world.record(tmp_path / "kept.csv", every=1)
    world.record(tmp_path / "dropped.csv", every=1)
    world.step(5)
    del world
    gc.collect()
    assert kept.closed
    kept.close()
    with pytest.raises(sim.Error, match="closed"):
        kept.write()
    assert len((tmp_path / "kept.csv").read_text().splitlines()) == len((tmp_path / "dropped.csv").read_text().splitlines()) == 7


def test_a_recording_is_closed_when_an_exception_leaves_the_with(tmp_path):
    world = sim.World("scenes/articulated/arm.json")
    with pytest.raises(ZeroDivisionError):
        with world.record(tmp_path / "a.html"):
            world.step(2)
            1 / 0
    assert "</html>" in (tmp_path / "a.html").read_text()[-200:]
    world.step(3)


@pytest.mark.parametrize("path, every", [("a.txt", None), ("none/a.csv", None), ("none/a.html", None), ("a.csv", 0), ("a.csv", -3)])
def test_files_that_cannot_be_written_are_refused(path, every, tmp_path):
    world = sim.World("scenes/articulated/arm.json")
    with pytest.raises(sim.Error):
        world.record(tmp_path / path, every=every)
    world.step()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["run.csv", "run.h5"])
def test_no_two_recordings_write_one_file(name, tmp_path):
    one, other = sim.World(CARDS), sim.World(CARDS)
    first = one.record(tmp_path / name, every=1)
    one.step(3)
    for world in one, other:
        with pytest.raises(sim.Error, match="open in another program|another program has it open"):
            world.record(tmp_path / name)
    first.close()
    with other.record(tmp_path / name, every=1) as recorder:
        other.step(3)
    assert recorder.records == 4


def test_pages_have_names_and_durations(tmp_path):
    path = os.fsencode(tmp_path / "run.html")
    assert sim.page(CARDS, path, duration=0.01).path == os.fsdecode(path)
    os.remove(path)
    for duration in (-1, float("nan"), float("inf")):
        with pytest.raises(sim.InputError, match="a page lasts 0 s or more"):
            sim.page(CARDS, path, duration)
    assert not os.path.exists(path)


def test_tables_for_notebooks_escape_their_texts():
    scene = sim.load({"sim": 1, "name": "<b>&", "bodies": []})
    for text in (scene._repr_html_(), sim.World(scene)._repr_html_()):
        assert "&lt;b&gt;&amp;" in text and "<b>" not in text
