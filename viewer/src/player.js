// Which moment is shown?  A clock over the frames of a source.
export class Player {
  loop = false;
  #listeners = [];

  constructor(source) {
    this.source = source;
    this.playing = false;
    this.speed = 1;
    this.now = this.start;
    const wanted = this.duration > 0 ? this.duration / 5 : 1; // a run of less than 5 s is slowed to be seen
    if (wanted < 1) this.speed = 2 ** Math.ceil(Math.log2(wanted));
  }

  get start() { return this.source.time[0] ?? 0; }
  get end() { return this.source.time[this.source.time.length - 1] ?? 0; }
  get duration() { return this.end - this.start; }
  get atEnd() { return this.now >= this.end; }

  /** The last frame that is not after `time`. */
  before(time = this.now) {
    const times = this.source.time;
    let low = 0;
    let high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time + 1e-12) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The frame nearest to now: what is a fact of one moment is taken from it. */
  get nearest() {
    const k = this.before();
    const times = this.source.time;
    return k + 1 < times.length && times[k + 1] - this.now < this.now - times[k] ? k + 1 : k;
  }

  listen(f) { this.#listeners.push(f); }
  changed() { for (const f of this.#listeners) f(); }

  play(on = !this.playing) {
    if (on && this.atEnd) this.now = this.start;
    this.playing = on;
    this.changed();
  }

  seek(time) {
    this.now = Math.min(Math.max(time, this.start), this.end);
    this.changed();
  }

  reset() { this.seek(this.start); }

  step(frames) {
    this.playing = false;
    const times = this.source.time;
    const k = this.before();
    const between = this.now > times[k] + 1e-12;
    const wanted = k + frames + (frames < 0 && between ? 1 : 0);
    this.seek(times[Math.min(Math.max(wanted, 0), times.length - 1)]);
  }

  faster(octaves) {
    this.speed = Math.min(Math.max(this.speed * 2 ** octaves, 1 / 1024), 64);
    this.changed();
  }

  /** `seconds` went by on the wall. True while time goes on. */
  advance(seconds) {
    if (!this.playing) return false;
    this.now += seconds * this.speed;
    if (this.now >= this.end) {
      this.now = this.loop ? this.start : this.end;
      this.playing = this.loop;
      if (!this.playing) this.changed();
    }
    return this.playing;
  }
}
