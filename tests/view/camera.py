#!/usr/bin/env python3
"""Does the camera of a page go where the mouse says, and is light where mechanics of light want it?  Opens pages in headless
Chromium and uses the mouse.  Prints TAP.

    camera.py SIM
"""
import json
import math
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from chromium import Browser, show  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
SHIFT = 8  # as the protocol numbers it
WHITE = [0.8, 0.8, 0.8]
SCENE = {
    "sim": 1, "name": "Light", "world": {"step": 0.01, "duration": 0.02, "contacts": False, "gravity": [0, 0, 0]},
    "bodies": [
        {"name": "floor", "shapes": [{"type": "half_space"}]},
        {"name": "table", "joint": "free", "pose": {"position": [-0.6, 0, 0.5]},
         "shapes": [{"type": "box", "size": [0.6, 0.6, 0.06], "density": 1000, "color": WHITE}]},
        {"name": "lens", "joint": "free", "pose": {"position": [0.6, 0, 0.5]},
         "shapes": [{"type": "ellipsoid", "radii": [0.3, 0.3, 0.03], "density": 1000, "color": WHITE}]},
        {"name": "far", "joint": "free", "pose": {"position": [0, 1, 0.5]},
         "shapes": [{"type": "capsule", "radius": 0.1, "length": 0.2, "density": 1000, "color": [*WHITE, 0.5]}]},
        {"name": "near", "joint": "free", "pose": {"position": [0, -1, 0.5]},
         "shapes": [{"type": "cylinder", "radius": 0.1, "length": 0.2, "density": 1000, "color": [*WHITE, 0.5]}]}],
    "cameras": [{"name": "front", "position": [0, -4, 1.5], "target": [0, 0, 0.4]},
                {"name": "above", "position": [0, 0, 5], "target": [0, 0, 0]}],
}
POINT = """(x, y, z) => { const v = sim.stage.camera.position.clone().set(x, y, z).project(sim.stage.camera);
    const b = sim.stage.canvas.getBoundingClientRect(); return [b.left + (v.x + 1) / 2 * b.width, b.top + (1 - v.y) / 2 * b.height]; }"""
PIXEL = f"""(x, y, z) => {{ sim.draw(); const gl = sim.stage.renderer.getContext(), out = new Uint8Array(4);
    const b = sim.stage.canvas.getBoundingClientRect(), [u, v] = ({POINT})(x, y, z), many = gl.drawingBufferWidth / b.width;
    gl.readPixels(Math.round((u - b.left) * many), Math.round((b.bottom - v) * many), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, out);
    return out[1]; }}"""


