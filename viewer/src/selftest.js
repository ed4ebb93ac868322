// ?test: does the page do what it is for?  Answers as JSON in <pre id="test">, for a program that drives a browser.
// ?test=picture: what is drawn at one time, without using the page.
import { Color, Matrix4, Vector3 } from 'three';
import { isMoved, islandsOf } from './bodies.js';
import { principal } from './inertia.js';

const sleep = (ms) => new Promise((done) => { setTimeout(done, ms); });

async function at(app, time) {
  app.player.playing = false;
  app.player.seek(time);
  await app.source.ready(app.player.before());
  await app.source.ready(Math.min(app.player.before() + 1, app.source.time.length - 1));
  app.draw();
}

/** Pixels of the picture, from the top left. */
/** Corners of what the first camera of all sees, as parts of the window from its left and top, and the part without panels. */
function corners(app) {
  const { seen: { min, max } } = app.stage.extent;
  const at = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => {
    const p = new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z).project(app.stage.camera);
    return [(p.x + 1) / 2, (1 - p.y) / 2];
  });
  const { right, below, above } = app.covered;
  const { clientWidth: width, clientHeight: height } = app.stage.canvas;
  return { at, free: [0, above / height, 1 - right / width, 1 - below / height], low: min.z };
}

function pixels(app) {
  const { renderer } = app.stage;
  const gl = renderer.getContext();
  const width = gl.drawingBufferWidth;
  const height = gl.drawingBufferHeight;
  const data = new Uint8Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, data);
  return { width, height, at: (x, y) => data.subarray(4 * ((height - 1 - y) * width + x), 4 * ((height - 1 - y) * width + x) + 3), data };
}

const colors = ({ data }) => {
  const seen = new Set();
  for (let k = 0; k < data.length; k += 4) seen.add(data[k] << 16 | data[k + 1] << 8 | data[k + 2]);
  return seen.size;
};

/** Where a body is, in pixels, and whether a ray there meets it first. */
function project(app, body) {
  const box = app.stage.canvas.getBoundingClientRect();
  const p = new Vector3().setFromMatrixPosition(app.bodies.pose[body]).project(app.stage.camera);
  const x = (p.x + 1) / 2, y = (1 - p.y) / 2;
  const hit = app.bodies.pick(app.stage.ray(box.left + x * box.width, box.top + y * box.height));
  return { x, y, hit };
}

/** Does taking a body away change the picture where it is projected? */
function drawnBodies(app) {
  const picture = pixels(app);
  const out = [];
  app.scene.bodies.forEach((body, index) => {
    if (!isMoved(app.scene.bodies, index) || !app.scene.shapes.some((s) => s.body === index && s.mesh >= 0) || out.length >= 6) return;
    const { x, y, hit } = project(app, index);
    if (!(x > 0.02 && x < 0.98 && y > 0.02 && y < 0.98) || hit !== index) return;
    const rgb = [...picture.at(Math.round(x * picture.width), Math.round(y * picture.height))];
    const shape = app.scene.shapes.find((s) => s.body === index);
    out.push({ body: body.name, rgb, color: shape.color.slice(0, 3) });
  });
  return out;
}

