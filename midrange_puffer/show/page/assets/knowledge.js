// One side's knowledge of the fight: its contacts with the enemies, its own missiles, its warnings.

const [LIVE, MEMORY, LOST, LINKED] = [1, 2, 3, 4]; // sources of a contact; 0: never tracked
const TRACKS = [LIVE, MEMORY, LINKED];
const [ALONE, SUPPORTED, ACTIVE, RELAYED] = [0, 1, 2, 3]; // sources of a missile's guidance
const TRACKED = 2; // a receiver's report of a radar that tracks; 1: it searches, 0: nothing

/** Returns the source of a missile's guidance. */
function guidedAt({ entries }, time) {
  return entries.guided[Math.max(lastNotAfter(entries.times, time), 0)];
}

/** Returns what receivers hear, {levels, bearings} over time, by own fighter and enemy in their sides. */
function decodeReceivers({ levels, bearings }) {
  const [heard, from] = [decode(levels), decode(bearings)];
  const [own, enemies, count] = heard.shape;
  const part = (values, row) => values.subarray(row * count, (row + 1) * count);
  return Array.from({ length: own }, (_, k) => Array.from({ length: enemies }, (_, e) => ({
    levels: part(heard.values, k * enemies + e).map(Math.round), bearings: part(from.values, k * enemies + e),
  })));
}

class SideFight extends Fight {
  /** Takes a side's knowledge of a `Fight`. */
  constructor(fight, side) {
    super({ ...fight, ...fight.known[side] });
    this.side = side;
    this.enemy = 1 - side;
    const isOurs = (number) => this.sideOf(number) === side;
    this.missiles = fight.missiles.filter(({ owner }) => isOurs(owner)).map(withoutFate);
    this.inbound = fight.missiles.filter(({ entries }) => isOurs(entries.targets.at(-1)));
    this.fighters = fight.fighters.map((fighter) => (this.isContact(fighter)
      ? { ...fighter, died: null, entries: trackedEntries(this._contactOf(fighter.number)) } : fighter));
  }

  placeOf(number) {
    return this.sideOf(number) === this.side ? this.indexOf(number) : undefined;
  }

  _contactOf(number) {
    return this.contacts[this.indexOf(number)];
  }

  states(time) {
    return this.fighters.map((fighter) => (
      this.isContact(fighter) ? this.contactAt(fighter.number, time) : stateAt(fighter, time)));
  }

  /** Returns an enemy as believed, which flies straight after the last update. */
  contactAt(number, time) {
    const { entries } = this._contactOf(number);
    const index = Math.max(lastNotAfter(entries.times, time), 0);
    const at = Object.fromEntries(
      Object.entries(entries).map(([name, values]) => [name, values[index]]));
    const tracked = TRACKS.includes(at.source);
    const since = time - at.times;
    return {
      ...at,
      ...(tracked ? flownOn(at, since) : {}),
      age: at.age + since,
      tracked,
      known: at.source > 0,
    };
  }

  /** Returns the warnings of a fighter's receiver: {bearing, seeker, tracking} of each radar and of each lock. */
  warningsAt(number, time) {
    if (isDead(this.fighters[number], time)) return [];
    const state = stateAt(this.fighters[number], time);
    const index = Math.max(lastNotAfter(this.contacts[0].entries.times, time), 0);
    const radars = this.receivers[this.indexOf(number)]
      .map(({ levels, bearings }) => ({ level: levels[index], bearing: bearings[index] }))
      .filter(({ level }) => level > 0)
      .map(({ level, bearing }) => ({ bearing, seeker: false, tracking: level === TRACKED }));
    const locks = this.inbound
      .filter((m) => phaseOf(m, time) === "flying" && targetAt(m, time) === number && guidedAt(m, time) === ACTIVE)
      .map((m) => stateAt(m, time))
      .map(({ x, y }) => ({
        bearing: Math.atan2(y - state.y, x - state.x), seeker: true, tracking: true,
      }));
    return [...radars, ...locks];
  }
}

/** Returns the place of a body that flies straight on for some seconds. */
function flownOn(state, seconds) {
  const { x, y, z } = velocityOf(state);
  const place = { x: state.x + seconds * x, y: state.y + seconds * y };
  return state.z === undefined ? place : { ...place, z: state.z + seconds * z };
}

/** Returns a missile as its side knows it, without its fate and the place of its hit. */
function withoutFate(missile) {
  if (missile.fate !== "hit") return missile.fate === "flying" ? missile : { ...missile, fate: "gone" };
  const { entries } = missile;
  const stays = (values) => {
    const copy = values.slice();
    copy[copy.length - 1] = copy[Math.max(copy.length - 2, 0)];
    return copy;
  };
  const axes = ["x", "y", "z"].filter((axis) => entries[axis]);
  const place = Object.fromEntries(axes.map((axis) => [axis, stays(entries[axis])]));
  return { ...missile, fate: "gone", entries: { ...entries, ...place } };
}

/** Returns a contact's entries for the charts: no speed without a track, and no load. */
function trackedEntries({ entries }) {
  const { times, source, heading, x, y, z, climb, speed } = entries;
  const tracked = (values) => values.map((value, i) => (TRACKS.includes(source[i]) ? value : NaN));
  const none = times.map(() => NaN);
  const flat = { times, x: tracked(x), y: tracked(y), heading, speed: tracked(speed), load: none };
  return z === undefined ? flat : { ...flat, z: tracked(z), climb, lift: none };
}

/** Returns a contact's source and age in words. */
function contactWords({ known, source, age }) {
  if (!known) return "not seen";
  if (source === LIVE) return "on radar";
  return `${{ [MEMORY]: "memory", [LOST]: "lost", [LINKED]: "linked" }[source]} ${age.toFixed(0)} s`;
}

/** Returns a warning in words. */
function warningWords({ seeker, tracking }, enemy) {
  if (seeker) return "missile";
  return `${SEATS[enemy]} ${tracking ? "tracks" : "searches"}`;
}
