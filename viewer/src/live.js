// A run that goes on: frames from a socket, as they come, and what is asked of the simulation.
import { readFrames, Reader } from './decode.js';
import { touching } from './motion.js';
import { Player } from './player.js';
import { Recorded } from './source.js';

const MOST_NUMBERS = 1.5e7; // of poses and contacts kept, for going back
const MOST_FRAMES = 36000;
const MOTION = 4; // tracks of a body's motion
const TRIES = 10; // to connect again
const FIRST_WAIT = 1, LONGEST_WAIT = 8; // s, before a try; each wait is twice the one before

const socketAt = (here) => new URL('live', here).href.replace(/^http/, 'ws');

export class Live {
  live = true;
  state = { run: 0, playing: false, fresh: true, speed: 1, rate: NaN, solver: '', ctrl: [], target: [], say: '', step: 0 };
  connected = false;
  tries = 0; // since the connection was lost
  other = false; // another scene answered
  #scene; // its fingerprint
  #listeners = [];
  #frames = [];
  #watched = 0; // a body; 0: none
  #pressed = []; // bodies whose contact force is a track behind those of the motion
  #numbers = 0;

  /** `page` is what stands in the page: the scene, and its first frame. */
  static async open(page) {
    const source = new Live();
    Object.assign(source, { scene: page.scene, meshes: page.meshes });
    source.#forget();
    source.#keep(page.time[0], page.frame(0), page.track.map(([value]) => value));
    await source.#connect();
    return source;
  }

  #connect() {
    return new Promise((done, failed) => {
      const socket = this.socket = new WebSocket(socketAt(location.href), 'sim');
      socket.binaryType = 'arraybuffer';
      socket.onmessage = ({ data }) => {
        if (!this.#receive(new Uint8Array(data))) return socket.close();
        this.connected = true;
        this.tries = 0;
        done();
        this.#tell();
      };
      socket.onclose = () => {
        const lost = this.connected;
        this.connected = false;
        this.state.playing = false;
        failed(new Error('the simulation does not answer'));
        if (lost) this.#reconnect();
      };
    });
  }

  /** The connection is lost: tries to have it back, ever more seldom. */
  async #reconnect() {
    const say = (text) => { this.state = { ...this.state, say: text }; this.#tell(); };
    for (let wait = FIRST_WAIT; !this.connected && !this.other && this.tries < TRIES; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      this.tries++;
      say(`The connection is lost: try ${this.tries} of ${TRIES} in ${wait} s`);
      await new Promise((done) => { setTimeout(done, 1000 * wait); });
      await this.#connect().catch(() => {});
    }
    if (this.other) say('Another simulation answers here: reload the page');
    else if (!this.connected) say(`The connection is lost, and ${TRIES} tries failed: the simulation has ended. Reload the page once it runs`);
  }

  #tell() { for (const f of this.#listeners) f(); }
  listen(f) { this.#listeners.push(f); }

  send(command) {
    if (this.connected) this.socket.send(JSON.stringify(command));
  }

  /** False: it comes from another scene. */
  #receive(bytes) {
    const reader = new Reader(bytes);
    const length = reader.number();
    const state = JSON.parse(new TextDecoder().decode(bytes.subarray(reader.at, reader.at + length)));
    reader.at += length;
    this.other = this.#scene !== undefined && state.scene !== this.#scene;
    if (this.other) return false;
    this.#scene = state.scene;
    const [time] = reader.doubles(1);
    const values = reader.floats(this.scene.tracks.length);
    const { pose, contacts } = readFrames(bytes.subarray(reader.at), this.scene);
    if (state.run !== this.state.run || !this.connected) this.#forget(); // the page's own frame may be long past
    this.state = { ...state, speed: state.speed / 1024, rate: state.rate < 0 ? NaN : state.rate / 1000 };
    this.#keep(time, { pose, at: 0, contacts: contacts[0] }, values);
    return true;
  }

