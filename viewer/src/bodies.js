// The shapes of all bodies, drawn as few instanced meshes: one for each surface and opacity.
import { BufferAttribute, BufferGeometry, Group, Matrix4, MeshStandardMaterial, Quaternion, Vector3 } from 'three';
import { Instances } from './instances.js';
import { linear } from './shading.js';
import { Softs, nodesOf } from './softs.js';
import { PALETTE } from './theme.js';

const WEAK = 0.05; // difference in light of what is long: a link, a rod
const STRONG = 0.13; // ... of balls, discs and wheels, whose spin is to be seen
const BINS = 16;

/** Of a surface that is about the same all around an axis: [centre, where its sectors change sign]; null of any other. */
export function roundAbout(geometry) {
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox;
  const centre = min.clone().add(max).multiplyScalar(0.5);
  const { array } = geometry.attributes.position;
  for (const axis of [2, 1, 0]) {
    const [u, v] = [0, 1, 2].filter((k) => k !== axis);
    const wide = [u, v].map((k) => max.getComponent(k) - min.getComponent(k));
    if (Math.abs(wide[0] - wide[1]) > 0.02 * wide[0]) continue;
    const farthest = new Float64Array(BINS);
    for (let k = 0; k < array.length; k += 3) {
      const x = array[k + u] - centre.getComponent(u), y = array[k + v] - centre.getComponent(v);
      const bin = Math.floor(((Math.atan2(y, x) / Math.PI + 1) / 2) * BINS) % BINS;
      farthest[bin] = Math.max(farthest[bin], Math.hypot(x, y));
    }
    if (Math.min(...farthest) > 0.96 * Math.max(...farthest)) return [centre, [0, 1, 2].map((k) => (k === axis ? 0 : 1))];
  }
  return null;
}

/** How the light of a shape's sectors differs, and which they are; null: not at all. */
function sectorsOf({ type, scale: [x, y, z] = [1, 1, 1] }, geometry) {
  const middle = [0, 0, 0];
  if (type === 'sphere' || type === 'ellipsoid') return { strength: STRONG, middle, mask: [1, 1, 1] };
  if (type === 'cylinder') return { strength: z > 2.5 * Math.max(x, y) ? WEAK : STRONG, middle, mask: [1, 1, 0] };
  if (type === 'capsule') return { strength: WEAK, middle, mask: [1, 1, 0] };
  if (type === 'box' || type === 'height_field') return null;
  geometry.userData.round ??= roundAbout(geometry) ?? [];
  const [centre, mask] = geometry.userData.round;
  return mask ? { strength: STRONG, middle: centre.toArray(), mask } : null;
}

/** Sectors a little darker by turns, so that one sees what spins. */
function markRound(material, { strength, middle, mask }) {
  const vec = (v) => `vec3(${v.map((x) => x.toExponential(6)).join(', ')})`;
  Object.assign(material.defines, { MIDDLE: vec(middle), MASK: vec(mask), STRENGTH: strength.toFixed(3) });
  material.onBeforeCompile = (shader) => {
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nvarying vec3 own;')
      .replace('#include <begin_vertex>', '#include <begin_vertex>\nown = position - MIDDLE;');
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', '#include <common>\nvarying vec3 own;')
      .replace('#include <color_fragment>', `#include <color_fragment>
        vec3 side = clamp(own / max(fwidth(own), vec3(1e-12)), -1.0, 1.0);
        side = mix(vec3(1.0), side, MASK);
        diffuseColor.rgb *= 1.0 - STRENGTH + STRENGTH * side.x * side.y * side.z;`);
  };
}

const geometryOf = ({ position, normal, index }) => {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(position, 3));
  geometry.setAttribute('normal', new BufferAttribute(normal, 3));
  geometry.setIndex(new BufferAttribute(index, 1));
  return geometry;
};

export const matrixOf = ({ position: p, quaternion: q, scale: s = [1, 1, 1] }) =>
  new Matrix4().compose(new Vector3(...p), new Quaternion(q[1], q[2], q[3], q[0]), new Vector3(...s));

/** Which tree, and so which colour, a body belongs to. */
function treeOf(bodies, body) {
  while (body > 0 && bodies[body].parent > 0) body = bodies[body].parent;
  return body;
}

function colorOf(scene, shape, island) {
  const color = island ? islandColor(scene, shape, island) : plainColor(scene, shape);
  return color.multiplyScalar(shade(scene.bodies, shape.body));
}

/** Trees that contacts join are of one colour; those that touch nothing are grey. */
function islandColor(scene, shape, island) {
  const root = isMoved(scene.bodies, shape.body) ? island[treeOf(scene.bodies, shape.body)] : 0;
  return linear(root > 0 ? PALETTE[root % PALETTE.length] : 0xb4bac2);
}