/** Keys, a double click on a body, a press in a plot: what each did. */
async function useIt(app) {
  const { player, source } = app;
  const press = (key) => dispatchEvent(new KeyboardEvent('keydown', { key }));
  const done = {};
  await at(app, player.start);
  press('ArrowRight');
  done.stepped = player.now - player.start;
  press('End');
  done.end = player.now;
  press('Backspace');
  done.start = player.now;
  const points = app.contacts.points;
  press('c');
  done.toggled = app.contacts.points !== points;
  press('c');
  const body = app.scene.bodies.findIndex((b, i) => isMoved(app.scene.bodies, i) && project(app, i).hit === i);
  const { x, y } = project(app, body);
  const box = app.stage.canvas.getBoundingClientRect();
  app.stage.canvas.dispatchEvent(new MouseEvent('dblclick', { clientX: box.left + x * box.width, clientY: box.top + y * box.height }));
  done.selected = app.selected > 0 && app.selected === body;
  await app.plotMotion();
  const plotted = app.plots.plots.at(-2).lines.map(({ track }) => source.track[track]);
  await at(app, player.start + player.duration / 3);
  done.plotted = plotted.map((values, k) => values[player.nearest] - app.bodies.pose[body].elements[12 + k]);
  press('Escape');
  app.panels.side = true;
  document.getElementById('app').classList.add('with-side');
  app.draw();
  const plot = document.querySelector('#plots canvas');
  const place = plot.getBoundingClientRect();
  plot.dispatchEvent(new PointerEvent('pointerdown', { clientX: place.left + 46 + (place.width - 56) / 2, clientY: place.top + 20 }));
  done.sought = (player.now - player.start) / player.duration;
  done.frame = source.time[1] - source.time[0];
  return done;
}

/** Bodies hidden in the tree, signals chosen, floors, sectors, arrows, a film in pictures: what each did. */
async function useTheRest(app) {
  const { scene, player, source } = app;
  const done = {};
  await at(app, player.end);
  const body = app.bodies.moving.find((b) => project(app, b).hit === b);
  done.hidden = { body: scene.bodies[body].name, dots: [app.contacts.dots.mesh.count] };
  app.toggle('tree');
  const row = () => document.querySelector(`#tree [data-body="${body}"]`);
  row().querySelector('.eye').click();
  app.draw();
  Object.assign(done.hidden, { state: row().dataset.hidden, hit: project(app, body).hit });
  done.hidden.dots.push(app.contacts.dots.mesh.count);
  document.querySelector('#tree #all').click();
  app.draw();
  done.hidden.dots.push(app.contacts.dots.mesh.count);
  done.hidden.rows = [...document.querySelectorAll('#tree .name')].map((name) => name.textContent);
  app.toggle('tree');

  const titles = () => app.plots.plots.map(({ title }) => title);
  done.titles = [titles()];
  app.chooseSignals();
  const box = [...document.querySelectorAll('#signals label')].find((label) => label.textContent.startsWith('Contacts')).querySelector('input');
  for (let k = 0; k < 2; k++) {
    box.click();
    done.titles.push(titles());
  }
  app.draw();
  done.units = app.plots.views.map(({ plot, unit }) => [plot.title, unit]);

  done.arrow = { usual: scene.usual_force, length: scene.usual_force * app.contacts.scale / app.contacts.size };
  player.seek(player.end - (1.5 / 30) * player.speed);
  app.recorder.toggle(true);
  while (app.recorder.on) await sleep(5);
  const film = new Uint8Array(await app.recorder.saved.blob.arrayBuffer());
  done.film = { name: app.recorder.saved.name, bytes: btoa(film.reduce((text, byte) => text + String.fromCharCode(byte), '')), size: [app.stage.canvas.width, app.stage.canvas.height] };
  app.source.ready(source.time.length - 1);
  return done;
}

// Where the axes of a body's frame are drawn: starts and directions; none while frames are hidden.
function framesDrawn(app) {
  const { frames, moving, size } = app.marks;
  return !frames.visible ? [] : moving.slice(0, 50).map((index, k) => ({
    body: app.scene.bodies[index].name,
    axes: [0, 1, 2].map((i) => {
      const m = new Matrix4();
      const color = new Color();
      frames.getMatrixAt(3 * k + i, m);
      frames.getColorAt(3 * k + i, color);
      const from = new Vector3().applyMatrix4(m);
      return { from: from.toArray(), along: new Vector3(1, 0, 0).applyMatrix4(m).sub(from).divideScalar(size).toArray(), color: color.toArray() };
    }),
  }));
}

