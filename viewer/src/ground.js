// Half-spaces, and the grid: lines every power of ten that is neither too wide nor too dense to be seen, fading out.
import { Color, DoubleSide, Group, Mesh, MeshStandardMaterial, PlaneGeometry, ShadowMaterial } from 'three';
import { matrixOf } from './bodies.js';

const DECLARE = `
uniform vec3 gridLine; uniform float gridCell; uniform float gridReach; uniform vec3 gridEye; uniform vec3 gridCentre;
uniform float gridFill;
varying vec2 gridAt; varying vec3 gridWorld;
float gridLines(vec2 at, float cell) {
  vec2 p = at / cell, w = fwidth(p) * 0.9;
  vec2 d = abs(fract(p - 0.5) - 0.5);
  vec2 on = 1.0 - smoothstep(w * 0.5, w * 1.5, d);
  return max(on.x, on.y) * (1.0 - smoothstep(0.15, 0.6, max(w.x, w.y)));
}
`;
const PAINT = `
float coarse = gridLines(gridAt, gridCell * 10.0), fine = gridLines(gridAt, gridCell);
float ink = max(0.45 * coarse, 0.17 * fine);
float far = smoothstep(0.25, 1.0, length(gridWorld - gridCentre) / gridReach);
diffuseColor.rgb = mix(diffuseColor.rgb, gridLine, ink);
diffuseColor.a = mix(ink, 1.0, gridFill) * (1.0 - far);
`;

export class Ground {
  group = new Group();
  #planes = [];

  constructor(scene, extent) {
    this.reach = 14 * extent.radius;
    this.center = extent.center;
    const cell = 10 ** Math.floor(Math.log10(0.4 * extent.radius));
    this.cell = cell;
    const spaces = scene.shapes.filter((shape) => shape.mesh < 0);
    for (const shape of spaces) this.#add(matrixOf(shape), cell, true);
    if (spaces.length === 0) {
      const low = extent.low - 0.02 * extent.radius;
      this.#add(matrixOf({ position: [extent.center.x, extent.center.y, low], quaternion: [1, 0, 0, 0] }), cell, false);
      this.#addShadow(low, extent);
    }
  }

  #add(matrix, cell, filled) {
    const material = new MeshStandardMaterial({ roughness: 1, metalness: 0, transparent: true, side: DoubleSide, depthWrite: filled });
    const uniforms = {
      gridLine: { value: new Color() }, gridCell: { value: cell }, gridReach: { value: this.reach },
      gridCentre: { value: this.center }, gridFill: { value: filled ? 1 : 0 },
    };
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, uniforms);
      shader.vertexShader = shader.vertexShader
        .replace('#include <common>', '#include <common>\nvarying vec2 gridAt; varying vec3 gridWorld;')
        .replace('#include <begin_vertex>', '#include <begin_vertex>\ngridAt = position.xy; gridWorld = (modelMatrix * vec4(position, 1.0)).xyz;');
      shader.fragmentShader = shader.fragmentShader
        .replace('#include <common>', `#include <common>\n${DECLARE}`)
        .replace('#include <color_fragment>', `#include <color_fragment>\n${PAINT}`);
    };
    const mesh = new Mesh(new PlaneGeometry(2 * this.reach, 2 * this.reach), material);
    mesh.receiveShadow = filled;
    mesh.renderOrder = -1;
    const holder = new Group();
    holder.matrix.copy(matrix);
    holder.matrixAutoUpdate = false;
    // The square stands below what moves, wherever the half-space has its origin; lines stay where they are.
    const local = this.center.clone().applyMatrix4(matrix.clone().invert());
    const snap = (x) => Math.round(x / (10 * cell)) * 10 * cell;
    mesh.position.set(snap(local.x), snap(local.y), 0);
    holder.add(mesh);
    this.group.add(holder);
    this.#planes.push({ material, uniforms, filled });
  }

  #addShadow(low, extent) {
    const material = new ShadowMaterial({ opacity: 0.14 });
    const mesh = new Mesh(new PlaneGeometry(2 * this.reach, 2 * this.reach), material);
    mesh.position.set(extent.center.x, extent.center.y, low);
    mesh.receiveShadow = true;
    mesh.renderOrder = -2;
    this.group.add(mesh);
  }

  paint(theme) {
    for (const { material, uniforms, filled } of this.#planes) {
      material.color.set(theme.ground);
      uniforms.gridLine.value.set(filled ? theme.line : theme.line);
    }
  }
}
