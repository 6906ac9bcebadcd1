// A fight that is being flown: a `Fight` for the drawings whose paths grow.

const [FLYING, HIT, SPENT, GONE] = ["flying", "hit", "spent", "lost"]; // GONE: another missile killed its target
const SPEED_OF_SOUND = 340; // m/s
const BODY_COLUMNS = ["times", "x", "y", "speed", "heading", "rudder", "load"];
const HEIGHT_COLUMNS = ["z", "climb", "lift"];
const CONTACT_COLUMNS = ["times", "x", "y", "heading", "speed", "source", "age", "heard", "bearing"];
const CONTACT_HEIGHT = ["z", "climb"];
const IN_MEMORY = 2; // the last source that is a track
const ZONE_BEARINGS = 48;

function emptyEntries(columns) {
  return Object.fromEntries(columns.map((name) => [name, []]));
}

/** The present launch zones of a fight; on the page of a replay these are `Zones`. */
class LiveZones {
  constructor(core, sim, fightNow) {
    Object.assign(this, { core, sim, fightNow });
  }

  /** Returns R_aero and R_NEZ around a seat's state, [{x, y} …] each; none without a missile or a target. */
  at(time, seat, own) {
    const fight = this.fightNow();
    const enemy = fight.states(time)[1 - seat];
    const isKnown = (state) => state.tracked !== false;
    const mayFire = own.ammo === undefined || own.ammo > 0; // a contact's missiles are unknown
    const alive = fight.fighters.every((fighter) => !isDead(fighter, time));
    if (!alive || !mayFire || !isKnown(own) || !isKnown(enemy)) return [];
    const angles = Array.from({ length: ZONE_BEARINGS },
      (_, i) => own.heading + (2 * Math.PI * i) / ZONE_BEARINGS);
    const edges = this.edges(own, enemy, angles);
    return [0, 1].map((edge) => angles.map((angle, i) => {
      const range = edges[4 * i + edge];
      return { x: own.x + range * Math.cos(angle), y: own.y + range * Math.sin(angle) };
    }));
  }

  edges(own, enemy, angles) {
    const { core, sim } = this;
    const size = core.wasm.web_shot_numbers();
    const [shots, out] = [core.scratch, core.scratch + 4 * size * angles.length];
    const numbers = core.floats(shots, size * angles.length);
    angles.forEach((bearing, i) => {
      const nose = own.heading - bearing;
      const aspect = enemy.heading - bearing - Math.PI;
      numbers.set([0, Math.cos(nose), Math.sin(nose), Math.cos(aspect), Math.sin(aspect),
        own.speed, enemy.speed], size * i);
    });
    core.wasm.mr_look_up_shots(sim.sim, shots, angles.length, out);
    return core.floats(out, 4 * angles.length).slice();
  }
}

class LiveFight extends Fight {
  constructor(sim, names) {
    const { parameters, core: { tables } } = sim;
    const bodyColumns = [...BODY_COLUMNS, ...(sim.hasHeight ? HEIGHT_COLUMNS : [])];
    super({
      names,
      sizes: [1, 1],
      callsigns: SEATS,
      outcome: "open",
      length: Infinity, // until it is over
      gravity: parameters.gravity,
      mach: SPEED_OF_SOUND,
      sound: sim.hasHeight ? tables.sound : null,
      fighters: SEATS.map((_, seat) => (
        { number: seat, side: seat, died: null, entries: emptyEntries([...bodyColumns, "throttle", "ammo"]) })),
      missiles: [],
      radar: sim.hasSensors ? parameters : null,
    });
    Object.assign(this, { sim, bodyColumns, slots: new Map(), stamp: 0, games: [null, null], hits: [0, 0] });
    this.flown = sim.hasHeight ? drawnTypes(sim) : null; // types of aircraft and missiles
    this.flyOuts = this.flown ? new FlyOuts(sim, this.flown) : null;
    this.zones = this._zonesOf(() => this);
    this.graphs = SEATS.map((_, seat) => new LiveGraph(() => ({ sim, stamp: this.stamp }), seat));
    this.beliefs = SEATS.map((_, seat) => new LiveGraph(() => this._believed(seat), seat));
    const contacts = sim.hasSensors ? SEATS : [];
    const contactColumns = [...CONTACT_COLUMNS, ...(sim.hasHeight ? CONTACT_HEIGHT : [])];
    this.contactPaths = contacts.map(() => ({ entries: emptyEntries(contactColumns) }));
    this.sides = this.contactPaths.map(() => null);
    this.sideZones = this.contactPaths.map((_, seat) => this._zonesOf(() => this.sides[seat]));
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

  /** Returns a seat's present knowledge of the fight. */
  knownTo(seat) {
    const zones = this.sideZones[seat];
    const known = this.contactPaths.map((contact, side) => {
      const { heard: levels, bearing: bearings } = contact.entries;
      return { contacts: [contact], receivers: [[{ levels, bearings }]], graphs: [this.beliefs[side]], zones };
    });
    this.sides[seat] = new SideFight({ ...this, known }, seat);
    return this.sides[seat];
  }

  /** Returns the game that a seat believes in, made once for each decision. */
  _believed(seat) {
    const game = this.games[seat];
    if (game?.stamp !== this.stamp) {
      game?.sim.destroy();
      this.games[seat] = { sim: believedGame(this.sim, seat), stamp: this.stamp };
    }
    return this.games[seat];
  }

  destroy() {
    this.games.forEach((game) => game?.sim.destroy());
    this.flyOuts?.destroy();
  }

  /** Adds the present places of everything. */
  note() {
    const time = this.now;
    this.stamp += 1; // results computed from the state before are outdated
    const states = this.sim.read("fighter");
    const before = this.fighters.map(({ entries }) => entries.ammo.at(-1));
    const killed = this.fighters.filter((fighter) => this._noteFighter(fighter, states, time));
    const known = this.missiles.length;
    const ended = this._noteMissiles(time);
    ended.push(...this._noteUnseen(before, this.missiles.slice(known), time));
    for (const missile of ended) {
      missile.fate = this.fighters[missile.entries.targets.at(-1)].died === null ? SPENT : GONE;
    }
    const scored = states.hits.map((count, seat) => count > this.hits[seat]); // else it flew into the ground
    this.hits = states.hits;
    killed.filter(({ number }) => scored[1 - number]).forEach((victim) => this._markHit(victim, ended, time));
    if (this.radar) this._noteContacts(states, time);
    if (this.sim.read("engagement").outcome[0]) {
      this.length = time;
      this.outcome = outcomeWords(this.sim);
    }
  }

  /** Adds a fighter's state; returns true if it has just been killed. */
  _noteFighter(fighter, states, time) {
    if (fighter.died !== null) return false;
    const { number: seat, entries } = fighter;
    this._add(entries, states, seat, "fighter", time);
    entries.throttle.push(states.throttle[seat]);
    entries.ammo.push(states.ammunition[seat]);
    if (states.alive[seat]) return false;
    fighter.died = time;
    return true;
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
    for (let slot = 0; slot < MISSILES; slot += 1) {
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
  _guided({ owner }) {
    if (!this.radar) return owner.map(() => ACTIVE);
    const { locked } = this.sim.read("belief");
    const { source } = this.sim.read("contact");
    return owner.map((seat, slot) => {
      if (locked[slot]) return ACTIVE;
      return source[seat] >= LIVE && source[seat] <= IN_MEMORY ? SUPPORTED : ALONE;
    });
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
        const missile = this._begin(seat, 1 - seat, entries.times.at(-2), time);
        this._end(missile, placeOf(missile, 0), time);
        unseen.push(missile);
      }
    });
    return unseen;
  }

