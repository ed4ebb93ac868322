#!/usr/bin/env python3
"""Do pages show what was simulated?  Writes pages with the program and opens them in headless Chromium. It compares what the
page's own reader and its pictures say (`?test`, viewer/src/selftest.js) with trajectories in CSV and with mechanics.
Prints TAP.

    browser.py SIM
"""
import base64
import csv
import functools
import io
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from chromium import Browser, show  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
SHOWN = []  # the browser, once a page is open
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout


def sim(*words):
    return subprocess.run([SIM, *map(str, words), "--quiet"], capture_output=True, text=True, check=True)


def open_page(page, query):
    """The page in the one browser of all cases."""
    url = f"file://{os.path.abspath(page)}?{query}"
    if SHOWN:
        SHOWN[0].open(url)
    else:
        SHOWN.append(Browser(url, 700, 320))
    return SHOWN[0]


@functools.cache
def browse(page, query="test=picture"):
    """The page's answer, and what it said on the console; asked once."""
    shown = open_page(page, query)
    answer = json.loads(shown.until("document.getElementById('test')?.textContent"))
    assert "error" not in answer, answer["error"]
    return answer, shown.complaints


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def scene(text, name="scene.json"):
    pathlib.Path(name).write_text(json.dumps(text))
    return name


CLUTTER = {
    "sim": 1, "name": "Ball & box <i>", "description": "A ball and a box fall side by side, and lie.",
    "world": {"step": 0.002, "duration": 1.0},
    "bodies": [
        {"name": "floor", "shapes": [{"type": "half_space"}]},
        {"name": "ball", "joint": "free", "pose": {"position": [-0.3, 0, 0.2]},
         "shapes": [{"type": "sphere", "radius": 0.1, "density": 1000, "color": [0.9, 0.1, 0.1]}]},
        {"name": "box", "joint": "free", "pose": {"position": [0.3, 0, 0.3], "rpy_deg": [20, 10, 30]}, "v": [0, 0, 0, 2, 1, 3],
         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "density": 1000, "color": [0.1, 0.2, 0.9]}]}],
    "record": {"every": 2, "signals": ["poses", "energy", "contacts", "statistics"]},
    "cameras": [{"name": "front", "position": [0, -2, 0.4], "target": [0, 0, 0.1]}],
}

SLED = {"name": "sled", "joint": "free", "pose": {"position": [0, 0, 0.1]}, "v": [1, 0, 0, 0, 0, 0],
        "shapes": [{"type": "box", "size": [0.6, 0.6, 0.2], "density": 1000}]}
MOST = "sim.source.track[track].reduce((a, b) => Math.max(a, b || 0), 0)"  # of a signal, in the page


def at_time(table, time):
    return min(table, key=lambda row: abs(float(row["time [s]"]) - time))


