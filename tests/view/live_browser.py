#!/usr/bin/env python3
"""Does the page of a run that goes on do what it is for?  Opens `sim view --live` in headless Chromium, and uses it as people
do: keys, buttons and the mouse, through the browser's own debugging protocol.  Prints TAP.

    live_browser.py SIM [PICTURE.png]      a picture while a body is dragged
"""
import json
import os
import re
import sys
import time

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), *folder) for folder in ((), ("..", "live"), ("..", "support"))]
from chromium import Browser, show  # noqa: E402
from live import Live  # noqa: E402

PICTURE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
CTRL = 2  # as the protocol numbers it
BALL = 2  # the body
BOXES = {
    "sim": 1, "name": "Ball and boxes", "world": {"step": 0.004, "duration": 1},
    "bodies": [
        {"name": "floor", "shapes": [{"type": "half_space"}]},
        {"name": "ball", "joint": "free", "pose": {"position": [-0.4, 0, 0.3]},
         "shapes": [{"type": "sphere", "radius": 0.15, "density": 1000}]},
        {"name": "box", "joint": "free", "pose": {"position": [0.3, 0, 0.1]},
         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "density": 1000}]},
        {"name": "lid", "joint": "free", "pose": {"position": [0.3, 0, 0.26]},
         "shapes": [{"type": "box", "size": [0.3, 0.3, 0.1], "density": 1000}]}],
    "cameras": [{"name": "front", "position": [0, -3, 0.8], "target": [0, 0, 0.35]}],
}


def place(page, body):
    """Where a body is in the window, in pixels."""
    return page.run(f"""(() => {{ const v = sim.stage.camera.position.clone().setFromMatrixPosition(sim.bodies.pose[{body}])
        .project(sim.stage.camera); const b = sim.stage.canvas.getBoundingClientRect();
        return [b.left + (v.x + 1) / 2 * b.width, b.top + (1 - v.y) / 2 * b.height]; }})()""")


def checks(page):
    def the_page_connects_and_the_ball_falls():
        page.until("globalThis.sim?.source.connected && sim.stage.renderer.info.render.frame > 0")
        page.draws(PICTURE is not None)
        page.until("sim.source.time.length > 30")
        page.until(f"Math.abs(sim.bodies.pose[{BALL}].elements[14] - 0.15) < 0.01")

    def energy_and_contacts_are_plotted():
        page.until("sim.plots.plots.length >= 4")
        page.until("sim.plots.views[0].range[1] > sim.plots.views[0].range[0] && sim.plots.views[0].curves?.width > 0")
        page.until("sim.source.track[sim.scene.tracks.findIndex(t => t.name === 'contacts')].at(-1) >= 1")

    def space_pauses_and_the_arrow_steps():
        page.key(" ")
        page.until("!sim.player.playing")
        before = page.until("sim.source.state.step")
        page.key("ArrowRight")
        page.until(f"sim.source.state.step === {before + 1}")
        page.key("ArrowLeft")
        assert page.run("sim.player.now < sim.player.end")
        assert page.run("sim.source.state.step") == before + 1, "to look back asks nothing of the simulation"
        page.key("End")

    def another_solver_is_chosen():
        page.run("""(() => { const s = document.querySelector('#title select'); s.value = 'pgs'; s.dispatchEvent(new Event('change')); })()""")
        page.until("sim.source.state.solver === 'pgs'")

    def a_drag_while_time_stands_says_when_it_will_pull():
        height = page.run(f"sim.bodies.pose[{BALL}].elements[14]")
        x, y = place(page, BALL)
        page.mouse("mousePressed", x, y, CTRL)
        page.mouse("mouseMoved", x, y - 100, CTRL)
        page.until("sim.drag.spring.visible && document.getElementById('notice').classList.contains('shown')")
        assert "next step" in page.run("document.getElementById('notice').textContent")
        assert page.run(f"sim.bodies.pose[{BALL}].elements[14]") == height
        for _ in range(3):
            page.run("sim.player.step(10)")
            page.until("!sim.player.playing")
        page.until(f"sim.bodies.pose[{BALL}].elements[14] > {height} + 0.01")
        page.draws(True)
        page.run("sim.draw()")  # its spring
        page.draws(PICTURE is not None)
        page.mouse("mouseReleased", x, y - 100, CTRL, buttons=0)
        page.until("!sim.drag.spring.visible && !document.getElementById('notice').classList.contains('shown')")

    def ctrl_and_drag_lift_a_body():
        page.key(" ")
        page.until("sim.player.playing")
        x, y = place(page, BALL)
        camera = page.run("sim.stage.camera.position.toArray()")
        page.mouse("mousePressed", x, y, CTRL)
        for k in range(1, 11):
            page.mouse("mouseMoved", x + 3 * k, y - 20 * k, CTRL)
        page.until(f"sim.bodies.pose[{BALL}].elements[14] > 0.5")
        assert page.run("sim.drag.spring.visible")
        if PICTURE:
            time.sleep(1.5)
            page.picture(PICTURE)
        page.mouse("mouseReleased", x + 30, y - 200, CTRL, buttons=0)
        page.until(f"sim.bodies.pose[{BALL}].elements[14] < 0.2")
        moved = page.run("sim.stage.camera.position.toArray()")
        assert all(abs(a - b) < 1e-6 for a, b in zip(camera, moved)), ("the camera stood", camera, moved)

    def backspace_starts_again():
        page.key(" ")
        page.until("!sim.player.playing")
        page.key("Backspace")
        page.until("sim.source.state.run === 1 && sim.source.time.length === 1 && sim.player.now === 0")

    def a_page_opened_later_shows_the_present():
        page.key("End")
        page.run("sim.player.step(100)")
        page.until("sim.source.state.step === 100")
        page.ask("Page.reload")
        page.until("globalThis.sim?.source?.connected && sim.source.state.step === 100 && sim.source.time.length === 1")
        assert abs(page.run("sim.player.now") - 0.4) < 1e-9 and not page.run("sim.player.playing")
        page.until("sim.stage.renderer.info.render.frame > 0")
        page.draws(PICTURE is not None)

    def a_lost_connection_comes_back():
        page.run("sim.source.socket.close()")
        page.until("!sim.source.connected && sim.source.tries === 1")
        assert "try 1 of 10 in 1 s" in page.run("document.getElementById('notice').textContent")
        page.until("sim.source.connected && sim.source.tries === 0 && sim.source.state.step === 100 && !sim.source.state.say")
        page.key("ArrowRight")
        page.until("sim.source.state.step === 101 && sim.source.time.length === 2")

    def the_console_stays_silent():
        assert not page.complaints, page.complaints

    return [value for value in locals().values() if callable(value)]


def cases():
    with Live(BOXES) as live, Browser(live.url, 1180, 600) as page:
        yield from checks(page)


if __name__ == "__main__":
    sys.exit(show(cases))
