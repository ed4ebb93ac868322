#!/usr/bin/env python3
"""Does a page steer and tell of a robot at work?  A live run must follow the sliders of targets and control inputs; the phases
of its state machine, in live and recorded pages, must be those of the trajectory in CSV.  Prints TAP.

    steering.py SIM [PICTURE.png]      a picture of the live page
"""
import csv
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
PICTURE = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
SIZE = (1180, 600) if PICTURE else (480, 240)
STEP = 0.004


def rod(length):
    return [{"type": "capsule", "radius": 0.05, "length": length, "density": 1000, "pose": {"position": [0, 0, -length / 2]}}]


# A servo, a joint that a controller leads from phase to phase, and a cart with a motor; a ball falls and bounces.
ROBOT = {
    "sim": 1, "name": "Servo, phases, motor", "world": {"step": STEP, "duration": 1.2},
    "materials": [{"name": "rubber", "restitution": 0.7}],
    "bodies": [
        {"name": "floor", "shapes": [{"type": "half_space", "material": "rubber"}]},
        {"name": "upper", "joint": {"type": "hinge", "axis": [0, 1, 0], "range": [-2, 1.5]}, "pose": {"position": [0, 0, 1.3]},
         "shapes": rod(0.4), "sites": [{"name": "middle", "pose": {"position": [0, 0, -0.2]}}]},
        {"name": "lower", "parent": "upper", "joint": {"type": "hinge", "axis": [0, 1, 0]}, "pose": {"position": [0, 0, -0.5]},
         "shapes": rod(0.4)},
        {"name": "cart", "joint": {"type": "slider", "axis": [1, 0, 0]}, "pose": {"position": [0, 0.5, 0.2]},
         "shapes": [{"type": "box", "size": [0.2, 0.2, 0.2], "density": 1000}]},
        {"name": "ball", "joint": "free", "pose": {"position": [-0.6, 0, 0.5]},
         "shapes": [{"type": "sphere", "radius": 0.1, "density": 1000, "material": "rubber"}]}],
    "actuators": [
        {"name": "shoulder", "joint": "upper", "kp": 4000, "kd": 200, "target": {"times": [0, 1], "values": [0, 0.3]}},
        {"name": "elbow", "joint": "lower"},
        {"name": "push", "joint": "cart", "ctrl_range": [-20, 30]}],
    "controllers": [
        {"name": "hold", "type": "joint_impedance", "actuators": ["elbow"], "stiffness": 200, "damping": 20},
        {"name": "task", "type": "phases", "phases": [
            {"name": "out", "targets": [{"controller": "hold", "values": 0.8, "duration": 0.3}], "next": [{"to": "back", "after": 0.5}]},
            {"name": "back & forth", "targets": [{"controller": "hold", "values": -0.8, "duration": 0.3}],
             "next": [{"to": "out", "after": 0.4}]}]}],
    "sensors": [{"name": "angle", "type": "joint_position", "joint": "upper"}, {"name": "gyro", "type": "gyro", "site": "middle"},
                {"name": "load", "type": "touch", "body": "ball"}],
    "record": {"every": 1, "signals": ["coordinates", "poses", "energy", "sensors", "efforts", "contacts"],
               "events": [{"name": "hit", "type": "contact_begins", "body": "ball", "other": "floor"},
                          {"name": "off", "type": "contact_breaks", "body": "ball", "other": "floor"},
                          {"name": "far", "type": "sensor_above", "sensor": "angle", "level": 1.2, "stop": True}]},
    "cameras": [{"name": "front", "position": [0, -3.2, 1.1], "target": [0, 0, 0.7]}],
}
ROBOT["controllers"][1]["phases"][0]["next"][0]["to"] = "back & forth"


