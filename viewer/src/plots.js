// Plots over time, one above the other, with the moment shown as a line through all.  A press or drag in one goes there.
import { forceOf } from './motion.js';
import { SERIES } from './theme.js';
import { digits, powerOf, prefixed, prefixOf, quantity, superscript, ticks } from './units.js';

const HEIGHT = 102;
const MARGIN = { left: 46, right: 10, top: 18, bottom: 6 }; // above: the unit of the axis
const AXIS = 16; // room for the times under the last plot

/** What belongs into one plot, by the names that tracks.c gives. */
const GROUPS = [
  { title: 'Energy', names: ['kinetic energy', 'potential energy', 'total energy'], labels: ['kinetic', 'potential', 'total'] },
  { title: 'Contacts', names: ['contacts'], steps: true },
  { title: 'Solver iterations', names: ['iterations'], steps: true },
  { title: 'Error by the solver\'s law', names: ['error by the solver\'s law'], log: true },
  { title: 'Error by the rigid law, E', names: ['error by the rigid law'], log: true, asked: true },
  { title: 'Penetration', names: ['penetration'] },
  { title: 'Joints past their range', names: ['past range'] },
  { title: 'Slip at rest', names: ['slip at rest'], asked: true },
];
const ANGLES = 'Joint angles';
const POSITIONS = 'Joint positions';
const SCALARS = new Set(GROUPS.flatMap(({ names }) => names));
const ORDER = [...GROUPS.map(({ title }) => title), ANGLES, POSITIONS];
const MOST_FIRST = 4; // coordinates that are plotted unasked
const MOST_BODIES = 240; // of which contact forces are offered
export const SPANS = [5, 20, 60, Infinity]; // s of a live run in the strip charts; the second at first

/** Plots of readings by kind, for signals that are chosen: their title, by the unit, and more. */
const KINDS = {
  sensor: ({ name }) => ({ title: name.replace(/\.[^.]*$/, ''), label: /\.([^.]*)$/.exec(name)?.[1] ?? '' }),
  effort: ({ unit }) => ({ title: unit === 'N m' ? 'Torques of actuators' : 'Forces of actuators' }),
  target: ({ unit }) => ({ title: unit === 'rad' ? 'Target angles' : 'Target positions' }),
  ctrl: ({ unit }) => ({ title: unit ? `Control inputs, ${unit}` : 'Control inputs' }),
  phase: ({ name, phases }) => ({ title: `Phase of ${name}`, label: '', steps: true, words: phases }),
};

const isEmpty = (values, least) => !values.some((v) => Number.isFinite(v) && Math.abs(v) > least);

export function defaultPlots(source) {
  const { tracks } = source.scene;
  const find = (name) => tracks.findIndex((t) => t.name === name);
  const plots = [];
  for (const group of GROUPS.filter(({ asked }) => !asked)) {
    const least = group.title === 'Penetration' ? 1e-9 * source.scene.typical : 0;
    const all = group.names.map((name, k) => ({ track: find(name), label: group.labels?.[k] ?? '' })).filter(({ track }) => track >= 0);
    const filled = all.filter(({ track }) => !isEmpty(source.track[track], least));
    const lines = source.live && filled.length ? all : filled; // what is empty yet may not stay so
    if (lines.length) plots.push({ ...group, unit: tracks[lines[0].track].unit, lines });
  }
  return plots;
}

/** Coordinates of joints that are not constant, by their unit. */
export function coordinates(source) {
  return source.scene.tracks.map((track, k) => ({ ...track, track: k }))
    .filter(({ name, kind, track, unit }) => !SCALARS.has(name) && !kind && unit && source.track[track].some(Number.isFinite));
}

/** All that can be plotted: [{ title, unit, track, label, ...group }], in the order of the plots. */
export function allSignals(source) {
  const { tracks } = source.scene;
  const scalars = GROUPS.flatMap((group) => group.names.map((name, k) => ({
    ...group, track: tracks.findIndex((t) => t.name === name), label: group.labels?.[k] ?? '',
  }))).filter(({ track }) => track >= 0).map((signal) => ({ ...signal, unit: tracks[signal.track].unit }));
  const joints = coordinates(source).map(({ name, unit, track }) => ({ title: unit === 'rad' ? ANGLES : POSITIONS, unit, track, label: name }));
  const readings = tracks.map((of, track) => ({ ...of, track })).filter(({ kind }) => KINDS[kind])
    .map((of) => ({ unit: of.unit, track: of.track, label: of.name, ...KINDS[of.kind](of) }));
  return [...scalars, ...joints, ...readings].filter(({ track }) => source.track[track].some(Number.isFinite));
}

