"""`sim plot` as its users meet it: pictures that XML readers take, with what was asked for, and clear refusals.

    plot.py SIM SCENES [WORD]     runs the tests whose names hold WORD, each in a folder of its own
"""
import os
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402

SIM, SCENES = (os.path.abspath(path) for path in sys.argv[1:3])
WORD = sys.argv[3] if len(sys.argv) > 3 else ""
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout
NS = "{http://www.w3.org/2000/svg}"


def sim(*arguments, status=0):
    done = subprocess.run([SIM, *map(str, arguments)], capture_output=True, timeout=300)
    assert done.returncode == status, f"status {done.returncode}, not {status}: {arguments}\n{done.stderr}"
    return done.stdout.decode(), done.stderr.decode()


def picture(*arguments):
    return xml.fromstring(sim("plot", *arguments)[0])


def texts(svg, kind=""):
    return [t.text for t in svg.iter(NS + "text") if kind in t.get("class")]


def curves(svg):
    return [p.get("class") for g in svg.iter(NS + "g") for p in g.iter(NS + "path") if "dot" not in p.get("class")]


def refuses(words, *arguments, status=2):
    said = sim("plot", *arguments, status=status)[1]
    assert words in said and said.count("\n") == 1, f"'{words}' is not in: {said}"


def pendulum(*more, out="run.csv"):
    sim(os.path.join(SCENES, "basic/double_pendulum.json"), "--duration", 1, "--quiet", "--out", out, *more)
    return out


def write(name, text):
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return name


def draws_energy_with_units_and_a_legend():
    svg = picture(pendulum())
    assert "energy [J]" in texts(svg, "name") and "time [s]" in texts(svg, "name"), texts(svg)
    assert texts(svg, "key") == ["kinetic", "potential", "total"] and len(curves(svg)) == 3


def legends_name_the_sensor():
    """Also where it is the only one of its unit."""
    write("ball.json", '''{"sim": 1, "world": {"duration": 0.1}, "record": {"signals": ["sensors"]}, "bodies": [{"name": "ball", "joint": "free",
        "shapes": [{"type": "sphere", "radius": 0.1, "mass": 1}]}, {"name": "arm", "joint": "hinge", "inertia": {"mass": 1, "moments": [1, 1, 1]}}],
        "sensors": [{"name": "height", "type": "frame_position", "body": "ball"}, {"name": "elbow", "type": "joint_position", "joint": "arm"}]}''')
    sim("ball.json", "--out", "run.csv")
    assert sorted(texts(picture("run.csv", "--quantity", "sensors"), "key")) == ["elbow", "height.x", "height.y", "height.z"]


def draws_unasked_how_well_the_law_of_the_solver_was_answered():
    sim(os.path.join(SCENES, "contact/falling_sphere.json"), "--duration", 0.2, "--quiet", "--out", "run.csv")
    names = texts(picture("run.csv"), "name")
    assert "error of the solver's own law" in names and "error E of the rigid Coulomb law" not in names, names
    assert "error E of the rigid Coulomb law" in texts(picture("run.csv", "--quantity", "E"), "name")


def gives_each_quantity_and_each_unit_a_panel():
    svg = picture(pendulum(), "--quantity", "energy,upper_rod,tip.point.*")
    names = texts(svg, "name")
    assert [n.split(" [")[-1] for n in names] == ["J]", "rad]", "rad/s]", "m]", "m/s]", "s]"], names


def draws_the_same_from_both_kinds_of_files():
    if HDF5:
        pendulum("--out", "run.h5")
        draw = ["--title", "", "--quantity", "energy,coordinates,velocities,points"]
        assert sim("plot", "run.csv", *draw) == sim("plot", "run.h5", *draw)


def compares_runs_by_colour():
    pendulum(out="a.csv")
    pendulum("--integrator", "symplectic", out="b.csv")
    svg = picture("a.csv", "b.csv", "--quantity", "drift,lower_rod [rad]")
    assert texts(svg, "key") == ["a", "b"], texts(svg)
    assert sorted(curves(svg)) == ["curve c0"] * 2 + ["curve c1"] * 2, curves(svg)


def is_titled_by_the_scene_of_all_its_runs():
    if HDF5:
        one, other = pendulum(out="one.h5"), pendulum("--integrator", "symplectic", out="other.h5")
        sim(os.path.join(SCENES, "basic/pendulum.json"), "--duration", 0.1, "--quiet", "--out", "third.h5")
        assert texts(picture(one, other), "title") == ["Double pendulum"]
        assert texts(picture(one, "third.h5"), "title") == []


