// The debriefing: the reasons for the result of a fight, as in show/play/debrief.py, whose sentences the tables have.

const AWAY = Math.PI / 3; // least angle off the launcher at which a target has turned away
const LEAST_TURN = Math.PI / 6; // and least change of that angle

/** Fills the places {name} of a sentence. */
function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

const minutes = (time) => `${Math.floor(time / 60)}:${String(Math.floor(time) % 60).padStart(2, "0")}`;

/** Returns the range of a missile's launch [m], and the place of the target in its launcher's zones. */
function launchZone(fight, missile, names) {
  const states = fight.states(missile.launched + 1e-6);
  const { owner, kind, entries: { targets: [target] } } = missile;
  return zoneAt(fight.zones, [owner, target], kind, states[owner], states[target], names);
}

/**
 * Returns some sentences about a finished fight for the pilot of a fighter. `checks` are those of its `Lookout`; the
 * sentences and the manoeuvres are the tables of the package.
 */
function debrief(fight, seat, checks, { debrief: { words, zones, last }, manoeuvres }) {
  const hits = fight.missiles.filter(({ fate }) => fate === HIT);
  const targetOf = ({ entries }) => entries.targets.at(-1);
  const kills = hits.filter(({ owner }) => owner === seat);
  const deaths = hits.filter((missile) => targetOf(missile) === seat).slice(0, 1);
  const nameOf = (number) => (fight.isTeam ? fight.callsigns[number] : "The enemy");
  const say = (name, values) => fill(words[name], values);
  const fired = (missile) => {
    const { range, zone } = launchZone(fight, missile, zones);
    const hit = fight.isTeam ? `hit ${nameOf(targetOf(missile))}` : "hit";
    return { time: minutes(missile.launched), range: formatKm(range), zone, hit };
  };
  const ofKill = (missile) => {
    const values = fired(missile);
    if (values.zone === zones.inside) return [say("kill_inside", values)];
    if (values.zone !== zones.between) return [say("kill_other", values)];
    return [say(hasTurned(fight, missile) ? "kill_late" : "kill_straight", values)];
  };
  const ofDeath = (missile) => {
    const values = fired(missile);
    const chance = checks.findLast(({ time, isOpen }) => isOpen && time >= missile.launched);
    if (chance) return [say("death", values), say("chance", { time: minutes(chance.time), how: fight.hasHeight ? "a dive, full rudder" : "full rudder" })];
    return [say("death", values), say(values.zone === zones.inside ? "inside" : "closed", { shown: "" })];
  };
  const ofLock = (missile) => {
    const { times, guided } = missile.entries;
    const lock = times[guided.indexOf(ACTIVE)];
    const hit = say(missile.owner === seat ? "kill_lock" : "death_lock", { time: minutes(missile.launched) });
    return [hit, lock === undefined ? words.no_lock : say("lock", { time: minutes(lock) })];
  };
  const lines = fight.radar
    ? [...kills, ...deaths].flatMap(ofLock)
    : [...kills.flatMap(ofKill), ...deaths.flatMap(ofDeath)];
  const shots = fight.missiles.filter(({ owner }) => owner === seat).map((missile) => fired(missile).zone);
  const counts = Object.values(zones).filter((zone) => shots.includes(zone))
    .map((zone) => `${shots.filter((other) => other === zone).length} ${zone}`);
  const isCrash = ({ number, died }) => fight.hasHeight && died !== null && !hits.some((hit) => targetOf(hit) === number);
  for (const { number } of fight.fighters.filter(isCrash)) {
    lines.push(`${number === seat ? "You" : nameOf(number)} flew into the ground.`);
  }
  const lastManoeuvres = (number) => {
    const done = new Set(manoeuvresOf(fight, number, manoeuvres).slice(-last)
      .map(({ manoeuvre }) => manoeuvreInWords(fight, number, manoeuvre, manoeuvres.words)));
    const name = number === seat ? "You" : nameOf(number);
    return done.size ? [say("at_last", { name, done: [...done].join(", then ") })] : [];
  };
  const nothing = fight.isTeam ? words.no_hit_team : words.no_hit;
  return [
    ...(fight.isTeam ? [say("flown", { name: nameOf(seat) })] : []),
    ...(lines.length ? lines : [nothing]),
    counts.length ? say("shots", { shots: counts.join(", ") }) : words.no_shots,
    ...[...deaths.map(({ owner }) => owner), seat].flatMap(lastManoeuvres),
  ];
}

/** True if a missile's target turned away from the place of the launch. */
function hasTurned(fight, { owner, launched, entries }) {
  const place = stateAt(fight.fighters[owner], launched);
  const { times, x, y, heading } = fight.fighters[entries.targets.at(-1)].entries;
  const first = Math.max(lastNotAfter(times, launched), 0);
  const off = heading.slice(first).map((angle, i) => (
    Math.abs(offNose(Math.atan2(place.y - y[first + i], place.x - x[first + i]), { heading: angle }))));
  return Math.max(...off) > Math.max(AWAY, off[0] + LEAST_TURN);
}
