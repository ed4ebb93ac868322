// Contact points, coloured by what they do or by how deep they are, and the forces that they carry.  A polygon between pressure
// fields is a disc of its area, the paler the less pressure it bears.
import {
  Color, ConeBufferGeometry, CylinderBufferGeometry, Group, Matrix4, MeshBasicMaterial, Quaternion, SphereBufferGeometry, Vector3,
} from 'three';
import { isMoved } from './bodies.js';
import { Instances } from './instances.js';
import { linear } from './shading.js';
import { depthColor } from './theme.js';

const LONGEST = 6; // of an arrow, in typical bodies

const UP = new Vector3(0, 1, 0);
const WHITE = new Color(1, 1, 1);
const PALEST = 0.3; // how far from white a patch without pressure is

/** An instanced mesh that grows, with a colour each. */
class Crowd {
  #room = 0;
  constructor(group, geometry, order) {
    this.group = group;
    this.geometry = geometry;
    this.material = new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.92, toneMapped: false });
    this.order = order;
  }

  begin(count) {
    if (count > this.#room || !this.mesh) {
      this.#room = Math.max(64, 2 * count);
      if (this.mesh) this.group.remove(this.mesh);
      this.mesh = new Instances(this.geometry, this.material, this.#room);
      this.mesh.renderOrder = this.order;
      this.group.add(this.mesh);
    }
    this.mesh.count = 0;
  }

  put(matrix, color) {
    this.mesh.setMatrixAt(this.mesh.count, matrix);
    this.mesh.setColorAt(this.mesh.count++, color);
  }

  end() { this.mesh.update(); }
}

export class Contacts {
  group = new Group();
  points = true;
  forces = true;
  byDepth = false;
  #stuff = { p: new Vector3(), d: new Vector3(), s: new Vector3(), q: new Quaternion(), m: new Matrix4(), c: new Color() };

  constructor(scene) {
    this.scene = scene;
    this.size = scene.typical; // of the marks; less where there are many a body
    this.scale = scene.typical / scene.force; // metres of arrow a newton
    this.hidden = []; // [body] whose contacts are not shown
    this.deepest = 0.01 * scene.typical;
    this.patches = new Crowd(this.group, new CylinderBufferGeometry(1, 1, 1, 16), 9);
    this.dots = new Crowd(this.group, new SphereBufferGeometry(1, 12, 8), 12);
    this.shafts = new Crowd(this.group, new CylinderBufferGeometry(1, 1, 1, 8).translate(0, 0.5, 0), 10);
    this.heads = new Crowd(this.group, new ConeBufferGeometry(1, 1, 12).translate(0, -0.5, 0), 11);
  }

  paint(theme) {
    this.colors = [linear(theme.open), linear(theme.stick), linear(theme.slip)];
  }

  show(contacts) {
    const count = contacts?.count ?? 0;
    this.dots.begin(count);
    this.patches.begin(count);
    this.most = this.#mostPressure(contacts);
    for (const crowd of [this.shafts, this.heads]) crowd.begin(2 * count);
    for (let k = 0; k < count; k++) {
      if (this.#isHidden(contacts, k)) continue;
      if (this.points && contacts.area[k] > 0) this.#patch(contacts, k);
      else if (this.points) this.#dot(contacts, k);
      if (this.forces) this.#arrow(contacts, k);
    }
    for (const crowd of [this.patches, this.dots, this.shafts, this.heads]) crowd.end();
  }

  /** A floor out of sight leaves what lies on it its contacts. */
  #isHidden({ shapeA, shapeB }, k) {
    const { shapes, bodies } = this.scene;
    return [shapeA[k], shapeB[k]].some((shape) => this.hidden[shapes[shape].body] && isMoved(bodies, shapes[shape].body));
  }

  color(contacts, k) {
    return this.byDepth ? depthColor(-contacts.gap[k] / this.deepest, this.#stuff.c) : this.colors[contacts.state[k]];
  }

  #dot(contacts, k) {
    const { p, s, q, m } = this.#stuff;
    const r = 0.055 * this.size;
    p.fromArray(contacts.position, 3 * k);
    this.dots.put(m.compose(p, q.set(0, 0, 0, 1), s.set(r, r, r)), this.color(contacts, k));
  }

  /** Pa */
  #pressure({ force, normal, area }, k) {
    return Math.abs([0, 1, 2].reduce((sum, i) => sum + force[3 * k + i] * normal[3 * k + i], 0)) / area[k];
  }

  #mostPressure(contacts) {
    let most = 0;
    for (let k = 0; k < (contacts?.count ?? 0); k++) {
      if (contacts.area[k] > 0) most = Math.max(most, this.#pressure(contacts, k));
    }
    return most;
  }

  #patch(contacts, k) {
    const { p, d, s, q, m, c } = this.#stuff;
    const r = Math.sqrt(contacts.area[k] / Math.PI);
    const share = this.most > 0 ? Math.sqrt(this.#pressure(contacts, k) / this.most) : 0;
    const color = this.byDepth ? depthColor(share, c) : c.copy(WHITE).lerp(this.color(contacts, k), PALEST + (1 - PALEST) * share);
    q.setFromUnitVectors(UP, d.fromArray(contacts.normal, 3 * k));
    p.fromArray(contacts.position, 3 * k);
    this.patches.put(m.compose(p, q, s.set(r, 0.05 * r, r)), color);
  }

  /** From the point along the force on the shape that is carried by it; two heads where it is too long to be drawn whole. */
  #arrow(contacts, k) {
    const { p, d, s, q, m } = this.#stuff;
    d.fromArray(contacts.force, 3 * k);
    const force = d.length();
    const length = Math.min(force * this.scale, LONGEST * this.size);
    if (!(length > 0.03 * this.size)) return;
    d.multiplyScalar(1 / force);
    if (this.#pushesB(contacts, k)) d.negate();
    const width = 0.022 * this.size;
    const tip = Math.min(0.2 * this.size, 0.45 * length);
    const color = this.color(contacts, k);
    q.setFromUnitVectors(UP, d);
    p.fromArray(contacts.position, 3 * k);
    this.shafts.put(m.compose(p, q, s.set(width, length - tip, width)), color);
    p.addScaledVector(d, length);
    this.heads.put(m.compose(p, q, s.set(0.32 * tip, tip, 0.32 * tip)), color);
    if (force * this.scale <= LONGEST * this.size) return;
    p.addScaledVector(d, -0.8 * tip);
    this.heads.put(m.compose(p, q, s.set(0.32 * tip, tip, 0.32 * tip)), color);
  }

  /** The force is given on A; where A stands still, what it does to B is of interest. */
  #pushesB(contacts, k) {
    const { shapes, bodies } = this.scene;
    const carried = (body) => { while (body > 0 && bodies[body].dofs === 0) body = bodies[body].parent; return body > 0; };
    return !carried(shapes[contacts.shapeA[k]].body);
  }
}
