// The page: a source, a moment, a picture of it.
import { actions, bindKeys, helpHtml } from './actions.js';
import { Bodies } from './bodies.js';
import { drawCard } from './card.js';
import { buildSolvers, buildTools, buildTransport, drawLegend, writeTitle } from './chrome.js';
import { Contacts } from './contacts.js';
import { findExtent } from './extent.js';
import { Drag } from './drag.js';
import { Ground } from './ground.js';
import { Live, LivePlayer } from './live.js';
import { Marks } from './marks.js';
import { motionOf } from './motion.js';
import { Player } from './player.js';
import { Plots, coordinates } from './plots.js';
import { runSelfTest } from './selftest.js';
import { Recorded } from './source.js';
import { Stage } from './stage.js';
import { THEMES, initialTheme } from './theme.js';

const $ = (id) => document.getElementById(id);
const NARROW = 760; // px: plots lie below then, and are shut at first
const MANY = 400; // contacts: more hide what they belong to, until they are asked for

class App {
  selected = 0;
  panels = { side: innerWidth >= NARROW, help: false, about: false };
  contactsNow = null;

  constructor(source) {
    this.source = source;
    this.scene = source.scene;
    this.player = source.live ? new LivePlayer(source) : new Player(source);
    this.bodies = new Bodies(source);
    const extent = findExtent(source, this.bodies);
    this.stage = new Stage($('view'), extent, this.scene.cameras, this.scene.typical);
    this.ground = new Ground(this.scene, extent);
    this.contacts = new Contacts(this.scene);
    this.marks = new Marks(this.scene, this.bodies);
    this.stage.scene.add(this.ground.group, this.bodies.group, this.contacts.group, this.marks.group);
    this.adaptContacts();
    this.#build();
    if (source.live) this.#goLive();
  }

  /** Arrows and depths at a scale at which this run's can be seen; none at first where there would be too many. */
  adaptContacts() {
    const of = (name) => this.source.track[this.scene.tracks.findIndex((t) => t.name === name)] ?? [];
    const most = of('contacts').reduce((a, b) => Math.max(a, b || 0), 0);
    const deepest = of('penetration').reduce((a, b) => Math.max(a, b || 0), 0);
    if (deepest > 0) this.contacts.deepest = deepest;
    const moving = this.scene.bodies.filter((body) => body.dofs > 0).length || 1;
    this.contacts.size *= Math.min(Math.max(Math.sqrt((8 * moving) / Math.max(most, 1)), 0.2), 1);
    if (most > MANY) this.contacts.points = this.contacts.forces = false;
  }

  /** One force in ten is longer than the arrows of two typical bodies, in the moments that are asked. */
  async scaleForces() {
    const last = this.source.time.length - 1;
    const forces = [];
    for (const part of [0, 0.3, 0.6, 1]) {
      const k = Math.round(part * last);
      await this.source.ready(k);
      const { count = 0, force } = this.source.frame(k)?.contacts ?? {};
      for (let c = 0; c < count; c++) forces.push(Math.hypot(force[3 * c], force[3 * c + 1], force[3 * c + 2]));
    }
    const acting = forces.filter((f) => f > 0).sort((a, b) => a - b);
    if (!acting.length) return;
    const newtons = acting[Math.floor(0.9 * (acting.length - 1))] / (2 * this.contacts.size);
    const power = 10 ** Math.floor(Math.log10(newtons));
    this.contacts.scale = 1 / (power * [1, 2, 5, 10].find((f) => f * power >= newtons));
    this.refresh();
  }