/** Of each root of a tree in contact: the first root of those that contacts join it with; of other bodies 0. */
export function islandsOf(scene, contacts) {
  const leader = scene.bodies.map((_, body) => body);
  const touched = new Set();
  const find = (body) => (leader[body] === body ? body : (leader[body] = find(leader[body])));
  for (let k = 0; k < (contacts?.count ?? 0); k++) {
    const roots = [contacts.shapeA[k], contacts.shapeB[k]].map((shape) => scene.shapes[shape].body)
      .filter((body) => isMoved(scene.bodies, body)).map((body) => treeOf(scene.bodies, body));
    const first = Math.min(...roots.map(find));
    for (const root of roots) {
      touched.add(root);
      leader[find(root)] = first;
    }
  }
  return leader.map((_, body) => (touched.has(body) ? find(body) : 0));
}

/** Bodies of one colour that lie on each other are told apart by a little light. */
function shade(bodies, body) {
  return isMoved(bodies, body) ? 0.93 + 0.14 * ((body * 0.618034) % 1) : 1;
}

function plainColor(scene, shape) {
  if (shape.color[0] >= 0) return linear(shape.color.slice(0, 3));
  if (shape.body === 0 || !isMoved(scene.bodies, shape.body)) return linear(0xb4bac2);
  return linear(PALETTE[treeOf(scene.bodies, shape.body) % PALETTE.length]);
}

export function isMoved(bodies, body) {
  while (body > 0 && bodies[body].dofs === 0) body = bodies[body].parent;
  return body > 0;
}

export class Bodies {
  group = new Group();
  pose; // [body] matrices of the moment shown
  hiddenGroups = 0;
  hidden; // [body] whether it is
  bounds = { center: new Vector3(), radius: 0, low: 0 }; // of what moves and is not hidden, at the moment shown
  transparent = false;
  islands = false; // colours by island
  selected = -1;
  #batches = [];
  #nodes; // bodies without an extent of their own
  #a = new Vector3();
  #b = new Vector3();
  #p = new Quaternion();
  #q = new Quaternion();
  #one = new Vector3(1, 1, 1);
  #matrix = new Matrix4();

  constructor(source) {
    this.scene = source.scene;
    this.pose = this.scene.bodies.map(() => new Matrix4());
    this.hidden = this.scene.bodies.map(() => false);
    this.moving = this.scene.bodies.map((_, body) => body).filter((body) => isMoved(this.scene.bodies, body));
    const geometries = source.meshes.map(geometryOf);
    this.geometries = geometries;
    const batches = new Map();
    this.scene.shapes.forEach((shape, number) => {
      if (shape.mesh < 0) return;
      const alpha = shape.color[3];
      const moved = isMoved(this.scene.bodies, shape.body);
      const sectors = sectorsOf(shape, geometries[shape.mesh]);
      const key = `${shape.mesh} ${alpha} ${moved} ${sectors?.strength}`;
      if (!batches.has(key)) batches.set(key, { mesh: shape.mesh, alpha, moved, sectors, shapes: [] });
      batches.get(key).shapes.push({ number, shape, local: matrixOf(shape) });
    });
    for (const batch of batches.values()) this.#add(batch, geometries[batch.mesh]);
    this.softs = new Softs(this.scene);
    this.#nodes = nodesOf(this.scene);
  }

