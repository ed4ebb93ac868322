// Camera, light and picture.
import {
  Color, DirectionalLight, HemisphereLight, PerspectiveCamera, Raycaster, Scene, Vector2, Vector3, WebGLRenderer,
} from 'three';
import { Orbit } from './orbit.js';
import { linear, shade } from './shading.js';

const AWAY = new Vector3(0.62, -0.95, 0.5).normalize(); // from what is seen to the eye
const FILLED_PART = 0.86; // of the free window's width or height
const SHADOW_MAP = 2048; // texels
const SUN = new Vector3(-0.5, -0.5, 1).normalize(); // towards it
const ACROSS = new Vector3(1, -1, 0).normalize();
const SUN_AXES = [SUN, ACROSS, new Vector3().crossVectors(SUN, ACROSS)];

export class Stage {
  scene = new Scene();
  raycaster = new Raycaster();
  following = 0; // a body; 0: none
  #followed = new Vector3();
  #snapped = new Vector3();
  free = { width: 1, height: 1 }; // the part of the window that no panel covers, in heights of the window

  constructor(canvas, extent, cameras, typical) {
    this.canvas = canvas;
    this.extent = extent;
    this.cameras = cameras;
    this.typical = typical;
    const context = canvas.getContext('webgl2', { alpha: false, antialias: true, preserveDrawingBuffer: true, powerPreference: 'high-performance' });
    if (!context) throw new Error('this browser has no WebGL 2');
    shade(SHADOW_MAP);
    this.renderer = new WebGLRenderer({ canvas, context });
    this.renderer.physicallyCorrectLights = true;
    this.renderer.shadowMap.enabled = true;
    this.camera = new PerspectiveCamera(40, 1, 0.01, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new Orbit(this.camera, canvas);
    this.#light();
    this.view(0);
  }

  #light() {
    this.sky = new HemisphereLight(0xffffff, 0xcccccc, 1);
    this.sky.position.set(0, 0, 1);
    this.sun = new DirectionalLight(0xffffff, 2);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(SHADOW_MAP, SHADOW_MAP);
    this.sun.shadow.radius = 4;
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  paint(theme) {
    this.scene.background = new Color(theme.sky);
    this.sky.color.copy(linear(theme.sky2));
    this.sky.groundColor.copy(linear(theme.floor));
    this.sky.intensity = theme.ambient;
    this.sun.intensity = theme.sun;
  }

  /** The scene's cameras, then one that sees all that moves. */
  view(number) {
    const count = this.cameras.length + 1;
    this.viewed = ((number % count) + count) % count;
    const given = this.cameras[this.viewed];
    this.camera.fov = given ? (given.fov * 180) / Math.PI : 40;
    if (given) {
      this.camera.position.set(...given.position);
      this.controls.target.set(...given.target);
    } else {
      this.#fit(this.extent.seen);
    }
    this.controls.update();
    return given ? given.name : 'all that moves';
  }

  /** The least distance d from the box's middle, in the direction a, at which its corners c fill a part of the free window:
   *  |c.right| <= slope_x (d - c.a), |c.up| <= slope_y (d - c.a). */
  #fit(box) {
    const middle = box.getCenter(new Vector3());
    const right = new Vector3().crossVectors(this.camera.up, AWAY).normalize();
    const up = new Vector3().crossVectors(AWAY, right);
    const slope = (FILLED_PART * Math.tan((this.camera.fov * Math.PI) / 360)) / this.camera.zoom;
    let distance = 4 * this.typical;
    for (let k = 0; k < 8; k++) {
      const corner = new Vector3(box[k & 1 ? 'max' : 'min'].x, box[k & 2 ? 'max' : 'min'].y, box[k & 4 ? 'max' : 'min'].z).sub(middle);
      const across = Math.abs(corner.dot(right)) / (slope * this.free.width);
      const along = Math.abs(corner.dot(up)) / (slope * this.free.height);
      distance = Math.max(distance, corner.dot(AWAY) + Math.max(across, along));
    }
    this.camera.position.copy(middle).addScaledVector(AWAY, distance);
    this.controls.target.copy(middle);
  }

