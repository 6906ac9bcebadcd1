// A fight that is being flown: a `Fight` for the drawings whose paths grow.

const [FLYING, HIT, SPENT, GONE] = ["flying", "hit", "spent", "lost"]; // GONE: another missile killed its target
const SPEED_OF_SOUND = 340; // m/s
const BODY_COLUMNS = ["times", "x", "y", "speed", "heading", "rudder", "load"];
const HEIGHT_COLUMNS = ["z", "climb", "lift"];
const SYSTEMS_COLUMNS = ["silent", "chaff", "cloud_x", "cloud_y", "cloud_z"]; // of a fighter; a place only with a cloud
const GUIDED_BY = { [LIVE]: SUPPORTED, [MEMORY]: SUPPORTED, [LINKED]: RELAYED }; // by the source of the owner's contact

/** Returns the two fighters whose launch zones and range are shown: in teams a fighter and its target, else its threat. */
function livePair(fight, chosen, time) {
  return fight.isTeam ? [chosen, fight.targetOf(chosen) ?? fight.threatOf(chosen, time)] : [0, 1];
}

/** A side's knowledge of a fight that is being flown. */
class LiveSide extends SideFight {
  zoneIn(pair, place, time, state) {
    return this.zones.at(time, pair, place, state);
  }

  pairAt(chosen, time) {
    return livePair(this, chosen, time);
  }

  /** Returns the nearest enemy with a track, or if there is none the nearest contact. */
  threatOf(number, time) {
    if (!this.isTeam) return 1 - number;
    const states = this.states(time);
    const order = ({ number: enemy }) => (states[enemy].tracked ? 0 : 1e9) + distance(states[number], states[enemy]);
    return this.fighters.filter(({ side }) => side === this.enemy).reduce((a, b) => (order(b) < order(a) ? b : a)).number;
  }
}

class LiveFight extends Fight {
  /** `names` are of the sides' players; `targetOf` returns the enemy of a human's shots, undefined if there is none. */
  constructor(sim, names, targetOf = () => undefined) {
    const { parameters, sizes, core: { tables } } = sim;
    const [red, blue] = [0, 1].map((side) => sim.membersOf(side));
    const nameOf = (number) => (sim.isTeam ? `${SEATS[sim.sideOf(number)]}_${number - sim.sideOf(number) * sizes[0]}` : SEATS[number]);
    const bodyColumns = [...BODY_COLUMNS, ...(sim.hasHeight ? HEIGHT_COLUMNS : [])];
    super({
      names,
      sizes,
      callsigns: [...red, ...blue].map(nameOf),
      outcome: "open",
      length: Infinity, // until it is over
      gravity: parameters.gravity,
      mach: SPEED_OF_SOUND,
      sound: sim.hasHeight ? tables.sound : null,
      fighters: [...red, ...blue].map((number) => (
        { number, side: sim.sideOf(number), died: null, entries: emptyEntries([...bodyColumns, "throttle", "ammo", ...(sim.hasSystems ? SYSTEMS_COLUMNS : [])]) })),
      missiles: [],
      radar: sim.hasSensors ? parameters : null,
    });
    Object.assign(this, { sim, targetOf, bodyColumns, slots: new Map(), stamp: 0, games: new Map() });
    this.hits = this.fighters.map(() => 0);
    this.flown = sim.hasHeight ? drawnTypes(sim) : null; // types of aircraft and missiles
    this.flyOuts = this.flown ? new FlyOuts(sim, this.flown) : null;
    this.zones = this._zonesOf(() => this);
    this.graphs = this.fighters.map(({ number }) => new LiveGraph(() => this._pairNow(number), number));
    this.beliefs = this.fighters.map(({ number }) => new LiveGraph(() => this._believed(number), number));
    this.contactLog = new ContactLog(sim);
    this.sides = [null, null];
    this.sideZones = this.sides.map((_, side) => this._zonesOf(() => this.sides[side]));
    this.note();
  }

  /** The simulation's time [s]. */
  get now() {
    return this.sim.read("engagement").time[0] * this.sim.parameters.physics_dt;
  }

  /** Returns the launch zones of a picture of the fight. */
  _zonesOf(fightNow) {
    return this.flyOuts ? new FlownZones(this.flyOuts, fightNow) : new LiveZones(this.sim.core, this.sim, fightNow);
  }

  zoneIn(pair, place, time, state) {
    return this.zones.at(time, pair, place, state);
  }

  pairAt(chosen, time) {
    return livePair(this, chosen, time);
  }

