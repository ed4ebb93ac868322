// All that a user can do by a key or a button: one table, for the keyboard, the buttons and the help.
// Keys are those that users of MuJoCo's viewer know, where there is such a thing here.
export const actions = (app) => [
  { group: 'Time', keys: ['Space'], name: 'play, pause', run: () => app.player.play() },
  { keys: ['ArrowRight'], show: '→', name: app.source.live ? 'a step (Shift: ten)' : 'next frame (Shift: ten)', run: (e) => app.player.step(e.shiftKey ? 10 : 1) },
  { keys: ['ArrowLeft'], show: '←', name: 'frame before (Shift: ten)', run: (e) => app.player.step(e.shiftKey ? -10 : -1) },
  { keys: ['.'], name: 'next frame', run: () => app.player.step(1), quiet: true },
  { keys: ['Backspace', 'Home'], show: '⌫', name: app.source.live ? 'start again' : 'back to the start', run: () => app.player.reset() },
  { keys: ['End'], name: 'to the end', run: () => app.player.seek(app.player.end) },
  { keys: ['+', '='], show: '+', name: 'faster', run: () => app.player.faster(1) },
  { keys: ['-', '_'], show: '−', name: 'slower', run: () => app.player.faster(-1) },
  { keys: ['l'], show: 'L', name: 'again and again', quiet: app.source.live, state: () => app.player.loop, run: () => { app.player.loop = !app.player.loop; } },

  { keys: ['r'], show: 'R', name: 'record a film, end and save it (Shift: pictures in PNG)', state: () => app.recorder.on,
    run: (e) => app.recorder.toggle(e.shiftKey) },

  { group: 'What is shown', keys: ['c'], show: 'C', button: 'Contacts', name: 'contact points', state: () => app.contacts.points,
    run: () => { app.contacts.points = !app.contacts.points; } },
  { keys: ['f'], show: 'F', button: 'Forces', name: 'contact forces', state: () => app.contacts.forces,
    run: () => { app.contacts.forces = !app.contacts.forces; } },
  { keys: ['p'], show: 'P', button: 'Depth', name: 'contacts coloured by depth, not by stick and slip', state: () => app.contacts.byDepth,
    run: () => { app.contacts.byDepth = !app.contacts.byDepth; } },
  { keys: ['j'], show: 'J', button: 'Joints', name: 'joint frames and axes', state: () => app.marks.axes.visible,
    run: () => { app.marks.axes.visible = app.marks.hinges.visible = !app.marks.axes.visible; } },
  { keys: ['e'], show: 'E', name: 'frames of bodies', state: () => app.marks.frames.visible,
    run: () => { app.marks.frames.visible = !app.marks.frames.visible; } },
  { keys: ['m'], show: 'M', button: 'Mass', name: 'centres of mass', state: () => app.marks.centres.visible,
    run: () => { app.marks.centres.visible = !app.marks.centres.visible; } },
  { keys: ['i'], show: 'I', name: 'inertia, as boxes that have the same', state: () => app.marks.boxes.visible,
    run: () => { app.marks.boxes.visible = !app.marks.boxes.visible; } },
  { keys: ['n'], show: 'N', name: 'islands: what contacts join has one colour', state: () => app.bodies.islands,
    run: () => app.bodies.setIslands(!app.bodies.islands) },
  { keys: ['w'], show: 'W', name: 'edges of the triangles alone', state: () => app.bodies.wireframe, run: () => app.bodies.setWireframe(!app.bodies.wireframe) },
  { keys: ['s'], show: 'S', name: 'shadows', state: () => app.stage.sun.castShadow, run: () => { app.stage.sun.castShadow = !app.stage.sun.castShadow; } },
  { keys: ['t'], show: 'T', button: 'Transparent', name: 'what moves is transparent', state: () => app.bodies.transparent,
    run: () => app.bodies.setTransparent(!app.bodies.transparent) },
  { keys: ['g'], show: 'G', button: 'Grid', name: 'ground and grid', state: () => app.ground.group.visible,
    run: () => { app.ground.group.visible = !app.ground.group.visible; } },
  { keys: ['0', '1', '2', '3', '4', '5'], show: '0 … 5', name: 'shapes of that collision group',
    run: (e) => { app.bodies.hiddenGroups ^= 1 << Number(e.key); app.bodies.place(); } },
  { keys: ['{'], name: 'shorter arrows', show: '{', run: () => { app.contacts.scale /= 2; app.contacts.chosen = true; } },
  { keys: ['}'], name: 'longer arrows', show: '}', run: () => { app.contacts.scale *= 2; app.contacts.chosen = true; } },

  { group: 'View', keys: ['['], name: 'camera before', run: () => app.look(-1) },
  { keys: [']'], button: 'Camera', name: 'next camera', run: () => app.look(1) },
  { keys: ['v'], show: 'V', name: 'follow the selected body', state: () => app.stage.following > 0, run: () => app.follow() },
  { keys: ['x'], show: 'X', name: 'plot where the selected body goes, and how fast', run: () => app.plotMotion() },
  { keys: ['Escape'], show: 'Esc', name: 'nothing selected, nothing followed', run: () => app.select(0) },
  { keys: ['d'], show: 'D', button: 'Dark', name: 'dark or light', state: () => app.theme === 'dark', run: () => app.setTheme(app.theme === 'dark' ? 'light' : 'dark') },

  { group: 'Panels', keys: ['b'], show: 'B', button: 'Bodies', name: 'the tree of bodies, to hide and select them', state: () => app.panels.tree, run: () => app.toggle('tree') },
  { keys: ['q'], show: 'Q', button: 'Sliders', name: app.source.live ? 'sliders: targets and control inputs of actuators; joints (pauses)' : 'sliders that move the joints while time stands', state: () => app.panels.joints, run: () => app.toggle('joints') },
  { keys: ['Tab', 'F4'], show: 'Tab', button: 'Plots', name: 'plots', state: () => app.panels.side, run: () => app.toggle('side') },
  { keys: ['F2'], show: 'F2', name: 'about this run', state: () => app.panels.about, run: () => app.toggle('about') },
  { keys: ['F3'], name: 'signals to plot', run: () => app.chooseSignals() },
  { keys: ['F1', '?', 'h'], show: 'F1', button: '?', name: 'this help', state: () => app.panels.help, run: () => app.toggle('help') },
];