  /** Marks the hit: of the missiles that ended with their target, the nearest one has hit it. */
  _markHit(victim, ended, time) {
    const place = placeOf(victim, -1);
    const away = (missile) => distance(placeOf(missile, -1), place);
    const ours = ended.filter(({ entries }) => entries.targets.at(-1) === victim.number);
    if (!ours.length) return;
    const hit = ours.reduce((best, missile) => (away(missile) < away(best) ? missile : best));
    this._end(hit, place, time);
    hit.fate = HIT;
  }

  _end({ entries }, place, time) {
    for (const values of Object.values(entries)) values.push(values.at(-1));
    const last = entries.times.length - 1;
    entries.times[last] = time;
    for (const [axis, value] of Object.entries(place)) entries[axis][last] = value;
  }

  _noteContacts(fighters, time) {
    const contacts = this.sim.read("contact");
    const seen = this.sim.observe();
    const { view } = this.sim.core.tables;
    this.contactPaths.forEach(({ entries }, seat) => {
      const look = (name) => seen[seat][view[name]];
      const own = Math.atan2(fighters.s[seat], fighters.c[seat]);
      const row = {
        times: time,
        x: contacts.x[seat],
        y: contacts.y[seat],
        heading: Math.atan2(contacts.s[seat], contacts.c[seat]),
        speed: contacts.v[seat],
        source: contacts.source[seat],
        ...(contacts.z ? { z: contacts.z[seat], climb: Math.asin(contacts.u[seat]) } : {}),
        age: contacts.age[seat] * this.sim.parameters.physics_dt,
        heard: look("receiver_tracked") ? TRACKED : Number(look("receiver_searched") > 0),
        bearing: own + Math.atan2(look("receiver_left"), look("receiver_ahead")),
      };
      for (const [name, value] of Object.entries(row)) entries[name].push(value);
    });
  }

  /** Returns the data that `cutBack` needs. */
  mark() {
    const length = ({ entries }) => entries.times.length;
    return {
      fighters: this.fighters.map((fighter) => ({ length: length(fighter), died: fighter.died })),
      missiles: this.missiles.map((missile) => ({ length: length(missile), fate: missile.fate })),
      contacts: this.contactPaths.map(length),
      slots: new Map(this.slots),
      hits: this.hits,
    };
  }

  /** Drops everything after a mark; the caller restores the simulation. */
  cutBack(mark) {
    const cut = ({ entries }, length) => Object.values(entries).forEach((values) => values.splice(length));
    mark.fighters.forEach(({ length, died }, seat) => {
      cut(this.fighters[seat], length);
      this.fighters[seat].died = died;
    });
    this.missiles.splice(mark.missiles.length);
    mark.missiles.forEach(({ length, fate }, index) => {
      cut(this.missiles[index], length);
      this.missiles[index].fate = fate;
    });
    mark.contacts.forEach((length, seat) => cut(this.contactPaths[seat], length));
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

/** Returns the outcome in the words of game/paths.py. */
function outcomeWords(sim) {
  const { outcome: [outcome], truncated: [truncated] } = sim.read("engagement");
  if (!outcome) return "open";
  if (outcome < 3) return `${SEATS[outcome - 1]} wins`;
  if (truncated) return "draw by time";
  return sim.read("fighter").alive.some(Boolean) ? "draw, no missiles left" : "mutual kill";
}
