// A camera that turns about a point: position = target + r (sin phi sin theta, -sin phi cos theta, cos phi), z upwards.
// Mouse: drag turns, right drag or Shift and drag moves, the wheel goes nearer to what is under it.  Touch: one finger turns, two move and
// pinch.  Turns and moves glide: each update makes GLIDE of what is left.
import { Vector3 } from 'three';

const GLIDE = 0.12;
const NOTCH = 0.95; // of the distance, for each 100 pixels that a wheel turns
const LINE = 16, SHEET = 100; // pixels, where a wheel counts in lines or sheets
const STEEP = 1e-6; // rad: the camera never looks straight up or down
const REST = 1e-5; // of the distance, rad: what is left of a glide is dropped

export class Orbit extends EventTarget {
  target = new Vector3();
  #fingers = new Map(); // pointers that are down: { x, y }
  #moves = false; // drags move the camera and do not turn it
  #theta = 0; // still to turn, rad
  #phi = 0;
  #shift = new Vector3(); // still to move
  #nearer = 1; // factor of the distance
  #cursor = null; // where on the canvas to go nearer to

  constructor(camera, canvas) {
    super();
    Object.assign(this, { camera, canvas });
    canvas.style.touchAction = 'none';
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
    canvas.addEventListener('pointerdown', (event) => this.#down(event));
    canvas.addEventListener('pointermove', (event) => this.#move(event));
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, (event) => this.#fingers.delete(event.pointerId));
    canvas.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
  }

  #tell() { this.dispatchEvent(new Event('change')); }

  #down(event) {
    if (event.isTrusted) this.canvas.setPointerCapture(event.pointerId);
    this.#fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.#moves = event.button === 2 || event.shiftKey || event.ctrlKey || event.metaKey;
  }

  #move(event) {
    const finger = this.#fingers.get(event.pointerId);
    if (!finger) return;
    const before = this.#span();
    const dx = event.clientX - finger.x, dy = event.clientY - finger.y;
    Object.assign(finger, { x: event.clientX, y: event.clientY });
    const after = this.#span();
    if (before) {
      this.#pan(after.x - before.x, after.y - before.y);
      if (before.wide > 0 && after.wide > 0) this.#approach(before.wide / after.wide, after);
    } else if (this.#moves) this.#pan(dx, dy);
    else this.#turn(dx, dy);
    this.#tell();
  }

  /** The middle of two fingers, and how far they are apart; null of one. */
  #span() {
    const [a, b] = this.#fingers.values();
    return b ? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, wide: Math.hypot(a.x - b.x, a.y - b.y) } : null;
  }

  #turn(dx, dy) {
    const rate = (2 * Math.PI) / this.canvas.clientHeight;
    this.#theta -= rate * dx;
    this.#phi -= rate * dy;
  }

  /** What lies as far as the target goes along with the pointer. */
  #pan(dx, dy) {
    const distance = this.camera.position.distanceTo(this.target);
    const pixel = (2 * distance * Math.tan((this.camera.fov * Math.PI) / 360)) / (this.camera.zoom * this.canvas.clientHeight);
    const right = new Vector3().setFromMatrixColumn(this.camera.matrix, 0);
    const up = new Vector3().setFromMatrixColumn(this.camera.matrix, 1);
    this.#shift.addScaledVector(right, -dx * pixel).addScaledVector(up, dy * pixel);
  }

  #wheel(event) {
    event.preventDefault();
    const pixels = event.deltaY * ([1, LINE, SHEET][event.deltaMode] ?? 1) * (event.ctrlKey ? 10 : 1); // Ctrl: a pinch on a touch pad
    this.#approach(NOTCH ** (-pixels / 100), { x: event.clientX, y: event.clientY });
    this.#tell();
  }

  #approach(factor, cursor) {
    this.#nearer *= factor;
    this.#cursor = cursor;
  }

  /** Towards what is under the cursor; the camera goes on looking in the same direction. */
  #zoom(distance) {
    const { camera, canvas, target } = this;
    const box = canvas.getBoundingClientRect();
    const ray = new Vector3(((this.#cursor.x - box.left) / box.width) * 2 - 1, 1 - ((this.#cursor.y - box.top) / box.height) * 2, 0.5)
      .unproject(camera).sub(camera.position).normalize();
    const ahead = camera.getWorldDirection(new Vector3());
    const next = distance * this.#nearer;
    camera.position.addScaledVector(ray, distance - next);
    target.copy(camera.position).addScaledVector(ahead, next);
    this.#nearer = 1;
  }

  #rest() {
    this.#theta = this.#phi = 0;
    this.#shift.set(0, 0, 0);
  }

  /** Places the camera, and says 'change' while it glides. */
  update() {
    const { camera, target } = this;
    const off = camera.position.clone().sub(target);
    const distance = off.length();
    const gliding = Math.max(Math.abs(this.#theta), Math.abs(this.#phi), this.#shift.length() / distance) > REST;
    if (!gliding) this.#rest();
    const theta = Math.atan2(off.x, 0 - off.y) + GLIDE * this.#theta;
    const level = Math.acos(Math.min(Math.max(off.z / distance, -1), 1)) + GLIDE * this.#phi;
    const phi = Math.min(Math.max(level, STEEP), Math.PI - STEEP);
    target.addScaledVector(this.#shift, GLIDE);
    off.set(Math.sin(phi) * Math.sin(theta), -Math.sin(phi) * Math.cos(theta), Math.cos(phi));
    camera.position.copy(target).addScaledVector(off, distance);
    camera.lookAt(target);
    camera.updateMatrixWorld();
    this.#theta *= 1 - GLIDE;
    this.#phi *= 1 - GLIDE;
    this.#shift.multiplyScalar(1 - GLIDE);
    if (this.#nearer !== 1) this.#zoom(distance);
    if (gliding) this.#tell();
  }
}
