#!/usr/bin/env python3
"""Can the film that the page's record button saves be played?  Records in headless Chromium, by a click, and plays what was
saved in a page of its own.  Prints TAP.

    film.py SIM
"""
import base64
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from chromium import Browser, show  # noqa: E402

SIM = os.path.abspath(sys.argv[1])
FALL = {"sim": 1, "name": "Ball falls", "world": {"step": 0.01, "duration": 0.4}, "bodies": [
    {"name": "ball", "joint": "free", "pose": {"position": [0, 0, 1]},
     "shapes": [{"type": "sphere", "radius": 0.2, "density": 1000, "color": [0.9, 0.1, 0.1]}]}],
    "cameras": [{"name": "front", "position": [0, -4, 0.6], "target": [0, 0, 0.6]}]}
BLOB = """new Promise((done) => { const reader = new FileReader(); reader.onload = () => done(reader.result.split(',')[1]);
    reader.readAsDataURL(sim.recorder.saved.blob); })"""
# How high the red of a frame lies, in parts of the picture; null: there is none.
PLAY = """(async () => {
    const video = document.querySelector('video'), canvas = document.createElement('canvas');
    const height = () => {
      canvas.width = video.videoWidth;
      canvas.height = video.videoHeight;
      const pen = canvas.getContext('2d');
      pen.drawImage(video, 0, 0);
      const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
      let sum = 0, count = 0;
      for (let k = 0; k < data.length; k += 4) {
        if (data[k] > 2 * data[k + 2] + 10) { sum += Math.floor(k / 4 / canvas.width); count++; }
      }
      return count ? 1 - sum / count / canvas.height : null;
    };
    if (video.readyState < 2) {
      await new Promise((done, bad) => { video.onloadeddata = done; video.onerror = () => bad(new Error(video.error.message)); });
    }
    const ended = new Promise((done) => { video.onended = done; });
    video.muted = true;
    await video.play();
    await ended;
    const last = height(), seconds = video.currentTime;
    const shown = new Promise((done) => { video.requestVideoFrameCallback(done); });
    video.currentTime = 0;
    await shown;
    return { size: [canvas.width, canvas.height], first: height(), last, seconds };
  })()"""


def recorded(page):
    """Its name; its bytes go into film.webm."""
    page.until("globalThis.sim?.player && sim.stage.canvas.width > 0 && document.getElementById('record') !== null")
    page.run("sim.player.play(false); sim.player.seek(sim.player.start)")
    page.run("document.getElementById('record').click()")
    name = page.until("sim.recorder.saved?.name")
    pathlib.Path("film.webm").write_bytes(base64.b64decode(page.run(BLOB)))
    return name, page.run("[sim.stage.canvas.width, sim.stage.canvas.height]")


def what_the_record_button_saves_is_a_film_that_plays():
    pathlib.Path("fall.json").write_text(json.dumps(FALL), encoding="utf-8")
    subprocess.run([SIM, "fall.json", "--html", "fall.html", "--quiet"], check=True, stdout=subprocess.DEVNULL)
    with Browser(pathlib.Path("fall.html").absolute().as_uri(), 460, 200) as page:
        name, size = recorded(page)
        assert name == "Ball_falls.webm" and not page.complaints, (name, page.complaints)
    assert pathlib.Path("film.webm").read_bytes()[:4] == b"\x1a\x45\xdf\xa3"  # EBML
    pathlib.Path("play.html").write_text("<video></video>", encoding="utf-8")
    film = "data:video/webm;base64," + base64.b64encode(pathlib.Path("film.webm").read_bytes()).decode()
    with Browser(pathlib.Path("play.html").absolute().as_uri()) as page:
        page.until("document.querySelector('video') !== null")
        page.run(f"document.querySelector('video').src = '{film}'")
        shown = page.run(PLAY)
    assert shown["size"] == size and shown["seconds"] > 0, (shown, size)
    assert shown["first"] is not None and shown["last"] is not None, shown
    assert shown["first"] > shown["last"] + 0.1, f"the ball falls: {shown}"


def cases():
    yield what_the_record_button_saves_is_a_film_that_plays


if __name__ == "__main__":
    sys.exit(show(cases))