def rows(path):
    with open(path, newline="") as file:
        return [{key.split(" [")[0]: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def track(name, kind):
    return f"sim.source.track[sim.scene.tracks.findIndex((t) => t.name === '{name}' && t.kind === '{kind}')]"


def slider(name, kind):
    return f"sim.inputs.sliders.find((s) => s.name === '{name}' && s.kind === '{kind}')"


def slide(page, name, kind, value):
    """As a person does."""
    page.run(f"(() => {{ const {{ input }} = {slider(name, kind)}; input.value = {value}; input.dispatchEvent(new Event('input')); }})()")


def told(condition):
    """Of what stands on the page now: the words need not wait for the picture, which takes seconds without a GPU."""
    return f"(sim.phases.draw(), sim.inputs?.draw(), sim.events.draw(), {condition})"


def still(page):
    """No picture any more: none is looked at here, and without a GPU each holds all else up for seconds."""
    if not PICTURE:
        page.until("globalThis.sim?.stage && (sim.stage.draw = () => {}, true)")


def coordinate(body):
    return f"sim.joints.value(sim.joints.sliders.find((s) => sim.scene.bodies[s.body].name === '{body}'))"


def choose(page, kind, label):
    """Ticks a signal in the list."""
    page.run(f"""(() => {{ sim.signals.open(); const box = [...document.querySelectorAll('#signals fieldset')]
        .find((box) => (box.querySelector('legend')?.textContent ?? '').startsWith('{kind}'));
        [...box.querySelectorAll('label')].find((l) => l.textContent.startsWith('{label}')).querySelector('input').click(); }})()""")


def plotted(title):
    return f"sim.plots.plots.find((plot) => plot.title === '{title}')"


def live_checks(page):
    def sliders_of_inputs_have_their_units_and_ends():
        still(page)
        page.until("globalThis.sim?.source.connected && sim.source.time.length > 2")
        have = page.run("sim.inputs.sliders.map(({ name, kind, unit, low, high }) => [name, kind, unit, low, high])")
        assert ["shoulder", "target", "rad", -2, 1.5] in have and ["push", "ctrl", "N", -20, 30] in have, have
        assert len([t for t in have if t[1] == "target"]) == 2, have

    def a_target_moves_the_running_world_until_it_is_given_back():
        slide(page, "shoulder", "target", -0.9)
        page.until(f"Math.abs({coordinate('upper')} + 0.9) < 0.05 && sim.player.playing")
        page.until(told(f"!{slider('shoulder', 'target')}.back.hidden"))
        page.run(f"{slider('shoulder', 'target')}.back.click()")
        page.until(told(f"Math.abs({coordinate('upper')} - 0.3) < 0.05 && {slider('shoulder', 'target')}.back.hidden"))

    def a_target_leads_a_joint_away_from_its_controller():
        slide(page, "elbow", "target", 1.9)
        page.until(f"Math.abs({coordinate('lower')} - 1.9) < 0.15")
        page.run(f"{slider('elbow', 'target')}.back.click()")
        page.until(f"Math.abs({coordinate('lower')}) < 0.95")

    def a_control_input_pushes_and_stays_within_its_range():
        page.run("sim.source.send({ do: 'input', actuator: 2, kind: 'ctrl', value: 1000 })")
        page.until(f"{track('push', 'ctrl')}.at(-1) === 30 && {track('push', 'effort')}.at(-1) === 30")
        before = page.run("[sim.source.time.at(-1), " + coordinate("cart") + "]")
        page.until(f"sim.source.time.at(-1) > {before[0]} + 0.2")
        assert page.run(coordinate("cart")) > before[1]

    def the_phase_is_told_with_its_time():
        page.until(told("/^task: (out|back & forth) for [0-9.]+ s$/.test(document.getElementById('phases').textContent)"))
        page.until(told("document.querySelector('#phases b').textContent === 'out'"))
        page.until(told("document.querySelector('#phases b').textContent === 'back & forth'"))
        assert page.run(f"{track('task', 'elapsed')}.every((t) => Number.isNaN(t) || (t >= 0 && t < 0.51))")
        if PICTURE:
            page.picture(PICTURE)

    def sensors_are_plotted_in_strip_charts_of_the_last_seconds():
        choose(page, "gyro", "y")
        choose(page, "Contact force", "ball")
        page.until(plotted("Contact force"))
        assert page.run(f"{plotted('gyro')}.unit + {plotted('gyro')}.lines.length") == "rad/s1"
        page.until("sim.source.time.at(-1) > 6")
        page.run("(() => { const s = document.getElementById('span'); s.value = '5'; s.dispatchEvent(new Event('change')); })()")
        page.run("sim.panels.side || sim.toggle('side')")
        page.run("(sim.plots.draw('light'), sim.plots.draw('light'))")
        first, last = page.run("sim.plots.shown")
        assert abs(last - first - 5) < 1e-6 and last > 6, (first, last)
        frames, forces = page.run(f"[sim.source.time.length, Array.from(sim.source.track[{plotted('Contact force')}.lines[0].track])]")
        assert len(forces) == frames and max(forces) > 40, (frames, len(forces), max(forces))

    def events_and_phases_are_listed_as_they_happen():
        page.until(told("/hit/.test(document.querySelector('#events .list').textContent)"))
        names = page.run("sim.events.list.map(({ name }) => name)")
        assert "task: out" in names and "task: back & forth" in names, names
        times = page.run("sim.events.list.map(({ time }) => time)")
        assert times == sorted(times) and times[0] >= 0, times

    def an_event_that_ends_a_run_halts_a_live_one_which_says_so_until_it_goes_on():
        notice = "document.getElementById('notice')"
        slide(page, "shoulder", "target", 1.4)
        page.until(f"!sim.player.playing && {notice}.classList.contains('shown')")
        assert page.run(f"{notice}.textContent").startswith("Event far ends a run")
        assert 1.2 < page.run(coordinate("upper")) < 1.3
        page.run(f"{slider('shoulder', 'target')}.back.click()")
        page.run("sim.player.play(true)")
        page.until(f"Math.abs({coordinate('upper')} - 0.3) < 0.05 && !{notice}.classList.contains('shown')")

    def a_joint_that_is_moved_by_hand_keeps_inputs_and_phase():
        page.run("sim.player.play(false)")
        page.until("!sim.player.playing")
        phase = page.run(told("document.querySelector('#phases b').textContent"))
        page.run("""(() => { const { input } = sim.joints.sliders.find((s) => sim.scene.bodies[s.body].name === 'upper');
            input.value = 1; input.dispatchEvent(new Event('input')); })()""")
        page.until(f"Math.abs({coordinate('upper')} - 1) < 1e-6")
        assert page.run(told("document.querySelector('#phases b').textContent")) == phase
        assert page.run("sim.source.state.ctrl.join() === '2'")

    def a_restart_gives_all_inputs_back():
        page.run("sim.player.reset()")
        page.until("sim.source.state.run === 1 && sim.source.state.ctrl.length === 0")
        assert page.run(told("document.getElementById('phases').textContent")) == "task: not begun"
        assert page.run("sim.events.list.length") == 0

    def the_console_stays_silent():
        page.close()
        assert not page.complaints, page.complaints

    return [value for value in locals().values() if callable(value)]


def recorded_checks(table):
    page = None

    def phases_of_a_recorded_run_are_those_of_its_trajectory():
        nonlocal page
        page = Browser(f"file://{os.path.abspath('run.html')}?still&keys=s", *SIZE, pictures=bool(PICTURE))
        still(page)
        page.until("globalThis.sim?.phases && !sim.source.live")
        assert page.run(f"Array.from({track('task', 'phase')})") == [row["phase.task"] for row in table]  # a frame a step

    def the_phase_at_a_moment_is_shown():
        page.run("sim.player.seek(0.7)")
        assert page.run(told("document.getElementById('phases').textContent")) == "task: back & forth for 0.2 s"

    def sensors_of_a_recorded_run_are_those_of_its_trajectory():
        page.run("sim.panels.side || sim.toggle('side')")
        choose(page, "gyro", "y")
        page.until(plotted("gyro"))
        shown = page.run(f"Array.from(sim.source.track[{plotted('gyro')}.lines[0].track])")
        assert all(abs(a - row["sensor.gyro.y"]) < 1e-6 * (1 + abs(a)) for a, row in zip(shown, table)) and max(map(abs, shown)) > 0.05

    def the_contact_force_on_a_body_is_plotted_once_it_is_asked_for():
        choose(page, "Contact force", "ball")
        page.until(plotted("Contact force"))
        shown = page.run(f"Array.from(sim.source.track[{plotted('Contact force')}.lines[0].track])")
        most = max(row["sensor.load"] for row in table)
        assert max(shown) > 100 and all(abs(a - row["sensor.load"]) < 0.007 * most for a, row in zip(shown, table))

    def events_are_those_of_the_trajectory_with_their_times():
        wanted = sorted({(row[f"event.{name}"], name) for row in table for name in ("hit", "off") if row[f"event.{name}.count"]})
        assert len(wanted) >= 4, wanted
        listed = page.run("sim.events.list.filter(({ name }) => !name.startsWith('task')).map(({ time, name }) => [time, name])")
        assert [name for _, name in listed] == [name for _, name in wanted]
        assert all(abs(a - b) < 1e-8 for (a, _), (b, _) in zip(listed, wanted)), (listed, wanted)
        begun = page.run("sim.events.list.filter(({ name }) => name.startsWith('task')).map(({ time }) => time)")
        assert all(abs(a - b) < 0.0061 for a, b in zip(begun, (0, 0.5, 0.9))) and len(begun) == 3, begun

    def a_press_on_an_event_goes_to_its_time():
        page.run(told("[...document.querySelectorAll('#events button')].find((b) => /off/.test(b.textContent)).click()"))
        time = page.run("sim.events.list.find(({ name }) => name === 'off').time")
        assert page.run("sim.player.now") == time
        assert "off" in page.run(told("document.querySelector('#events .last').textContent"))
        page.run("(sim.plots.draw('light'), 0)")
        if PICTURE:
            page.picture(PICTURE.replace(".png", "_recorded.png"))

    def the_console_of_a_recorded_run_stays_silent():
        page.close()
        assert not page.complaints, page.complaints

    return [value for value in locals().values() if callable(value)]


def cases():
    pathlib.Path("scene.json").write_text(json.dumps(ROBOT))
    subprocess.run([SIM, "scene.json", "--html", "run.html", "--out", "run.csv", "--quiet"], check=True)
    with Live(ROBOT) as live:
        yield from live_checks(Browser(f"{live.url}?keys=qs", *SIZE, pictures=bool(PICTURE)))
    yield from recorded_checks(rows("run.csv"))


if __name__ == "__main__":
    sys.exit(show(cases))
