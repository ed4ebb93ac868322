// Where a body goes, frame by frame: for plots of what the page has no track of.

/** { position: [x, y, z], speed }, each as long as `source.time`.  Speeds are those from frame to frame, in the middle. */
export async function motionOf(source, body) {
  const count = source.time.length;
  const position = [0, 1, 2].map(() => new Float32Array(count));
  const speed = new Float32Array(count);
  for (let k = 0; k < count; k++) {
    let frame = source.frame(k);
    if (!frame) {
      await source.ready(k);
      frame = source.frame(k);
    }
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
