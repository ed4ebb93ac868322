"""Chromium without a window, driven through its debugging protocol.  Nothing here depends on how fast the machine is: who
waits, waits for the page to say so, and PATIENCE_S bounds it."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

from websocket import WebSocket, request

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--hide-scrollbars", "--disable-background-networking", "--disable-component-update", "--no-first-run",
         "--disable-gpu-compositing", "--disable-gpu-rasterization", "--disable-extensions"]  # SwiftShader draws WebGL alone
PATIENCE_S = 240


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


class Browser:
    """A page: scripts run in it, keys and the mouse act on it, and its complaints are kept."""

    def __init__(self, url, *options):
        self.home = tempfile.mkdtemp()
        self.process = subprocess.Popen([CHROMIUM, *FLAGS, *options, "--remote-debugging-port=0", f"--user-data-dir={self.home}", url],
                                        stderr=subprocess.DEVNULL)
        self.complaints = []
        self.number = 0
        port = self.port()
        path = until(lambda: self.path(port, url), f"a page of {url}")
        self.socket = WebSocket(port, path, origin=None, protocol=None, timeout=PATIENCE_S)
        self.ask("Runtime.enable")
        self.ask("Log.enable")
        until(lambda: self.loaded(url), f"all of {url}")

    def open(self, url):
        """Another page in the place of this one: a tenth of the time that another Chromium takes."""
        self.complaints = []
        self.ask("Page.navigate", url=url)
        until(lambda: self.loaded(url), f"all of {url}")

    def port(self):
        """Where the debugging protocol is spoken: Chromium writes it into its folder once it listens."""
        named = os.path.join(self.home, "DevToolsActivePort")
        return int(until(lambda: os.path.exists(named) and open(named).read().partition("\n")[0], "Chromium"))

    @staticmethod
    def path(port, url):
        answer = request(port, f"GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")
        pages = [p for p in json.loads(answer.partition(b"\r\n\r\n")[2] or b"[]") if p["url"].startswith(url)]
        return pages and pages[0]["webSocketDebuggerUrl"].split(str(port), 1)[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

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