  /** Returns the living enemy nearest to a fighter over the ground; if none lives, the nearest of the dead. */
  threatOf(number) {
    if (!this.isTeam) return 1 - number;
    const { alive, x, y } = this.sim.read("fighter");
    const order = (enemy) => (alive[enemy] ? 0 : 1e9) + Math.hypot(x[enemy] - x[number], y[enemy] - y[number]);
    return this.sim.membersOf(1 - this.sideOf(number)).reduce((a, b) => (order(b) < order(a) ? b : a));
  }

  /** Returns a side's present knowledge of the fight. */
  knownTo(side) {
    const members = this.sim.membersOf(side);
    const receivers = members.map((own) => this.contactLog.receiver(own));
    const graphs = members.map((number) => this.beliefs[number]);
    const known = { contacts: this.contactLog.best[side], receivers, graphs, zones: this.sideZones[side] };
    this.sides[side] = new LiveSide({ ...this, known: [known, known] }, side);
    return this.sides[side];
  }

  /** Returns a game that is made once for each decision: {sim, stamp, side, enemy, slots}, for a `LiveGraph`. */
  _gameOnce(key, number, enemy, make) {
    if (this.games.get(key)?.stamp !== this.stamp) {
      this.games.get(key)?.sim.destroy();
      this.games.set(key, { stamp: this.stamp, side: this.sideOf(number), enemy, ...make() });
    }
    return this.games.get(key);
  }

  /** Returns the game of a fighter and its threat. */
  _pairNow(number) {
    const { sim, stamp } = this;
    if (!this.isTeam) return { sim, stamp, side: number, enemy: 1 - number };
    const enemy = this.threatOf(number);
    return this._gameOnce(`truth ${number}`, number, enemy, () => pairGame(sim, number, enemy));
  }

  /** Returns the game that a fighter believes in. */
  _believed(number) {
    const enemy = this.isTeam ? this.knownTo(this.sideOf(number)).threatOf(number, this.now) : 1 - number;
    return this._gameOnce(`believed ${number}`, number, enemy, () => ({ sim: believedGame(this.sim, number, enemy) }));
  }

  destroy() {
    this.games.forEach(({ sim }) => sim.destroy());
    this.flyOuts?.destroy();
  }

  /** Adds the present places of everything. */
  note() {
    const time = this.now;
    this.stamp += 1; // results computed from the state before are outdated
    const states = this.sim.read("fighter");
    const systems = this.sim.hasSystems ? this.sim.read("systems") : null;
    const before = this.fighters.map(({ entries }) => entries.ammo.at(-1));
    const killed = this.fighters.filter((fighter) => this._noteFighter(fighter, states, systems, time));
    const known = this.missiles.length;
    const ended = this._noteMissiles(time);
    const unseen = this._noteUnseen(before, this.missiles.slice(known), time);
    for (const missile of [...ended, ...unseen]) {
      missile.fate = this.fighters[missile.entries.targets.at(-1)].died === null ? SPENT : GONE;
    }
    this._markHits(killed, ended, unseen, states.hits, time);
    for (const missile of unseen.filter(({ fate }) => fate !== HIT)) {
      this._end(missile, placeOf(missile, 0), missile.entries.targets[0], time);
    }
    if (this.radar) this.contactLog.note(states, time);
    if (this.sim.read("engagement").outcome[0]) {
      this.length = time;
      this.outcome = outcomeWords(this.sim);
    }
  }

  /** Adds a fighter's state; returns true if it has just been killed. */
  _noteFighter(fighter, states, systems, time) {
    if (fighter.died !== null) return false;
    const { number: seat, entries } = fighter;
    this._add(entries, states, seat, "fighter", time);
    entries.throttle.push(states.throttle[seat]);
    entries.ammo.push(states.ammunition[seat]);
    if (systems) this._noteSystems(entries, mapValues(systems, (values) => values[seat]));
    if (states.alive[seat]) return false;
    fighter.died = time;
    return true;
  }

  _noteSystems(entries, { silent, chaff, x, y, z, cloud_end: end }) {
    const hasCloud = this.sim.read("engagement").time[0] < end;
    const place = hasCloud ? { cloud_x: x, cloud_y: y, cloud_z: z } : { cloud_x: NaN, cloud_y: NaN, cloud_z: NaN };
    for (const [name, value] of Object.entries({ silent, chaff, ...place })) entries[name].push(value);
  }

