// The contacts and warnings of the fighters of a fight that is being flown, over time, as in game/contacts.py.

const CONTACT_COLUMNS = ["times", "x", "y", "heading", "speed", "source", "age"]; // of a fighter's contact, or of a side's
const CONTACT_HEIGHT = ["z", "climb"];
const HEARD_COLUMNS = ["heard", "bearing"]; // the warnings of that enemy's radar
const SAME_BEARING = Math.cos((0.1 * Math.PI) / 180); // far above the rounding of bearings

function emptyEntries(columns) {
  return Object.fromEntries(columns.map((name) => [name, []]));
}

/** Drops the entries after the first ones. */
function cutEntries(entries, length) {
  Object.values(entries).forEach((values) => values.splice(length));
}

/** The contacts of a fight; a game without sensors has none. */
class ContactLog {
  constructor(sim) {
    this.sim = sim;
    const columns = [...CONTACT_COLUMNS, ...(sim.hasHeight ? CONTACT_HEIGHT : [])];
    const sides = sim.hasSensors ? [0, 1].map((side) => ({ members: sim.membersOf(side), enemies: sim.membersOf(1 - side) })) : [];
    // Each fighter's contact with each enemy, and each side's best one with each enemy.
    this.paths = sides.flatMap(({ members, enemies }) => members.flatMap((fighter) => enemies.map((enemy) => (
      { fighter, enemy, entries: emptyEntries([...columns, ...HEARD_COLUMNS]) }))));
    this.best = sides.map(({ enemies }) => enemies.map(() => ({ entries: emptyEntries(columns) })));
  }

  /** The number of entries of each contact. */
  get length() {
    return this.paths[0]?.entries.times.length ?? 0;
  }

  /** Returns a fighter's warnings of each enemy's radar over time. */
  receiver(own) {
    return this.paths.filter(({ fighter }) => fighter === own)
      .map(({ entries: { heard, bearing } }) => ({ levels: heard, bearings: bearing }));
  }

  /** Adds the present contacts and warnings of the fighters, whose states are given. */
  note(fighters, time) {
    const contacts = this.sim.read("contact");
    const seen = this.sim.observe();
    this.paths.forEach(({ fighter, enemy, entries }, place) => {
      const row = {
        times: time,
        x: contacts.x[place],
        y: contacts.y[place],
        heading: Math.atan2(contacts.s[place], contacts.c[place]),
        speed: contacts.v[place],
        source: contacts.source[place],
        ...(contacts.z ? { z: contacts.z[place], climb: Math.asin(contacts.u[place]) } : {}),
        age: contacts.age[place] * this.sim.parameters.physics_dt,
        ...(this.sim.isTeam ? this._heardInTeam(seen[fighter], fighters, fighter, enemy) : this._heard(seen[fighter], fighters, fighter)),
      };
      for (const [name, value] of Object.entries(row)) entries[name].push(value);
    });
    this.best.forEach((best, side) => best.forEach(({ entries }, index) => {
      const enemy = this.sim.membersOf(1 - side)[index];
      const ours = this.paths.filter((path) => path.enemy === enemy);
      const chosen = ours.reduce((a, b) => (contactQuality(b) > contactQuality(a) ? b : a));
      for (const [name, values] of Object.entries(entries)) values.push(chosen.entries[name].at(-1));
    }));
  }

  /** Returns the warning of the only enemy's radar, by the observation. */
  _heard(seen, { s, c }, seat) {
    const look = (name) => seen[this.sim.core.tables.view[name]];
    return {
      heard: look("receiver_tracked") ? TRACKED : Number(look("receiver_searched") > 0),
      bearing: Math.atan2(s[seat], c[seat]) + Math.atan2(look("receiver_left"), look("receiver_ahead")),
    };
  }

  /** Returns the warning of an enemy's radar; an observation does not name the enemy, whose bearing identifies it. */
  _heardInTeam(seen, { x, y, s, c }, own, enemy) {
    const { rows, features, place } = this.sim.rows[RADAR_ROWS];
    const bearing = Math.atan2(y[enemy] - y[own], x[enemy] - x[own]);
    let heard = 0;
    for (let row = 0; row < rows; row += 1) {
      const first = place + row * features;
      const [present, tracked, ahead, left] = seen.subarray(first, first + features);
      const off = Math.atan2(s[own], c[own]) + Math.atan2(left, ahead) - bearing;
      if (present && Math.cos(off) > SAME_BEARING) heard = tracked ? TRACKED : 1;
    }
    return { heard, bearing };
  }

  /** Drops the entries after the first ones. */
  cutBack(length) {
    [...this.paths, ...this.best.flat()].forEach(({ entries }) => cutEntries(entries, length));
  }
}

/** Returns a contact's last entry as a number that is greater the better it is, as `quality` in game/contacts.py. */
function contactQuality({ entries: { source, age } }) {
  const rank = TRACKS.includes(source.at(-1)) ? 2 : Number(source.at(-1) > 0);
  return 1e6 * rank - age.at(-1);
}