def checks(page):
    def state():
        return page.run("""(() => { const { camera, controls: { target } } = sim.stage; const at = camera.position;
            return { target: target.toArray(), distance: at.distanceTo(target), height: sim.stage.canvas.clientHeight,
                     azimuth: Math.atan2(at.x - target.x, target.y - at.y), level: Math.acos((at.z - target.z) / at.distanceTo(target)) }; })()""")

    def rest():
        """Until the camera glides no more."""
        page.until("new Promise((done) => { const before = sim.stage.camera.position.toArray().join(); setTimeout(() => "
                   "done(sim.dirty === 0 && before === sim.stage.camera.position.toArray().join()), 120); })")

    def front():
        page.run("sim.stage.view(0); sim.refresh()")
        rest()
        return state()

    def drawn():
        """The front, in pictures again."""
        front()
        page.draws(True)

    def point(*place):
        return page.run(f"({POINT})({','.join(map(str, place))})")

    def light(*place):
        return page.run(f"({PIXEL})({','.join(map(str, place))})")

    def drag(start, by, modifiers=0):
        page.mouse("mousePressed", *start, modifiers)
        for part in (0.5, 1):
            page.mouse("mouseMoved", start[0] + part * by[0], start[1] + part * by[1], modifiers)
        page.mouse("mouseReleased", start[0] + by[0], start[1] + by[1], modifiers)
        rest()

    def the_console_stays_silent():
        page.until("!!globalThis.sim?.stage")
        rest()
        assert not page.complaints, page.complaints
        page.draws(False)  # a camera glides through a hundred pictures

    def a_drag_turns_the_camera_about_its_target():
        before = front()
        drag((300, 200), (90, -30))
        after = state()
        pixel = 2 * math.pi / before["height"]
        assert abs(after["azimuth"] - before["azimuth"] + 90 * pixel) < 1e-4, (before, after)
        assert abs(after["level"] - before["level"] - 30 * pixel) < 1e-4, (before, after)
        assert abs(after["distance"] - before["distance"]) < 1e-9 and after["target"] == before["target"], (before, after)

    def a_drag_far_up_or_down_ends_at_the_pole():
        front()
        drag((300, 300), (0, -290))
        low = state()["level"]
        drag((300, 10), (0, 440))
        drag((300, 10), (0, 440))
        assert math.pi - low < 1e-5 and state()["level"] < 1e-5, (low, state())

    def a_drag_with_shift_takes_along_what_lies_as_far_as_the_target():
        before = front()
        x, y = point(*before["target"])
        drag((300, 200), (60, 25), SHIFT)
        u, v = point(*before["target"])
        assert abs(u - x - 60) < 0.5 and abs(v - y - 25) < 0.5, (x, y, u, v)
        assert abs(state()["azimuth"] - before["azimuth"]) < 1e-9

    def the_wheel_goes_nearer_to_what_is_under_it():
        before = front()
        edge = (-0.9, -0.3, 0.53)
        x, y = point(*edge)
        page.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-400)
        rest()
        after = state()
        assert abs(after["distance"] / before["distance"] - 0.95**4) < 1e-6, (before, after)
        u, v = point(*edge)
        assert math.hypot(u - x, v - y) < 1, (x, y, u, v)
        assert abs(after["azimuth"] - before["azimuth"]) < 1e-6 and abs(after["level"] - before["level"]) < 1e-6, (before, after)

    def two_fingers_pinch_and_move():
        before = front()
        page.run("""(() => { const go = (name, id, x, y) => sim.stage.canvas.dispatchEvent(new PointerEvent(name,
            { pointerId: id, clientX: x, clientY: y, button: 0, pointerType: 'touch', bubbles: true }));
            go('pointerdown', 11, 250, 200); go('pointerdown', 12, 350, 200);
            go('pointermove', 11, 200, 200); go('pointermove', 12, 400, 200);
            go('pointerup', 11, 200, 200); go('pointerup', 12, 400, 200); })()""")
        rest()
        after = state()
        assert abs(after["distance"] / before["distance"] - 0.5) < 1e-6, (before, after)
        assert abs(after["azimuth"] - before["azimuth"]) < 1e-6, (before, after)

    def seen_straight_from_above_y_is_up():
        page.run("sim.stage.view(1); sim.refresh()")
        rest()
        here, right, up = point(0, 0, 0), point(1, 0, 0), point(0, 1, 0)
        assert right[0] - here[0] > 50 and abs(right[1] - here[1]) < 1, (here, right)
        assert here[1] - up[1] > 50 and abs(up[0] - here[0]) < 1, (here, up)

    def a_flat_lens_is_lit_like_a_table():
        drawn()
        table = light(-0.6, 0, 0.53)
        height = 0.5 + 0.03 * math.sqrt(1 - 2 * 0.4**2)
        left, right = [light(0.6 + 0.12 * i, 0.12 * i, height) for i in (-1, 1)]  # in sectors of one kind
        other = light(0.6 + 0.12, -0.12, height)
        assert table > 150 and abs(left - right) < 20 and abs(max(left, right, other) - table) < 12, (left, right, other, table)

    def shadows_fall_on_the_floor_and_not_on_what_casts_them():
        drawn()
        along = 0.47 * math.sqrt(0.5)  # the sun stands at 54.7 deg from the vertical
        under = (-0.6 + along, along, 0)
        shaded = [light(*under), light(-0.6, 0, 0.53), light(-0.8, 0.2, 0.53)]
        page.run("sim.stage.sun.castShadow = false")
        lit = [light(*under), light(-0.6, 0, 0.53), light(-0.8, 0.2, 0.53)]
        page.run("sim.stage.sun.castShadow = true")
        assert lit[0] - shaded[0] > 40, (shaded, lit)
        assert all(abs(a - b) <= 2 for a, b in zip(lit[1:], shaded[1:])), (shaded, lit)

    def what_one_looks_through_is_drawn_from_far_to_near():
        def order():
            return page.run("sim.draw(), Object.fromEntries(sim.bodies.group.children.map((m) => "
                            "[m.userData.batch.shapes[0].shape.type, m.renderOrder]))")
        front()
        before = order()
        page.run("sim.stage.camera.position.y *= -1; sim.draw()")
        after = order()
        assert before["capsule"] < before["cylinder"] and after["capsule"] > after["cylinder"], (before, after)

    def every_copy_can_be_picked():
        front()
        for body in ("table", "lens", "far", "near"):
            k = [b["name"] for b in SCENE["bodies"]].index(body) + 1
            place = SCENE["bodies"][k - 1]["pose"]["position"]
            x, y = point(*place)
            assert page.run(f"sim.bodies.pick(sim.stage.ray({x}, {y}))") == k, body

    return [value for name, value in locals().items() if callable(value) and "_" in name]


def cases():
    pathlib.Path("scene.json").write_text(json.dumps(SCENE))
    subprocess.run([SIM, "scene.json", "--html", "page.html", "--quiet"], check=True)
    with Browser(f"file://{os.path.abspath('page.html')}?still", 700, 440) as page:
        page.until("!!globalThis.sim?.stage")
        page.run("sim.panels.side && sim.toggle('side')")
        yield from checks(page)


if __name__ == "__main__":
    sys.exit(show(cases))
