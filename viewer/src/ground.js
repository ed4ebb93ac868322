// Floors: half-spaces, and under a scene that has none below it a floor that carries nothing.  They have no end: each goes along
// with the camera, its lines standing still, and fades far off.  Lines stand every power of ten of a metre that is wide enough
// to be seen, and the narrower ones fade as they come too close.
import { Color, DoubleSide, FrontSide, Group, Matrix4, Mesh, MeshStandardMaterial, PlaneBufferGeometry, Vector3 } from 'three';
import { matrixOf } from './bodies.js';
import { linear } from './shading.js';

const FADED = 14; // radii of the scene at which a floor has faded, at least
const LEVEL = 0.5; // upward part of a normal, from which on a half-space is a floor and not a wall

const DECLARE = `
uniform vec3 gridLine; uniform float gridCell; uniform float gridReach; uniform vec3 gridCentre; uniform float gridFill;
varying vec2 gridAt; varying vec3 gridWorld;
float gridLines(vec2 at, float cell) {
  vec2 p = at / cell, w = fwidth(at) / cell * 0.9;
  vec2 d = abs(fract(p - 0.5) - 0.5);
  vec2 on = 1.0 - smoothstep(w * 0.5, w * 1.5, d);
  return max(on.x, on.y) * (1.0 - smoothstep(0.15, 0.6, max(w.x, w.y)));
}
`;
const PAINT = `
vec2 gridWide = fwidth(gridAt);
float gridLevel = max(0.0, log2(6.0 * max(gridWide.x, gridWide.y) / gridCell) / log2(10.0));
float gridPart = fract(gridLevel), gridOne = gridCell * pow(10.0, floor(gridLevel));
float ink = max(max(0.17 * (1.0 - gridPart) * gridLines(gridAt, gridOne),
  mix(0.45, 0.17, gridPart) * gridLines(gridAt, 10.0 * gridOne)), 0.45 * gridLines(gridAt, 100.0 * gridOne));
float far = smoothstep(0.2, 1.0, length(gridWorld - gridCentre) / gridReach);
diffuseColor.rgb = mix(diffuseColor.rgb, gridLine, ink);
diffuseColor.a = mix(gridFill, 1.0, ink) * (1.0 - far);
`;

export class Ground {
  group = new Group();
  #planes = [];
  #at = new Vector3();
  #back = new Matrix4();

  /** `bodies` shows the first moment. */
  constructor(scene, extent, bodies) {
    this.radius = extent.radius;
    this.cell = 10 ** Math.floor(Math.log10(0.4 * extent.radius));
    let level = false;
    for (const shape of scene.shapes) {
      if (shape.mesh >= 0 || shape.hidden) continue;
      const matrix = bodies.pose[shape.body].clone().multiply(matrixOf(shape));
      level ||= matrix.elements[10] > LEVEL;
      this.#add(matrix, shape.body, 1);
    }
    if (!level) {
      this.below = this.#add(new Matrix4(), -1, 0.5);
      this.#sink(extent.low - 0.002 * extent.radius);
    }
  }

  /** `body`: whose it is; -1: nobody's. */
  #add(matrix, body, fill) {
    const material = new MeshStandardMaterial({ roughness: 1, metalness: 0, transparent: true, side: body < 0 ? FrontSide : DoubleSide });
    const uniforms = {
      gridLine: { value: new Color() }, gridCell: { value: this.cell }, gridReach: { value: 1 },
      gridCentre: { value: new Vector3() }, gridFill: { value: fill },
    };
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, uniforms);
      shader.vertexShader = shader.vertexShader
        .replace('#include <common>', '#include <common>\nuniform vec2 gridFrom; uniform float gridWidth; varying vec2 gridAt; varying vec3 gridWorld;')
        .replace('#include <begin_vertex>', `#include <begin_vertex>
          gridAt = gridFrom + gridWidth * position.xy; gridWorld = (modelMatrix * vec4(position, 1.0)).xyz;`);
      shader.fragmentShader = shader.fragmentShader
        .replace('#include <common>', `#include <common>\n${DECLARE}`)
        .replace('#include <color_fragment>', `#include <color_fragment>\n${PAINT}`);
    };
    Object.assign(uniforms, { gridFrom: { value: [0, 0] }, gridWidth: { value: 1 } });
    const mesh = new Mesh(new PlaneBufferGeometry(2, 2), material);
    mesh.receiveShadow = true;
    mesh.renderOrder = -1;
    mesh.frustumCulled = false;
    const holder = new Group();
    holder.matrix.copy(matrix);
    holder.matrixAutoUpdate = false;
    holder.add(mesh);
    this.group.add(holder);
    const plane = { holder, mesh, material, uniforms, body };
    this.#planes.push(plane);
    return plane;
  }

  #sink(height) {
    this.height = height;
    this.below.holder.matrix.makeTranslation(0, 0, height);
  }

  /** Nothing that goes on for long may fall through the floor below it: it is where things have come to. */
  reach(low) {
    if (!this.below || !(low < this.height)) return;
    this.#sink(this.height - Math.max(1.5 * (this.height - low), this.radius));
  }

  /** Around `centre`, where the camera looks from so far, and as far as bodies are. */
  follow(centre, distance, farthest) {
    const reach = Math.max(FADED * this.radius, 8 * distance, 2 * farthest);
    for (const { holder, mesh, uniforms } of this.#planes) {
      this.#at.copy(centre).applyMatrix4(this.#back.getInverse(holder.matrix));
      const coarse = 1e4 * this.cell; // numbers stay small far from the origin
      const snap = (x) => Math.round(x / coarse) * coarse;
      mesh.position.set(this.#at.x, this.#at.y, 0);
      mesh.scale.set(reach, reach, 1);
      uniforms.gridFrom.value = [this.#at.x - snap(this.#at.x), this.#at.y - snap(this.#at.y)];
      uniforms.gridWidth.value = reach;
      uniforms.gridReach.value = reach;
      uniforms.gridCentre.value.copy(centre);
    }
  }

  hide(hidden) {
    for (const { holder, body } of this.#planes) holder.visible = body < 0 || !hidden[body];
  }

  paint(theme) {
    for (const { material, uniforms } of this.#planes) {
      material.color.copy(linear(theme.ground));
      uniforms.gridLine.value.copy(linear(theme.line));
    }
  }
}