  #forget() {
    this.time = [];
    this.track = Array.from({ length: this.scene.tracks.length + MOTION + this.#pressed.length }, () => []);
    this.#frames = [];
    this.#numbers = 0;
  }

  /** Adds a frame; one of the same time, told again, takes its place. */
  #keep(time, frame, values) {
    const last = this.time.length - 1;
    const k = last >= 0 && time <= this.time[last] ? last : last + 1;
    this.time[k] = time;
    this.#numbers += size(frame) - size(this.#frames[k]);
    this.#frames[k] = frame;
    values.forEach((value, track) => { this.track[track][k] = value; });
    if (this.#watched) this.#watch(k);
    this.#pressed.forEach((body) => this.#press(body, k));
    if (this.#numbers > MOST_NUMBERS || this.time.length > MOST_FRAMES) this.#drop(Math.floor(this.time.length / 4));
  }

  /** The oldest are gone. */
  #drop(count) {
    for (const list of [this.time, ...this.track]) list.splice(0, count);
    for (const frame of this.#frames.splice(0, count)) this.#numbers -= size(frame);
  }

  /** Tracks of where a body is, and how fast: x, y, z, speed. */
  watch(body) {
    this.#watched = body;
    this.time.forEach((_, k) => this.#watch(k));
    return Array.from({ length: MOTION }, (_, i) => this.scene.tracks.length + i);
  }

  /** The track of the contact force on a body. */
  watchForce(body) {
    this.#pressed.push(body);
    this.track.push([]);
    this.time.forEach((_, k) => this.#press(body, k));
    return this.track.length - 1;
  }

  #press(body, k) {
    const track = this.scene.tracks.length + MOTION + this.#pressed.indexOf(body);
    this.track[track][k] = touching(this.scene, this.#frames[k].contacts, body).force;
  }

  #watch(k) {
    const place = (frame) => frame.pose.subarray(frame.at + 7 * this.#watched, frame.at + 7 * this.#watched + 3);
    const [now, before] = [this.#frames[k], this.#frames[k - 1]].map((frame) => frame && place(frame));
    const span = this.time[k] - this.time[k - 1];
    const moved = before ? Math.hypot(now[0] - before[0], now[1] - before[1], now[2] - before[2]) : NaN;
    [...now, moved / span].forEach((value, i) => { this.track[this.scene.tracks.length + i][k] = value; });
  }

  async ready() { /* what there is, is here */ }
  frame(k) { return this.#frames[k] ?? null; }
}

const size = (frame) => (frame ? frame.pose.length + 8 * frame.contacts.count : 0);

/** Shows the newest frame, or one of those before while the simulation stands. */
export class LivePlayer extends Player {
  #back = false; // a frame before the newest is looked at

  constructor(source) {
    super(source);
    this.ours = true;
    this.now = this.end;
    let run = source.state.run;
    source.listen(() => {
      if (!this.#back || source.state.run !== run || source.state.playing || this.now > this.end) this.#follow();
      run = source.state.run;
      this.changed();
    });
  }

  get playing() { return this.source.state?.playing ?? false; }
  set playing(on) { if (this.ours && on !== this.playing) this.source.send({ do: on ? 'play' : 'pause' }); }
  get speed() { return this.source.state?.speed ?? 1; }
  set speed(value) { if (this.ours) this.source.send({ do: 'speed', value }); }

  #follow() {
    this.#back = false;
    this.now = this.end;
  }

  play(on = !this.playing) { this.source.send({ do: on ? 'play' : 'pause' }); }
  reset() { this.source.send({ do: 'reset' }); }

  /** To look back is to stop. */
  seek(time) {
    if (this.playing) this.play(false);
    super.seek(time);
    this.#back = this.now < this.end;
  }

  /** From the newest frame on, a step of the simulation; else to the next frame that is kept. */
  step(frames) {
    if (frames < 0 || this.#back) super.step(frames);
    else this.source.send({ do: 'step', count: frames });
  }

  advance() { return false; /* it moves when a frame comes */ }
}
