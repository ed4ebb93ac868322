// Compares models in MJCF with MuJoCo itself: masses, and at random states poses of bodies, mass matrix, bias forces,
// potential energy, lengths and moments of tendons and actuators, forces of dampers, actuators and the fluid.
//
//     node mjcf_oracle.mjs print_dynamics STATES FILE.xml...
//
// The package @mujoco/mujoco is taken from the folder in the environment variable SIM_MUJOCO (that of its package.json);
// without it the test is skipped.
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const TOLERANCE = 1e-10;

async function loadOracle() {
  const folder = process.env.SIM_MUJOCO;
  if (!folder || !fs.existsSync(path.join(folder, 'mujoco.js'))) {
    return null;
  }
  return (await import(path.join(path.resolve(folder), 'mujoco.js'))).default();
}

// All files beside a model, in the file system of the oracle.
function copyFiles(mujoco, from, to) {
  mujoco.FS.mkdirTree(to);
  for (const entry of fs.readdirSync(from, {withFileTypes: true})) {
    const source = path.join(from, entry.name), target = to + '/' + entry.name;
    if (entry.isDirectory()) {
      copyFiles(mujoco, source, target);
    } else {
      mujoco.FS.writeFile(target, fs.readFileSync(source));
    }
  }
}

// Blocks of lines from print_dynamics: bodies, then states.
function readDynamics(program, file, states) {
  const text = execFileSync(program, [file, 'fixed', String(states)], {maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe']});
  const bodies = [], list = [];
  for (const line of text.toString().split('\n')) {
    const word = line.split(' '), numbers = word.slice(1).map(Number);
    const state = list[list.length - 1];
    if (word[0] === 'body') {
      bodies.push({name: word.slice(1, -5).join(' '), mass: numbers[numbers.length - 1]});
    } else if (word[0] === 'q') {
      list.push({q: numbers, poses: new Map(), mass: [], lengths: [], moments: [], drives: [], laws: [], muscles: new Map()});
    } else if (word[0] === 'v') {
      state.v = numbers;
    } else if (word[0] === 'pose') {
      state.poses.set(word.slice(1, -12).join(' '), numbers.slice(-12));
    } else if (word[0] === 'mass') {
      state.mass.push(numbers);
    } else if (word[0] === 'bias') {
      state.bias = numbers;
    } else if (word[0] === 'fluid') {
      state.fluid = numbers;
    } else if (word[0] === 'energy') {
      state.energy = numbers;
    } else if (word[0] === 'dampers') {
      state.dampers = numbers;
    } else if (word[0] === 'length') {
      state.lengths.push(numbers[0]);
    } else if (word[0] === 'drive') {
      state.drives.push(numbers);
    } else if (word[0] === 'muscle') {
      state.muscles.set(state.drives.length - 1, numbers);
    } else if (word[0] === 'law') {
      state.laws.push(numbers);
    } else if (word[0] === 'moments') {
      state.moments.push(numbers);
    }
  }
  return {bodies, list};
}

// Largest difference, over the largest number.
function difference(a, b) {
  let most = 0, size = 0;
  if (a.length !== b.length) {
    return Infinity;
  }
  for (let k = 0; k < a.length; k++) {
    most = Math.max(most, Math.abs(a[k] - b[k]));
    size = Math.max(size, Math.abs(a[k]), Math.abs(b[k]));
  }
  return size === 0 ? 0 : Number.isNaN(most) ? Infinity : most / Math.max(size, 1e-6);
}

function nameOfBody(model, k) {
  let end = model.name_bodyadr[k];
  while (model.names[end] !== 0) {
    end++;
  }
  const bytes = Array.from(model.names.slice(model.name_bodyadr[k], end));
  return bytes.map((c) => String.fromCharCode(typeof c === 'string' ? c.charCodeAt(0) : c)).join('');
}

// Derivatives of the lengths, from their sparse rows.
function tendonMoments(model, data) {
  const full = [];
  for (let k = 0; k < model.ntendon; k++) {
    const row = new Array(model.nv).fill(0), start = model.ten_J_rowadr[k];
    for (let i = 0; i < model.ten_J_rownnz[k]; i++) {
      row[model.ten_J_colind[start + i]] = data.ten_J[start + i];
    }
    full.push(...row);
  }
  return full;
}

// Peak force of a muscle, and least and greatest length.  These come from simulations in MuJoCo, to 5 % where they are
// not given: the difference there counts as rounding if it is less than that.
function compareMuscle(mujoco, model, k, ours, worst) {
  const [force, scale] = model.actuator_gainprm.slice(10 * k + 2, 10 * k + 4), range = model.actuator_lengthrange.slice(2 * k, 2 * k + 2);
  const span = range[1] - range[0], most = Math.max(Math.abs(ours[1] - range[0]), Math.abs(ours[2] - range[1])) / span;
  const given = most < 1e-12;
  worst.peak = Math.max(worst.peak ?? 0, difference([ours[0]], [force < 0 ? scale / model.actuator_acc0[k] : force]));
  worst.range = Math.max(worst.range ?? 0, most < 0.05 ? 0 : most);
  return given;
}

// Length and moments of actuators, and gain + bias: the force at the control input 1.
function compareActuators(model, data, state, worst) {
  for (let k = 0; k < model.nu; k++) {
    const row = new Array(model.nv).fill(0), start = data.moment_rowadr[k];
    for (let i = 0; i < data.moment_rownnz[k]; i++) {
      row[data.moment_colind[start + i]] = data.actuator_moment[start + i];
    }
    worst.drive = Math.max(worst.drive, difference(state.drives[k], row));
    if (state.muscles.has(k)) {
      const given = compareMuscle(mujoco, model, k, state.muscles.get(k), worst);
      worst.drive = Math.max(worst.drive, difference([state.laws[k][0]], [data.actuator_length[k]]));
      worst.law = Math.max(worst.law, given ? difference([state.laws[k][1]], [data.actuator_force[k]]) : 0);
      continue;
    }
    const g = model.actuator_gainprm.slice(10 * k), b = model.actuator_biasprm.slice(10 * k);
    const l = data.actuator_length[k], v = data.actuator_velocity[k];
    const gain = model.actuator_gaintype[k] === 0 ? g[0] : g[0] + g[1] * l + g[2] * v;
    const bias = model.actuator_biastype[k] === 0 ? 0 : b[0] + b[1] * l + b[2] * v;
    worst.law = Math.max(worst.law, difference(state.laws[k], [l, gain + bias]));
  }
}

function compareState(mujoco, model, data, state, worst) {
  const nv = model.nv;
  data.qpos.set(state.q);
  data.qvel.set(state.v);
  data.act.fill(1);
  mujoco.mj_forward(model, data);
  for (let k = 1; k < model.nbody; k++) {
    const name = nameOfBody(model, k) || 'body' + k, pose = state.poses.get(name);
    if (!pose) {
      throw new Error('there is no body ' + name);
    }
    const p = data.xpos.slice(3 * k, 3 * k + 3), R = data.xmat.slice(9 * k, 9 * k + 9);
    worst.pose = Math.max(worst.pose, difference(pose.slice(0, 3), p));
    const columns = [0, 3, 6, 1, 4, 7, 2, 5, 8].map((i) => R[i]);
    worst.pose = Math.max(worst.pose, difference(pose.slice(3), columns));
  }
  const full = new mujoco.DoubleBuffer(nv * nv);
  mujoco.mj_fullM(model, data, full);
  worst.mass = Math.max(worst.mass, difference(state.mass.flat(), Array.from(full.GetView())));
  full.delete();
  if (model.ntendon > 0) {
    worst.length = Math.max(worst.length, difference(state.lengths, Array.from(data.ten_length)));
    worst.moments = Math.max(worst.moments, difference(state.moments.flat(), tendonMoments(model, data)));
  }
  if (model.nu > 0 && state.laws.length === model.nu) {
    compareActuators(model, data, state, worst);
  }
  worst.bias = Math.max(worst.bias, difference(state.bias, Array.from(data.qfrc_bias)));
  worst.energy = Math.max(worst.energy ?? 0, difference(state.energy, [data.energy[0]]));
  worst.dampers = Math.max(worst.dampers ?? 0, difference(state.dampers, Array.from(data.qfrc_damper)));
  if (state.fluid) {
    worst.fluid = Math.max(worst.fluid ?? 0, difference(state.fluid, Array.from(data.qfrc_fluid)));
  }
}

// Meshes that are not there become a tetrahedron: they give bodies no mass where these have an <inertial>.
function loadModel(mujoco, mount, name) {
  const stl = new DataView(new ArrayBuffer(84 + 4 * 50)), corner = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
  stl.setUint32(80, 4, true);
  [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]].forEach((face, f) => face.forEach((c, k) => corner[c].forEach(
      (x, axis) => stl.setFloat32(84 + 50 * f + 12 + 12 * k + 4 * axis, x, true))));
  const obj = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n';
  for (let lost = 0; ; lost++) {
    try {
      return mujoco.MjModel.from_xml_path(mount + '/' + name);
    } catch (error) {
      const missing = /opening file '(.*?)'/.exec(String(error.message));
      if (!missing || lost === 100) {
        throw error;
      }
      const file = missing[1].startsWith('/') ? missing[1] : mount + '/' + missing[1];
      mujoco.FS.mkdirTree(path.dirname(file));
      mujoco.FS.writeFile(file, file.endsWith('.obj') ? obj : new Uint8Array(stl.buffer));
    }
  }
}

function compareFile(mujoco, program, states, file) {
  const mount = '/models';
  copyFiles(mujoco, path.dirname(file), mount);
  const model = loadModel(mujoco, mount, path.basename(file));
  model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY.value;
  const data = new mujoco.MjData(model);
  const {bodies, list} = readDynamics(program, file, states);
  const worst = {total: 0, pose: 0, mass: 0, bias: 0, length: 0, moments: 0, drive: 0, law: 0};
  let total = 0, ours = 0;
  for (let k = 1; k < model.nbody; k++) {
    total += model.body_mass[k];
  }
  for (const body of bodies) {
    ours += body.mass;
  }
  worst.total = difference([total], [ours]);
  for (const state of list) {
    if (state.q.length !== model.nq || state.v.length !== model.nv) {
      throw new Error(`${state.q.length} coordinates and ${state.v.length} velocities, not ${model.nq} and ${model.nv}`);
    }
    if (model.nv > 0) {
      compareState(mujoco, model, data, state, worst);
    }
  }
  data.delete();
  model.delete();
  return {worst};
}

const [program, states, ...files] = process.argv.slice(2);
const mujoco = await loadOracle();
console.log(`1..${mujoco ? files.length : 1}`);
if (!mujoco) {
  console.log('ok 1 - the package @mujoco/mujoco # SKIP SIM_MUJOCO names no folder that has it');
}
for (let k = 0; mujoco && k < files.length; k++) {
  let result;
  try {
    result = compareFile(mujoco, program, Number(states), files[k]);
  } catch (error) {
    result = {failed: String(error.message ?? error).split('\n')[0]};
  }
  const figures = result.worst ? Object.entries(result.worst).map(([name, x]) => `${name} ${x.toExponential(1)}`).join(', ') : '';
  const good = result.skipped || (result.worst && Object.values(result.worst).every((x) => x <= TOLERANCE));
  const note = result.skipped ? ` # SKIP ${result.skipped}` : result.failed ? `: ${result.failed}` : `: ${figures}`;
  console.log(`${good ? 'ok' : 'not ok'} ${k + 1} - ${path.basename(path.dirname(files[k]))}/${path.basename(files[k])}${note}`);
}