def tells_runs_of_one_name_apart_by_their_folders():
    os.mkdir("sap"), os.mkdir("pgs")
    for folder in "sap", "pgs":
        pendulum(out=folder + "/run.csv")
    assert texts(picture("sap/run.csv", "pgs/run.csv"), "key")[:2] == ["sap/run", "pgs/run"]


def draws_histories_on_a_log_axis():
    write("one.csv", "file,iteration,residual,cost\n" + "".join(f"p.h5,{k},{10.0**-k},{2 + 4.0**-k}\n" for k in range(9)))
    write("two.csv", "file,iteration,residual,cost\n" + "".join(f"d/{p}.h5,{k},{3.0**-k},\n" for p in "xy" for k in range(30)))
    svg = picture("one.csv", "two.csv", "--quantity", "residual,cost")
    assert texts(svg, "key") == ["one", "two \u00b7 x", "two \u00b7 y"], texts(svg)
    assert "10\u207b\u2078" in " ".join(texts(svg, "label")) and "iteration" in texts(svg, "name")
    assert curves(svg).count("curve c0") == 2


def draws_one_column_over_another_within_bounds():
    svg = picture(pendulum(), "--x", "tip.point.x", "--quantity", "tip.point.z", "--size", "500x400")
    assert (svg.get("width"), svg.get("height")) == ("500", "400")
    assert texts(svg, "name") == ["tip.point.z [m]", "tip.point.x [m]"]
    labels = texts(picture("run.csv", "--from", 0.2, "--to", 0.4, "--quantity", "energy"), "label")
    assert "0.20" in labels and "0.40" in labels and "0.60" not in labels, labels


def lists_what_a_file_holds():
    said = sim("plot", pendulum(), "--list")[0]
    assert "lower_rod" in said and "rad/s" in said and "quantities: energy drift" in said, said


def chooses_light_or_dark_as_the_reader_does():
    style = picture(pendulum()).find(NS + "style").text
    light, dark = style.split("@media (prefers-color-scheme:dark)")
    assert ".c7{" in light and ".c7{" in dark and ".paper{fill:#ffffff}" in light


def refuses_what_it_would_pass_over():
    pendulum()
    refuses("--list prints columns and draws nothing: leave out --out", "run.csv", "--list", "--out", "a.svg")
    refuses("no record lies within --from and --to: there are 0 to", "run.csv", "--from", 1e6, "--out", "a.svg")
    assert curves(picture("run.csv", "--from", 0))


def refuses_in_one_sentence():
    pendulum()
    refuses("no file given", "--out", "x.svg")
    refuses("did you mean \"energy\"?", "run.csv", "--quantity", "enegry")
    refuses("did you mean \"upper_rod\"?", "run.csv", "--quantity", "energy,uper_rod")
    refuses("separated by commas", "run.csv", "--quantity", "energy,,drift")
    refuses("holds no 'E'", "run.csv", "--quantity", "E")
    refuses("--size takes pixels", "run.csv", "--size", "10x10")
    refuses("--from should be less", "run.csv", "--from", 2, "--to", 1)
    refuses("No such file", "nothing.csv", status=3)
    refuses("is a folder, not a file", "/", status=3)
    refuses("is JSON, not a recorded run", write("scene.csv", "{}"))
    refuses("a scene, not a figure", os.path.join(SCENES, "basic/pendulum.json"))
    refuses("ends in .svg, not 'a.png'", "run.csv", "--out", "a.png")
    refuses("is not an HDF5 file", write("junk.h5", b"\x01\x02\x03" * 99))
    refuses("cannot", "run.csv", "--out", "nowhere/run.svg", status=3)
    assert not os.path.exists("x.svg")


AXES = '"x": {"label": "step", "unit": "s", "log": true}, "y": {"label": "error", "log": true, "from": 1e-9, "to": 1}'


def figure(content, head=""):
    return write("figure.json", '{"figure": 1, %s "panels": [%s]}' % (head, content))