  _add(entries, states, index, kind, time) {
    const speed = states.v[index];
    const rudder = states.rudder[index];
    const heading = Math.atan2(states.s[index], states.c[index]);
    const row = { times: time, x: states.x[index], y: states.y[index], speed, heading, rudder };
    if (states.z) {
      Object.assign(row, { z: states.z[index], climb: Math.asin(Math.min(Math.max(states.u[index], -1), 1)) });
    }
    Object.assign(row, states.z ? this._meanLoads(entries, row) : { load: this._load(kind, speed, rudder) });
    for (const [name, value] of Object.entries(row)) entries[name].push(value);
  }

  /** Returns the mean acceleration by lift since the last entry, to the left and upward [g], as game/paths.py. */
  _meanLoads({ times, heading, climb }, now) {
    const since = now.times - times.at(-1);
    if (!(since > 0)) return { load: 0, lift: Math.cos(now.climb) };
    const rate = now.speed / since / this.gravity;
    return {
      load: rate * Math.cos(now.climb) * mixAngle(0, now.heading - heading.at(-1), 1),
      lift: rate * (now.climb - climb.at(-1)) + Math.cos(now.climb),
    };
  }

  /** Returns the lateral acceleration [g], positive to the left. */
  _load(kind, speed, rudder) {
    const { parameters } = this.sim;
    const limit = parameters[`${kind}_load_limit`] || Infinity;
    const load = (speed ** 2 * rudder) / parameters[`${kind}_turn_radius`] / parameters.gravity;
    return Math.min(Math.max(load, -limit), limit);
  }

  /** Extends the missiles' paths; returns those that have ended. */
  _noteMissiles(time) {
    const states = this.sim.read("missile");
    const guided = this._guided(states);
    const before = this.slots;
    this.slots = new Map();
    const ended = [];
    for (let slot = 0; slot < this.sim.counts.missile; slot += 1) {
      if (!states.active[slot]) continue;
      let known = before.get(slot);
      before.delete(slot);
      if (known && states.age[slot] <= known.age) {
        ended.push(known.missile); // another one has taken its slot
        known = null;
      }
      const missile = known ? known.missile : this._launched(states, slot, time);
      this._add(missile.entries, states, slot, "missile", time);
      missile.entries.targets.push(states.target[slot]);
      missile.entries.guided.push(guided[slot]);
      this.slots.set(slot, { age: states.age[slot], missile });
    }
    return [...ended, ...[...before.values()].map(({ missile }) => missile)];
  }

  /** Returns the source of guidance of each slot's missile. */
  _guided({ owner, target }) {
    if (!this.radar) return owner.map(() => ACTIVE);
    const { locked } = this.sim.read("belief");
    const { source } = this.sim.read("contact");
    return owner.map((number, slot) => (
      locked[slot] ? ACTIVE : GUIDED_BY[source[this.sim.contactPlace(number, target[slot])]] ?? ALONE));
  }

  _launched(states, slot, time) {
    const since = states.age[slot] * this.sim.parameters.physics_dt;
    return this._begin(states.owner[slot], states.target[slot], time - since, time, states.kind?.[slot]);
  }

  /** Starts a new missile's path at its launcher's place. */
  _begin(owner, target, launched, time, kind = 0) {
    const burns = this.flown ? this.flown[owner].burns[kind] : this.sim.parameters.missile_burn_time;
    const missile = {
      owner, kind, launched, burnt_out: launched + burns, fate: FLYING,
      entries: emptyEntries([...this.bodyColumns, "targets", "guided"]),
    };
    if (launched < time - 1e-6) {
      const shooter = this.fighters[owner].entries;
      const index = Math.max(lastNotAfter(shooter.times, launched + 1e-3), 0);
      const { entries } = missile;
      for (const name of this.bodyColumns) entries[name].push(shooter[name][index]);
      [entries.times[0], entries.rudder[0], entries.load[0]] = [launched, 0, 0];
      if (entries.lift) entries.lift[0] = Math.cos(entries.climb[0]);
      entries.targets.push(target);
      entries.guided.push(this.radar ? SUPPORTED : ACTIVE);
    }
    this.missiles.push(missile);
    return missile;
  }

  /** Adds missiles that were launched and ended since the last time, by their launchers' ammunition. */
  _noteUnseen(before, seen, time) {
    const unseen = [];
    this.fighters.forEach(({ number: seat, entries }) => {
      if (entries.times.length < 2 || entries.times.at(-1) !== time) return;
      const fired = before[seat] - entries.ammo.at(-1);
      const shown = seen.filter(({ owner }) => owner === seat).length;
      for (let count = shown; count < fired; count += 1) {
        unseen.push(this._begin(seat, this._nearestBefore(entries, 1 - this.sideOf(seat), time), entries.times.at(-2), time));
      }
    });
    return unseen;
  }