export function bindKeys(table, after) {
  const byKey = new Map(table.flatMap((action) => action.keys.map((key) => [key, action])));
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (key === 'Tab' && document.activeElement?.closest('nav, aside, footer')) return; // from one control to the next
    const action = byKey.get(key);
    if (!action) return;
    event.preventDefault();
    action.run(event);
    after();
  });
}

const MOUSE = [
  ['drag', 'turn'], ['right drag, Shift drag', 'move'], ['wheel, pinch', 'nearer, farther'],
  ['double click', 'select a body; twice: follow it'], ['drag in a plot', 'to that time'],
];
const LIVE_MOUSE = [['Ctrl drag', 'pull a body by a spring']];

export function helpHtml(table, live) {
  let html = '<div class="sheet"><h2>Keys</h2><div class="columns">';
  let open = false;
  for (const { group, show, keys, name, quiet } of table) {
    if (group) {
      html += `${open ? '</dl></div>' : ''}<div><h3>${group}</h3><dl>`;
      open = true;
    }
    if (!quiet) html += `<dt><kbd>${show ?? keys[0]}</kbd></dt><dd>${name}</dd>`;
  }
  html += '</dl></div><div><h3>Mouse and touch</h3><dl>';
  for (const [how, what] of live ? [...LIVE_MOUSE, ...MOUSE] : MOUSE) html += `<dt>${how}</dt><dd>${what}</dd>`;
  return `${html}</dl></div></div></div>`;
}