export class Plots {
  plots = [];
  span = Infinity; // s that are shown
  #forces = new Map(); // tracks of contact forces by body

  constructor(element, source, player) {
    this.element = element;
    this.source = source;
    this.player = player;
    if (source.live) [, this.span] = SPANS;
    this.plots = defaultPlots(source);
    this.known = new Set(this.plots.map(({ title }) => title));
    this.rebuild();
  }

  /** Of a live source: plots of what had nothing to show before.  Whether there are any. */
  discover() {
    const now = Math.floor(performance.now() / 250);
    if (now === this.lookedAt) return false;
    this.lookedAt = now;
    const fresh = defaultPlots(this.source).filter(({ title }) => !this.known.has(title));
    for (const { title } of fresh) this.known.add(title);
    if (!fresh.length) return false;
    for (const plot of fresh) this.#place(plot);
    this.rebuild();
    return true;
  }

  signals() { return allSignals(this.source); }

  /** Signals, and contact forces on bodies, which are found when they are asked for. */
  choices() {
    const { solver, bodies } = this.source.scene;
    const moved = bodies.map(({ name, dofs }, body) => ({ name, dofs, body })).filter(({ dofs }) => solver && dofs > 0);
    return [...this.signals(), ...moved.slice(0, MOST_BODIES)
      .map(({ name, body }) => ({ title: 'Contact force', unit: 'N', label: name, body, track: this.#forces.get(body) ?? -1 }))];
  }

  /** Adds one of the choices, or takes it away. */
  async choose({ body, ...signal }) {
    if (body && !this.#forces.has(body)) this.#forces.set(body, await forceOf(this.source, body));
    this.toggle(body ? { ...signal, track: this.#forces.get(body) } : signal);
  }

  /** Times from and to which are plotted: of a long run those around the moment. */
  get #window() {
    const { start, end, now } = this.player;
    if (!(this.span < end - start)) return [start, end];
    const to = Math.min(Math.max(now, start + this.span), end);
    return [to - this.span, to];
  }

  isShown(track) { return this.plots.some(({ lines }) => lines.some((line) => line.track === track)); }

  /** Adds a signal to the plot of its kind, or takes away what is there. */
  toggle({ track, label, names, labels, ...plot }) {
    const there = this.plots.find(({ title }) => title === plot.title);
    if (!there) this.#place({ ...plot, lines: [{ track, label }] });
    else if (this.isShown(track)) there.lines = there.lines.filter((line) => line.track !== track);
    else there.lines = [...there.lines, { track, label }].sort((a, b) => a.track - b.track);
    this.plots = this.plots.filter(({ lines }) => lines.length);
    this.rebuild();
  }

  /** In its order, motions of bodies last. */
  #place(plot) {
    const rank = ({ title, ofBody }) => (ofBody ? ORDER.length + 1 : ORDER.indexOf(title) < 0 ? ORDER.length : ORDER.indexOf(title));
    this.plots = [...this.plots, plot].sort((a, b) => rank(a) - rank(b));
  }

  /** The first coordinates that change. */
  addCoordinates() {
    const changing = allSignals(this.source).filter(({ title, track }) => (title === ANGLES || title === POSITIONS)
      && (this.source.live || this.source.track[track].some((v) => Math.abs(v - this.source.track[track][0]) > 1e-9)));
    for (const signal of changing.slice(0, changing.length <= MOST_FIRST ? MOST_FIRST : MOST_FIRST - 1)) this.toggle(signal);
  }

  /** Of one body, in place of those of another. */
  showMotion(name, position, speed) {
    this.plots = this.plots.filter((plot) => !plot.ofBody).concat([
      { ofBody: true, title: `Position of ${name}`, unit: 'm', lines: position.map((track, k) => ({ track, label: 'xyz'[k] })) },
      { ofBody: true, title: `Speed of ${name}`, unit: 'm/s', lines: [{ track: speed, label: '' }] },
    ]);
    this.rebuild();
  }

  remove(plot) {
    this.plots = this.plots.filter((other) => other !== plot);
    this.rebuild();
    this.changed?.();
  }

  rebuild() {
    this.element.replaceChildren();
    this.views = this.plots.map((plot, k) => this.#build(plot, k === this.plots.length - 1));
    this.key = '';
  }

  #build(plot, last) {
    const box = document.createElement('section');
    const head = document.createElement('h3');
    const canvas = document.createElement('canvas');
    box.className = 'plot';
    const away = document.createElement('button');
    Object.assign(away, { className: 'away', textContent: '×', title: 'Take this plot away' });
    away.addEventListener('click', () => this.remove(plot));
    box.append(head, away, canvas);
    this.element.append(box);
    const seek = (event) => {
      if (event.type === 'pointermove' && event.buttons === 0) return;
      const { left, width } = canvas.getBoundingClientRect();
      const inner = width - MARGIN.left - MARGIN.right;
      const [from, to] = this.shown;
      this.player.seek(from + ((event.clientX - left - MARGIN.left) / inner) * (to - from));
    };
    canvas.addEventListener('pointerdown', (event) => { if (event.isTrusted) canvas.setPointerCapture(event.pointerId); seek(event); });
    canvas.addEventListener('pointermove', seek);
    return { plot, head, canvas, last, height: HEIGHT + (last ? AXIS : 0), range: this.#range(plot) };
  }

  /** The first and the last frame that are plotted, and those beside them. */
  #frames() {
    const [from, to] = this.#window;
    return [this.player.before(from), Math.min(this.player.before(to) + 1, this.source.time.length - 1)];
  }

  #range(plot) {
    let low = Infinity;
    let high = -Infinity;
    const [first, last] = this.#frames();
    for (const { track } of plot.lines) {
      for (let k = first; k <= last; k++) {
        const v = this.source.track[track][k];
        if (!Number.isFinite(v) || (plot.log && v <= 0)) continue;
        low = Math.min(low, v);
        high = Math.max(high, v);
      }
    }
    if (!(low <= high)) return plot.log ? [1e-6, 1] : [0, 1];
    if (plot.log) return [10 ** Math.max(Math.floor(Math.log10(low)), Math.log10(high) - 12), 10 ** Math.ceil(Math.log10(high) + 1e-9)];
    if (plot.steps || plot.title === 'Penetration') low = Math.min(low, 0);
    const room = 0.06 * (high - low) || Math.abs(high) * 0.1 || 1;
    return [low === 0 ? 0 : low - room, high + room];
  }

  /** Redraws curves when the window or theme changed, and the cursor always. */
  draw(theme) {
    const width = this.element.clientWidth;
    if (!width) return;
    const grown = this.source.live ? this.#grown() : this.source.time.length;
    const part = this.source.live && this.player.playing ? this.span : this.#window.join();
    const key = `${width} ${theme} ${grown} ${devicePixelRatio} ${part}`;
    if (key !== this.key) {
      this.key = key;
      this.shown = this.#window;
      if (this.source.live) for (const view of this.views) view.range = this.#range(view.plot);
      for (const view of this.views) this.#curves(view, width, theme);
    }
    for (const view of this.views) this.#cursor(view, theme);
  }

  /** Ten times a second, if a live source has more to show. */
  #grown() {
    const now = Math.floor(performance.now() / 100);
    const { time } = this.source;
    if (now !== this.grownAt || time.length < this.grownTo) {
      this.grownAt = now;
      this.grownTo = time.length;
      this.grownLast = time.at(-1);
    }
    return `${this.grownTo} ${this.grownLast}`;
  }

  #y(view, value) {
    const { range: [low, high], plot } = view;
    const f = plot.log ? (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low)) : (value - low) / (high - low);
    return MARGIN.top + (1 - f) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  }

  #x(view, time) {
    const [from, to] = this.shown;
    return MARGIN.left + ((time - from) / (to - from || 1)) * (view.width - MARGIN.left - MARGIN.right);
  }

