// The page: a source, a moment, a picture of it.
import { actions, bindKeys, helpHtml } from './actions.js';
import { Bodies } from './bodies.js';
import { drawCard } from './card.js';
import { buildSolvers, buildTools, buildTransport, drawLegend, writeTitle } from './chrome.js';
import { Contacts } from './contacts.js';
import { Tendons } from './tendons.js';
import { Events } from './events.js';
import { findExtent } from './extent.js';
import { Drag } from './drag.js';
import { Ground } from './ground.js';
import { Inputs } from './inputs.js';
import { Joints } from './joints.js';
import { Live, LivePlayer } from './live.js';
import { Marks } from './marks.js';
import { motionOf } from './motion.js';
import { Phases } from './phases.js';
import { Player } from './player.js';
import { Plots } from './plots.js';
import { findBeginnings } from './readings.js';
import { Recorder } from './record.js';
import { runSelfTest } from './selftest.js';
import { Signals } from './signals.js';
import { Recorded } from './source.js';
import { Stage } from './stage.js';
import { THEMES, initialTheme } from './theme.js';
import { Tree } from './tree.js';

const $ = (id) => document.getElementById(id);
const NARROW = 760; // px: plots lie below then, and are shut at first
const RESCALED = 1; // s between two looks at the forces of a run that goes on
const FRAMES = 2; // drawn after a change: the second one shows the parts of the page that the first one laid out
const LONGEST_FRAME = 0.1; // s: a longer one, as of a window that was hidden, is no time to catch up with
const MANY = 400; // contacts: more hide what they belong to, until they are asked for

class App {
  selected = 0;
  panels = { side: innerWidth >= NARROW, tree: false, joints: false, help: false, about: false };
  contactsNow = null;
  running = false;
  dirty = 0; // frames still to draw
  asked = 0; // the next frame of the browser; 0: none
  before = null; // ms, of the last frame while frames follow each other

  constructor(source) {
    this.source = source;
    this.scene = source.scene;
    this.player = source.live ? new LivePlayer(source) : new Player(source);
    this.bodies = new Bodies(source);
    const extent = findExtent(source, this.bodies);
    this.stage = new Stage($('view'), extent, this.scene.cameras, this.scene.typical);
    this.ground = new Ground(this.scene, extent, this.bodies);
    this.contacts = new Contacts(this.scene);
    this.contacts.hidden = this.bodies.hidden;
    this.recorder = new Recorder(this);
    this.marks = new Marks(this.scene, this.bodies);
    this.tendons = new Tendons(this.scene, this.bodies.pose);
    this.stage.scene.add(this.ground.group, this.bodies.group, this.bodies.softs.group, this.tendons.group, this.contacts.group, this.marks.group);
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

  /** Newtons that nine forces in ten do not exceed: of the whole run, or of what is known of one that goes on. */
  #usualForce() {
    const { source, scene } = this;
    if (!source.live) return scene.usual_force;
    const forces = [];
    const last = source.time.length - 1;
    for (let k = Math.max(last - 600, 0); k <= last; k += 10) {
      const { count = 0, force } = source.frame(k)?.contacts ?? {};
      for (let c = 0; c < count; c++) forces.push(Math.hypot(force[3 * c], force[3 * c + 1], force[3 * c + 2]));
    }
    const acting = forces.filter((f) => f > 0).sort((a, b) => a - b);
    return acting[Math.floor(0.9 * (acting.length - 1))] ?? 0;
  }

  /** The usual force makes an arrow of up to two typical bodies; a scale that still suits stays. */
  scaleForces() {
    const usual = this.#usualForce();
    const newtons = usual / (2 * this.contacts.size);
    const length = usual * this.contacts.scale / this.contacts.size;
    if (!(newtons > 0) || this.contacts.chosen || (this.scaled && length > 0.4 && length < 3)) return;
    const power = 10 ** Math.floor(Math.log10(newtons));
    this.contacts.scale = 1 / (power * [1, 2, 5, 10].find((f) => f * power >= newtons));
    this.scaled = true;
    this.refresh();
  }

