"""How far is it?  On a terminal a line that lives, elsewhere a line for each experiment; on standard error."""
import shutil
import sys
import threading
import time


class Progress:
    def __init__(self, expected, wanted=True):
        """`expected`: experiment -> seconds that it takes, more or less."""
        self.expected, self.total = expected, sum(expected.values()) or 1
        self.done, self.name, self.part, self.number = 0, "", "", 0
        self.live = wanted and sys.stderr.isatty()
        self.lines = wanted and not self.live
        self.begun = self.since = time.monotonic()
        self.lock, self.over = threading.Lock(), threading.Event()
        if self.live:
            threading.Thread(target=self.tick, daemon=True).start()

    def start(self, name):
        self.name, self.part, self.number, self.since = name, "", self.number + 1, time.monotonic()
        self.draw()

    def at(self, part):
        self.part = part
        self.draw()

    def finish(self, said):
        self.done += self.expected[self.name]
        seconds = time.monotonic() - self.since
        self.name, name = "", self.name
        self.wipe()
        if self.live or self.lines:
            print(f"[{self.number}/{len(self.expected)}] {name}: {said}, {seconds:.1f} s", file=sys.stderr, flush=True)

    def end(self):
        self.over.set()
        self.wipe()

    def tick(self):
        while not self.over.wait(0.2):
            self.draw()

    def share(self):
        within = self.expected.get(self.name, 0)
        return (self.done + within * min(0.95, (time.monotonic() - self.since) / within if within else 0)) / self.total

    def draw(self):
        if not self.live or not self.name or self.over.is_set():
            return
        with self.lock:
            width = shutil.get_terminal_size().columns - 1
            full = round(24 * self.share())
            line = (f"[{'=' * full}{' ' * (24 - full)}] {self.number}/{len(self.expected)} {time.monotonic() - self.begun:4.0f} s  "
                    f"{self.name}: {self.part}")
            sys.stderr.write("\r\x1b[K" + line[:width])
            sys.stderr.flush()

    def wipe(self):
        if self.live:
            with self.lock:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