function drawCost(app) {
  const { info } = app.stage.renderer;
  info.autoReset = false; // shadows are drawn in a pass of their own
  info.reset();
  app.stage.draw(app.bodies.pose, app.bodies.bounds, app.ground);
  const { calls, triangles } = info.render;
  info.autoReset = true;
  return { calls, triangles };
}

/** Plays, asks for help, and uses the rest of the page. */
async function useAll(app, answer) {
  const { player } = app;
  const before = player.now;
  const began = performance.now();
  player.play(true);
  do await sleep(100); while (player.now === before);
  player.play(false);
  answer.played = player.now - before;
  answer.waited = (performance.now() - began) / 1000;
  dispatchEvent(new KeyboardEvent('keydown', { key: 'F1' }));
  answer.help = !document.getElementById('help').hidden;
  dispatchEvent(new KeyboardEvent('keydown', { key: 'F1' }));
  answer.used = await useIt(app);
  answer.rest = await useTheRest(app);
  Object.assign(answer, drawCost(app));
  answer.requests = performance.getEntriesByType('resource').map((entry) => entry.name);
}

export async function runSelfTest(app) {
  const answer = { load_ms: performance.now() };
  try {
    const { player, source, scene } = app;
    const asked = new URLSearchParams(location.search);
    const parts = asked.get('test');
    const middle = asked.has('at') ? Number(asked.get('at')) : source.time[Math.floor(source.time.length / 2)];
    Object.assign(answer, { name: scene.name, solver: scene.solver, frames: source.time.length, duration: player.duration });
    await at(app, player.start);
    answer.drawn = drawnBodies(app);
    answer.colors = colors(pixels(app));
    const first = pixels(app).data;

    await at(app, middle);
    answer.scrubbed = { wanted: middle, shown: player.now, clock: document.getElementById('clock').textContent };
    answer.contacts = app.contactsNow?.count ?? 0;
    answer.track = source.track[scene.tracks.findIndex((t) => t.name === 'contacts')][player.nearest];
    answer.dots = app.contacts.points ? app.contacts.dots.mesh.count : -1;
    answer.arrows = app.contacts.shafts.mesh.count;
    const force = [0, 0, 0];
    for (let k = 0; k < (app.contactsNow?.count ?? 0); k++) for (let i = 0; i < 3; i++) force[i] += app.contactsNow.force[3 * k + i];
    answer.force = force;
    answer.pose = Object.fromEntries(scene.bodies.slice(0, 50).map((b, i) => [b.name, [...app.bodies.pose[i].elements]]));
    answer.islands = Object.fromEntries(scene.bodies.slice(0, 50).map((b, i) => [b.name, islandsOf(scene, app.contactsNow)[i]]));
    answer.boxes = app.marks.boxed.slice(0, 50).map(({ index, box }) => {
      const { x, y, z } = new Vector3().setFromMatrixScale(box);
      return { body: scene.bodies[index].name, edges: [x, y, z].sort(), moments: principal(scene.bodies[index].inertia).value };
    });
    answer.framed = framesDrawn(app);
    answer.tendons = app.tendons.tendons.map((tendon) => app.tendons.lines(tendon).reduce((sum, [a, b]) => sum + a.distanceTo(b), 0));
    answer.rods = app.tendons.rods?.count ?? 0;
    answer.floor = { below: app.ground.below ? app.ground.height : null, planes: app.ground.group.children.length, low: app.stage.extent.low };
    answer.seen = corners(app);
    answer.sectors = app.bodies.group.children.map(({ userData }) => [userData.batch.shapes[0].shape.type, userData.batch.sectors?.strength ?? 0]);
    const now = pixels(app).data;
    answer.changed = now.reduce((sum, v, k) => sum + (v !== first[k] ? 1 : 0), 0);

    if (parts !== 'picture') await useAll(app, answer);
    answer.done = true;
  } catch (error) {
    answer.error = String(error.stack ?? error);
  }
  const out = document.createElement('pre');
  out.id = 'test';
  out.hidden = true;
  out.textContent = JSON.stringify(answer);
  document.body.append(out);
}
