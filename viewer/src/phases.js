// In which phase each state machine is at the moment shown, and for how long.
import { escape } from './plots.js';
import { machinesOf } from './readings.js';
import { quantity } from './units.js';

export class Phases {
  constructor(title, app) {
    this.app = app;
    this.machines = machinesOf(app.scene);
    this.element = document.createElement('p');
    this.element.id = 'phases';
    this.element.hidden = !this.machines.length;
    title.querySelector('.facts').after(this.element);
  }

  draw() {
    const { source, player } = this.app;
    const k = player.nearest;
    const html = this.machines.map(({ name, phases, track, elapsed }) => {
      const phase = phases[source.track[track][k]];
      const since = source.track[elapsed][k];
      const told = phase === undefined ? 'not begun' : `<b>${escape(phase)}</b> for ${quantity(Math.max(since, 0), 's', 3, 1)}`;
      return `<span>${escape(name)}: ${told}</span>`;
    }).join('');
    if (html !== this.html) this.element.innerHTML = this.html = html;
  }
}
