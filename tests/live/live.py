#!/usr/bin/env python3
"""Does a run that is watched do what is asked of it, and nothing for those who may not ask?  Speaks HTTP and WebSocket with
`sim view --live` over plain sockets.  Prints TAP.

    live.py SIM
"""
import csv
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402
from websocket import Closed, WebSocket, request  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
STEP = 0.004
PENDULUM = {
    "sim": 1, "name": "Double pendulum", "world": {"step": STEP, "duration": 2},
    "bodies": [
        {"name": "a", "joint": {"type": "hinge", "axis": [0, 1, 0]}, "q_deg": 100, "pose": {"position": [0, 0, 2]},
         "shapes": [{"type": "capsule", "radius": 0.05, "length": 0.8, "density": 900, "pose": {"position": [0, 0, -0.5]}}]},
        {"name": "b", "parent": "a", "joint": {"type": "hinge", "axis": [0, 1, 0]}, "q_deg": 70,
         "pose": {"position": [0, 0, -1]},
         "shapes": [{"type": "capsule", "radius": 0.05, "length": 0.8, "density": 900, "pose": {"position": [0, 0, -0.5]}}]}],
    "record": {"every": 1, "signals": ["coordinates", "energy"]},
}
BALL = {
    "sim": 1, "name": "Ball", "world": {"step": STEP, "duration": 1},
    "bodies": [{"name": "floor", "shapes": [{"type": "half_space"}]},
               {"name": "ball", "joint": "free", "pose": {"position": [0, 0, 0.1]},
                "shapes": [{"type": "sphere", "radius": 0.1, "density": 1000}]}],
    "record": {"every": 1, "signals": ["poses", "contacts", "energy", "statistics"]},
}
TRACKS = ["kinetic", "potential", "total", "contacts", "iterations", "own", "E", "penetration", "past_range", "slip"]


class Live:
    """The program, serving a scene."""

    def __init__(self, scene, *words):
        pathlib.Path("scene.json").write_text(json.dumps(scene))
        # AddressSanitizer would keep what is freed, and memory() is to tell what is held.
        asan = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
        self.process = subprocess.Popen([SIM, "view", "scene.json", "--live", *map(str, words)], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "ASAN_OPTIONS": asan})
        self.url = self.process.stdout.readline().strip()
        assert self.url, self.process.communicate()
        self.port = int(self.url.rstrip("/").rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ctrl-C ends it at once, and well."""
        assert self.process.poll() is None, f"it died: {self.process.communicate()}"
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=10)
        assert self.process.returncode == 0 and not err, (self.process.returncode, out, err)

    def watch(self, **how):
        return Watcher(self.port, **how)

    def memory(self):
        """kB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])


class Watcher(WebSocket):
    def do(self, verb, **details):
        self.send(json.dumps({"do": verb, **details}))

    def see(self):
        """The next frame: how things stand, time, and tracks by name; joints follow as a list."""
        data = self.receive()
        size, at = 0, 0
        while True:
            size |= (data[at] & 127) << (7 * at)
            at += 1
            if data[at - 1] < 128:
                break
        state = json.loads(data[at:at + size])
        at += size
        state["time"] = struct.unpack_from("<d", data, at)[0]
        state.update(zip(TRACKS, struct.unpack_from(f"<{len(TRACKS)}f", data, at + 8)))
        state["joints"] = lambda count: struct.unpack_from(f"<{count}f", data, at + 8 + 4 * len(TRACKS))
        return state

    def until(self, found, seconds=90):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.see()
            if found(state):
                return state
        raise AssertionError(f"not in {seconds} s; last: {state}")


def single(value):
    return struct.unpack("<f", struct.pack("<f", float(value)))[0]