def checks():
    sim(scene(CLUTTER), "--html", "a.html", "--out", "a.csv", "--every", 2)
    answer, said = browse("a.html", "test")
    table = rows("a.csv")
    row = at_time(table, answer["scrubbed"]["shown"])

    def the_page_loads_and_its_console_stays_silent():
        assert answer["done"] and not said, said
        assert answer["name"] == "Ball & box <i>" and answer["frames"] == 500 / 2 + 1, answer["frames"]

    def the_page_asks_for_nothing():
        assert [r for r in answer["requests"] if not r.startswith("data:")] == []

    def bodies_stand_where_the_trajectory_has_them():
        assert abs(float(row["time [s]"]) - answer["scrubbed"]["shown"]) < 1e-9
        for body in ("ball", "box"):
            m = answer["pose"][body]
            for k, axis in enumerate("xyz"):
                assert abs(m[12 + k] - float(row[f"{body}.pose.{axis} [m]"])) < 0.18 / 4096, (body, axis)
            w, x, y, z = (float(row[f"{body}.pose.q{c}"]) for c in "wxyz")
            column = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]
            assert all(abs(a - b) < 2e-4 for a, b in zip(m[:3], column)), body

    def contacts_are_those_of_the_step():
        assert answer["contacts"] == int(row["contacts"]) == answer["dots"] > 1
        assert answer["arrows"] > 0

    def few_draw_calls_make_a_picture():
        assert 3 < answer["calls"] < 30 and 100 < answer["triangles"] < 50000, (answer["calls"], answer["triangles"])

    def boxes_of_the_same_inertia_are_the_boxes_themselves():
        boxes = {b["body"]: b["edges"] for b in answer["boxes"]}
        assert all(abs(e - 0.2) < 1e-6 for e in boxes["box"]), boxes
        assert all(abs(e - 0.1 * (12 * 0.4 / 2) ** 0.5) < 1e-6 for e in boxes["ball"]), boxes

    def frames_of_bodies_stand_at_their_origins():
        assert answer["framed"] == []
        shown, _ = browse("a.html", f"test=picture&at={answer['scrubbed']['wanted']}&keys=e")
        assert {f["body"] for f in shown["framed"]} == {"ball", "box"} and shown["colors"] > answer["colors"], shown["framed"]
        for frame in shown["framed"]:
            m = shown["pose"][frame["body"]]
            for k, axis in enumerate(frame["axes"]):
                assert all(abs(a - b) < 1e-6 for a, b in zip(axis["from"] + axis["along"], m[12:15] + m[4 * k:4 * k + 3])), frame
                assert axis["color"].index(max(axis["color"])) == k and max(axis["color"]) > 2 * min(axis["color"]), frame

    def islands_are_what_contacts_join():
        shown, _ = browse(stack_page(), "test=picture&at=0.1&keys=n")
        islands = shown["islands"]
        assert islands["low"] == islands["high"] > 0 and islands["alone"] > 0, islands
        assert islands["alone"] != islands["low"] and islands["flying"] == islands["floor"] == 0, islands

    def forces_at_rest_carry_the_weight():
        weight = 9.81 * 1000 * (4 / 3 * 3.14159265 * 0.1**3 + 0.2**3)
        last, _ = browse("a.html", "test=picture&at=1")
        total = abs(last["force"][2])
        assert abs(total - weight) < 0.01 * weight, (total, weight)

    def bodies_are_drawn_in_their_colours_where_they_are():
        drawn = {d["body"]: d["rgb"] for d in answer["drawn"]}
        red, blue = drawn["ball"], drawn["box"]
        assert red[0] > 2 * red[2] and blue[2] > 1.5 * blue[0], drawn
        assert answer["colors"] > 500

    def time_moves_by_scrubbing_and_by_playing():
        assert abs(answer["scrubbed"]["shown"] - answer["scrubbed"]["wanted"]) < 1e-12
        assert f"{answer['scrubbed']['wanted']:.3f}" in answer["scrubbed"]["clock"]
        assert answer["changed"] > 1000 and 0 < answer["played"] <= answer["waited"], (answer["played"], answer["waited"])

    def help_opens_by_its_key():
        assert answer["help"]

    def keys_step_and_toggle_and_a_double_click_selects():
        used = answer["used"]
        assert abs(used["stepped"] - used["frame"]) < 1e-9 and used["start"] == 0 and abs(used["end"] - 1) < 1e-9, used
        assert used["toggled"] and used["selected"], used

    def the_motion_of_a_body_is_plotted_where_it_goes():
        assert all(abs(d) < 2e-3 for d in answer["used"]["plotted"]), answer["used"]

    def a_press_in_a_plot_goes_to_that_time():
        assert abs(answer["used"]["sought"] - 0.5) < 0.01, answer["used"]

    def a_hidden_body_is_gone_with_its_contacts_until_all_are_shown():
        hidden = answer["rest"]["hidden"]
        all_of_them, less, again = hidden["dots"]
        assert hidden["state"] == "all" and hidden["hit"] == 0 and less < all_of_them == again > 1, hidden
        assert hidden["rows"] == ["world", "floor", "ball", "box"], hidden

    def names_of_bodies_can_be_read_however_deep_they_hang():
        arm = [{"name": f"a_long_name_of_link_{k}", "joint": {"type": "hinge"}, "pose": {"position": [0, 0, -0.1]},
                "shapes": [{"type": "box", "size": [0.02, 0.02, 0.1], "density": 1000}],
                **({"parent": f"a_long_name_of_link_{k - 1}"} if k else {})} for k in range(12)]
        sim(scene({"sim": 1, "world": {"step": 0.002, "duration": 0.02, "contacts": False}, "bodies": arm}, "deep.json"), "--html", "deep.html")
        page = open_page("deep.html", "still")
        page.until("globalThis.sim?.plots.plots.length")
        page.run("dispatchEvent(new KeyboardEvent('keydown', { key: 'b' }))")
        cut = page.run("[...document.querySelectorAll('#tree .name')].map((n) => n.scrollWidth > n.clientWidth)")
        assert len(cut) == 13 and not any(cut), cut

    def signals_are_chosen_and_axes_have_units():
        first, without, again = answer["rest"]["titles"]
        assert "Contacts" in first and "Contacts" not in without and again == first, answer["rest"]["titles"]
        units = dict(answer["rest"]["units"])
        assert re.fullmatch("[kmµ]?J", units["Energy"]) and re.fullmatch("[mµn]?m", units["Penetration"]), units

    def the_error_plotted_is_that_of_the_law_that_the_solver_obeys():
        slide = {**CLUTTER, "world": {"step": 0.002, "duration": 0.1, "solver": "sap"}, "bodies": [CLUTTER["bodies"][0], SLED]}
        sim(scene(slide, "slide.json"), "--html", "slide.html", "--out", "slide.csv", "--every", 1)
        table = rows("slide.csv")
        worst = {name: max(float(row[f"certificate.{name}"]) for row in table) for name in ("own", "E")}
        assert worst["own"] < 1e-3 < 0.1 < worst["E"], worst  # sap lifts what slides, which the rigid law calls wrong
        page = open_page("slide.html", "still")
        page.until("globalThis.sim?.plots.plots.length")
        shown = dict(page.run(f"sim.plots.plots.flatMap(({{ title, lines }}) => lines.map(({{ track }}) => [title, {MOST}]))"))
        choice = dict(page.run(f"sim.plots.signals().map(({{ title, track }}) => [title, {MOST}])"))
        own, rigid = "Error by the solver's law", "Error by the rigid law, E"
        assert rigid not in shown and abs(shown[own] - worst["own"]) <= 1e-6 * worst["own"], shown
        assert abs(choice[rigid] - worst["E"]) <= 1e-6 * worst["E"], choice

    def the_ground_is_the_floor_and_what_has_none_stands_over_one():
        assert answer["floor"]["below"] is None and answer["floor"]["planes"] == 1, answer["floor"]
        shown, _ = browse(swing_page())
        floor = shown["floor"]
        assert floor["planes"] == 1 and -1.15 < floor["below"] < floor["low"] < -1.09, floor

    def all_places_of_a_run_lie_in_the_free_part_of_the_window():
        shown, _ = browse(swing_page())
        assert shown["seen"]["low"] < -1.09, shown["seen"]  # which the pendulum reaches after the first second
        left, top, right, bottom = shown["seen"]["free"]
        assert top > 0.05 and all(left < x < right and top < y < bottom for x, y in shown["seen"]["at"]), shown["seen"]

    def an_impact_leaves_the_scale_of_arrows_alone():
        arrow = answer["rest"]["arrow"]
        assert 30 < arrow["usual"] < 100 and 0.7 < arrow["length"] <= 2, arrow  # N; at rest the box has 78 N, the ball 41

    def what_is_round_has_sectors():
        assert answer["sectors"] == [["sphere", 0.13], ["box", 0]], answer["sectors"]
        shown, _ = browse(shapes_page())
        strong = {kind for kind, strength in shown["sectors"] if strength > 0.1}
        assert strong == {"sphere", "cylinder"}  # an ellipsoid is drawn with the spheres
        assert all(strength < 0.1 for kind, strength in shown["sectors"] if kind in ("capsule", "convex")), shown["sectors"]

    def a_film_in_pictures_is_a_zip_of_png():
        film = answer["rest"]["film"]
        with zipfile.ZipFile(io.BytesIO(base64.b64decode(film["bytes"]))) as archive:
            assert archive.testzip() is None and archive.namelist() == ["00000.png", "00001.png", "00002.png"], archive.namelist()
            for name in archive.namelist():
                head = archive.read(name)[:24]
                assert head[:8] == b"\x89PNG\r\n\x1a\n" and list(struct.unpack(">II", head[16:24])) == film["size"], head
        assert film["name"] == "Ball_box_i.zip", film["name"]

    def a_recorded_run_gives_the_page_of_the_run_itself():
        if not HDF5:
            return "this build has no HDF5"
        sim(scene(CLUTTER), "--out", "b.h5", "--html", "b.html")
        sim("view", "b.h5", "--html", "c.html")
        assert pathlib.Path("b.html").read_bytes() == pathlib.Path("c.html").read_bytes()

    def a_page_at_rest_asks_for_no_frame():
        page = open_page("a.html", "still")
        page.until("globalThis.sim?.plots.plots.length && sim.dirty === 0")
        asked = """new Promise((done) => {
          const ask = globalThis.requestAnimationFrame;
          let count = 0;
          globalThis.requestAnimationFrame = (frame) => { count++; return ask(frame); };
          %s;
          setTimeout(() => { globalThis.requestAnimationFrame = ask; done(count); }, 300);
        })"""
        assert page.run(asked % "") == 0
        assert page.run(asked % "sim.refresh()") > 0
        page.until("sim.dirty === 0")
        assert page.run(asked % "") == 0

    def tendons_take_the_way_that_geometry_says():
        shown, complaints = browse(strings_page())
        assert not complaints, complaints
        chords = 0.3 * 24 * math.sin(math.pi / 24)  # of half a turn
        half = 2 * math.hypot(0.5, 0.2)
        for length, due in zip(shown["tendons"], [2 * 0.5 + chords, half, 0.6]):
            assert abs(length - due) < 1e-3, shown["tendons"]
        assert len(shown["tendons"]) == 3 and shown["rods"] in (17, 18), shown["rods"]  # rounding decides on a chord

    def every_type_of_shape_is_drawn():
        shown, complaints = browse(shapes_page())
        assert not complaints, complaints
        assert len(shown["drawn"]) == 6, shown["drawn"]

    return [value for value in locals().values() if callable(value)]


