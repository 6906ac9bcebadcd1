// The fight as one side knows it: its contact with the enemy, its own missiles, and its warnings.

const [LIVE, MEMORY, LOST] = [1, 2, 3]; // what a contact rests on; 0: it was never tracked
const [ALONE, SUPPORTED, ACTIVE, RELAYED] = [0, 1, 2, 3]; // what a missile flies at
const TRACKED = 2; // what a receiver says of a radar; 1: it searches, 0: nothing

/** What a missile flies at. */
function guidedAt({ entries }, time) {
  return entries.guided[Math.max(lastNotAfter(entries.times, time), 0)];
}

class SideFight extends Fight {
  /** Of a `Fight`, what a seat knows. */
  constructor(fight, side) {
    const own = fight.missiles.filter((missile) => missile.owner === side);
    super({ ...fight, missiles: own.map(untold) });
    const { contact, graph, zones } = fight.known[side];
    this.side = side;
    this.enemy = 1 - side;
    this.contact = contact;
    this.inbound = fight.missiles.filter((missile) => missile.entries.targets.at(-1) === side);
    this.fighters = fight.fighters.map((fighter) => (fighter.side === side
      ? fighter : { ...fighter, died: null, entries: trackedEntries(this.contact) }));
    this.graphs = SEATS.map((_, seat) => (seat === side ? graph : null)); // nobody knows the other's
    this.zones = zones;
  }

  states(time) {
    return this.fighters.map((fighter, seat) => (
      seat === this.side ? stateAt(fighter, time) : this.contactAt(time)));
  }

  /** The enemy as it is believed: from the last update on it flies straight on. */
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

  /** What the receiver says: {bearing, seeker, tracking} of the radar and of each lock. */
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

/** A missile as its side knows it: of one that is gone nobody says whether it has hit, or where. */
function untold(missile) {
  if (missile.fate !== "hit") return missile.fate === "flying" ? missile : { ...missile, fate: "gone" };
  const { entries } = missile;
  const stays = (values) => {
    const copy = values.slice();
    copy[copy.length - 1] = copy[Math.max(copy.length - 2, 0)];
    return copy;
  };
  return { ...missile, fate: "gone", entries: { ...entries, x: stays(entries.x), y: stays(entries.y) } };
}

/** The entries of a contact for the charts: no speed where there was no track, and never a load. */
function trackedEntries({ entries }) {
  const { times, source } = entries;
  const known = (values) => values.map((value, i) => (
    source[i] === LIVE || source[i] === MEMORY ? value : NaN));
  const { x, y, heading, speed } = entries;
  return { times, x: known(x), y: known(y), heading, speed: known(speed), load: times.map(() => NaN) };
}

/** What a contact rests on, and how old it is. */
function contactWords({ known, source, age }) {
  if (!known) return "not seen";
  if (source === LIVE) return "on radar";
  return `${source === MEMORY ? "memory" : "lost"} ${age.toFixed(0)} s`;
}

/** What a warning says. */
function warningWords({ seeker, tracking }, enemy) {
  if (seeker) return "missile";
  return `${SEATS[enemy]} ${tracking ? "tracks" : "searches"}`;
}