def the_page_is_served_and_nothing_else():
    with Live(PENDULUM) as live:
        host = f"127.0.0.1:{live.port}"
        page = request(live.port, f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
        head, _, body = page.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200") and b"X-Frame-Options: DENY" in head, head
        assert body.rstrip().endswith(b"</html>") and b'<script type="sim/scene">' in body
        for path in ("/scene.json", "/etc/passwd", "//etc/passwd", "/../../etc/passwd", "/%2e%2e/etc/passwd", "/live", "/index.html"):
            answer = request(live.port, f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            assert not answer.startswith(b"HTTP/1.1 2") and b"root:" not in answer and b"sim/scene" not in answer, (path, answer)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT"):
            answer = request(live.port, f"{method} / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            assert not answer.startswith(b"HTTP/1.1 2") and b"sim/scene" not in answer, (method, answer[:200])


def other_machines_are_not_listened_to():
    with Live(PENDULUM) as live:
        assert live.url == f"http://127.0.0.1:{live.port}/"
        for address in ("127.0.0.2", "::1", socket.gethostname()):
            try:
                socket.create_connection((address, live.port), timeout=3).close()
            except OSError:
                continue
            named = address == socket.gethostname() and socket.gethostbyname(address) == "127.0.0.1"
            assert named, f"listens to more than 127.0.0.1: {address}"


def pages_of_other_sites_may_neither_read_nor_connect():
    with Live(PENDULUM) as live:
        for host in ("evil.example", f"evil.example:{live.port}", "", "127.0.0.1.evil.example", f"localhost.evil.example:{live.port}"):
            answer = request(live.port, f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
            assert not answer.startswith(b"HTTP/1.1 200") and b"sim/scene" not in answer, (host, answer[:200])
        wrong = [{"origin": "http://evil.example"}, {"origin": "null"}, {"origin": None}, {"origin": "http://127.0.0.1"},
                 {"origin": f"https://127.0.0.1:{live.port}"}, {"origin": f"http://127.0.0.1:{live.port}.evil.example"},
                 {"host": f"evil.example:{live.port}"}, {"path": "/"}, {"path": "/other"}, {"path": "/livelong"}]
        for how in wrong:
            try:
                live.watch(**how).see()
            except (Closed, OSError):
                continue
            raise AssertionError(f"was let in: {how}")
        watcher = live.watch(host=f"localhost:{live.port}")
        watcher.do("play")
        watcher.until(lambda s: s["step"] > 10)  # who is refused is not counted among those who leave


def steps_are_those_of_a_run_that_nobody_watches():
    count = 400
    with Live(PENDULUM) as live:
        watcher = live.watch()
        assert watcher.see()["step"] == 0
        watcher.do("step", count=count - 1)
        watcher.do("speed", value=2)
        before = watcher.until(lambda s: s["step"] == count - 1)
        watcher.do("step", count=1)
        state = watcher.until(lambda s: s["step"] == count)
        assert not before["playing"] and not state["playing"]
        subprocess.run([SIM, "scene.json", "--out", "run.csv", "--quiet"], check=True)
        with open("run.csv", newline="") as file:
            row = list(csv.DictReader(file))[count]
        columns = [k for k in row if k in ("a [rad]", "b [rad]")]
        assert len(columns) == 2, list(row)
        assert state["time"] == float(row["time [s]"]), state
        assert list(state["joints"](2)) == [single(row[k]) for k in columns], (state["joints"](2), row)
        energy = next(k for k in row if "kinetic" in k)
        assert state["kinetic"] == single(row[energy])


def play_keeps_to_the_clock_and_pause_stands():
    with Live(PENDULUM) as live:
        watcher = live.watch()
        watcher.see()
        watcher.do("play")
        first = watcher.until(lambda s: s["playing"] and s["step"] > 0)
        started = time.monotonic()
        last = watcher.until(lambda s: s["time"] > first["time"] + 1)
        passed = time.monotonic() - started
        assert passed > 0.8, f"a simulated second took {passed} s"  # and on a busy machine, more
        watcher.do("pause")
        stood = watcher.until(lambda s: not s["playing"])
        watcher.do("speed", value=0.5)
        assert watcher.until(lambda s: s["speed"] == 512)["step"] == stood["step"] >= last["step"]


def a_reset_starts_again_and_another_solver_goes_on():
    with Live(BALL) as live:
        watcher = live.watch()
        watcher.do("step", count=50)
        then = watcher.until(lambda s: s["step"] == 50)
        watcher.do("solver", name="pgs")
        other = watcher.until(lambda s: s["solver"] == "pgs")
        assert then["solver"] == "auto" and other["step"] == 50 and other["time"] == then["time"]
        assert abs(other["potential"] - then["potential"]) < 1e-6
        watcher.do("reset")
        again = watcher.until(lambda s: s["run"] == 1)
        assert again["step"] == 0 and again["time"] == 0 and again["solver"] == "pgs"


def a_drag_lifts_and_letting_go_drops():
    mass, radius = 4 / 3 * 3.141592653589793 * 1e-3 * 1000, 0.1
    with Live(BALL) as live:
        watcher = live.watch()
        watcher.see()
        watcher.do("drag", body=2, point=[0, 0, 0], target=[0, 0, 1])
        watcher.do("step", count=600)
        held = watcher.until(lambda s: s["step"] == 600)
        height = held["potential"] / (mass * 9.81)
        assert abs(height - (1 - radius / 4)) < 0.02, f"hangs at {height}: the weight stretches the spring by r / 4"
        assert held["kinetic"] < 1e-6 * held["potential"]
        watcher.do("release")
        watcher.do("step", count=600)
        assert watcher.until(lambda s: s["step"] == 1200)["contacts"] == 1
        watcher.do("drag", body=2, point=[0, 0, 0], target=[0, 0, 1])
        watcher.do("step", count=300)
        watcher.until(lambda s: s["step"] == 1500)
        other = live.watch()
        watcher.close()
        other.do("step", count=600)
        assert other.until(lambda s: s["step"] >= 2100)["contacts"] == 1, "who leaves lets go"


def options_hold_from_the_first_step_on():
    with Live(BALL, "--solver", "canal", "--set", "world/step=0.004", "--set", "bodies/ball/pose/position=[0,0,0.2]") as live:
        watcher = live.watch()
        state = watcher.see()
        mass = 4 / 3 * 3.141592653589793 * 1e-3 * 1000
        assert state["solver"] == "canal" and abs(state["potential"] / (mass * 9.81) - 0.2) < 1e-6, state
        watcher.do("step", count=10)
        assert abs(watcher.until(lambda s: s["step"] == 10)["time"] - 0.04) < 1e-12
        watcher.do("solver", name="pgs")
        watcher.until(lambda s: s["solver"] == "pgs")
        watcher.do("reset")
        again = watcher.until(lambda s: s["run"] == 1)
        assert abs(again["potential"] - state["potential"]) < 1e-6 and again["solver"] == "pgs", again


def a_drag_while_time_stands_waits_for_a_step():
    with Live(BALL) as live:
        watcher = live.watch()
        before = watcher.see()
        watcher.do("drag", body=2, point=[0, 0, 0], target=[0, 0, 1])
        held = watcher.see()
        assert held["step"] == 0 and not held["playing"] and held["potential"] == before["potential"], held
        watcher.do("step", count=20)
        pulled = watcher.until(lambda s: s["step"] == 20)
        assert pulled["potential"] > before["potential"] and not pulled["playing"], pulled


def hostile_words_are_refused():
    nested = "[" * 400
    bad = ["", "{", "null", "[]", '"play"', '{"do":"play"', '{"do":"fly"}', '{"do":7}', '{"do":["play"]}', nested,
           '{"do":"step"}', '{"do":"step","count":0}', '{"do":"step","count":1e9}', '{"do":"step","count":1.5}',
           '{"do":"step","count":-1}', '{"do":"speed","value":0}', '{"do":"speed","value":1e99}', '{"do":"speed","value":"1"}',
           '{"do":"solver","name":"magic"}', '{"do":"solver","name":null}', '{"do":"drag","body":0,"point":[0,0,0],"target":[0,0,0]}',
           '{"do":"drag","body":99,"point":[0,0,0],"target":[0,0,0]}', '{"do":"drag","body":2,"point":[0,0],"target":[0,0,0]}',
           '{"do":"drag","body":2,"point":[0,0,0],"target":[0,0,1e999]}', '{"do":"drag","body":2,"point":[0,0,"x"],"target":[0,0,0]}',
           '{"do":"input","actuator":0,"kind":"ctrl","value":1}', '{"do":"input","actuator":0,"kind":"ctrl"}',
           '{"do":"play","pad":"' + "x" * 2000 + '"}', "x" * 100000]
    with Live(BALL) as live:
        for text in bad:
            refused(live, lambda w, text=text: w.send(text))
        refused(live, lambda w: w.send(b'{"do":"play"}', opcode=2))
        refused(live, lambda w: (w.send('{"do":"play"}', final=False), w.send(" ", opcode=0)))
        refused(live, lambda w: w.send(b"\xff\xfe\xfd"))
        state = live.watch().see()
        assert state["step"] == 0 and not state["playing"] and state["fresh"], state


def refused(live, speak):
    watcher = live.watch(timeout=5)
    watcher.see()
    try:
        speak(watcher)
        while True:
            watcher.see()
    except (Closed, ConnectionError, BrokenPipeError):
        watcher.close()


def broken_frames_are_survived():
    with Live(BALL) as live:
        for data in (b"\x81\x05hello", b"\xff" * 64, b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff" + b"\0" * 64, b"\x83\x80\0\0\0\0",
                     b"\x89\xfe\x04\x00" + b"\0" * 1028, b"\x80\x80\0\0\0\0", os.urandom(4096)):
            watcher = live.watch()
            watcher.raw(data)
            watcher.close()
        for text in (b"\0" * 5000, b"GET " + b"/" * 100000, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000, os.urandom(5000), b"\x16\x03\x01"):
            try:
                with socket.create_connection(("127.0.0.1", live.port), timeout=1) as s:
                    s.sendall(text)
                    s.recv(10)
            except OSError:
                pass
        watcher = live.watch()
        watcher.do("step", count=5)
        watcher.until(lambda s: s["step"] == 5)


def a_force_beyond_all_measure_is_none():
    with Live(BALL) as live:
        watcher = live.watch()
        for k, target in enumerate((1e300, -1e308, 1e15), 1):
            watcher.do("drag", body=2, point=[0, 0, 0], target=[target, 0, target])
            watcher.do("step", count=3)
            state = watcher.until(lambda s, k=k: s["step"] == 3 * k or s["say"])
            assert state["say"] == "" and state["kinetic"] < 1e4, state
        watcher.do("drag", body=2, point=[1e300, 0, 0], target=[0, 0, 0])
        watcher.do("step", count=3)
        watcher.do("reset")
        watcher.do("step", count=5)
        watcher.until(lambda s: s["step"] == 5 and s["run"] == 1)


def crowds_and_slow_readers_stall_nobody():
    with Live(BALL) as live:
        watcher = live.watch()
        watcher.see()
        slow = [live.watch() for _ in range(8)]
        silent = [socket.create_connection(("127.0.0.1", live.port)) for _ in range(100)]
        watcher.do("play")
        first = watcher.until(lambda s: s["step"] > 10)
        memory = live.memory()
        last = watcher.until(lambda s: s["time"] > first["time"] + 2)
        assert last["step"] > first["step"]
        assert live.memory() < memory + 3000, (memory, live.memory())
        for s in silent + slow:
            s.close()
        end = time.monotonic() + 5
        while time.monotonic() < end:
            try:
                live.watch().see()
                return
            except (Closed, OSError):
                time.sleep(0.1)
        raise AssertionError("nobody is let in any more")


HERD = {
    "sim": 1, "name": "Herd", "world": {"step": 0.01, "duration": 1, "contacts": False},
    "models": {"ball": {"bodies": [{"name": "ball", "joint": "free", "shapes": [{"type": "sphere", "radius": 0.1, "density": 1000}],
                                    "v": [0, 0, 1, 3, 1, 2]}]}},
    "instances": [{"model": "ball", "repeat": {"placement": "grid", "counts": [15, 15, 10], "spacing": [1, 1, 1]}}],
}


def who_never_reads_costs_one_frame_and_is_shown_the_newest_in_the_end():
    with Live(HERD) as live:
        watcher = live.watch()
        whole = len(watcher.receive())
        assert whole > 10000, whole
        deaf = live.watch()
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        since = time.monotonic()
        watcher.do("play")
        watcher.until(lambda s: s["time"] > 0.5)
        memory = live.memory()
        last = watcher.until(lambda s: s["time"] > 4)  # more than the system's buffers hold for him
        frames = 1000 * (live.memory() - memory) / whole
        assert frames < 20, (frames, whole)  # some 200 have been sent since
        watcher.do("pause")
        stood = watcher.until(lambda s: not s["playing"])
        deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        try:
            seen = [deaf.see()["step"]]
            while seen[-1] < stood["step"]:
                seen.append(deaf.see()["step"])
        except (Closed, OSError):  # a slow machine: who has not answered a ping for so long is hung up on
            assert time.monotonic() - since > 20
            return
        assert seen == sorted(seen) and seen[-1] == stood["step"] and len(seen) < last["step"] / 2, (len(seen), last["step"])


def a_flood_of_commands_and_more_watchers_than_there_is_room_for_stop_nobody():
    with Live(BALL) as live:
        watcher = live.watch()
        watcher.see()
        others = []
        for _ in range(40):
            try:
                others.append(live.watch(timeout=5))
            except (Closed, OSError):
                continue
        assert len(others) == 15, len(others)
        for k in range(3000):
            others[k % 15].send('{"do": "step", "count": 100000}' if k % 2 else '{"do": "speed", "value": 64}')
        others[0].send('{"do": "pause"}')
        started = time.monotonic()
        watcher.until(lambda s: not s["playing"] and s["step"] > 0)
        watcher.do("reset")
        assert watcher.until(lambda s: s["run"] == 1)["run"] == 1
        assert time.monotonic() - started < 15
        for other in others:
            other.close()


def words_that_do_not_fit_are_refused():
    pathlib.Path("scene.json").write_text(json.dumps(BALL))
    for words in (["scene.json", "--live", "--html", "x.html"], ["scene.json", "--port", "8000"], ["scene.json", "--live", "--port", "70000"],
                  ["scene.json", "--live", "--listen", "nowhere"], ["scene.json", "--live", "--solver", "spa"],
                  ["scene.json", "--live", "--set", "world/stp=1"], ["scene.json"], ["absent.json", "--live"]):
        done = subprocess.run([SIM, "view", *words], capture_output=True, text=True, timeout=20)
        assert done.returncode in (2, 3) and "error" in done.stderr and not done.stdout, (words, done)


def a_taken_port_is_said():
    with Live(BALL) as live:
        done = subprocess.run([SIM, "view", "scene.json", "--live", "--port", str(live.port)], capture_output=True, text=True, timeout=20)
        assert done.returncode == 3 and "in use or not permitted" in done.stderr and done.stderr.count("\n") == 1, done

if __name__ == "__main__":
    sys.exit(tap.run(tap.cases_of(globals())))