def stack_page():
    box = {"type": "box", "size": [0.2, 0.2, 0.2], "density": 1000}
    places = {"low": [0, 0, 0.1], "high": [0, 0, 0.3], "alone": [0.6, 0, 0.1], "flying": [-0.6, 0, 0.7]}
    bodies = [{"name": "floor", "shapes": [{"type": "half_space"}]}]
    bodies += [{"name": name, "joint": "free", "pose": {"position": at}, "shapes": [box]} for name, at in places.items()]
    sim(scene({"sim": 1, "world": {"step": 0.002, "duration": 0.2}, "bodies": bodies}, "stack.json"), "--html", "stack.html")
    return "stack.html"


@functools.cache
def swing_page():
    """A pendulum that begins almost upright: it reaches its lowest point after the first second, which the page has at hand."""
    arm = {"name": "arm", "joint": {"type": "hinge", "axis": [0, 1, 0]}, "q_deg": 178,
           "shapes": [{"type": "capsule", "radius": 0.1, "length": 1, "density": 1000, "pose": {"position": [0, 0, -0.5]}}]}
    sim(scene({"sim": 1, "name": "Swing", "world": {"step": 0.002, "duration": 4}, "bodies": [arm]}, "swing.json"), "--html", "swing.html")
    return "swing.html"