  #goLive() {
    const { source } = this;
    this.drag = new Drag(this);
    buildSolvers(this.scene, source);
    let said = '';
    let scaled = false;
    source.listen(() => {
      if (source.state.say !== said && source.state.say) this.say(source.state.say, !source.connected);
      said = source.state.say;
      if (this.plots.discover()) this.#layout();
      if (!scaled && source.frame(source.time.length - 1)?.contacts.count && source.time.length >= 30) {
        scaled = true;
        this.scaleForces();
      }
    });
  }

  #build() {
    writeTitle(this.scene, this.source);
    $('side').innerHTML = '<div id="plots"></div><div id="coordinates"></div>';
    this.plots = new Plots($('plots'), this.source, this.player);
    this.#buildCoordinates();
    const table = actions(this);
    this.drawTools = buildTools(table, () => this.refresh());
    this.drawTransport = buildTransport(this.player, () => this.refresh());
    $('help').innerHTML = helpHtml(table, this.source.live);
    $('help').addEventListener('click', () => this.toggle('help'));
    bindKeys(table, () => this.refresh());
    this.player.listen(() => this.refresh());
    this.stage.controls.addEventListener('change', () => this.refresh());
    $('view').addEventListener('dblclick', (event) => this.#pickAt(event.clientX, event.clientY));
    new ResizeObserver(() => this.#resize()).observe($('app'));
    this.setTheme(initialTheme());
    this.#layout();
    this.stage.view(0);
  }

  #buildCoordinates() {
    const all = coordinates(this.source);
    if (!all.length) return;
    const box = $('coordinates');
    box.innerHTML = `<label>Plot a coordinate <select><option value="">–</option>${
      all.map(({ name, track, unit }) => `<option value="${track}">${name.replace(/[<&"]/g, '')} [${unit}]</option>`).join('')}</select></label>`;
    const choose = box.querySelector('select');
    choose.addEventListener('change', () => {
      const picked = all.find(({ track }) => String(track) === choose.value);
      if (picked) this.plotCoordinates([picked]);
      choose.value = '';
      choose.blur();
    });
    const first = all.filter(({ track }) => this.source.live || this.source.track[track].some((v) => Math.abs(v - this.source.track[track][0]) > 1e-9));
    this.plotCoordinates(first.slice(0, first.length <= 4 ? 4 : 3));
  }

  /** Adds to the plot of that unit, or takes away what is there. */
  plotCoordinates(chosen) {
    for (const { name, unit, track } of chosen) {
      const title = unit === 'rad' ? 'Joint angles' : 'Joint positions';
      let plot = this.plots.plots.find((p) => p.title === title);
      if (!plot) this.plots.plots.push(plot = { title, unit, lines: [] });
      const there = plot.lines.findIndex((line) => line.track === track);
      if (there >= 0) plot.lines.splice(there, 1);
      else plot.lines.push({ track, label: name });
    }
    this.plots.plots = this.plots.plots.filter((p) => p.lines.length);
    this.plots.rebuild();
    this.refresh();
  }

  chooseCoordinates() {
    this.panels.side = true;
    this.#layout();
    $('coordinates').querySelector('select')?.focus();
  }

  /** Position and speed of the selected body, in place of those of another. */
  async plotMotion() {
    const body = this.selected;
    const { scene } = this.source;
    if (!body) return this.say('Select a body first: double click');
    const [x, y, z, speed] = this.source.live ? this.source.watch(body) : await this.#addMotion(body);
    const { name } = scene.bodies[body];
    this.plots.plots = this.plots.plots.filter((plot) => !plot.ofBody).concat([
      { ofBody: true, title: `Position of ${name}`, unit: 'm', lines: [x, y, z].map((track, k) => ({ track, label: 'xyz'[k] })) },
      { ofBody: true, title: `Speed of ${name}`, unit: 'm/s', lines: [{ track: speed, label: '' }] },
    ]);
    this.plots.rebuild();
    this.panels.side = true;
    this.#layout();
    $('side').scrollTop = $('side').scrollHeight;
    return null;
  }

  async #addMotion(body) {
    const { position, speed } = await motionOf(this.source, body);
    return [...position, speed].map((values) => this.source.track.push(values) - 1);
  }

  setTheme(name) {
    this.theme = name;
    document.documentElement.dataset.theme = name;
    this.stage.paint(THEMES[name]);
    this.ground.paint(THEMES[name]);
    this.contacts.paint(THEMES[name]);
    this.bodies.select(this.selected, THEMES[name].selected);
    this.refresh();
  }

  toggle(panel) {
    this.panels[panel] = !this.panels[panel];
    this.#layout();
  }

  look(by) {
    this.stage.follow(0, this.bodies.pose);
    if (this.source.live) this.stage.extent = findExtent(this.source, this.bodies);
    const name = this.stage.view(this.stage.viewed + by);
    this.say(`Camera: ${name}`);
  }

  select(body) {
    this.selected = body;
    this.bodies.select(body, THEMES[this.theme].selected);
    if (!body) this.stage.follow(0, this.bodies.pose);
    this.refresh();
  }

  follow() {
    this.stage.follow(this.stage.following || !this.selected ? 0 : this.selected, this.bodies.pose);
    if (!this.selected) this.say('Select a body first: double click');
  }

  #pickAt(x, y) {
    const body = this.bodies.pick(this.stage.ray(x, y));
    if (body && body === this.selected) this.follow();
    else this.select(body);
  }

  say(text, stays = false) {
    $('notice').textContent = text;
    $('notice').classList.add('shown');
    clearTimeout(this.silence);
    if (!stays) this.silence = setTimeout(() => $('notice').classList.remove('shown'), 1400);
  }

  hush() { $('notice').classList.remove('shown'); }

  #layout() {
    const { side, help, about } = this.panels;
    const none = this.plots.plots.length === 0;
    $('app').classList.toggle('with-side', side && !none);
    $('help').hidden = !help;
    $('title').querySelector('.about').hidden = !about;
    this.#resize();
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = $('view');
    const panel = $('app').classList.contains('with-side') ? $('side') : null;
    const [right, below] = !panel ? [0, 0] : innerWidth >= NARROW ? [panel.offsetWidth, 0] : [0, panel.offsetHeight];
    if (width > 0 && height > 0) this.stage.resize(width, height, right, below);
    this.refresh();
  }

  /** Something changed: the next frame of the browser draws it. */
  refresh() { this.dirty = 3; }

  /** The moment that the player shows; false while its frames are being read. */
  place() {
    const { player, source } = this;
    const k = player.before();
    const from = source.frame(k);
    const last = k + 1 >= source.time.length;
    const to = last ? null : source.frame(k + 1);
    if (!from || (!to && !last)) return false;
    const span = last ? 1 : source.time[k + 1] - source.time[k];
    this.bodies.show(from, to, last ? 0 : (player.now - source.time[k]) / span);
    this.contactsNow = source.frame(player.nearest)?.contacts ?? null;
    this.contacts.show(this.contactsNow);
    this.bodies.showIslands(this.contactsNow);
    this.marks.show();
    this.drag?.show();
    return true;
  }

  draw() {
    if (!this.place()) {
      this.refresh();
    }
    this.stage.draw(this.bodies.pose);
    this.drawTransport();
    this.drawTools();
    drawLegend(this.contacts, this.contactsNow);
    drawCard($('card'), this.scene, this.source, this.player, this.selected, this.stage.following > 0);
    if (this.panels.side) this.plots.draw(this.theme);
  }

  run() {
    let before = performance.now();
    const beat = (now) => {
      this.player.advance(Math.min((now - before) / 1000, 0.1));
      before = now;
      if (this.player.playing) this.refresh();
      if (this.dirty > 0) {
        this.dirty--;
        this.draw();
      }
      requestAnimationFrame(beat);
    };
    requestAnimationFrame(beat);
  }
}

async function start() {
  const asked = new URLSearchParams(location.search);
  try {
    const page = await Recorded.open();
    const app = new App(page.scene.live ? await Live.open(page) : page);
    globalThis.sim = app; // for the console
    $('notice').classList.remove('shown');
    app.run();
    app.scaleForces();
    if (asked.has('t')) app.player.seek(Number(asked.get('t')));
    else if (!asked.has('test') && !asked.has('still') && (app.source.state?.fresh ?? true)) app.player.play(true);
    if (asked.has('select')) app.select(app.scene.bodies.findIndex((b) => b.name === asked.get('select')));
    for (const key of asked.get('keys') ?? '') dispatchEvent(new KeyboardEvent('keydown', { key }));
    if (asked.has('test')) await runSelfTest(app);
  } catch (error) {
    $('notice').textContent = `This page cannot be shown: ${error.message}`;
    $('notice').classList.add('shown', 'bad');
    throw error;
  }
}

$('notice').classList.add('shown');
start();
