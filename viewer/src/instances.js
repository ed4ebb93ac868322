// Copies of one surface, each with a place and a colour of its own, drawn in one call.
import { BufferGeometry, DynamicDrawUsage, InstancedBufferAttribute, InstancedMesh, Matrix4, Mesh, VertexColors } from 'three';

const placed = new Matrix4();

export class Instances extends InstancedMesh {
  #probe = new Mesh(); // one copy, for rays

  /** `room`: the most copies; `count` of them are drawn. */
  constructor(geometry, material, room) {
    const own = new BufferGeometry(); // shares the surface, but not the colours
    Object.assign(own.attributes, geometry.attributes, { color: new InstancedBufferAttribute(new Float32Array(3 * room).fill(1), 3) });
    own.setIndex(geometry.index);
    material.vertexColors = VertexColors;
    super(own, material, room);
    this.instanceMatrix.setUsage(DynamicDrawUsage);
    this.frustumCulled = false;
    this.#probe.geometry = own;
    this.#probe.material = material;
  }

  setColorAt(k, color) { color.toArray(this.geometry.attributes.color.array, 3 * k); }
  getColorAt(k, color) { color.fromArray(this.geometry.attributes.color.array, 3 * k); }

  /** What was set is drawn from now on. */
  update() {
    this.instanceMatrix.needsUpdate = true;
    this.geometry.attributes.color.needsUpdate = true;
  }

  /** The middle of the box around the copies' places. */
  middle(out) {
    const { array } = this.instanceMatrix;
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    for (let at = 12; at < 16 * this.count; at += 16) {
      for (let axis = 0; axis < 3; axis++) {
        low[axis] = Math.min(low[axis], array[at + axis]);
        high[axis] = Math.max(high[axis], array[at + axis]);
      }
    }
    return out.fromArray(low.map((x, axis) => (x + high[axis]) / 2));
  }

  /** Copies of no size are not there. */
  raycast(raycaster, hits) {
    for (let instanceId = 0; instanceId < this.count; instanceId++) {
      this.getMatrixAt(instanceId, placed);
      if (placed.determinant() === 0) continue;
      this.#probe.matrixWorld.multiplyMatrices(this.matrixWorld, placed);
      const own = [];
      this.#probe.raycast(raycaster, own);
      for (const hit of own) hits.push({ ...hit, instanceId, object: this });
    }
  }
}
