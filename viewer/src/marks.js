// Frames of joints and of bodies, centres of mass, and the boxes that would have the same inertia.
import {
  BoxBufferGeometry, CylinderBufferGeometry, Group, Matrix4, MeshBasicMaterial, Quaternion, SphereBufferGeometry, Vector3,
} from 'three';
import { isMoved, matrixOf } from './bodies.js';
import { inertiaBox } from './inertia.js';
import { Instances } from './instances.js';
import { linear } from './shading.js';

const AXES = [[1, 0, 0, 0xd64545], [0, 1, 0, 0x3a9d4f], [0, 0, 1, 0x3b74d9]];

function crowd(geometry, count, order) {
  const material = new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.95, toneMapped: false });
  const mesh = new Instances(geometry, material, Math.max(count, 1));
  mesh.renderOrder = order;
  mesh.count = count;
  return mesh;
}

export class Marks {
  group = new Group();

  constructor(scene, bodies) {
    this.bodies = bodies;
    this.jointed = scene.bodies.map((body, index) => ({ body, index }))
      .filter(({ body, index }) => index > 0 && body.joint !== 'free' && body.joint !== 'fixed');
    this.massive = scene.bodies.map((body, index) => ({ body, index })).filter(({ body, index }) => index > 0 && body.mass > 0);
    this.moving = scene.bodies.map((body, index) => index).filter((index) => isMoved(scene.bodies, index));
    this.size = 0.6 * scene.typical;
    this.scale = new Matrix4().makeScale(this.size, this.size, this.size);
    this.nothing = new Matrix4().makeScale(0, 0, 0);
    const axis = new BoxBufferGeometry(1, 0.05, 0.05).translate(0.5, 0, 0);
    this.axes = crowd(axis, 3 * this.jointed.length, 8);
    this.frames = crowd(axis, 3 * this.moving.length, 8);
    this.hinges = crowd(new CylinderBufferGeometry(0.07, 0.07, 1.3, 12), this.jointed.length, 9);
    this.centres = crowd(new SphereBufferGeometry(0.11, 16, 12), this.massive.length, 9);
    this.turns = AXES.map(([x, y, z]) => new Quaternion().setFromUnitVectors(new Vector3(1, 0, 0), new Vector3(x, y, z)));
    this.axes.visible = this.frames.visible = this.hinges.visible = this.centres.visible = false;
    for (const axes of [this.axes, this.frames]) {
      for (let k = 0; k < axes.count; k++) axes.setColorAt(k, linear(AXES[k % 3][3]));
    }
    this.jointed.forEach((_, k) => {
      this.hinges.setColorAt(k, linear(0xe0a21b));
    });
    this.massive.forEach((_, k) => this.centres.setColorAt(k, linear(0xc9379d)));
    this.boxed = this.massive.filter(({ body }) => body.inertia).map(({ body, index }) => ({ index, box: inertiaBox(body) }));
    this.boxes = crowd(new BoxBufferGeometry(1, 1, 1), this.boxed.length, 7);
    Object.assign(this.boxes.material, { color: linear(0xc9379d), opacity: 0.28 });
    this.boxes.visible = false;
    this.group.add(this.axes, this.frames, this.hinges, this.centres, this.boxes);
  }

  setFrame(axes, k, at, scale) {
    const m = new Matrix4();
    this.turns.forEach((turn, i) => axes.setMatrixAt(3 * k + i, m.makeRotationFromQuaternion(turn).premultiply(at).multiply(scale)));
  }

  /** Of hidden bodies none. */
  #scaleOf(body) { return this.bodies.hidden[body] ? this.nothing : this.scale; }

  show() {
    const m = new Matrix4();
    const up = new Vector3(0, 1, 0);
    if (this.axes.visible) {
      this.jointed.forEach(({ body, index }, k) => {
        const scale = this.#scaleOf(index);
        const joint = matrixOf(body).premultiply(this.bodies.pose[body.parent]);
        this.setFrame(this.axes, k, joint, scale);
        const along = new Quaternion().setFromUnitVectors(up, new Vector3(...body.axis));
        this.hinges.setMatrixAt(k, m.makeRotationFromQuaternion(along).premultiply(joint).multiply(scale));
      });
      this.axes.update();
      this.hinges.update();
    }
    if (this.frames.visible) {
      this.moving.forEach((index, k) => this.setFrame(this.frames, k, this.bodies.pose[index], this.#scaleOf(index)));
      this.frames.update();
    }
    if (this.centres.visible) {
      this.massive.forEach(({ body, index }, k) => {
        this.centres.setMatrixAt(k, m.makeTranslation(...body.com).premultiply(this.bodies.pose[index]).multiply(this.#scaleOf(index)));
      });
      this.centres.update();
    }
    if (this.boxes.visible) {
      this.boxed.forEach(({ index, box }, k) => this.boxes.setMatrixAt(k, this.bodies.hidden[index] ? this.nothing : m.multiplyMatrices(this.bodies.pose[index], box)));
      this.boxes.update();
    }
  }
}
