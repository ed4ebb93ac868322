// Where is everything, and how large is it?
import { Box3, Matrix4, Vector3 } from 'three';
import { isMoved, matrixOf } from './bodies.js';

const MAX_STILL_SIZE_RATIO = 2.5; // still bodies are in view too, up to this size relative to moving ones

function cornersOf(geometry) {
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox;
  return [0, 1, 2, 3, 4, 5, 6, 7].map((k) =>
    new Vector3(k & 1 ? max.x : min.x, k & 2 ? max.y : min.y, k & 4 ? max.z : min.z));
}

/** Boxes of what moves and of what stands still, in the newest frame of a run that goes on. */
function findBoxes(source, bodies) {
  const { shapes, bodies: all } = source.scene;
  const moving = new Box3();
  const still = new Box3();
  const frame = source.frame(source.time.length - 1);
  if (!frame) return { moving, still };
  bodies.show(frame, null, 0);
  const corners = bodies.geometries.map(cornersOf);
  const matrix = new Matrix4();
  const point = new Vector3();
  for (const shape of shapes) {
    if (shape.mesh < 0) continue;
    matrix.multiplyMatrices(bodies.pose[shape.body], matrixOf(shape));
    const box = isMoved(all, shape.body) ? moving : still;
    for (const corner of corners[shape.mesh]) box.expandByPoint(point.copy(corner).applyMatrix4(matrix));
  }
  all.forEach((body, i) => body.dofs && moving.expandByPoint(point.setFromMatrixPosition(bodies.pose[i])));
  return { moving, still };
}

const boxOf = (numbers) => new Box3().setFromArray(numbers ?? []);

/** All that moves, with what stands still if that is not much larger: `seen`.  Of a recorded run in all its frames. */
export function findExtent(source, bodies) {
  const { scene } = source;
  const { moving, still } = source.live ? findBoxes(source, bodies) : { moving: boxOf(scene.moving), still: boxOf(scene.still) };
  const both = moving.clone().union(still);
  if (both.isEmpty()) both.set(new Vector3(-1, -1, -1), new Vector3(1, 1, 1));
  const box = moving.isEmpty() ? both : moving;
  const reach = (of) => Math.max(of.getSize(new Vector3()).length() / 2, scene.typical);
  const seen = reach(both) < MAX_STILL_SIZE_RATIO * reach(box) ? both : box;
  return { seen, center: box.getCenter(new Vector3()), radius: reach(box), low: both.min.z };
}
