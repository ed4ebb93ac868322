// Tendons: the shortest way of each through its sites and over its shapes, as src/dyn/motion/tendon_course.c has it, from the poses that are
// shown; drawn as rods with round ends.
import { CylinderBufferGeometry, Group, Matrix4, MeshStandardMaterial, Quaternion, SphereBufferGeometry, Vector3 } from 'three';
import { matrixOf } from './bodies.js';
import { Instances } from './instances.js';
import { linear } from './shading.js';

const COLOR = 0xb5483a;
const CHORD = Math.PI / 12; // rad of an arc
const UP = new Vector3(0, 1, 0);

const acos = (x) => Math.acos(Math.min(1, Math.max(-1, x)));

/** The angle from a at which the shortest way inside touches the circle: a bisection of its slope. */
function touchInside(r, a, b, phi, low, high) {
  const slope = (rho, turn) => (rho * Math.sin(turn)) / Math.sqrt(rho * rho + r * r - 2 * rho * r * Math.cos(turn));
  for (let k = 0; k < 50; k++) {
    const beta = (low + high) / 2;
    if (slope(a, beta) > slope(b, phi - beta)) high = beta; else low = beta;
  }
  return (low + high) / 2;
}

/** The two angles at which a string from a to b meets and leaves a circle about the origin, from e1 towards e2; null: it is straight. */
function arcOf(r, a, b, e1, e2, side) {
  const far = [a.length(), b.length()];
  if (Math.min(...far) < (1 - 1e-9) * r) return null;
  const phi = acos(a.dot(b) / (far[0] * far[1]));
  const [in_, out] = far.map((rho) => acos(r / rho));
  const clear = phi <= in_ + out;
  const at = (angle) => e1.clone().multiplyScalar(Math.cos(angle)).addScaledVector(e2, Math.sin(angle));
  const near = [in_, phi - out], around = [-in_, phi + out - 2 * Math.PI];
  if (!side) return clear ? null : near;
  if (side.length() < r) {
    if (!clear) return null;
    const beta = touchInside(r, far[0], far[1], phi, Math.max(0, phi - out), Math.min(phi, in_));
    return [beta, beta];
  }
  if (clear) {
    const way = b.clone().sub(a);
    const part = Math.min(1, Math.max(0, -way.dot(a) / (way.lengthSq() || 1)));
    return side.dot(a.clone().addScaledVector(way, part)) >= 0 ? null : around;
  }
  const middle = ([from, to]) => at((from + to) / 2).dot(side);
  return middle(near) > middle(around) ? near : around;
}

/** Points of the way from a to b over a shape, in its frame, beside the two. */
function pointsOver({ cylinder, radius: r }, a, b, side) {
  const flat = (v) => (cylinder ? new Vector3(v.x, v.y, 0) : v.clone());
  const [A, B] = [flat(a), flat(b)];
  const e1 = A.clone().normalize();
  const e2 = B.clone().addScaledVector(e1, -B.dot(e1));
  if (e2.length() < 1e-12) e2.set(-e1.y, e1.x, cylinder ? 0 : 0.1).addScaledVector(e1, -e2.dot(e1));
  e2.normalize();
  const aim = side && e1.clone().multiplyScalar(side.dot(e1)).addScaledVector(e2, side.dot(e2));
  const arc = arcOf(r, A, B, e1, e2, aim);
  if (!arc) return [];
  const chords = Math.ceil(Math.abs(arc[1] - arc[0]) / CHORD);
  const points = [];
  for (let k = 0; k <= chords; k++) {
    const angle = arc[0] + (chords && k / chords) * (arc[1] - arc[0]);
    points.push(e1.clone().multiplyScalar(r * Math.cos(angle)).addScaledVector(e2, r * Math.sin(angle)));
  }
  if (cylinder) { // the height rises evenly along the way
    const ways = [points[0].distanceTo(A), r * Math.abs(arc[1] - arc[0]), points[chords].distanceTo(B)];
    const all = ways[0] + ways[1] + ways[2] || 1;
    points.forEach((p, k) => { p.z = a.z + ((b.z - a.z) * (ways[0] + (chords && k / chords) * ways[1])) / all; });
  }
  return points;
}

export class Tendons {
  group = new Group();
  #p = new Vector3();
  #q = new Quaternion();
  #s = new Vector3();
  #m = new Matrix4();

  constructor(scene, pose) {
    this.pose = pose; // [body] of the moment shown
    this.shapes = scene.shapes;
    this.tendons = scene.tendons.filter(({ path, width }) => path.length && width > 0);
    if (!this.tendons.length) return;
    this.rods = this.#mesh(new CylinderBufferGeometry(1, 1, 1, 10));
    this.balls = this.#mesh(new SphereBufferGeometry(1, 10, 8));
  }

  /** Room for every chord of an arc of a whole turn at each point of a path. */
  #mesh(geometry) {
    const most = this.tendons.reduce((sum, { path }) => sum + path.length * (2 + 2 * Math.PI / CHORD), 0);
    const mesh = new Instances(geometry, new MeshStandardMaterial({ roughness: 0.62, metalness: 0.02 }), Math.ceil(most) + 1);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.count = 0;
    this.group.add(mesh);
    return mesh;
  }

  #place({ body, point }) { return new Vector3(...point).applyMatrix4(this.pose[body]); }

  /** The way of a tendon: straight lines, from point to point. */
  lines({ path }) {
    const lines = [];
    let before = null, over = null;
    for (const step of path) {
      if (step.pulley) {
        before = null;
      } else if (step.shape !== undefined) {
        over = step;
      } else {
        const here = this.#place(step);
        if (before) {
          const points = [before, ...(over ? this.#over(over, before, here) : []), here];
          for (let k = 1; k < points.length; k++) lines.push([points[k - 1], points[k]]);
        }
        before = here;
        over = null;
      }
    }
    return lines;
  }

  #over({ shape: number, side }, from, to) {
    const shape = this.shapes[number];
    const place = new Matrix4().multiplyMatrices(this.pose[shape.body], matrixOf({ ...shape, scale: [1, 1, 1] }));
    const inverse = new Matrix4().getInverse(place);
    const [a, b] = [from, to].map((v) => v.clone().applyMatrix4(inverse));
    const obstacle = { cylinder: shape.type === 'cylinder', radius: shape.scale[0] };
    return pointsOver(obstacle, a, b, side && this.#place(side).applyMatrix4(inverse)).map((v) => v.applyMatrix4(place));
  }

  show() {
    if (!this.tendons.length) return;
    this.rods.count = this.balls.count = 0;
    for (const tendon of this.tendons) {
      const color = tendon.color[0] >= 0 ? linear(tendon.color.slice(0, 3)) : linear(COLOR);
      for (const [from, to] of this.lines(tendon)) this.#rod(from, to, tendon.width / 2, color);
    }
    this.rods.update();
    this.balls.update();
  }

  #rod(from, to, r, color) {
    const way = to.clone().sub(from);
    const length = way.length();
    if (length > 0) {
      this.#q.setFromUnitVectors(UP, way.multiplyScalar(1 / length));
      this.#p.addVectors(from, to).multiplyScalar(0.5);
      this.#put(this.rods, this.#s.set(r, length, r), color);
    }
    this.#p.copy(to);
    this.#put(this.balls, this.#s.set(r, r, r), color);
  }

  #put(mesh, scale, color) {
    mesh.setMatrixAt(mesh.count, this.#m.compose(this.#p, this.#q, scale));
    mesh.setColorAt(mesh.count++, color);
  }
}
