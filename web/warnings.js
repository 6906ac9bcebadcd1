// Warnings of inbound missiles: their direction and their time to impact.

const BEHIND = (150 * Math.PI) / 180; // least bearing of a missile that is behind and should stay there

/** Returns {text, advice} about the most pressing missile that flies at a seat; null if there is none. */
function warningOf(fight, known, seat, time) {
  const own = known.states(time)[seat];
  const threats = known.contact ? heardThreats(known, own, time) : seenThreats(fight, own, seat, time);
  if (!threats.length) return null;
  const [threat] = threats.sort((a, b) => a.seconds - b.seconds);
  const hour = ((Math.round((-threat.bearing / (2 * Math.PI)) * 12) + 11) % 12) + 1;
  const soon = threat.seconds < Infinity ? `, ${threat.seconds.toFixed(0)} s` : "";
  const advice = Math.abs(threat.bearing) >= BEHIND
    ? "keep it behind you"
    : `turn ${threat.bearing > 0 ? "right" : "left"} until it is behind you`;
  return { text: `Missile at ${hour} o'clock${soon}`, advice };
}

const offNose = (angle, own) => Math.atan2(Math.sin(angle - own.heading), Math.cos(angle - own.heading));

/** Returns the missiles with a lock on the own fighter; their ranges are unknown. */
function heardThreats(known, own, time) {
  return known.warningsAt(time)
    .filter(({ seeker }) => seeker)
    .map(({ bearing }) => ({ bearing: offNose(bearing, own), seconds: Infinity }));
}

/** Returns all missiles in the air that close in. */
function seenThreats(fight, own, seat, time) {
  return fight.missiles
    .filter((missile) => missile.entries.targets.at(-1) === seat && phaseOf(missile, time) === "flying")
    .map((missile) => {
      const state = stateAt(missile, time);
      const closing = closingSpeed(own, state);
      const bearing = offNose(Math.atan2(state.y - own.y, state.x - own.x), own);
      return { bearing, seconds: closing > 0 ? distance(own, state) / closing : Infinity };
    })
    .filter(({ seconds }) => seconds < Infinity);
}
