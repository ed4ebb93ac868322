// What a page's data blocks say.  The other half of src/view/pack_*.c, bytes.c and tracks.c: both change together.

/** The bytes of a block: base64, then RFC 1950. */
export async function unpack(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads numbers of seven bits a byte, and columns of differences. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  number() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  /** `count` numbers into `out[first + k * stride]`. */
  column(count, out = new Float64Array(count), first = 0, stride = 1) {
    const order = this.bytes[this.at++];
    for (let k = 0, one = 0, two = 0, at = first; k < count; k++, at += stride) {
      const folded = this.number();
      const difference = folded % 2 ? -(folded + 1) / 2 : folded / 2;
      const value = order === 0 ? difference : order === 1 ? difference + one : difference + 2 * one - two;
      out[at] = value;
      two = one;
      one = value;
    }
    return out;
  }

  floats(count) {
    const values = new Float32Array(this.bytes.slice(this.at, this.at + 4 * count).buffer);
    this.at += 4 * count;
    return values;
  }

  doubles(count) {
    const values = new Float64Array(this.bytes.slice(this.at, this.at + 8 * count).buffer);
    this.at += 8 * count;
    return values;
  }
}

const NORMAL_STEPS = 127;
const FORCE_STEPS = 1023;

/** The direction that two numbers in -steps .. steps stand for, on an octahedron unfolded. */
export function direction(u, v, steps, out, at = 0) {
  let x = u / steps;
  let y = v / steps;
  const z = 1 - Math.abs(x) - Math.abs(y);
  if (z < 0) {
    const outer = (1 - Math.abs(y)) * (x < 0 ? -1 : 1);
    y = (1 - Math.abs(x)) * (y < 0 ? -1 : 1);
    x = outer;
  }
  const length = Math.hypot(x, y, z) || 1;
  out[at] = x / length;
  out[at + 1] = y / length;
  out[at + 2] = z / length;
}

/** { position, normal, index }, each an array as WebGL takes it. */
export function readMesh(bytes) {
  const reader = new Reader(bytes);
  const vertices = reader.number();
  const triangles = reader.number();
  const low = reader.floats(3);
  const high = reader.floats(3);
  const position = new Float32Array(3 * vertices);
  for (let axis = 0; axis < 3; axis++) {
    const step = (high[axis] - low[axis]) / 65535;
    const column = reader.column(vertices);
    for (let k = 0; k < vertices; k++) position[3 * k + axis] = low[axis] + step * column[k];
  }
  const u = reader.column(vertices);
  const v = reader.column(vertices);
  const normal = new Float32Array(3 * vertices);
  for (let k = 0; k < vertices; k++) direction(u[k], v[k], NORMAL_STEPS, normal, 3 * k);
  const index = reader.column(3 * triangles, new Uint32Array(3 * triangles));
  return { position, normal, index };
}

const QUATERNION_STEP = Math.SQRT2 / 65536;

/** Poses of a block: [frame][body] position xyz, quaternion wxyz; body 0 is the world, and stands still. */
function readPoses(reader, count, bodies) {
  const width = 7 * bodies.length;
  const pose = new Float64Array(count * width);
  const columns = Array.from({ length: 7 }, () => new Float64Array(count));
  for (let frame = 0; frame < count; frame++) pose[frame * width + 3] = 1;
  for (let body = 1; body < bodies.length; body++) {
    const step = bodies[body].radius / 4096;
    for (const column of columns) reader.column(count, column);
    for (let frame = 0; frame < count; frame++) {
      const at = frame * width + 7 * body;
      for (let k = 0; k < 3; k++) pose[at + k] = columns[k][frame] * step;
      const largest = columns[3][frame];
      let rest = 1;
      for (let k = 0, from = 4; k < 4; k++) {
        if (k === largest) continue;
        const value = columns[from++][frame] * QUATERNION_STEP;
        pose[at + 3 + k] = value;
        rest -= value * value;
      }
      pose[at + 3 + largest] = Math.sqrt(Math.max(rest, 0));
    }
  }
  return pose;
}

/** A vector of a body's frame in the world's. */
export function rotate(pose, at, x, y, z, out, to) {
  const w = pose[at + 3], i = pose[at + 4], j = pose[at + 5], k = pose[at + 6];
  const a = 2 * (j * z - k * y), b = 2 * (k * x - i * z), c = 2 * (i * y - j * x);
  out[to] = x + w * a + j * c - k * b;
  out[to + 1] = y + w * b + k * a - i * c;
  out[to + 2] = z + w * c + i * b - j * a;
}

