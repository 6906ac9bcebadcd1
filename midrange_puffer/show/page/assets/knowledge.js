// One side's knowledge of the fight: its contact with the enemy, its own missiles, its warnings.

const [LIVE, MEMORY, LOST] = [1, 2, 3]; // sources of a contact; 0: never tracked
const [ALONE, SUPPORTED, ACTIVE, RELAYED] = [0, 1, 2, 3]; // sources of a missile's guidance
const TRACKED = 2; // a receiver's report of a radar that tracks; 1: it searches, 0: nothing

/** Returns the source of a missile's guidance. */
function guidedAt({ entries }, time) {
  return entries.guided[Math.max(lastNotAfter(entries.times, time), 0)];
}

class SideFight extends Fight {
  /** Takes a seat's knowledge of a `Fight`. */
  constructor(fight, side) {
    const own = fight.missiles.filter((missile) => missile.owner === side);
    super({ ...fight, missiles: own.map(withoutFate) });
    const { contact, graph, zones } = fight.known[side];
    this.side = side;
    this.enemy = 1 - side;
    this.contact = contact;
    this.inbound = fight.missiles.filter((missile) => missile.entries.targets.at(-1) === side);
    this.fighters = fight.fighters.map((fighter) => (fighter.side === side
      ? fighter : { ...fighter, died: null, entries: trackedEntries(this.contact) }));
    this.graphs = SEATS.map((_, seat) => (seat === side ? graph : null)); // the other side's is unknown
    this.zones = zones;
  }

  states(time) {
    return this.fighters.map((fighter, seat) => (
      seat === this.side ? stateAt(fighter, time) : this.contactAt(time)));
  }

  /** Returns the believed enemy, which flies straight after the last update. */
  contactAt(time) {
    const { entries } = this.contact;
    const index = Math.max(lastNotAfter(entries.times, time), 0);
    const at = Object.fromEntries(
      Object.entries(entries).map(([name, values]) => [name, values[index]]));
    const tracked = at.source === LIVE || at.source === MEMORY;
    const since = time - at.times;
    const way = tracked ? since * at.speed : 0;
    return {
      ...at,
      x: at.x + way * Math.cos(at.heading),
      y: at.y + way * Math.sin(at.heading),
      age: at.age + since,
      tracked,
      known: at.source > 0,
    };
  }

  /** Returns the receiver's warnings: {bearing, seeker, tracking} of the radar and of each lock. */
  warningsAt(time) {
    const own = this.fighters[this.side];
    if (isDead(own, time)) return [];
    const { heard, bearing } = this.contactAt(time);
    const state = stateAt(own, time);
    const locks = this.inbound
      .filter((m) => phaseOf(m, time) === "flying" && guidedAt(m, time) === ACTIVE)
      .map((m) => stateAt(m, time))
      .map(({ x, y }) => ({
        bearing: Math.atan2(y - state.y, x - state.x), seeker: true, tracking: true,
      }));
    return heard ? [{ bearing, seeker: false, tracking: heard === TRACKED }, ...locks] : locks;
  }
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
  return { ...missile, fate: "gone", entries: { ...entries, x: stays(entries.x), y: stays(entries.y) } };
}

/** Returns a contact's entries for the charts: no speed without a track, and no load. */
function trackedEntries({ entries }) {
  const { times, source } = entries;
  const known = (values) => values.map((value, i) => (
    source[i] === LIVE || source[i] === MEMORY ? value : NaN));
  const { x, y, heading, speed } = entries;
  return { times, x: known(x), y: known(y), heading, speed: known(speed), load: times.map(() => NaN) };
}

/** Returns a contact's source and age in words. */
function contactWords({ known, source, age }) {
  if (!known) return "not seen";
  if (source === LIVE) return "on radar";
  return `${source === MEMORY ? "memory" : "lost"} ${age.toFixed(0)} s`;
}

/** Returns a warning in words. */
function warningWords({ seeker, tracking }, enemy) {
  if (seeker) return "missile";
  return `${SEATS[enemy]} ${tracking ? "tracks" : "searches"}`;
}