def draws_a_figure_with_log_axes_and_one_legend():
    one = '{"title": "%s", ' + AXES + ', "series": [{"label": "a", "x": [1e-3, 1e-2, 1e-1], "y": [1e-8, 1e-6, %s]}, {"label": "%s", "x": [1e-3, 1e-1], "y": [1e-4, 1e-2]}]}'
    svg = picture(figure(one % ("Left", "1e-4", "b") + ", " + one % ("Right", "-1", "c"), '"title": "Both", "columns": 2, "width": 900,'))
    assert texts(svg, "title") == ["Both"] and svg.get("width") == "900", texts(svg)
    assert texts(svg, "name") == ["Left", "step [s]", "Right", "step [s]"], texts(svg, "name")
    assert texts(svg, "key") == ["a", "error", "b", "error", "c"], texts(svg, "key")  # that of both panels stands above them
    labels = " ".join(texts(svg, "label"))
    assert "10\u207b\u2078" in labels and "10\u207b\u00b2" in labels, labels
    assert [c for c in curves(svg) if c.startswith("curve")] == ["curve c1", "curve c0", "curve c2", "curve c0"], curves(svg)
    left, right = [[p.get("d") for p in g.iter(NS + "path") if p.get("class") == "curve c0"][0] for g in svg.iter(NS + "g")]
    assert left.count("l") == 2 and right.count("l") == 1, (left, right)  # what is not positive is a gap
    steps = [[float(v) for v in s.replace("-", " -").split()] for s in left.split("M")[1].split("l")[1:]]
    assert abs(steps[0][0] - steps[1][0]) < 0.2 and abs(steps[0][1] - steps[1][1]) < 0.2, left  # a power law is a straight line


def draws_bands_points_and_segments():
    svg = picture(figure('{"equal": true, "series": [{"x": [0, 1, 2], "y": [1, 2, 1], "low": [0, 1, 0], "high": [2, 3, 2], "color": 3, "dash": "dash"},'
                         '{"x": [0, 1], "y": [0, 1], "style": "points", "color": 0}, {"x": [0, 1, 0, 1], "y": [0, 1, 1, 2], "style": "segments"}]}'))
    drawn = {p.get("class"): p.get("d") for g in svg.iter(NS + "g") for p in g.iter(NS + "path")}
    assert set(drawn) == {"band c2", "curve c2 d1", "curve dot c2", "curve dot n", "curve c0"}, drawn
    assert drawn["curve c0"].count("M") == 2 and drawn["curve dot n"].count("M") == 2 and drawn["band c2"].count("l") == 5, drawn


def refuses_a_bad_figure_by_its_place():
    def bad(at, words, content):
        refuses(f"sim: error: figure.json:2:{content.index(at) + 1}: {words}", figure("\n" + content + "\n"))
    bad("{}", '/panels/0: the key "series" is missing', "{}")
    bad("[3]", "/panels/0/series/0/y: 1 numbers, but x has 2", '{"series": [{"x": [1, 2], "y": [3]}]}')
    bad('{"x"', '/panels/0/series/0: "low" and "high" make a band', '{"series": [{"x": [1, 2], "y": [3, 4], "low": [2, 3]}]}')
    bad('"stile"', '/panels/0/series/0/stile: unknown key "stile" (did you mean "style"?)', '{"series": [{"stile": 1, "x": [1], "y": [1]}]}')
    bad('{"log"', "/panels/0/x: a logarithmic axis", '{"x": {"log": true, "from": 0}, "series": []}')
    bad('{"to"', '/panels/0/y: "from" should be less than "to"', '{"y": {"to": 1, "from": 2}, "series": []}')
    refuses("figure.json:1:26: /panels: a figure has a panel at least", figure(""))
    refuses("takes no other file and no option but --out", figure('{"series": []}'), "--log")
    refuses("figure.json:1:2: the text ends inside the object", write("figure.json", "{"))
    assert "no number to draw" in texts(picture(figure('{"series": []}', '"width": 200, "columns": 8,')))


def survives_hostile_files():
    hostile = [b"", b"\0" * 100, b"time\n" + b"9" * 5000 + b"\n", b"time," + b"x," * 3000 + b"x\n" + b"1," * 3001 + b"1\n",
               b"\x89HDF\r\n\x1a\n" + b"\xff" * 500, b"time [s],<&\">\xff\xfe\x01 [\xc3]\n0,1\n1,2\n",
               b"time,a\n1e999,nan\n-inf,1\n", b"file,iteration,residual\n,,\n", b"time,a\n" + b'"1","2"\n' * 3]
    for k, text in enumerate(hostile):
        path = write(f"hostile{k}.csv", text)
        done = subprocess.run([SIM, "plot", path], capture_output=True, timeout=60)
        assert done.returncode in (0, 2), (k, done)
        if done.returncode == 0:
            xml.fromstring(done.stdout)
        else:
            assert done.stderr.count(b"\n") == 1, (k, done.stderr)


def help_fits_eighty_columns():
    said = sim("plot", "--help")[0]
    assert max(map(len, said.splitlines())) < 80
    page, completion = sim("--man")[0].replace("\\-", "-"), sim("--completion")[0]
    for option in [line.split()[0] for line in said.splitlines() if line.startswith("  --")]:
        assert option in page and option in completion, option


sys.exit(tap.run(tap.cases_of(globals(), WORD)))