def strings_page():
    """Half around a post, inside of it to its surface and back, and past it."""
    def site(name, x, z):
        return {"name": name, "pose": {"position": [x, 0, z]}}
    post = {"name": "post", "type": "cylinder", "radius": 0.3, "length": 0.2, "pose": {"rpy_deg": [90, 0, 0]}, "use": "picture"}
    frame = {"name": "frame", "shapes": [post], "sites": [
        site("low", -0.3, -0.5), site("above", 0, 1), site("middle", 0, 0), site("left", -0.5, 0.5)]}
    slide = {"name": "slide", "joint": {"type": "slider", "axis": [0, 1, 0]}, "shapes": [{"type": "sphere", "radius": 0.1, "density": 1000}],
             "sites": [site("far_low", 0.3, -0.5), site("right", 0.5, 0.5)]}
    tendons = [{"name": "over", "path": ["low", {"around": "post", "side": "above"}, "far_low"]},
               {"name": "inside", "path": ["left", {"around": "post", "side": "middle"}, "right"]},
               {"name": "past", "path": ["low", {"around": "post"}, "far_low"]}]
    text = {"sim": 1, "name": "Strings", "world": {"step": 0.01, "duration": 0.1, "gravity": [0, 0, 0]}, "bodies": [frame, slide],
            "tendons": tendons, "cameras": [{"name": "front", "position": [0, -3, 0.5], "target": [0, 0, 0.2]}]}
    sim(scene(text, "strings.json"), "--html", "strings.html")
    return "strings.html"


@functools.cache
def shapes_page():
    kinds = [{"type": "sphere", "radius": 0.1}, {"type": "box", "size": [0.2, 0.2, 0.2]},
             {"type": "capsule", "radius": 0.07, "length": 0.1}, {"type": "cylinder", "radius": 0.1, "length": 0.2},
             {"type": "ellipsoid", "radii": [0.1, 0.08, 0.12]},
             {"type": "convex", "points": [[0.1, 0, -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, -0.1], [0, 0, 0.12]]}]
    bodies = [{"name": f"b{k}", "joint": "free", "pose": {"position": [0.35 * (k - 2.5), 0, 0.2]},
               "shapes": [{"density": 1000, **kind}]} for k, kind in enumerate(kinds)]
    text = {"sim": 1, "name": "Shapes", "world": {"step": 0.002, "duration": 0.1}, "bodies": bodies,
            "cameras": [{"name": "front", "position": [0, -3, 0.5], "target": [0, 0, 0.2]}]}
    sim(scene(text, "shapes.json"), "--html", "shapes.html")
    return "shapes.html"


def cases():
    yield from checks()
    SHOWN.pop().close()


if __name__ == "__main__":
    sys.exit(show(cases))
