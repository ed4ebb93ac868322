// What happened: events of the scene and beginnings of phases, in a list.  A press on one goes to its time.  Of several events of
// one kind between two frames the last is listed, with their number.
import { escape } from './plots.js';
import { machinesOf, tracksOf } from './readings.js';
import { digits } from './units.js';

const MOST = 1000; // the oldest go

export class Events {
  list = []; // { time, name, note, stop }
  #known = new Set();
  #fresh = true; // the list changed

  constructor(element, app) {
    this.app = app;
    this.element = element;
    const age = new Map(tracksOf(app.scene, 'age').map(({ of, track }) => [of, track]));
    this.counts = tracksOf(app.scene, 'count').map((count) => ({ ...count, age: age.get(count.of) }));
    this.machines = machinesOf(app.scene);
    element.innerHTML = '<summary>Events</summary><div class="list"></div>';
    element.hidden = !this.counts.length && !this.machines.length;
    element.open = this.counts.length > 0;
    element.addEventListener('toggle', () => { this.#fresh = true; app.refresh(); });
    [this.summary, this.rows] = element.children;
    this.rows.addEventListener('click', ({ target }) => {
      const row = target.closest('button');
      if (!row) return;
      app.player.seek(Number(row.dataset.time));
      row.blur();
    });
    for (let k = 0; k < app.source.time.length; k++) this.#look(k);
    if (app.source.live) this.#listen();
  }

  #listen() {
    const { source } = this.app;
    let { run } = source.state;
    source.listen(() => {
      if (source.state.run !== run) {
        this.list = [];
        this.#known.clear();
        this.#fresh = true;
      }
      run = source.state.run;
      this.#look(source.time.length - 1);
    });
  }

  /** What happened from the frame before to frame k. */
  #look(k) {
    const { time, track } = this.app.source;
    for (const { name, of, stop, track: counts, age } of this.counts) {
      const [now, before] = [track[counts][k], track[counts][k - 1] || 0];
      const many = now - before;
      if (many > 0) this.#add(`event ${of} ${now}`, { time: time[k] - track[age][k], name, stop, note: many > 1 ? `${many} times` : '' });
    }
    for (const { name, of, phases, track: phase, elapsed } of this.machines) {
      const [now, before] = [track[phase][k], track[phase][k - 1] ?? -1];
      const began = Number((time[k] - track[elapsed][k]).toFixed(6)); // single precision
      if (now >= 0 && now !== before) this.#add(`phase ${of} ${began}`, { time: began, name: `${name}: ${phases[now]}`, note: '' });
    }
  }

  #add(key, entry) {
    if (this.#known.has(key)) return; // a frame that was told again
    this.#known.add(key);
    entry.time = Number(entry.time.toFixed(9)) + 0; // of floats; no -0
    this.list = [...this.list.slice(-MOST + 1), entry].sort((a, b) => a.time - b.time);
    this.#fresh = true;
  }

  #fill() {
    const atEnd = this.rows.scrollTop + this.rows.clientHeight >= this.rows.scrollHeight - 4;
    this.rows.innerHTML = this.list.map(({ time, name, stop, note }) => `<button data-time="${time}"><i>${digits(time, 6)} s</i><span>${escape(name)}</span>${
      note ? `<small>${note}</small>` : ''}${stop ? '<small>ends a run</small>' : ''}</button>`).join('');
    if (this.app.source.live && atEnd) this.rows.scrollTop = this.rows.scrollHeight;
  }

  /** The list, and in it the last that happened before the moment shown. */
  draw() {
    if (this.#fresh) this.summary.textContent = `Events (${this.list.length})`;
    if (!this.element.open) return;
    if (this.#fresh) this.#fill();
    this.#fresh = false;
    const last = this.list.findLastIndex(({ time }) => time <= this.app.player.now + 1e-9);
    [...this.rows.children].forEach((row, k) => row.classList.toggle('last', k === last));
  }
}
