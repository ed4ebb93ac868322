"""`sim render` as its users meet it: pictures, numbered pictures, films, and clear refusals.

    render.py SIM SCENES [WORD]     runs the tests whose names hold WORD, each in a folder of its own
"""
import os
import signal
import stat
import struct
import subprocess
import sys
import time
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap  # noqa: E402

SIM, SCENES = (os.path.abspath(path) for path in sys.argv[1:3])
WORD = sys.argv[3] if len(sys.argv) > 3 else ""
HDF5 = "HDF5 absent" not in subprocess.run([SIM, "--version"], capture_output=True, text=True).stdout
SMALL = ["--size", "96x64", "--quiet"]


def scene(name):
    return os.path.join(SCENES, name + ".json")


ARM, TABLE = scene("articulated/arm"), scene("contact/table")


def sim(*arguments, status=0, **more):
    done = subprocess.run([SIM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **more)
    assert done.returncode == status, f"status {done.returncode}, not {status}: {arguments}\n{done.stderr}"
    return done


def render(*arguments, **more):
    return sim("render", *arguments, *SMALL, **more)


def refuses(words, *arguments, status=2, **more):
    before = sorted(os.listdir("."))
    said = sim("render", *arguments, status=status, **more).stderr
    assert words in said and said.count("\n") == 1, f"'{words}' is not in: {said}"
    assert sorted(os.listdir(".")) == before, f"wrote {os.listdir('.')}"


def read(path):
    with open(path, "rb") as file:
        return file.read()


def size(path):
    head = read(path)[:33]
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and zlib.crc32(head[12:29]) == struct.unpack(">I", head[29:33])[0]
    return struct.unpack(">II", head[16:24])


def draws_a_picture_of_the_size_that_is_asked_for():
    sim("render", ARM, "--out", "arm.png", "--size", "123x45")
    assert size("arm.png") == (123, 45)
    assert 1500 < len(read("arm.png")) < 30000


def draws_the_same_bits_every_time():
    for k, threads in enumerate([1, 2, 3, 1]):
        render(TABLE, "--time", 0.05, "--contacts", "--forces", "--threads", threads, "--out", f"{k}.png")
    assert len({read(f"{k}.png") for k in range(4)}) == 1


def draws_what_moved_as_time_goes_on():
    for moment in 0, 0.2:
        render(TABLE, "--time", moment, "--out", f"{moment}.png")
    assert read("0.png") != read("0.2.png")


def draws_a_moment_after_the_end_and_no_film_from_there():
    short = ["--set", "world/duration=0.05"]
    render(TABLE, "--time", 0.1, *short, "--out", "after.png")
    render(TABLE, "--time", 0.1, "--out", "within.png")
    assert read("after.png") == read("within.png")
    for name in "film.gif", "%d.png":
        refuses("--time 0.1: the run ends before, at 0.05 s", TABLE, "--time", 0.1, *short, "--out", name)
        render(TABLE, "--time", 0.05, *short, "--out", name)
        os.remove(name.replace("%d", "0"))
    render(TABLE, "--time", 0.1, "--duration", 0.05, *short, "--out", "film.gif")
    if HDF5:
        sim(TABLE, "--duration", 0.05, "--set", 'record/signals=["poses"]', "--out", "run.h5", "--quiet")
        for name in "film.gif", "late.png":  # a recording cannot go on, as a scene does
            refuses("--time 0.1: the run ends before, at 0.05 s", "run.h5", "--time", 0.1, "--out", name)
        render("run.h5", "--time", 0.05, "--out", "last.png")


def draws_a_run_as_the_scene_itself():
    if HDF5:
        signals = 'record/signals=["poses","contacts"]'
        sim(TABLE, "--duration", 0.1, "--every", 10, "--set", signals, "--out", "poses.h5", "--quiet")
        sim(TABLE, "--duration", 0.1, "--every", 10, "--set", 'record/signals=["coordinates"]', "--out", "q.h5", "--quiet")
        marks = ["--contacts", "--forces", "--camera", "all"]
        render(TABLE, "--time", 0.1, *marks, "--out", "scene.png")
        render("poses.h5", "--time", 0.1, *marks, "--out", "poses.png")
        assert read("scene.png") == read("poses.png")
        render(TABLE, "--time", 0.1, "--out", "plain.png")
        render("q.h5", "--time", 0.1, "--out", "q.png")
        assert read("plain.png") == read("q.png")
        said = sim("render", "q.h5", "--contacts", "--out", "q.png", "--size", "96x64").stderr
        assert "q.h5 holds no contacts to draw" in said, said


def numbers_pictures_from_zero_at_even_times():
    os.mkdir("frames")
    render(TABLE, "--duration", 0.1, "--fps", 40, "--out", "frames/%03d.png")
    assert sorted(os.listdir("frames")) == [f"{k:03}.png" for k in range(5)], os.listdir("frames")
    render(TABLE, "--time", 0.05, "--camera", "all", "--out", "one.png")
    render(TABLE, "--duration", 0.1, "--fps", 40, "--out", "%d.png")
    assert read("4.png") == read("frames/004.png")


def fake_ffmpeg(status):
    os.mkdir("bin")
    with open("bin/ffmpeg", "w") as file:
        file.write(f'#!/bin/sh\nfor word; do last=$word; done\nprintf "%s\\n" "$@" > arguments\n'
                   f'cat > "${{last#file:}}"\nexit {status}\n')
    os.chmod("bin/ffmpeg", stat.S_IRWXU)
    return {**os.environ, "PATH": os.path.abspath("bin") + os.pathsep + os.environ["PATH"]}


def hands_bare_pictures_to_ffmpeg():
    env = fake_ffmpeg(0)
    render(TABLE, "--duration", 0.1, "--fps", 20, "--out", "a b;$(touch c).mp4", env=env)
    assert len(read("a b;$(touch c).mp4")) == 3 * 96 * 64 * 3 and not os.path.exists("c")
    words = read("arguments").decode().splitlines()
    assert "96x64" in words and "20.000000" in words and "yuv420p" in words, words


def says_that_ffmpeg_failed_or_is_not_there():
    said = render(TABLE, "--duration", 0.05, "--out", "film.mp4", status=3, env=fake_ffmpeg(1)).stderr
    assert said == "sim: error: film.mp4: ffmpeg failed\n", said
    refuses("need the program ffmpeg, which is not installed", TABLE, "--duration", 0.05, "--out", "b.mp4", *SMALL,
            status=3, env={**os.environ, "PATH": "/nowhere"})


def films_of_its_own_need_no_ffmpeg_and_show_the_same_pictures():
    few = ["--duration", 0.2, "--fps", 30, "--plain", "--forces"]
    for name in "%d.png", "a.apng", "a.gif", "b.gif", "b.apng":
        render(TABLE, *few, "--out", name, env={**os.environ, "PATH": "/nowhere"})
    assert read("a.gif") == read("b.gif") and read("a.apng") == read("b.apng")
    pictures = [picture_of(read(f"{k}.png")) for k in range(7)]
    shown, delays = apng(read("a.apng"))
    assert shown == pictures and delays == [(1, 30)] * 7, (delays, [a == b for a, b in zip(shown, pictures)])
    shown, delays = gif(read("a.gif"))
    assert len(shown) == 7 and sum(delays) == 23 and set(delays) == {3, 4}, delays
    for a, b in zip(shown, pictures):
        off = [abs(x - y) for p, q in zip(a, b) for x, y in zip(p, q)]
        assert sum(off) < len(off) and max(off) < 40, (sum(off) / len(off), max(off))


def an_interrupted_film_leaves_what_was_there():
    with open("old.gif", "w") as file:
        file.write("old")
    long = subprocess.Popen([SIM, "render", TABLE, "--duration", "60", "--out", "old.gif", *SMALL], stderr=subprocess.PIPE)
    time.sleep(0.5)
    long.send_signal(signal.SIGINT)
    assert long.wait(60) == 130 and os.listdir(".") == ["old.gif"] and read("old.gif") == b"old", os.listdir(".")


def looks_for_folders_and_programs_before_it_simulates():
    refuses("need the program ffmpeg", TABLE, "--duration", 1e6, "--out", "b.mp4", status=3, env={**os.environ, "PATH": "/nowhere"})
    refuses("cannot write a picture", TABLE, "--time", 1e6, "--out", "nowhere/%d.png", status=3)


def dark_surroundings_leave_bodies_in_their_colours():
    light, dark = (pixels("--out", f"{k}.png", *more) for k, more in enumerate([[], ["--dark"]]))
    corner = [picture[0] for picture in (light, dark)]
    assert min(corner[0]) > 180 and max(corner[1]) < 60, corner
    orange = [sum(1 for r, g, b in picture if r > 1.5 * b and r > 90) for picture in (light, dark)]
    assert orange[0] > 30 and 0.5 < orange[1] / orange[0] < 2, orange


def pixels(*arguments):
    """[row by row](r, g, b) of a picture of the table."""
    render(TABLE, *arguments)
    png, rows, at = read(arguments[1]), b"", 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        rows += png[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    return unfilter(zlib.decompress(rows), *size(arguments[1]))


def chunks(png):
    at = 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        assert zlib.crc32(kind + body) == struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0], kind
        yield kind.decode(), body
        at += 12 + length


def picture_of(png):
    parts = list(chunks(png))
    return unfilter(zlib.decompress(b"".join(body for kind, body in parts if kind == "IDAT")), *struct.unpack(">II", parts[0][1][:8]))


def apng(file):
    """Pictures, one over the other, and for how long each is shown."""
    width, height, canvas, pictures, delays, sequence = 0, 0, [], [], [], 0
    for kind, body in chunks(file):
        if kind == "IHDR":
            width, height = struct.unpack(">II", body[:8])
            canvas = [None] * (width * height)
        if kind == "acTL":
            assert struct.unpack(">II", body) == (7, 0)
        if kind in ("fcTL", "fdAT"):
            assert struct.unpack(">I", body[:4])[0] == sequence, (kind, sequence)
            sequence += 1
        if kind == "fcTL":
            wide, high, left, top, above, below, dispose, blend = struct.unpack(">IIIIHHBB", body[4:])
            assert (dispose, blend) == (0, 0)
            delays.append((above, below))
        if kind in ("IDAT", "fdAT"):
            part = unfilter(zlib.decompress(body[4 if kind == "fdAT" else 0:]), wide, high)
            for y in range(high):
                canvas[(top + y) * width + left:(top + y) * width + left + wide] = part[y * wide:(y + 1) * wide]
            pictures.append(list(canvas))
    return pictures, delays


def unlzw(data, least):
    """Indices of a picture, as any reader of GIF finds them."""
    bits, held, clear, out = least + 1, (0, 0), 1 << least, []
    words, last, (value, count) = [], None, held
    for byte in data:
        value, count = value | byte << count, count + 8
        while count >= bits:
            code, value, count = value & ((1 << bits) - 1), value >> bits, count - bits
            if code == clear:
                words, bits, last = [bytes([k]) for k in range(clear)] + [b"", b""], least + 1, None
                continue
            if code == clear + 1:
                return out
            word = words[code] if code < len(words) else last + last[:1]
            if last is not None and len(words) < 4096:
                words.append(last + word[:1])
                bits += len(words) == 1 << bits and bits < 12
            out += word
            last = word
    raise AssertionError("no end")


def gif(file):
    """Pictures, one over the other, and for how many hundredths of a second each is shown."""
    width, height = struct.unpack("<HH", file[6:10])
    assert file[:6] == b"GIF89a" and file[10] == 0xf7
    table = [tuple(file[13 + 3 * k:16 + 3 * k]) for k in range(256)]
    at, canvas, pictures, delays = 13 + 768, [None] * (width * height), [], []
    while file[at] != 0x3b:
        least = 0
        if file[at] == 0x21:
            if file[at + 1] == 0xf9:
                delays.append(struct.unpack("<H", file[at + 4:at + 6])[0])
            at += 2
        else:
            left, top, wide, high = struct.unpack("<HHHH", file[at + 1:at + 9])
            least = file[at + 10]
            at += 11
        data = b""
        while file[at]:
            data += file[at + 1:at + 1 + file[at]]
            at += 1 + file[at]
        at += 1
        if least:
            indices = unlzw(data, least)
            assert len(indices) == wide * high, (len(indices), wide, high)
            for k, index in enumerate(indices):
                if index != 255:
                    canvas[(top + k // wide) * width + left + k % wide] = table[index]
            pictures.append(list(canvas))
    assert at == len(file) - 1
    return pictures, delays


def unfilter(data, width, height):
    out, before = [], bytes(3 * width)
    for row in range(height):
        kind, *line = data[row * (3 * width + 1):(row + 1) * (3 * width + 1)]
        for k in range(3 * width):
            left, above, corner = (line[k - 3] if k > 2 else 0), before[k], (before[k - 3] if k > 2 else 0)
            nearest = min((abs(above - corner), 0, left), (abs(left - corner), 1, above), (abs(left + above - 2 * corner), 2, corner))[2]
            line[k] = (line[k] + (0, left, above, (left + above) // 2, nearest)[kind]) & 255
        before = bytes(line)
        out += [tuple(line[k:k + 3]) for k in range(0, 3 * width, 3)]
    return out


def refuses_in_one_sentence():
    refuses("no scene or run given", "--out", "a.png")
    refuses("one scene or run at a time", ARM, TABLE, "--out", "a.png")
    refuses("no output given: --out picture.png", ARM)
    refuses("ends in .png, .gif, .apng, .mp4, .webm or .mkv, not 'a.jpg'", ARM, "--out", "a.jpg")
    for name in "%s.png", "%n.png", "%d%d.png", "%99999d.png", "%.png", "%-4d.png", "%04x.png":
        refuses("should hold one number", ARM, "--out", name)
    for wrong in "0x0", "15x20", "100", "x", "100x9999999999999999999", "1e3x100", "640x480x2", "-5x100":
        refuses("--size takes pixels", ARM, "--out", "a.png", "--size=" + wrong)
    refuses("--fps takes a positive number", ARM, "--out", "a.mp4", "--fps", 0)
    refuses("a GIF shows at most 50 pictures a second, not 60", ARM, "--out", "a.gif", "--fps", 60)
    refuses("no camera 'frnt' (did you mean \"front\"?)", ARM, "--out", "a.png", "--camera", "frnt")
    refuses("No such file", "nothing.h5", "--out", "a.png", status=3)
    refuses("cannot", ARM, "--out", "nowhere/a.png", *SMALL, status=3)


def refuses_files_that_are_no_runs():
    with open("run.csv", "w") as file:
        file.write("time [s],x\n0,1\n")
    refuses("is not a trajectory in HDF5", "run.csv", "--out", "a.png")
    refuses("is not a trajectory in HDF5", "run.csv", "--scene", ARM, "--out", "a.png")
    for k, text in enumerate([b"", b"\x89HDF\r\n\x1a\n" + b"\xff" * 99, b"\0" * 999]):
        with open(f"{k}.h5", "wb") as file:
            file.write(text)
        refuses(f"{k}.h5", f"{k}.h5", "--out", "a.png")
    if HDF5:
        sim(ARM, "--duration", 0.01, "--out", "arm.h5", "--quiet")
        refuses("holds neither poses", "arm.h5", "--scene", TABLE, "--out", "a.png")


def help_fits_eighty_columns():
    said = sim("render", "--help").stdout
    assert max(map(len, said.splitlines())) < 80
    page, completion = sim("--man").stdout.replace("\\-", "-"), sim("--completion").stdout
    for option in [line.split()[0] for line in said.splitlines() if line.startswith("  --")]:
        assert option in page and option in completion, option


sys.exit(tap.run(tap.cases_of(globals(), WORD)))
