// The human's aim: when a missile may be launched, and where the enemy is.

const offNose = (angle, own) => Math.atan2(Math.sin(angle - own.heading), Math.cos(angle - own.heading));

/** Returns an angle off the nose as an hour, the nose at twelve. */
function hourOf(bearing) {
  return ((Math.round((-bearing / (2 * Math.PI)) * 12) + 11) % 12) + 1;
}

/** Returns the range of a target [m] and its place in the launch zones of the first fighter of a pair, a name of `names`. */
function zoneAt(zones, pair, kind, own, target, names) {
  const { inside, between, beyond, near } = names;
  if (zones.flyOuts) {
    const zone = flownZone(zones.flyOuts.hits(pair, own, target, kind), names);
    return { range: Math.hypot(target.x - own.x, target.y - own.y), zone };
  }
  const bearing = Math.atan2(target.y - own.y, target.x - own.x);
  const [aero, nez, , minimum] = zones.edges(own, target, [bearing]);
  const range = distance(own, target);
  if (range > aero) return { range, zone: beyond };
  if (range < minimum) return { range, zone: near };
  return { range, zone: range <= nez ? inside : between };
}

/** Returns the place of a target in the launch zones with height, by `FlyOuts.hits`. */
function flownZone(hits, { inside, between, beyond }) {
  if (hits.every(Boolean)) return inside;
  return hits[0] ? between : beyond;
}

/**
 * Returns {words, isGood} about a fighter's next launch, by its knowledge; good: its target is inside R_NEZ. With
 * height `flown` has the last fly-outs of a shot, which take too long for every picture.
 */
function aimOf({ sim, fight }, known, seat, time, names, flown) {
  const { alive, ammunition, ready } = sim.read("fighter");
  const target = fight.targetOf(seat);
  if (!alive[seat]) {
    const isAlone = !sim.membersOf(sim.sideOf(seat)).some((number) => alive[number]);
    if (!isAlone && fight.length === Infinity) return { words: "shot down: fly another fighter", isGood: false };
    const flying = fight.inTheAir(seat, time).length;
    const waits = flying && fight.length === Infinity;
    return { words: waits ? `shot down; ${flying} of your missiles still fly` : "shot down", isGood: false };
  }
  const states = known.states(time);
  const [own, enemy] = [states[seat], states[target]];
  const isTracked = Boolean(enemy && alive[target] && enemy.tracked !== false);
  const zoneNow = () => (flown ? flownZone(flown, names) : zoneAt(known.zones, [seat, target], 0, own, enemy, names).zone);
  const zone = isTracked ? zoneNow() : undefined;
  const bearing = isTracked ? offNose(Math.atan2(enemy.y - own.y, enemy.x - own.x), own) : 0;
  const name = sim.isTeam ? fight.callsigns[target] : "enemy";
  const place = isTracked ? `, ${name} at ${hourOf(bearing)} o'clock, ${zone}` : "";
  const wait = (ready[seat] - sim.read("engagement").time[0]) * sim.parameters.physics_dt;
  const isGood = ammunition[seat] > 0 && wait <= 0 && zone === names.inside;
  if (!ammunition[seat]) return { words: `no missile left${place}`, isGood };
  if (!isTracked && known.contacts) return { words: "no track: nothing to launch at", isGood };
  return { words: `${wait > 0 ? `next missile in ${wait.toFixed(1)} s` : "missile ready"}${place}`, isGood };
}
