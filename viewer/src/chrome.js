// What stands around the picture: title, buttons, transport, legend.
import { escape } from './plots.js';
import { digits, quantity } from './units.js';

const ICONS = {
  play: '<path d="M8 5v14l11-7z"/>',
  pause: '<path d="M7 5h4v14H7zM13 5h4v14h-4z"/>',
  back: '<path d="M17 6v12l-9-6zM6 6h2v12H6z"/>',
  forth: '<path d="M7 6v12l9-6zM16 6h2v12h-2z"/>',
  start: '<path d="M18 6v12l-8-6zM10 6v12l-8-6z"/>',
};
const icon = (name) => `<svg viewBox="0 0 24 24" aria-hidden="true">${ICONS[name]}</svg>`;
const $ = (id) => document.getElementById(id);

export function writeTitle(scene, source) {
  const moved = scene.bodies.filter((b) => b.dofs > 0).length;
  const facts = [
    `${moved} moving ${moved === 1 ? 'body' : 'bodies'}`,
    scene.solver ? `solver ${scene.solver}` : 'no contacts',
    scene.integrator,
    `step ${quantity(scene.step, 's', 4)}`,
  ];
  document.title = `${scene.name || 'Run'} · sim`;
  $('title').innerHTML = `<h1>${escape(scene.name || 'Untitled scene')}</h1>
    <p class="facts">${facts.map((fact) => `<span>${escape(fact)}</span>`).join('')}</p>
    <p class="about" hidden>${escape(scene.description || 'The scene has no description.')}
    <small>sim ${escape(scene.sim)}, ${source.time.length} frames, scene ${escape(scene.hash.slice(0, 12))}</small></p>`;
}

/** In place of the solver's name, the choice of another. */
export function buildSolvers(scene, source) {
  const place = [...document.querySelectorAll('#title .facts span')].find((span) => span.textContent === `solver ${scene.solver}`);
  if (!place) return;
  place.innerHTML = `<label>solver <select>${scene.solvers.map((name) => `<option>${escape(name)}</option>`).join('')}</select></label>`;
  const choice = place.querySelector('select');
  choice.addEventListener('change', () => { source.send({ do: 'solver', name: choice.value }); choice.blur(); });
  source.listen(() => { if (document.activeElement !== choice) choice.value = source.state.solver; });
  choice.value = source.state.solver;
}

export function buildTools(table, after) {
  const buttons = table.filter((action) => action.button).map((action) => {
    const button = document.createElement('button');
    button.textContent = action.button;
    button.title = `${action.name} (${action.show ?? action.keys[0]})`;
    button.addEventListener('click', (event) => { action.run(event); after(); button.blur(); });
    $('tools').append(button);
    return { button, action };
  });
  return () => {
    for (const { button, action } of buttons) {
      if (action.state) button.setAttribute('aria-pressed', String(Boolean(action.state())));
    }
  };
}

export function buildTransport(player, recorder, after) {
  const bar = $('transport');
  bar.innerHTML = `<button id="start" title="Back to the start (Backspace)">${icon('start')}</button>
    <button id="back" title="Frame before (←)">${icon('back')}</button>
    <button id="play" title="Play, pause (Space)">${icon('play')}</button>
    <button id="forth" title="Next frame (→)">${icon('forth')}</button>
    <output id="clock"></output>
    <input id="scrub" type="range" min="0" max="10000" step="1" value="0" aria-label="Time">
    <output id="end"></output>
    <button id="slower" title="Slower (−)">−</button><output id="speed"></output><button id="faster" title="Faster (+)">+</button>
    <button id="record" aria-label="Record" title="Record a film, end and save it (R; Shift: pictures in PNG)"><span></span></button>`;
  const on = (id, run) => $(id).addEventListener('click', () => { run(); after(); $(id).blur(); });
  on('start', () => player.reset());
  on('back', () => player.step(-1));
  on('forth', () => player.step(1));
  on('play', () => player.play());
  $('record').addEventListener('click', (event) => { recorder.toggle(event.shiftKey); after(); $('record').blur(); });
  on('slower', () => player.faster(-1));
  on('faster', () => player.faster(1));
  const scrub = $('scrub');
  scrub.addEventListener('input', () => player.seek(player.start + (scrub.value / 10000) * player.duration));
  scrub.addEventListener('keydown', (event) => { event.preventDefault(); scrub.blur(); });
  let shown = null;
  return () => {
    const decimals = Math.max(2, Math.min(6, 3 - Math.floor(Math.log10(player.duration || 1))));
    $('clock').textContent = `${player.now.toFixed(decimals)} s`;
    $('end').textContent = `${digits(player.end, 5)} s`;
    const speed = player.speed >= 1 ? `${player.speed}×` : `1/${1 / player.speed}×`;
    const { rate } = player.source.state ?? {};
    $('speed').textContent = rate >= 0 ? `${speed} (${rate.toFixed(2)})` : speed;
    $('speed').title = rate >= 0 ? 'asked for, and simulated seconds a second' : '';
    const f = player.duration > 0 ? (player.now - player.start) / player.duration : 0;
    scrub.value = String(Math.round(10000 * f));
    scrub.style.setProperty('--done', `${100 * f}%`);
    $('record').setAttribute('aria-pressed', String(recorder.on));
    const wanted = player.playing ? 'pause' : 'play';
    if (wanted !== shown) $('play').innerHTML = icon(wanted);
    shown = wanted;
  };
}

/** What the colours and lengths of contacts mean. */
export function drawLegend(contacts, now) {
  const legend = $('legend');
  const any = now && now.count > 0 && (contacts.points || contacts.forces);
  legend.hidden = !any;
  if (!any) return;
  const counts = [0, 0, 0];
  for (let k = 0; k < now.count; k++) counts[now.state[k]]++;
  const colors = contacts.byDepth
    ? `<span class="ramp"></span><span>0 … ${quantity(contacts.deepest, 'm', 2)} deep</span>`
    : ['open', 'stick', 'slip'].map((name, k) => (counts[k] || name !== 'open'
      ? `<span class="key ${name}"></span><span>${name === 'open' ? 'open' : `${name}s`} <b>${counts[k]}</b></span>` : '')).join('');
  const arrow = contacts.forces ? `<span>arrows ${quantity(1 / contacts.scale, 'N', 2)}/m</span>` : '';
  const patch = contacts.points && contacts.most > 0 ? `<span>discs: areas, up to ${quantity(contacts.most, 'Pa', 2)}</span>` : '';
  const html = colors + patch + arrow;
  if (legend.dataset.html !== html) {
    legend.dataset.html = html;
    legend.innerHTML = html;
  }
}