  #add(batch, geometry) {
    const material = new MeshStandardMaterial({
      roughness: 0.62, metalness: 0.02, transparent: batch.alpha < 1, opacity: batch.alpha, depthWrite: batch.alpha >= 1,
    });
    if (batch.sectors) markRound(material, batch.sectors);
    const mesh = new Instances(geometry, material, batch.shapes.length);
    mesh.castShadow = batch.alpha >= 0.5;
    mesh.receiveShadow = batch.alpha >= 0.5;
    batch.shapes.forEach(({ shape }, k) => mesh.setColorAt(k, colorOf(this.scene, shape)));
    mesh.userData.batch = batch;
    this.#batches.push({ ...batch, mesh, material });
    this.group.add(mesh);
  }

  /** Poses `part` of the way from one frame to the next: positions in a straight line, orientations at an even rate; then `bend` has them. */
  show(from, to, part, bend) {
    for (let body = 1; body < this.pose.length; body++) {
      this.#read(from, body, this.#a, this.#p);
      if (part > 0 && to) {
        this.#read(to, body, this.#b, this.#q);
        this.#a.lerp(this.#b, part);
        this.#p.slerp(this.#q, part);
      }
      this.pose[body].compose(this.#a, this.#p, this.#one);
    }
    bend?.(this.pose);
    this.place();
  }

  #read(frame, body, position, quaternion) {
    const { pose, at } = frame;
    const k = at + 7 * body;
    position.set(pose[k], pose[k + 1], pose[k + 2]);
    quaternion.set(pose[k + 4], pose[k + 5], pose[k + 6], pose[k + 3]);
  }

  #measure() {
    const { center } = this.bounds;
    const low = this.#a.set(Infinity, Infinity, Infinity);
    const high = this.#b.set(-Infinity, -Infinity, -Infinity);
    for (const body of this.moving) {
      if (this.hidden[body]) continue;
      const { elements } = this.pose[body];
      const radius = this.#nodes.has(body) ? 0 : this.scene.bodies[body].radius;
      low.set(Math.min(low.x, elements[12] - radius), Math.min(low.y, elements[13] - radius), Math.min(low.z, elements[14] - radius));
      high.set(Math.max(high.x, elements[12] + radius), Math.max(high.y, elements[13] + radius), Math.max(high.z, elements[14] + radius));
    }
    const none = !(low.x <= high.x);
    this.bounds.low = low.z;
    this.bounds.radius = none ? 0 : low.distanceTo(high) / 2;
    if (!none) center.copy(low).add(high).multiplyScalar(0.5);
  }

  place() {
    this.#measure();
    for (const { mesh, shapes } of this.#batches) {
      shapes.forEach(({ shape, local }, k) => {
        this.#matrix.multiplyMatrices(this.pose[shape.body], local);
        if (this.#isHidden(shape)) this.#matrix.makeScale(0, 0, 0);
        mesh.setMatrixAt(k, this.#matrix);
      });
      mesh.update();
    }
    this.softs.place(this.pose, this.hidden);
  }

  /** What one looks through is drawn from far to near. */
  sort(camera) {
    const depth = ({ mesh }) => mesh.middle(this.#a).applyMatrix4(camera.matrixWorldInverse).z;
    const clear = this.#batches.filter(({ material }) => material.transparent).map((batch) => ({ mesh: batch.mesh, z: depth(batch) }));
    clear.sort((one, other) => one.z - other.z).forEach(({ mesh }, rank) => { mesh.renderOrder = rank / clear.length; });
  }

  #isHidden(shape) {
    if (this.hidden[shape.body]) return true;
    const bit = Math.log2(shape.group & -shape.group);
    return bit < 6 && (this.hiddenGroups >> bit & 1) === 1;
  }

  setTransparent(on) {
    this.transparent = on;
    this.softs.setTransparent(on);
    for (const { material, alpha, moved, mesh } of this.#batches) {
      const opacity = on && moved ? Math.min(alpha, 0.35) : alpha;
      material.transparent = opacity < 1;
      material.opacity = opacity;
      material.depthWrite = opacity >= 1;
      material.needsUpdate = true;
      mesh.renderOrder = 0;
      mesh.castShadow = opacity >= 0.3;
    }
  }

  setWireframe(on) {
    this.wireframe = on;
    this.softs.setWireframe(on);
    for (const { material } of this.#batches) material.wireframe = on;
  }

  /** Lights up the shapes of a body. */
  select(body, color) {
    this.selected = body;
    this.light = color;
    this.softs.select(body, color);
    this.#color(null);
  }

  /** Colours by island, of the contacts of the moment. */
  showIslands(contacts) {
    if (this.islands) this.#color(islandsOf(this.scene, contacts));
  }

  setIslands(on) {
    this.islands = on;
    if (!on) this.#color(null);
  }

  #color(island) {
    for (const { mesh, shapes } of this.#batches) {
      shapes.forEach(({ shape }, k) => {
        const own = colorOf(this.scene, shape, island);
        mesh.setColorAt(k, shape.body === this.selected && this.selected > 0 ? own.lerp(linear(this.light), 0.55) : own);
      });
      mesh.update();
    }
  }

  /** The first body that moves under a ray, and where: { body, point }. */
  hit(raycaster) {
    const rigid = this.#batches.flatMap(({ mesh }) => raycaster.intersectObject(mesh, false))
      .map(({ object, instanceId, point, distance }) => ({ body: object.userData.batch.shapes[instanceId].shape.body, point, distance }));
    return [...rigid, ...this.softs.hits(raycaster, this.pose)].sort((one, other) => one.distance - other.distance)
      .find(({ body }) => isMoved(this.scene.bodies, body) && !this.hidden[body]);
  }

  /** The body under a ray; 0: none, or the world. */
  pick(raycaster) { return this.hit(raycaster)?.body ?? 0; }
}
