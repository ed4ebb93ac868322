#!/usr/bin/env python3
"""Does the page of a run that goes on do what it is for?  Opens `sim view --live` in headless Chromium, and uses it as people
do: keys, buttons and the mouse, through the browser's own debugging protocol.  Prints TAP.

    live_browser.py SIM [PICTURE.png]      a picture while a body is dragged
"""
import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support")]
import tap  # noqa: E402
from browser import CHROMIUM, FLAGS  # noqa: E402
from live import Live  # noqa: E402
from websocket import WebSocket, request  # noqa: E402

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


class Browser:
    """A page in Chromium, driven through its debugging protocol."""

    def __init__(self, url):
        self.home = tempfile.mkdtemp()
        self.process = subprocess.Popen([CHROMIUM, *FLAGS, "--window-size=1200,760", "--remote-debugging-port=0",
                                         f"--user-data-dir={self.home}", url], stderr=subprocess.PIPE, text=True)
        port = next(int(m.group(1)) for line in self.process.stderr if (m := re.search(r"DevTools listening on ws://[^:]+:(\d+)/", line)))
        self.complaints = []
        self.number = 0
        for _ in range(100):
            answer = request(port, f"GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")
            pages = [p for p in json.loads(answer.partition(b"\r\n\r\n")[2] or b"[]") if p["url"].startswith(url)]
            if pages:
                break
            time.sleep(0.1)
        path = pages[0]["webSocketDebuggerUrl"].split(str(port), 1)[1]
        self.socket = WebSocket(port, path, origin=None, protocol=None, timeout=60)
        self.ask("Runtime.enable")
        self.ask("Log.enable")

    def ask(self, method, **details):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": details}))
        while True:
            said = json.loads(self.socket.receive())
            if said.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                text = json.dumps(said["params"])
                if '"level": "error"' in text or "exceptionDetails" in text:
                    self.complaints.append(text)
            if said.get("id") == self.number:
                assert "error" not in said, said
                return said["result"]

    def run(self, script):
        done = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def until(self, script, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script):
                return value
            time.sleep(0.05)
        raise AssertionError(f"not in {seconds} s: {script}")

    def key(self, key):
        self.run(f"dispatchEvent(new KeyboardEvent('keydown', {{ key: {json.dumps(key)} }}))")

    def mouse(self, kind, x, y, modifiers=0, buttons=1):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1, modifiers=modifiers)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.home, ignore_errors=True)


def place(page, body):
    """Where a body is in the window, in pixels."""
    return page.run(f"""(() => {{ const v = sim.stage.camera.position.clone().setFromMatrixPosition(sim.bodies.pose[{body}])
        .project(sim.stage.camera); const b = sim.stage.canvas.getBoundingClientRect();
        return [b.left + (v.x + 1) / 2 * b.width, b.top + (1 - v.y) / 2 * b.height]; }})()""")


def checks(page):
    def the_page_connects_and_the_ball_falls():
        page.until("globalThis.sim?.source.connected && sim.source.time.length > 30")
        page.until(f"Math.abs(sim.bodies.pose[{BALL}].elements[14] - 0.15) < 0.01")

    def energy_and_contacts_are_plotted():
        assert page.run("sim.plots.plots.length") >= 4
        page.until("sim.plots.views[0].range[1] > sim.plots.views[0].range[0] && sim.plots.views[0].curves.width > 0")
        assert page.run("sim.source.track[sim.scene.tracks.findIndex(t => t.name === 'contacts')].at(-1)") >= 1

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

    def the_console_stays_silent():
        assert not page.complaints, page.complaints

    return [value for value in locals().values() if callable(value)]


def main():
    tap.skip_without(CHROMIUM, "Chromium", os.environ.get("SIM_NEEDS_CHROMIUM"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with Live(BOXES) as live:
            page = Browser(live.url)
            failed = tap.run(checks(page), folders=False)
            page.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
