"""How far is it?  On a terminal a line that lives, elsewhere a line for each experiment; on standard error."""
import shutil
import sys
import threading
import time


class Progress:
    def __init__(self, expected, wanted=True):
        """`expected`: experiment -> seconds that it takes, more or less."""
        self.expected, self.total = expected, sum(expected.values()) or 1
        self.done, self.ended, self.last = 0, 0, ("", "")
        self.since = {}  # of what runs: name -> moment of its start
        self.live = wanted and sys.stderr.isatty()
        self.lines = wanted and not self.live
        self.begun = time.monotonic()
        self.lock, self.over = threading.Lock(), threading.Event()
        if self.live:
            threading.Thread(target=self.tick, daemon=True).start()

    def start(self, name):
        self.since = {**self.since, name: time.monotonic()}
        self.at(name, "")

    def at(self, name, part):
        self.last = name, part
        self.draw()

    def finish(self, name, said):
        self.done, self.ended = self.done + self.expected[name], self.ended + 1
        seconds = time.monotonic() - self.since[name]
        self.since = {other: moment for other, moment in self.since.items() if other != name}
        self.last = next(iter(self.since), ""), ""
        self.wipe()
        if self.live or self.lines:
            print(f"[{self.ended}/{len(self.expected)}] {name}: {said}, {seconds:.1f} s", file=sys.stderr, flush=True)

    def end(self):
        self.over.set()
        self.wipe()

    def tick(self):
        while not self.over.wait(0.2):
            self.draw()

    def share(self):
        now, within = time.monotonic(), {name: self.expected[name] for name in self.since}
        return (self.done + sum(min(0.95 * within[name], now - since) for name, since in self.since.items() if name in within)) / self.total

    def draw(self):
        if not self.live or not self.last[0] or self.over.is_set():
            return
        with self.lock:
            width = shutil.get_terminal_size().columns - 1
            full = round(24 * self.share())
            line = (f"[{'=' * full}{' ' * (24 - full)}] {self.ended + 1}/{len(self.expected)} {time.monotonic() - self.begun:4.0f} s  "
                    f"{': '.join(self.last)}")
            sys.stderr.write("\r\x1b[K" + line[:width])
            sys.stderr.flush()

    def wipe(self):
        if self.live:
            with self.lock:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
