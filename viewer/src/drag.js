// Ctrl and drag: a body is pulled by a spring, in the plane through where it was taken that faces the camera.
import { BufferGeometry, Group, Line, LineBasicMaterial, Matrix4, Plane, Points, PointsMaterial, Vector3 } from 'three';
import { linear } from './shading.js';

export class Drag {
  body = 0; // 0: none
  #local = new Vector3();
  #target = new Vector3();
  #plane = new Plane();

  constructor(app) {
    this.app = app;
    this.geometry = new BufferGeometry().setFromPoints([new Vector3(), new Vector3()]);
    const look = { color: linear(0xe0761b), depthTest: false, transparent: true, toneMapped: false };
    this.spring = new Group().add(new Line(this.geometry, new LineBasicMaterial(look)),
      new Points(this.geometry, new PointsMaterial({ ...look, size: 9, sizeAttenuation: false })));
    for (const part of this.spring.children) Object.assign(part, { frustumCulled: false, renderOrder: 10 });
    this.spring.visible = false;
    app.stage.scene.add(this.spring);
    const { canvas } = app.stage;
    const first = { capture: true }; // before the camera takes it
    canvas.addEventListener('pointerdown', (event) => this.#down(event), first);
    canvas.addEventListener('pointermove', (event) => this.#move(event), first);
    for (const name of ['pointerup', 'pointercancel']) canvas.addEventListener(name, (event) => this.#up(event), first);
  }

  #down(event) {
    if (!(event.ctrlKey || event.metaKey) || event.button !== 0) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    const { app } = this;
    const hit = app.bodies.hit(app.stage.ray(event.clientX, event.clientY));
    if (!hit) return;
    if (event.isTrusted) app.stage.canvas.setPointerCapture(event.pointerId);
    this.body = hit.body;
    this.#local.copy(hit.point).applyMatrix4(new Matrix4().getInverse(app.bodies.pose[hit.body]));
    this.#plane.setFromNormalAndCoplanarPoint(app.stage.camera.getWorldDirection(new Vector3()), hit.point);
    this.#target.copy(hit.point);
    if (!app.player.playing) app.say('Time stands still: the spring pulls from the next step on (→ or Space)', true);
    this.#send();
  }

  #move(event) {
    if (!this.body) return;
    event.stopImmediatePropagation();
    this.app.stage.ray(event.clientX, event.clientY).ray.intersectPlane(this.#plane, this.#target);
    this.#send();
  }

  #up(event) {
    if (!this.body) return;
    event.stopImmediatePropagation();
    this.body = 0;
    this.app.hush();
    this.app.source.send({ do: 'release' });
    this.app.refresh();
  }

  #send() {
    const round = (v) => v.toArray().map((x) => Number(x.toPrecision(9)));
    this.app.source.send({ do: 'drag', body: this.body, point: round(this.#local), target: round(this.#target) });
    this.app.refresh();
  }

  /** The spring, from the body to the mouse. */
  show() {
    this.spring.visible = this.body > 0;
    if (!this.body) return;
    const from = this.#local.clone().applyMatrix4(this.app.bodies.pose[this.body]);
    const { position } = this.geometry.attributes;
    position.setXYZ(0, ...from.toArray());
    position.setXYZ(1, ...this.#target.toArray());
    position.needsUpdate = true;
  }
}
