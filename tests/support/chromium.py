"""Chromium without a screen, driven through its debugging protocol.  Nothing here depends on how fast the machine is: who
waits, waits for the page to say so, and PATIENCE_S bounds it.  All pages of a program are windows of one Chromium, whose
start takes as long as two or three pages."""
import atexit
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

import tap
from websocket import WebSocket

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--hide-scrollbars", "--disable-background-networking", "--disable-component-update", "--no-first-run",
         "--disable-gpu-compositing", "--disable-gpu-rasterization", "--disable-extensions",  # SwiftShader draws WebGL alone
         "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
         "--autoplay-policy=no-user-gesture-required", "--allow-file-access-from-files"]
PATIENCE_S = 240
# Without a graphics processor pictures take most of the time: where none is looked at, pages do all but fill them.
UNDRAWN = """for (const name of ['drawArrays', 'drawElements', 'drawArraysInstanced', 'drawElementsInstanced'])
  WebGL2RenderingContext.prototype[name] = () => {};"""


def until(ready, name, seconds=PATIENCE_S):
    """The first answer that is not nothing."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := ready():
            return value
        time.sleep(0.05)
    raise AssertionError(f"not in {seconds} s: {name}")


def complained(event):
    """An error or a warning of the page, as text."""
    details = event.get("params", {})
    level = {"Runtime.exceptionThrown": "error", "Runtime.consoleAPICalled": details.get("type"),
             "Log.entryAdded": details.get("entry", {}).get("level")}.get(event.get("method"))
    text = json.dumps(details)
    return text if level in ("error", "warning") and "GPU stall due to ReadPixels" not in text else None


def show(*programs):
    """The exit status of programs, functions that give cases one after the other.  Each has a folder of its own."""
    tap.skip_without(CHROMIUM, "Chromium", os.environ.get("SIM_NEEDS_CHROMIUM"))

    def cases():
        for program in programs:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                yield from program()
                os.chdir("/")
    return tap.run(cases(), folders=False)


class Speaker:
    """One end of the protocol: asks, and keeps what pages complain of meanwhile."""

    def __init__(self, port, path):
        self.socket = WebSocket(port, path, origin=None, protocol=None, timeout=PATIENCE_S)
        self.complaints = []
        self.number = 0

    def answer(self, method, **details):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": details}))
        while True:
            said = json.loads(self.socket.receive())
            if complaint := complained(said):
                self.complaints.append(complaint)
            if said.get("id") == self.number:
                return said

    def ask(self, method, **details):
        said = self.answer(method, **details)
        assert "error" not in said, said
        return said["result"]


class Chromium(Speaker):
    """The process, for as long as the program runs."""

    one = None

    def __init__(self):
        self.home = tempfile.mkdtemp()
        self.process = subprocess.Popen([CHROMIUM, *FLAGS, "--remote-debugging-port=0", f"--user-data-dir={self.home}", "about:blank"],
                                        stderr=subprocess.DEVNULL)
        atexit.register(self.end)
        self.port, path = until(self.place, "Chromium")
        super().__init__(self.port, path)

    def place(self):
        """Where the debugging protocol is spoken: Chromium writes it into its folder once it listens."""
        named = os.path.join(self.home, "DevToolsActivePort")
        words = open(named).read().split() if os.path.exists(named) else []
        return len(words) == 2 and (int(words[0]), words[1])

    def end(self):
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.home, ignore_errors=True)


class Browser(Speaker):
    """A page in a window of its own, so many pixels wide and high: scripts run in it, keys and the mouse act on it, and its
    complaints are kept."""

    def __init__(self, url, width=780, height=440, pictures=True):
        Chromium.one = Chromium.one or Chromium()
        self.target = Chromium.one.ask("Target.createTarget", url="about:blank", newWindow=True)["targetId"]
        super().__init__(Chromium.one.port, f"/devtools/page/{self.target}")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setFocusEmulationEnabled", enabled=True)
        self.ask("Runtime.enable")
        self.ask("Log.enable")
        if not pictures:
            self.ask("Page.enable")
            self.ask("Page.addScriptToEvaluateOnNewDocument", source=UNDRAWN)
        self.open(url)

    def open(self, url):
        """Another page in the place of this one."""
        self.complaints = []
        self.ask("Page.navigate", url=url)
        until(lambda: self.loaded(url), f"all of {url}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def loaded(self, url):
        """Is the page there with all its parts?  Until then a script meets half a page, or another one that is just leaving."""
        said = self.answer("Runtime.evaluate", expression="document.readyState + ' ' + location.href", returnByValue=True)
        return said.get("result", {}).get("result", {}).get("value", "").startswith(f"complete {url}")

    def run(self, script):
        done = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done
        return done["result"].get("value")

    def until(self, script, seconds=PATIENCE_S):
        return until(lambda: self.run(script), script, seconds)

    def draws(self, on):
        """Does the viewer draw?  Pictures take long without a graphics processor."""
        self.run("(() => { const { renderer } = sim.stage; renderer.drawn ??= renderer.render; "
                 f"renderer.render = {'renderer.drawn' if on else '() => {}'}; }})()")

    def key(self, key):
        self.run(f"dispatchEvent(new KeyboardEvent('keydown', {{ key: {json.dumps(key)} }}))")

    def mouse(self, kind, x, y, modifiers=0, buttons=1):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1, modifiers=modifiers)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot")["data"]))

    def close(self):
        self.socket.close()
        Chromium.one.ask("Target.closeTarget", targetId=self.target)
