// Which box of the same mass, evenly filled, turns as a body does?  With principal moments I_1, I_2, I_3 about the centre of
// mass, I_i = m (a_j^2 + a_k^2) / 12, so its edges are a_i^2 = 6 (I_j + I_k - I_i) / m.
import { Matrix4, Vector3 } from 'three';

/** Eigenvalues and eigenvectors (columns of v) of a symmetric 3 x 3 matrix, by Jacobi's rotations. */
export function principal([xx, yy, zz, xy, xz, yz]) {
  const a = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
  const v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 12; sweep++) {
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (a[p][q] === 0) continue;
      const t0 = (a[q][q] - a[p][p]) / (2 * a[p][q]);
      const t = Math.sign(t0 || 1) / (Math.abs(t0) + Math.hypot(t0, 1));
      const c = 1 / Math.hypot(t, 1);
      const s = t * c;
      for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      for (let k = 0; k < 3; k++) [v[k][p], v[k][q]] = [c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]];
    }
  }
  return { value: [a[0][0], a[1][1], a[2][2]], axes: v };
}

/** From a cube with edges of 1 to that box, in the body's frame. */
export function inertiaBox({ mass, com, inertia }) {
  const { value: [x, y, z], axes } = principal(inertia);
  const edge = [y + z - x, x + z - y, x + y - z].map((sum) => Math.sqrt(Math.max((6 * sum) / mass, 0)));
  const columns = [0, 1, 2].map((k) => new Vector3(axes[0][k], axes[1][k], axes[2][k]).multiplyScalar(edge[k]));
  return new Matrix4().makeBasis(...columns).setPosition(...com);
}