const VALUES = 11;

function isCarried(bodies, body) {
  while (body > 0 && bodies[body].dofs === 0) body = bodies[body].parent;
  return body > 0;
}

/** Values of one contact, in the order of pack_contacts.c, to what is drawn. */
function placeContact(scene, pose, frameAt, a, b, value, at, out, k) {
  const { bodies, shapes } = scene;
  const carrier = isCarried(bodies, shapes[b].body) ? shapes[b].body : shapes[a].body;
  const radius = bodies[carrier].radius;
  const step = radius / 512;
  const from = frameAt + 7 * carrier;
  rotate(pose, from, value[at] * step, value[at + 1] * step, value[at + 2] * step, out.position, 3 * k);
  for (let i = 0; i < 3; i++) out.position[3 * k + i] += pose[from + i];
  direction(value[at + 3], value[at + 4], NORMAL_STEPS, out.normal, 3 * k);
  out.gap[k] = Math.sign(value[at + 5]) * radius * (value[at + 5] / 1e3) ** 2;
  direction(value[at + 6], value[at + 7], FORCE_STEPS, out.force, 3 * k);
  const newtons = value[at + 8] > 0 ? scene.force * 2 ** (value[at + 8] / 64 - 10) : 0;
  for (let i = 0; i < 3; i++) out.force[3 * k + i] *= newtons;
  out.state[k] = value[at + 9];
  out.area[k] = value[at + 10] > 0 ? radius ** 2 * 2 ** (value[at + 10] / 8 - 40) : 0;
  out.shapeA[k] = a;
  out.shapeB[k] = b;
}

function roomForContacts(count) {
  return {
    count,
    position: new Float32Array(3 * count),
    normal: new Float32Array(3 * count),
    force: new Float32Array(3 * count), // N, on shape A
    gap: new Float32Array(count), // m
    state: new Uint8Array(count), // 0 open, 1 sticks, 2 slips
    area: new Float32Array(count), // m^2, of a polygon between pressure fields; 0: a point
    shapeA: new Int32Array(count),
    shapeB: new Int32Array(count),
  };
}

function readContacts(reader, scene, pose, width) {
  const columns = [];
  for (let c = 0; c < 4 + VALUES; c++) {
    const count = reader.number();
    columns.push(reader.column(count));
  }
  const [counts, links, freshA, freshB, ...values] = columns;
  const frames = [];
  let before = { a: [], b: [], value: new Float64Array(0) };
  for (let frame = 0, contact = 0, fresh = 0; frame < counts.length; frame++) {
    const count = counts[frame];
    const now = { a: new Int32Array(count), b: new Int32Array(count), value: new Float64Array(VALUES * count) };
    const out = roomForContacts(count);
    for (let k = 0, next = 0; k < count; k++, contact++) {
      const link = links[contact];
      const old = link === 1 ? -1 : next + (link > 1 ? link - 1 : 0);
      now.a[k] = old < 0 ? freshA[fresh] : before.a[old];
      now.b[k] = old < 0 ? freshB[fresh++] : before.b[old];
      if (old >= 0) next = old + 1;
      for (let v = 0; v < VALUES; v++) {
        now.value[VALUES * k + v] = values[v][contact] + (old < 0 ? 0 : before.value[VALUES * old + v]);
      }
      placeContact(scene, pose, frame * width, now.a[k], now.b[k], now.value, VALUES * k, out, k);
    }
    frames.push(out);
    before = now;
  }
  return frames;
}

/** { count, pose, width, contacts }: frames of one block. */
export function readFrames(bytes, scene) {
  const reader = new Reader(bytes);
  const count = reader.number();
  const width = 7 * scene.bodies.length;
  const pose = readPoses(reader, count, scene.bodies);
  return { count, pose, width, contacts: readContacts(reader, scene, pose, width) };
}

/** { time, track: [Float32Array] } */
export function readTracks(bytes, scene) {
  const reader = new Reader(bytes);
  return { time: reader.doubles(scene.frames), track: scene.tracks.map(() => reader.floats(scene.frames)) };
}