  /** Returns the fighter of a side that was nearest to a body at the entry before the last, of those alive then. */
  _nearestBefore({ times, x, y }, side, time) {
    const order = (number) => {
      const { entries } = this.fighters[number];
      const at = lastNotAfter(entries.times, times.at(-2));
      return (entries.times.at(-1) < time ? 1e9 : 0) + Math.hypot(entries.x[at] - x.at(-2), entries.y[at] - y.at(-2));
    };
    return this.sim.membersOf(side).reduce((a, b) => (order(b) < order(a) ? b : a));
  }

  /**
   * Marks the missiles that have hit those just killed. The core does not tell which: candidates ended with the victim as
   * target, or are unseen ones of the other side, and their owner's count of hits has risen; the nearest has hit. Others
   * flew into the ground.
   */
  _markHits(killed, ended, unseen, hits, time) {
    const left = hits.map((count, number) => count - this.hits[number]);
    this.hits = hits;
    const isTarget = ({ number }) => ended.some(({ entries }) => entries.targets.at(-1) === number);
    for (const victim of killed.sort((a, b) => isTarget(b) - isTarget(a))) {
      const place = placeOf(victim, -1);
      const away = (missile) => distance(placeOf(missile, -1), place);
      const ours = [
        ...ended.filter(({ entries }) => entries.targets.at(-1) === victim.number),
        ...unseen.filter(({ owner }) => this.sideOf(owner) !== victim.side),
      ].filter(({ owner, fate }) => left[owner] && fate !== HIT);
      if (!ours.length) continue;
      const hit = ours.reduce((best, missile) => (away(missile) < away(best) ? missile : best));
      this._end(hit, place, victim.number, time);
      hit.fate = HIT;
      left[hit.owner] -= 1;
    }
  }

  /** Adds the last entry of a missile that is no longer in the air. */
  _end({ entries }, place, target, time) {
    for (const values of Object.values(entries)) values.push(values.at(-1));
    const last = entries.times.length - 1;
    [entries.times[last], entries.targets[last]] = [time, target];
    for (const [axis, value] of Object.entries(place)) entries[axis][last] = value;
  }

  /** Returns the data that `cutBack` needs. */
  mark() {
    const length = ({ entries }) => entries.times.length;
    return {
      fighters: this.fighters.map((fighter) => ({ length: length(fighter), died: fighter.died })),
      missiles: this.missiles.map((missile) => ({ length: length(missile), fate: missile.fate })),
      contacts: this.contactLog.length,
      slots: new Map(this.slots),
      hits: this.hits,
    };
  }

  /** Drops everything after a mark; the caller restores the simulation. */
  cutBack(mark) {
    mark.fighters.forEach(({ length, died }, seat) => {
      cutEntries(this.fighters[seat].entries, length);
      this.fighters[seat].died = died;
    });
    this.missiles.splice(mark.missiles.length);
    mark.missiles.forEach(({ length, fate }, index) => {
      cutEntries(this.missiles[index].entries, length);
      this.missiles[index].fate = fate;
    });
    this.contactLog.cutBack(mark.contacts);
    this.slots = new Map(mark.slots);
    this.hits = mark.hits;
    this.stamp += 1;
    Object.assign(this, { length: Infinity, outcome: "open" });
  }
}

/** Returns a body's noted place: {x, y}, with height also z. */
function placeOf({ entries: { x, y, z } }, index) {
  return { x: x.at(index), y: y.at(index), ...(z ? { z: z.at(index) } : {}) };
}

/** Returns the outcome in the words of game/records.py. */
function outcomeWords(sim) {
  const { outcome: [outcome], truncated: [truncated] } = sim.read("engagement");
  if (!outcome) return "open";
  const { alive } = sim.read("fighter");
  const left = [0, 1].map((side) => sim.membersOf(side).filter((number) => alive[number]).length);
  const how = truncated ? " by time" : Math.min(...left) ? ", no missiles left" : "";
  if (outcome > 2 && !Math.max(...left)) return "mutual kill";
  const words = outcome > 2 ? `draw${how}` : `${SEATS[outcome - 1]} wins${sim.isTeam ? how : ""}`;
  if (!sim.isTeam) return words;
  if (Math.min(...left)) return `${words}, ${left[0]} to ${left[1]}`;
  return `${words}, ${Math.max(...left)} of ${sim.sizes[outcome - 1]} left`;
}
