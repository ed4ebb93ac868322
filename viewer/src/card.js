// The selected body: what it is and where it is now.
import { touching } from './motion.js';
import { escape } from './plots.js';
import { digits, quantity } from './units.js';

export function drawCard(element, scene, source, player, body, following) {
  element.hidden = body <= 0;
  if (body <= 0) return;
  const own = scene.bodies[body];
  const k = player.nearest;
  const frame = source.frame(k);
  if (!frame) return;
  const at = frame.at + 7 * body;
  const [x, y, z] = frame.pose.slice(at, at + 3);
  const row = (name, value) => `<dt>${name}</dt><dd>${value}</dd>`;
  const pressed = touching(scene, frame.contacts, body);
  element.innerHTML = `<h3>${escape(own.name)}</h3><dl>
    ${row('joint', escape(own.joint) + (own.parent ? ` on ${escape(scene.bodies[own.parent].name)}` : ''))}
    ${row('mass', `${digits(own.mass, 4)} kg`)}
    ${row('position', `${[x, y, z].map((v) => digits(Number(v.toPrecision(4)), 4)).join(', ')} m`)}
    ${row('speed', quantity(speed(source, k, body), 'm/s', 3))}
    ${row('contacts', pressed.count ? `${pressed.count}, ${quantity(pressed.force, 'N', 3)} in all` : 'none')}
    </dl><p>${following ? 'followed: V lets go' : 'V follows'} · X plots it · Esc</p>`;
}

/** From frame to frame. */
function speed(source, k, body) {
  const a = source.frame(Math.max(k - 1, 0));
  const b = source.frame(Math.min(Math.max(k, 1), source.time.length - 1));
  const span = source.time[Math.min(Math.max(k, 1), source.time.length - 1)] - source.time[Math.max(k - 1, 0)];
  if (!a || !b || !(span > 0)) return NaN;
  let sum = 0;
  for (let i = 0; i < 3; i++) sum += (b.pose[b.at + 7 * body + i] - a.pose[a.at + 7 * body + i]) ** 2;
  return Math.sqrt(sum) / span;
}
