// Tracks of sensors, actuators, phases and events, by the kinds that src/view/page/readings.c has.

/** [{ track, name, unit, kind, of, ... }] of a kind. */
export const tracksOf = ({ tracks }, kind) => tracks.map((track, k) => ({ ...track, track: k })).filter((track) => track.kind === kind);

/** State machines: tracks of their phase, each with the track of the time since it began. */
export function machinesOf(scene) {
  const elapsed = new Map(tracksOf(scene, 'elapsed').map(({ of, track }) => [of, track]));
  return tracksOf(scene, 'phase').map((machine) => ({ ...machine, elapsed: elapsed.get(machine.of) }));
}

/** Records tell no beginnings of phases: there a phase begins with the first frame that has it. */
export function findBeginnings({ scene, track, time }) {
  for (const machine of machinesOf(scene)) {
    const [phase, elapsed] = [track[machine.track], track[machine.elapsed]];
    if (elapsed.some(Number.isFinite)) continue;
    let began = 0;
    for (let k = 0; k < time.length; k++) {
      if (k > 0 && phase[k] !== phase[k - 1]) began = k;
      elapsed[k] = phase[k] >= 0 ? time[k] - time[began] : NaN;
    }
  }
}
