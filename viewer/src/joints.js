// Sliders of the joints.  They move a run that goes on by asking for it; of a recorded run they bend the picture of the moment:
//
//     X_b = D X_b  for every body b that hangs on the joint,  D: turn about, or shift along, the joint's axis in the world
import { Matrix4, Vector3 } from 'three';
import { matrixOf } from './bodies.js';
import { escape } from './plots.js';
import { quantity } from './units.js';

const NEWTON_STEPS = 20;
const WIDE = 5; // typical bodies: reach of a slider for a distance without ends
const LEAST = 1e-6; // of a slider: less is rounding
const TURNS = { hinge: [0], screw: [0], cylindrical: [0], universal: [0, 1], planar: [2] };

const name = (body, coordinate) => `${body} ${coordinate}`;

/** A coupling: first = offset + ratio x + higher powers of the second, x. */
const firstOf = ({ offset, ratio, higher: [a, b, c] }, x) => offset + x * (ratio + x * (a + x * (b + x * c)));

/** Newton's method from where the second is. */
function secondOf(law, first, x) {
  const { ratio, higher: [a, b, c] } = law;
  for (let k = 0; k < NEWTON_STEPS; k++) {
    const slope = ratio + x * (2 * a + x * (3 * b + x * 4 * c));
    if (!slope) break;
    x += (first - firstOf(law, x)) / slope;
  }
  return x;
}

/** Joint coordinates that have a slider: [{ track, label, unit, body, coordinate, low, high, open }]. */
export function slidersOf({ scene, track: values }) {
  return scene.tracks.map(({ name: label, ...of }, track) => ({ ...of, label, track }))
    .filter(({ body, track }) => body && values[track].some(Number.isFinite))
    .map((slider) => {
      const [low, high] = scene.bodies[slider.body].range.slice(2 * slider.coordinate, 2 * slider.coordinate + 2);
      const reach = slider.unit === 'rad' ? Math.PI : WIDE * scene.typical;
      return { ...slider, low: low ?? Math.min(-reach, high ?? 0), high: high ?? Math.max(reach, low ?? 0), open: low === null && high === null };
    });
}

export class Joints {
  #moved = new Map(); // track to how far it was moved from the moment's value
  #at = NaN; // that moment
  #byPlace;

  constructor(element, app) {
    this.app = app;
    this.sliders = slidersOf(app.source);
    this.#byPlace = new Map(this.sliders.map((slider) => [name(slider.body, slider.coordinate), slider]));
    element.innerHTML = '<h3>Joints</h3>';
    if (!this.sliders.length) element.append('No joint has a coordinate to move.');
    for (const slider of this.sliders) element.append(this.#row(slider));
  }

  #row(slider) {
    const row = document.createElement('label');
    row.innerHTML = `<span>${escape(slider.label)}</span><output></output><input type="range" min="${slider.low}" max="${slider.high}" step="any">`;
    [slider.text, slider.input] = row.querySelectorAll('output, input');
    slider.input.addEventListener('input', () => { this.move(slider, Number(slider.input.value)); });
    slider.input.addEventListener('change', () => slider.input.blur()); // the keys are the page's again
    return row;
  }

  /** The value at the moment shown. */
  value({ track }) {
    const { source, player } = this.app;
    return source.track[track][player.nearest] + ((this.bent && this.#moved.get(track)) || 0);
  }

  /** A joint goes to a value, and with it those that are coupled to it. */
  move(slider, value) {
    const { player, source } = this.app;
    if (!source.live) player.playing = false;
    player.seek(source.live ? player.end : source.time[player.nearest]); // a live run pauses
    if (this.#at !== player.now) this.#moved.clear();
    this.#at = player.now;
    for (const [of, to] of this.#coupled(slider, value)) {
      if (source.live) source.send({ do: 'joint', body: of.body, coordinate: of.coordinate, value: to });
      else this.#moved.set(of.track, to - source.track[of.track][player.nearest]);
    }
    this.app.refresh();
  }

  /** All that moves with a joint by a coupling: [slider, value]. */
  #coupled(slider, value) {
    const to = new Map([[slider, value]]);
    for (const [of, now] of to) { // grows on the way
      for (const { first, second, ...law } of this.app.scene.couplings) {
        const [one, other] = [first, second].map((place) => this.#byPlace.get(name(...place)));
        if (of === one && other && !to.has(other)) to.set(other, secondOf(law, now, this.value(other)));
        if (of === other && one && !to.has(one)) to.set(one, firstOf(law, now));
      }
    }
    return to;
  }

  /** Does the picture show what was not recorded? */
  get bent() { return this.#moved.size > 0 && this.#at === this.app.player.now; }

  /** Moves the poses of the moment as the sliders say. */
  bend(pose) {
    if (!this.bent) return;
    for (const { track, body, coordinate } of this.sliders) {
      const by = this.#moved.get(track);
      if (!by) continue;
      const motion = motionOf(this.app.scene.bodies[body], coordinate, by, pose[this.app.scene.bodies[body].parent], pose[body]);
      for (const one of this.app.tree.branch(body)) pose[one].premultiply(motion);
    }
  }

  draw() {
    for (const slider of this.sliders) {
      const value = this.value(slider);
      const turns = slider.unit === 'rad' && slider.open ? Math.round(value / (2 * Math.PI)) : 0;
      if (document.activeElement !== slider.input) slider.input.value = value - 2 * Math.PI * turns;
      slider.text.textContent = quantity(Math.abs(value) < LEAST * (slider.high - slider.low) ? 0 : value, slider.unit, 3);
    }
  }
}

/** The axis of a joint's coordinate, in the joint's frame; the second of a universal joint in the body's. */
function axisOf({ joint, axis, axis2 }, coordinate) {
  const [first, second] = [axis, axis2].map((a) => new Vector3(...a));
  if (joint === 'cartesian') return new Vector3().setComponent(coordinate, 1);
  if (joint === 'planar' && coordinate < 2) return coordinate ? first.cross(second) : second;
  return joint === 'universal' && coordinate === 1 ? second : first;
}

/** A displacement in the world: of a joint's coordinate, by that much, the parent and the body being where they are. */
function motionOf({ joint, axis, axis2, pitch, ...frame }, coordinate, by, parent, body) {
  const place = new Matrix4().multiplyMatrices(parent, matrixOf(frame));
  const turns = TURNS[joint]?.includes(coordinate);
  const carried = joint === 'universal' && coordinate === 1; // the second axis goes with the first
  const direction = axisOf({ joint, axis, axis2 }, coordinate);
  direction.transformDirection(carried ? body : place);
  if (!turns) return new Matrix4().makeTranslation(...direction.multiplyScalar(by).toArray());
  const origin = new Vector3().setFromMatrixPosition(body);
  const advance = joint === 'screw' ? direction.clone().multiplyScalar(pitch * by / (2 * Math.PI)) : new Vector3();
  return new Matrix4().makeTranslation(...origin.clone().add(advance).toArray())
    .multiply(new Matrix4().makeRotationAxis(direction, by))
    .multiply(new Matrix4().makeTranslation(...origin.negate().toArray()));
}
