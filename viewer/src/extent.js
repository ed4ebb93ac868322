// Where is everything, and how large is it?
import { Box3, Matrix4, Vector3 } from 'three';
import { isMoved, matrixOf } from './bodies.js';

function cornersOf(geometry) {
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox;
  return [0, 1, 2, 3, 4, 5, 6, 7].map((k) =>
    new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z));
}

/** Of a run the first block, which is at hand; of one that goes on the newest frame. */
function framesOf(source) {
  const frames = source.time.length;
  const block = Math.min(frames, source.scene.block);
  return source.live ? [frames - 1] : [0, Math.floor(block / 2), block - 1];
}

/** Bounds of what moves (or, if nothing does, of all) in a few frames. */
export function findExtent(source, bodies) {
  const { shapes, bodies: all } = source.scene;
  const moving = new Box3();
  const still = new Box3();
  const corners = bodies.geometries.map(cornersOf);
  const matrix = new Matrix4();
  const point = new Vector3();
  for (const k of framesOf(source)) {
    const frame = source.frame(Math.max(k, 0));
    if (!frame) continue;
    bodies.show(frame, null, 0);
    for (const shape of shapes) {
      if (shape.mesh < 0) continue;
      matrix.multiplyMatrices(bodies.pose[shape.body], matrixOf(shape));
      const box = isMoved(all, shape.body) ? moving : still;
      for (const corner of corners[shape.mesh]) box.expandByPoint(point.copy(corner).applyMatrix4(matrix));
    }
    all.forEach((body, i) => body.dofs && moving.expandByPoint(point.setFromMatrixPosition(bodies.pose[i])));
  }
  const box = moving.isEmpty() ? still : moving;
  if (box.isEmpty()) box.set(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
  const size = box.getSize(new Vector3());
  const reach = Math.max(size.length() / 2, source.scene.typical);
  return { box, center: box.getCenter(new Vector3()), radius: reach, low: Math.min(box.min.z, still.isEmpty() ? Infinity : still.min.z) };
}
