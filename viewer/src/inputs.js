// Sliders of actuators: targets and control inputs, which steer a run that goes on.  An input that was set by hand holds until
// its button gives it back to its track or its controller.
import { escape } from './plots.js';
import { tracksOf } from './readings.js';
import { quantity } from './units.js';

const WIDE = 5; // typical bodies: reach of a slider for a distance without ends
const STRONG = 10; // weights of the mean body: the same for a force
const TITLES = { target: 'Targets', ctrl: 'Control inputs' };

/** Ends of a slider: those of the input, else far enough for its unit and its value. */
function endsOf({ range: [low, high], unit, track }, { scene, track: values }) {
  const usual = { rad: Math.PI, m: WIDE * scene.typical, N: STRONG * scene.force, 'N m': STRONG * scene.force * scene.typical }[unit] ?? 1;
  const reach = Math.max(usual, 2 * Math.abs(values[track].find(Number.isFinite) ?? 0));
  return { low: low ?? Math.min(-reach, (high ?? 0) - reach), high: high ?? Math.max(reach, (low ?? 0) + reach) };
}

export class Inputs {
  constructor(element, app) {
    this.app = app;
    this.sliders = Object.keys(TITLES).flatMap((kind) => tracksOf(app.scene, kind))
      .map((slider) => ({ ...slider, ...endsOf(slider, app.source) }));
    const section = document.createElement('section');
    for (const [kind, title] of Object.entries(TITLES)) {
      const rows = this.sliders.filter((slider) => slider.kind === kind).map((slider) => this.#row(slider));
      if (!rows.length) continue;
      const head = document.createElement('h3');
      head.textContent = title;
      section.append(head, ...rows);
    }
    element.prepend(section);
  }

  #row(slider) {
    const row = document.createElement('label');
    row.innerHTML = `<span>${escape(slider.name)}</span><output></output><button title="Give it back to its track or controller" aria-label="Give back" hidden>↺</button>
      <input type="range" min="${slider.low}" max="${slider.high}" step="any">`;
    [slider.text, slider.back, slider.input] = row.querySelectorAll('output, button, input');
    slider.input.addEventListener('input', () => this.set(slider, Number(slider.input.value)));
    slider.input.addEventListener('change', () => slider.input.blur()); // the keys are the page's again
    slider.back.addEventListener('click', () => { this.set(slider, null); slider.back.blur(); });
    return row;
  }

  set({ of, kind }, value) { this.app.source.send({ do: 'input', actuator: of, kind, value }); }

  isSet({ of, kind }) { return this.app.source.state[kind].includes(of); }

  /** At the moment shown; NaN: none. */
  value({ track }) { return this.app.source.track[track][this.app.player.nearest]; }

  /** Without a target a slider stands where the joint is. */
  #place({ joint, gear }) {
    const { scene, source, player } = this.app;
    const track = joint ? scene.tracks.findIndex(({ body, coordinate }) => body === joint[0] && coordinate === joint[1]) : -1;
    return track < 0 ? 0 : gear * source.track[track][player.nearest];
  }

  draw() {
    for (const slider of this.sliders) {
      const value = this.value(slider);
      const given = Number.isFinite(value);
      if (document.activeElement !== slider.input) slider.input.value = given ? value : this.#place(slider);
      slider.text.textContent = given ? quantity(value, slider.unit, 3) : 'led';
      slider.back.hidden = !this.isSet(slider);
    }
  }
}
