#!/usr/bin/env python3
"""Do the sliders of a page move the joints?  Of a recorded run the picture must have the pose that the simulation has with
these coordinates; a live run must go on from them.  Prints TAP.

    sliders.py SIM
"""
import copy
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), *folder) for folder in ((), ("..", "live"), ("..", "support"))]
from chromium import Browser, show  # noqa: E402
from live import Live  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
TOLERANCE = 2e-3  # m and 1, of poses packed to 1/4096 of a radius and 1e-4 rad, over a chain


def link(name, parent, joint, q):
    return {"name": name, "parent": parent, "joint": joint, "q": q, "pose": {"position": [0.1, 0.2, 0.3], "rpy_deg": [20, -30, 40]},
            "shapes": [{"type": "box", "size": [0.1, 0.15, 0.2], "density": 1000}]}


# A chain of all joints whose coordinates are numbers; at rest without gravity.
CHAIN = {
    "sim": 1, "name": "All joints", "world": {"step": 0.01, "duration": 0.05, "gravity": [0, 0, 0], "contacts": False},
    "bodies": [
        link("hinge", "world", {"type": "hinge", "axis": [1, 2, 3], "range": [-1, 2]}, 0.3),
        link("slider", "hinge", {"type": "slider", "axis": [3, 1, 0]}, 0.1),
        link("screw", "slider", {"type": "screw", "axis": [0, 1, 1], "pitch": 0.5}, -0.4),
        link("cylindrical", "screw", {"type": "cylindrical", "axis": [1, 0, 1]}, [0.2, -0.1]),
        link("universal", "cylindrical", {"type": "universal", "axis": [0, 0, 1], "axis2": [0, 1, 0]}, [0.5, -0.6]),
        link("planar", "universal", {"type": "planar", "axis": [0, 1, 0], "axis2": [0, 0, 1]}, [0.1, 0.2, 0.3]),
        link("cartesian", "planar", {"type": "cartesian"}, [0.1, -0.2, 0.05]),
        link("last", "cartesian", {"type": "hinge"}, 0.002)],
    "constraints": [{"type": "coupling", "first": "last", "second": "slider", "polynomial": [-0.05, 0.5, 0.2, 0, 0]}],
}
MOVED = {"hinge": [-0.7], "slider": [0.5], "screw": [1.9], "cylindrical": [-1.1, 0.4], "universal": [-0.8, 1.2],
         "planar": [-0.3, 0.25, -1.4], "cartesian": [-0.2, 0.15, 0.3]}


def page(scene, name, shown=None):
    """In a browser of its own, or in place of what another one showed."""
    pathlib.Path("scene.json").write_text(json.dumps(scene))
    subprocess.run([SIM, "scene.json", "--html", name, "--quiet"], check=True)
    url = f"file://{os.path.abspath(name)}?still&keys=q"
    if shown:
        shown.open(url)
    else:
        shown = Browser(url, 580, 320, pictures=False)
    shown.until("globalThis.sim?.joints && sim.bodies.bounds.radius > 0")
    return shown


def poses(shown):
    return shown.run("Object.fromEntries(sim.scene.bodies.map(({ name }, k) => [name, sim.bodies.pose[k].elements.slice()]))")


def slide(shown, body, coordinate, value):
    """As a person does: the slider says where it was put."""
    shown.run(f"""(() => {{ const {{ input }} = sim.joints.sliders.find((s) => sim.scene.bodies[s.body].name === '{body}'
        && s.coordinate === {coordinate}); input.value = {value}; input.dispatchEvent(new Event('input')); }})()""")


def different(a, b):
    return max(abs(x - y) for name in a for x, y in zip(a[name], b[name]))


def with_coordinates(scene, moved):
    other = copy.deepcopy(scene)
    for body in other["bodies"]:
        body["q"] = moved.get(body["name"], body["q"])
    return other


def checks():
    recorded = page(CHAIN, "run.html")
    other = Browser("about:blank", 580, 320, pictures=False)

    def there_is_a_slider_for_every_coordinate_with_its_range():
        told = recorded.run("sim.joints.sliders.map(({ label, low, high }) => [label, low, high])")
        assert len(told) == 14, told
        assert told[0][0].startswith("hinge") and told[0][1:] == [-1, 2], told[0]
        angle = next(t for t in told if t[0].startswith("screw"))
        assert abs(angle[1] + angle[2]) < 1e-12 and abs(angle[2] - 3.14159265) < 1e-6, angle

    def the_panel_shows_the_coordinates_of_the_moment():
        recorded.until("document.querySelector('#joints output').textContent === '0.3 rad'")
        assert recorded.run("!document.getElementById('joints').hidden && document.querySelectorAll('#joints input').length") == 14

    def moved_joints_put_all_bodies_where_the_simulation_has_them():
        before = poses(recorded)
        for body, values in MOVED.items():
            for coordinate, value in enumerate(values):
                slide(recorded, body, coordinate, value)
        recorded.until("sim.dirty <= 0")
        simulated = page(with_coordinates(CHAIN, {**MOVED, "last": [-0.05 + 0.5 * 0.5 + 0.2 * 0.5**2]}), "moved.html", other)
        found, wanted = poses(recorded), poses(simulated)
        assert different(found, wanted) < TOLERANCE, (different(found, wanted), found, wanted)
        assert different(found, before) > 0.5

    def a_coupling_moves_joints_in_both_directions():
        slide(recorded, "last", 0, -0.05 + 0.5 * 0.7 + 0.2 * 0.7**2)
        slider = "sim.joints.value(sim.joints.sliders.find((s) => sim.scene.bodies[s.body].name === 'slider'))"
        assert abs(recorded.run(slider) - 0.7) < 1e-6, recorded.run(slider)

    def a_slider_stops_at_the_end_of_its_range():
        slide(recorded, "hinge", 0, 5)
        recorded.until("sim.joints.sliders[0].text.textContent === '2 rad'")

    def another_moment_shows_what_was_recorded():
        assert recorded.run("sim.joints.bent")
        recorded.key("ArrowRight")
        recorded.until("!sim.joints.bent && document.querySelector('#joints output').textContent === '0.3 rad'")
        recorded.until("sim.dirty <= 0")
        fresh = page(CHAIN, "again.html", other)
        assert different(poses(recorded), poses(fresh)) < TOLERANCE

    def of_a_live_run_they_move_the_simulation():
        shown = other
        with Live(CHAIN) as live:
            shown.open(f"{live.url}?keys=q")
            shown.until("globalThis.sim?.source.connected && sim.player.playing")
            slide(shown, "hinge", 0, -0.7)
            shown.until("!sim.player.playing && Math.abs(sim.joints.value(sim.joints.sliders[0]) + 0.7) < 1e-6")
            slide(shown, "slider", 0, 0.5)
            shown.until("Math.abs(sim.joints.value(sim.joints.sliders.at(-1)) - 0.25) < 1e-6")  # the coupled one
            before = shown.run("sim.source.state.step")
            shown.key("ArrowRight")
            shown.until(f"sim.source.state.step === {before + 1}")
            assert abs(shown.run("sim.joints.value(sim.joints.sliders[0])") + 0.7) < 1e-3, "it goes on from there"
            assert not shown.complaints, shown.complaints
            shown.close()

    def the_console_stays_silent():
        assert not recorded.complaints, recorded.complaints
        recorded.close()

    return [value for value in locals().values() if callable(value)]


def cases():
    yield from checks()


if __name__ == "__main__":
    sys.exit(show(cases))
