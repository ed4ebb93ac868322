// Where a body goes, and what presses on it, frame by frame: for plots of what the page has no track of.

async function frameOf(source, k) {
  if (!source.frame(k)) await source.ready(k);
  return source.frame(k);
}

/** { position: [x, y, z], speed }, each as long as `source.time`.  Speeds are those from frame to frame, in the middle. */
export async function motionOf(source, body) {
  const count = source.time.length;
  const position = [0, 1, 2].map(() => new Float32Array(count));
  const speed = new Float32Array(count);
  for (let k = 0; k < count; k++) {
    const frame = await frameOf(source, k);
    for (let axis = 0; axis < 3; axis++) position[axis][k] = frame.pose[frame.at + 7 * body + axis];
  }
  for (let k = 0; k < count; k++) {
    const a = Math.max(k - 1, 0);
    const b = Math.min(k + 1, count - 1);
    const span = source.time[b] - source.time[a];
    speed[k] = span > 0 ? Math.hypot(...position.map((p) => p[b] - p[a])) / span : NaN;
  }
  return { position, speed };
}

/** Contacts of a body with others: how many, and the size of the sum of their forces on it, N. */
export function touching(scene, contacts, body) {
  let count = 0;
  const sum = [0, 0, 0];
  for (let k = 0; k < contacts.count; k++) {
    const a = scene.shapes[contacts.shapeA[k]].body === body;
    const b = scene.shapes[contacts.shapeB[k]].body === body;
    if (a === b) continue;
    count++;
    for (let i = 0; i < 3; i++) sum[i] += (a ? 1 : -1) * contacts.force[3 * k + i];
  }
  return { count, force: Math.hypot(...sum) };
}

/** The number of a new track: the contact force on a body. */
export async function forceOf(source, body) {
  if (source.live) return source.watchForce(body);
  const force = new Float32Array(source.time.length);
  for (let k = 0; k < force.length; k++) force[k] = touching(source.scene, (await frameOf(source, k)).contacts, body).force;
  return source.track.push(force) - 1;
}
