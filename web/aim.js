// The human's aim: when a missile may be launched, and where the enemy is.

const offNose = (angle, own) => Math.atan2(Math.sin(angle - own.heading), Math.cos(angle - own.heading));

/** Returns an angle off the nose as an hour, the nose at twelve. */
function hourOf(bearing) {
  return ((Math.round((-bearing / (2 * Math.PI)) * 12) + 11) % 12) + 1;
}

/** Returns the place of a target [m] and in the launch zones, a name of `names`. */
function zoneAt(zones, own, target, { inside, between, beyond, near }) {
  const bearing = Math.atan2(target.y - own.y, target.x - own.x);
  const [aero, nez, , minimum] = zones.edges(own, target, [bearing]);
  const range = distance(own, target);
  if (range > aero) return { range, zone: beyond };
  if (range < minimum) return { range, zone: near };
  return { range, zone: range <= nez ? inside : between };
}

/** Returns {words, isGood} about a seat's next launch, by its knowledge; good: the enemy is inside R_NEZ. */
function aimOf({ sim, fight }, known, seat, time, names) {
  const { alive, ammunition, ready } = sim.read("fighter");
  if (!alive[seat]) {
    const flying = fight.inTheAir(seat, time).length;
    const waits = flying && fight.length === Infinity;
    return { words: waits ? `shot down; ${flying} of your missiles still fly` : "shot down", isGood: false };
  }
  const states = known.states(time);
  const [own, enemy] = [states[seat], states[1 - seat]];
  const isTracked = alive[1 - seat] && enemy.tracked !== false;
  const { zone } = isTracked ? zoneAt(known.zones, own, enemy, names) : {};
  const bearing = offNose(Math.atan2(enemy.y - own.y, enemy.x - own.x), own);
  const place = isTracked ? `, enemy at ${hourOf(bearing)} o'clock, ${zone}` : "";
  const wait = (ready[seat] - sim.read("engagement").time[0]) * sim.parameters.physics_dt;
  const isGood = ammunition[seat] > 0 && wait <= 0 && zone === names.inside;
  if (!ammunition[seat]) return { words: `no missile left${place}`, isGood };
  if (!isTracked && known.contact) return { words: "no track: nothing to launch at", isGood };
  return { words: `${wait > 0 ? `next missile in ${wait.toFixed(1)} s` : "missile ready"}${place}`, isGood };
}