  #curves(view, width, theme) {
    const { canvas, plot } = view;
    const css = getComputedStyle(document.documentElement);
    const ratio = devicePixelRatio;
    view.width = canvas.parentElement.clientWidth;
    canvas.style.height = `${view.height}px`;
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    view.curves = new OffscreenCanvas(canvas.width, canvas.height);
    const g = view.curves.getContext('2d');
    g.scale(ratio, ratio);
    g.font = '10.5px system-ui, sans-serif';
    this.#axes(g, view, css);
    plot.lines.forEach(({ track }, k) => this.#line(g, view, this.source.track[track], this.#color(plot, k, theme)));
  }

  #color(plot, k, theme) {
    return SERIES[theme][plot.lines.length === 1 ? 0 : k % SERIES[theme].length];
  }

  #axes(g, view, css) {
    const { range: [low, high], plot } = view;
    const right = view.width - MARGIN.right;
    const largest = Math.max(Math.abs(low), Math.abs(high));
    const [scale, prefix] = plot.log ? [1, ''] : prefixed(plot.unit) ? prefixOf(largest) : powerOf(largest);
    view.unit = `${prefix}${plot.unit}`;
    view.scale = scale;
    g.fillStyle = css.getPropertyValue('--faint');
    g.strokeStyle = css.getPropertyValue('--rule');
    g.lineWidth = 1;
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    const marks = plot.log ? this.#decades(low, high) : ticks(low / scale, high / scale, 3).map((v) => v * scale);
    for (const value of marks) {
      const y = Math.round(this.#y(view, value)) + 0.5;
      g.beginPath();
      g.moveTo(MARGIN.left, y);
      g.lineTo(right, y);
      g.stroke();
      g.fillText(plot.log ? `10${superscript(Math.round(Math.log10(value)))}` : digits(Number((value / scale).toPrecision(6)), 4), MARGIN.left - 6, y);
    }
    g.textAlign = 'left';
    g.textBaseline = 'top';
    if (view.unit) g.fillText(view.unit, MARGIN.left - 6 - g.measureText(view.unit).width, 0);
    if (!view.last) return;
    g.textBaseline = 'top';
    g.textAlign = 'center';
    const times = ticks(...this.shown, Math.max(2, Math.floor(view.width / 80)));
    times.forEach((time, k) => {
      const x = this.#x(view, time);
      const text = `${digits(Number(time.toPrecision(6)), 4)}${k === times.length - 1 ? ' s' : ''}`;
      g.textAlign = x > right - 14 ? 'right' : 'center';
      g.fillText(text, Math.min(x, right + 8), HEIGHT + 1);
    });
  }

  #decades(low, high) {
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const last = Math.floor(Math.log10(high) + 1e-9);
    const every = Math.max(1, Math.ceil((last - first) / 3));
    const out = [];
    for (let k = last; k >= first; k -= every) out.push(10 ** k);
    return out;
  }

  /** Of many samples in one column of pixels the least and the greatest. */
  #line(g, view, values, color) {
    const times = this.source.time;
    const { plot } = view;
    g.strokeStyle = color;
    g.lineWidth = 1.4;
    g.lineJoin = 'round';
    g.beginPath();
    let open = false;
    let column = -1, least = 0, most = 0;
    const [first, last] = this.#frames();
    g.save();
    g.rect(MARGIN.left, 0, view.width - MARGIN.left - MARGIN.right, HEIGHT);
    g.clip();
    g.beginPath();
    for (let k = first; k <= last; k++) {
      const v = values[k];
      if (!Number.isFinite(v) || (plot.log && v <= 0)) { open = false; column = -1; continue; }
      const x = this.#x(view, times[k]);
      const y = this.#y(view, Math.max(v, plot.log ? view.range[0] : v));
      if (open && Math.floor(x * 2) === column) {
        if (y < least || y > most) { g.lineTo(x, y); least = Math.min(least, y); most = Math.max(most, y); }
        continue;
      }
      if (open) g.lineTo(x, y);
      else g.moveTo(x, y);
      open = true;
      column = Math.floor(x * 2);
      least = most = y;
    }
    g.stroke();
    g.restore();
  }

  #cursor(view, theme) {
    const { canvas, plot } = view;
    const g = canvas.getContext('2d');
    const ratio = devicePixelRatio;
    const css = getComputedStyle(document.documentElement);
    const k = this.player.nearest;
    const x = Math.min(this.#x(view, this.player.now), view.width - MARGIN.right); // curves of a live run follow a little later
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.drawImage(view.curves, 0, 0);
    g.scale(ratio, ratio);
    g.strokeStyle = css.getPropertyValue('--accent');
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(x, MARGIN.top - 4);
    g.lineTo(x, HEIGHT - MARGIN.bottom + 2);
    g.stroke();
    plot.lines.forEach(({ track }, i) => {
      const v = this.source.track[track][k];
      if (!Number.isFinite(v) || (plot.log && v <= 0)) return;
      g.fillStyle = this.#color(plot, i, theme);
      g.beginPath();
      g.arc(x, this.#y(view, v), 2.6, 0, 7);
      g.fill();
    });
    this.#caption(view, k, theme);
  }

  #caption(view, k, theme) {
    const { plot, head } = view;
    const least = plot.log ? 0 : 1e-6 * Math.max(...view.range.map(Math.abs)); // below lies rounding
    const parts = plot.lines.map(({ track, label }, i) => {
      const given = this.source.track[track][k];
      const v = Math.abs(given) < least ? 0 : given;
      const text = plot.words ? escape(plot.words[v] ?? 'not begun') : plot.unit ? `${digits(v / view.scale, 4)} ${view.unit}` : plot.log ? digits(v, 3) : quantity(v, '');
      return `<span style="color:${this.#color(plot, i, theme)}">${label ? `${escape(label)} ` : ''}<b>${text}</b></span>`;
    });
    const html = `<i>${escape(plot.title)}</i><span class="${parts.length > 1 ? 'row' : ''}">${parts.join('')}</span>`;
    if (head.dataset.html !== html) {
      head.dataset.html = html;
      head.innerHTML = html;
    }
  }
}

export const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