  #goLive() {
    const { source } = this;
    this.drag = new Drag(this);
    buildSolvers(this.scene, source);
    let said = '';
    let looked = 0;
    source.listen(() => {
      const { say, playing } = source.state;
      if (say !== said) { if (say) this.say(say, !playing); else this.hush(); }
      said = say;
      if (this.plots.discover()) this.#layout();
      this.ground.reach(this.bodies.bounds.low);
      if (performance.now() > looked + 1000 * RESCALED && source.time.length >= 30) {
        looked = performance.now();
        this.scaleForces();
      }
    });
  }

  #build() {
    writeTitle(this.scene, this.source);
    $('side').innerHTML = '<details id="events"></details><details id="signals"></details><div id="plots"></div>';
    this.plots = new Plots($('plots'), this.source, this.player);
    this.plots.addCoordinates();
    this.signals = new Signals($('signals'), this);
    this.events = new Events($('events'), this);
    this.tree = new Tree($('tree'), this);
    this.joints = new Joints($('joints'), this);
    if (this.source.live) this.inputs = new Inputs($('joints'), this);
    this.phases = new Phases($('title'), this);
    const table = actions(this);
    this.drawTools = buildTools(table, () => this.refresh());
    this.drawTransport = buildTransport(this.player, this.recorder, () => this.refresh());
    $('help').innerHTML = helpHtml(table, this.source.live);
    $('help').addEventListener('click', () => this.toggle('help'));
    bindKeys(table, () => this.refresh());
    this.player.listen(() => this.refresh());
    this.stage.controls.addEventListener('change', () => this.refresh());
    $('view').addEventListener('dblclick', (event) => this.#pickAt(event.clientX, event.clientY));
    new ResizeObserver(() => this.#resize()).observe($('app'));
    new ResizeObserver(() => { for (const panel of ['tree', 'joints']) $(panel).style.top = `${$('top').offsetTop + $('top').offsetHeight + 10}px`; }).observe($('top'));
    this.setTheme(initialTheme());
    this.#layout();
    this.stage.view(0);
  }

  chooseSignals() {
    this.panels.side = true;
    this.#layout();
    this.signals.open();
  }

  /** What of bodies is not to be seen has changed. */
  hideBodies() {
    this.ground.hide(this.bodies.hidden);
    this.bodies.place();
    this.place();
    this.refresh();
  }

  /** Position and speed of the selected body, in place of those of another. */
  async plotMotion() {
    const body = this.selected;
    const { scene } = this.source;
    if (!body) return this.say('Select a body first: double click');
    const [x, y, z, speed] = this.source.live ? this.source.watch(body) : await this.#addMotion(body);
    const { name } = scene.bodies[body];
    this.plots.showMotion(name, [x, y, z], speed);
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
    const { side, tree, joints, help, about } = this.panels;
    $('app').classList.toggle('with-side', side);
    $('app').classList.toggle('with-tree', tree);
    $('app').classList.toggle('with-joints', joints);
    $('tree').hidden = !tree;
    $('joints').hidden = !joints;
    $('help').hidden = !help;
    $('title').querySelector('.about').hidden = !about;
    this.#resize();
  }

  /** The picture's middle is that of what is not covered; of a film, that of the film. */
  frameView() { this.#resize(); }

  #resize() {
    const { clientWidth: width, clientHeight: height } = $('view');
    const panel = this.panels.side && !this.recorder.on ? $('side') : null; // a film shows the middle
    const [right, below] = !panel ? [0, 0] : innerWidth >= NARROW ? [panel.offsetWidth, 0] : [0, panel.offsetHeight];
    const above = this.recorder.on ? 0 : $('top').offsetTop + $('top').offsetHeight;
    this.covered = { right, below, above };
    if (width > 0 && height > 0) this.stage.resize(width, height, this.covered);
    this.refresh();
  }

  /** Something changed: the next frame of the browser draws it. */
  refresh() {
    this.dirty = FRAMES;
    if (this.running && !this.asked) this.asked = requestAnimationFrame((now) => this.#beat(now));
  }

  /** The moment that the player shows; false while its frames are being read. */
  place() {
    const { player, source } = this;
    const k = player.before();
    const from = source.frame(k);
    const last = k + 1 >= source.time.length;
    const to = last ? null : source.frame(k + 1);
    if (!from || (!to && !last)) return false;
    const span = last ? 1 : source.time[k + 1] - source.time[k];
    this.bodies.show(from, to, last ? 0 : (player.now - source.time[k]) / span, (pose) => this.joints.bend(pose));
    this.tendons.show();
    this.contactsNow = this.joints.bent ? null : source.frame(player.nearest)?.contacts ?? null;
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
    this.bodies.sort(this.stage.camera);
    this.stage.draw(this.bodies.pose, this.bodies.bounds, this.ground);
    this.recorder.watch();
    this.drawTransport();
    this.drawTools();
    drawLegend(this.contacts, this.contactsNow);
    drawCard($('card'), this.scene, this.source, this.player, this.selected, this.stage.following > 0);
    if (this.panels.tree) this.tree.draw();
    if (this.panels.joints) {
      this.joints.draw();
      this.inputs?.draw();
    }
    this.phases.draw();
    if (this.panels.side) {
      this.events.draw();
      this.plots.draw(this.theme);
    }
  }

  run() {
    this.running = true;
    this.refresh();
  }

  /** A frame of the browser: time goes by, and the changes are drawn. At rest no frame is asked for, so a page costs nothing. */
  #beat(now) {
    const passed = this.before === null ? 0 : Math.min((now - this.before) / 1000, LONGEST_FRAME);
    const moved = this.player.advance(passed);
    if (this.dirty > 0 || moved) this.draw();
    this.dirty = moved ? FRAMES : this.dirty - 1;
    const goesOn = this.dirty > 0;
    this.before = goesOn ? now : null; // a pause is no time that the run went on
    this.asked = goesOn ? requestAnimationFrame((then) => this.#beat(then)) : 0;
  }
}

async function start() {
  const asked = new URLSearchParams(location.search);
  try {
    const page = await Recorded.open();
    findBeginnings(page);
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