  /** `right`, `below` and `above` pixels of the window lie under panels. */
  resize(width, height, { right, below, above }) {
    const ratio = Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.free = { width: (width - right) / height, height: (height - below - above) / height };
    // A narrow window sees as much to the sides as a square one would; what lies under a panel is not the middle.
    this.camera.zoom = Math.min(1, (width - right) / (height - below) / 0.9) * (1 - below / height);
    this.camera.setViewOffset(width, height, right / 2, (below - above) / 2, width, height);
    this.camera.updateProjectionMatrix();
  }

  follow(body, pose) {
    this.following = body;
    if (body) this.#followed.setFromMatrixPosition(pose[body]);
  }

  #keepUp(pose) {
    if (!this.following) return;
    const now = new Vector3().setFromMatrixPosition(pose[this.following]);
    const moved = now.clone().sub(this.#followed);
    this.camera.position.add(moved);
    this.controls.target.add(moved);
    this.#followed.copy(now);
  }

  #fitDepth(bounds) {
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = Math.max(0.01 * distance, 1e-4 * this.extent.radius);
    const farthest = this.camera.position.distanceTo(bounds.center) + bounds.radius;
    this.camera.far = 40 * this.extent.radius + 12 * distance + 4 * farthest;
    this.camera.updateProjectionMatrix();
    this.#fitShadows(bounds, distance);
  }

  /** The ball that shadows are drawn in: where everything began and all that moves, or that alone once it is far off. */
  #shaded(bounds, distance) {
    const near = { center: this.extent.center, radius: Math.max(1.6 * this.extent.radius, 4 * this.typical) };
    const moving = { center: bounds.center, radius: Math.max(1.15 * bounds.radius, 4 * this.typical) };
    const apart = near.center.distanceTo(moving.center);
    const both = Math.max(near.radius, (apart + near.radius + moving.radius) / 2);
    let ball = moving;
    if (apart + moving.radius <= near.radius) ball = near;
    else if (apart + near.radius > moving.radius && both < 3 * near.radius && both < 3 * moving.radius) {
      const part = apart > 0 ? (both - near.radius) / apart : 0;
      ball = { center: near.center.clone().lerp(moving.center, part), radius: both };
    }
    return ball.radius <= 3 * distance ? ball : { center: this.controls.target, radius: 3 * distance };
  }

  /** In steps of a fifth octave and of whole texels, so that borders of shadows stand still. */
  #fitShadows(bounds, distance) {
    const { center, radius } = this.#shaded(bounds, distance);
    const reach = 2 ** (Math.ceil(5 * Math.log2(radius)) / 5);
    const texel = (2 * reach) / SHADOW_MAP;
    const at = this.#snapped.set(0, 0, 0);
    for (const axis of SUN_AXES) at.addScaledVector(axis, Math.round(center.dot(axis) / texel) * texel);
    const { shadow } = this.sun;
    this.sun.target.position.copy(at);
    this.sun.position.copy(at).addScaledVector(SUN, 4 * reach);
    Object.assign(shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * reach, far: 8 * reach });
    shadow.camera.updateProjectionMatrix();
    shadow.bias = -2e-4;
  }

  /** `bounds`: of what moves. */
  draw(pose, bounds, ground) {
    this.#keepUp(pose);
    this.controls.update();
    this.#fitDepth(bounds);
    const { target } = this.controls;
    ground.follow(target, this.camera.position.distanceTo(target), target.distanceTo(bounds.center) + bounds.radius);
    this.renderer.render(this.scene, this.camera);
  }

  /** The ray under a point of the window. */
  ray(x, y) {
    const box = this.canvas.getBoundingClientRect();
    const at = new Vector2(((x - box.left) / box.width) * 2 - 1, 1 - ((y - box.top) / box.height) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    return this.raycaster;
  }
}
