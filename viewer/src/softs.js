// Soft bodies: surfaces whose corners are nodes, with normals of the moment.
import { BufferAttribute, BufferGeometry, DynamicDrawUsage, Group, Mesh, MeshStandardMaterial } from 'three';
import { linear } from './shading.js';
import { PALETTE } from './theme.js';

/** The bodies that are nodes of soft ones. */
export function nodesOf({ softs = [] }) {
  return new Set(softs.flatMap(({ body, nodes }) => Array.from({ length: nodes }, (_, k) => body + 1 + k)));
}

function moving(size) {
  const attribute = new BufferAttribute(new Float32Array(3 * size), 3);
  attribute.setUsage(DynamicDrawUsage);
  return attribute;
}

export class Softs {
  group = new Group();
  #list = [];

  constructor(scene) {
    for (const soft of scene.softs ?? []) this.#add(soft);
  }

  #add(soft) {
    const alpha = soft.color[3];
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', moving(soft.corner.length));
    geometry.setAttribute('normal', moving(soft.corner.length));
    geometry.setIndex(soft.triangle);
    const color = soft.color[0] >= 0 ? linear(soft.color.slice(0, 3)) : linear(PALETTE[soft.body % PALETTE.length]);
    const material = new MeshStandardMaterial({
      roughness: 0.62, metalness: 0.02, color, transparent: alpha < 1, opacity: alpha, depthWrite: alpha >= 1,
    });
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.castShadow = mesh.receiveShadow = alpha >= 0.5;
    mesh.userData.soft = soft;
    this.group.add(mesh);
    this.#list.push({ soft, mesh, material, alpha, color });
  }

  /** Corners at the nodes' places; `pose`: matrices of all bodies. */
  place(pose, hidden) {
    for (const { soft, mesh } of this.#list) {
      const { position, normal } = mesh.geometry.attributes;
      mesh.visible = !hidden[soft.body];
      soft.corner.forEach((body, k) => {
        const { elements } = pose[body];
        for (let i = 0; i < 3; i++) position.array[3 * k + i] = elements[12 + i];
      });
      this.#turn(soft.triangle, position.array, normal.array);
      position.needsUpdate = normal.needsUpdate = true;
      mesh.geometry.boundingSphere = null; // for rays
    }
  }

  /** Normals: areas of triangles, summed at their corners. */
  #turn(triangle, x, n) {
    n.fill(0);
    for (let t = 0; t < triangle.length; t += 3) {
      const [a, b, c] = [3 * triangle[t], 3 * triangle[t + 1], 3 * triangle[t + 2]];
      const ux = x[b] - x[a], uy = x[b + 1] - x[a + 1], uz = x[b + 2] - x[a + 2];
      const vx = x[c] - x[a], vy = x[c + 1] - x[a + 1], vz = x[c + 2] - x[a + 2];
      for (const at of [a, b, c]) {
        n[at] += uy * vz - uz * vy;
        n[at + 1] += uz * vx - ux * vz;
        n[at + 2] += ux * vy - uy * vx;
      }
    }
    for (let k = 0; k < n.length; k += 3) {
      const length = Math.hypot(n[k], n[k + 1], n[k + 2]) || 1;
      for (let i = 0; i < 3; i++) n[k + i] /= length;
    }
  }

  setTransparent(on) {
    for (const { material, alpha, mesh } of this.#list) {
      const opacity = on ? Math.min(alpha, 0.35) : alpha;
      Object.assign(material, { transparent: opacity < 1, opacity, depthWrite: opacity >= 1, needsUpdate: true });
      mesh.castShadow = opacity >= 0.3;
    }
  }

  setWireframe(on) { for (const { material } of this.#list) material.wireframe = on; }

  /** Lights up one of which a body is selected: itself, or a node. */
  select(body, light) {
    for (const { soft, material, color } of this.#list) {
      const mine = body >= soft.body && body <= soft.body + soft.nodes;
      material.color.copy(mine ? color.clone().lerp(linear(light), 0.55) : color);
    }
  }

  /** The node nearest to where a ray meets a surface: [{ body, point, distance }]. */
  hits(raycaster, pose) {
    return raycaster.intersectObject(this.group, true).map(({ object, face, point, distance }) => {
      const { corner } = object.userData.soft;
      const away = (body) => Math.hypot(...[0, 1, 2].map((i) => pose[body].elements[12 + i] - point.getComponent(i)));
      const [body] = [face.a, face.b, face.c].map((k) => corner[k]).sort((p, q) => away(p) - away(q));
      return { body, point, distance };
    });
  }
}
