// The fight: its decoded data, and the state of each body at any time.

const SEATS = ["red", "blue"];
const ARRAYS = { float32: Float32Array, int16: Int16Array };
const MISSING = -32768; // stands for not-a-number among int16

/** Decodes an array of numbers from base64. */
function decode({ type, shape, scale, data }) {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const numbers = new ARRAYS[type](bytes.buffer);
  const missing = type === "int16" ? MISSING : NaN;
  const values = Float64Array.from(numbers, (x) => (x === missing ? NaN : x * scale));
  return { shape, values };
}

/** Decodes a table: columns by name, each an array over the entries. */
function decodeColumns({ columns, entries }) {
  const { shape, values } = decode(entries);
  const column = (_, index) => values.subarray(index * shape[1], (index + 1) * shape[1]);
  return Object.fromEntries(columns.map((name, index) => [name, column(name, index)]));
}

/** Decodes a body's path: its single values, and its columns under `entries`. */
function decodePath(path) {
  return { ...path, entries: decodeColumns(path) };
}

/** Returns the index of the last of rising `times` up to `time`; -1 before the first. */
function lastNotAfter(times, time) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns an object with the same names and the results of `act` for its values and names. */
function mapValues(object, act) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, act(value, name)]));
}

function mix(from, to, share) {
  return share ? from + (to - from) * share : from;
}

function mixAngle(from, to, share) {
  const turn = Math.atan2(Math.sin(to - from), Math.cos(to - from));
  return from + turn * share;
}

/** Returns the two entries of `times` around `time`, and its share of the way between them. */
function between(times, time) {
  const index = Math.max(lastNotAfter(times, time), 0);
  const next = Math.min(index + 1, times.length - 1);
  const share = next > index ? Math.max(time - times[index], 0) / (times[next] - times[index]) : 0;
  return { index, next, share };
}

/**
 * Returns a body's state at a time, between two entries; after the last entry, as it was then.
 * `ammo` is that of the next entry: a launched missile is in the air at once but leaves `ammo`
 * only there. A radar's state and a cloud of chaff, {x, y, z}, are those of one entry.
 */
function stateAt(path, time) {
  const { index, next, share } = between(path.entries.times, time);
  const state = {};
  for (const [name, values] of Object.entries(path.entries)) {
    state[name] = mix(values[index], values[next], share);
  }
  const { heading, ammo, silent, cloud_x: cloudX, cloud_y: cloudY, cloud_z: cloudZ } = path.entries;
  if (silent) state.silent = silent[next];
  if (cloudX && !Number.isNaN(cloudX[index])) {
    state.cloud = { x: cloudX[index], y: cloudY[index], z: cloudZ[index] };
  }
  state.heading = mixAngle(heading[index], heading[next], share);
  if (ammo) state.ammo = ammo[next];
  return state;
}

function isDead(fighter, time) {
  return fighter.died !== null && time >= fighter.died;
}

/** Returns "waiting" before a missile's launch, "flying", or its fate. */
function phaseOf(missile, time) {
  const { times } = missile.entries;
  if (time < times[0]) return "waiting";
  return time < times[times.length - 1] ? "flying" : missile.fate;
}

/** Returns the fighter that a missile flies at. */
function targetAt({ entries }, time) {
  return entries.targets[Math.max(lastNotAfter(entries.times, time), 0)];
}

class Fight {
  constructor(parts) {
    Object.assign(this, parts);
  }

  /** Makes a fight of the page's data. */
  static decode(content) {
    const { fighters, missiles, sizes, interval, zoneInterval } = content;
    const picture = ({ threats, graphs, zones }, first) => ({
      threats,
      zones: new Zones(zones, zoneInterval),
      graphs: graphs.map((packed, place) => new Scenes(packed, {
        number: first + place, side: fighters[first + place].side, interval, enemies: threats.map((row) => row[place]),
      })),
    });
    return new Fight({
      ...content,
      ...picture(content, 0),
      fighters: fighters.map(decodePath),
      missiles: missiles.map(decodePath),
      known: content.known.map((part, side) => ({
        ...picture(part, side * sizes[0]),
        contacts: part.contacts.map(decodePath),
        receivers: decodeReceivers(part),
      })),
    });
  }

  get isTeam() {
    return Math.max(...this.sizes) > 1;
  }

  get hasHeight() {
    return this.fighters[0].entries.z !== undefined;
  }

  states(time) {
    return this.fighters.map((fighter) => stateAt(fighter, time));
  }

  /** Returns a body's Mach number; with height by the speed of sound there. */
  machOf({ speed, z }) {
    if (z === undefined) return speed / this.mach;
    const { index, next, share } = between(this.sound.heights, z);
    return speed / mix(this.sound.speeds[index], this.sound.speeds[next], share);
  }

  /** Returns a fighter's number within its side. */
  indexOf(number) {
    return number - this.sideOf(number) * this.sizes[0];
  }

  /** Returns a fighter's place among those that have graphs. */
  placeOf(number) {
    return number;
  }

  /** Returns the graph of a fighter, or undefined if it is not known. */
  graphOf(number) {
    return this.graphs[this.placeOf(number)];
  }

  sideOf(number) {
    return number < this.sizes[0] ? 0 : 1;
  }

  /** Returns the enemy in a fighter's launch zone and space-time graph at a time. */
  threatOf(number, time) {
    if (!this.isTeam) return 1 - number;
    const row = Math.min(Math.floor(time / this.interval + 1e-6), this.threats.length - 1);
    return this.threats[row][this.placeOf(number)];
  }

  /** Returns the two fighters whose launch zones and range are shown, in teams the chosen one and its threat. */
  pairAt(chosen, time) {
    return this.isTeam ? [chosen, this.threatOf(chosen, time)] : [0, 1];
  }

  /** Returns the edges R_aero and R_NEZ of the zone of one of the fighters of `pairAt`, [{x, y} …] each. */
  zoneIn(pair, place, time, state) {
    return this.zones.at(time, this.isTeam ? 2 * this.placeOf(pair[0]) + place : pair[place], state);
  }

  /** True if a fighter is a contact in this picture. */
  isContact({ side }) {
    return side === this.enemy;
  }

  /** Returns a fighter's missiles in the air. */
  inTheAir(number, time) {
    return this.missiles.filter((m) => m.owner === number && phaseOf(m, time) === "flying");
  }

  /** Returns the missiles that fly at a fighter. */
  inboundOf(number, time) {
    return this.missiles.filter((m) => phaseOf(m, time) === "flying" && targetAt(m, time) === number);
  }
}

/** Returns the distance of two points; with height on the slant. */
function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y, (a.z ?? 0) - (b.z ?? 0));
}

/** Returns a body's velocity [m/s]. */
function velocityOf({ speed, heading, climb = 0 }) {
  const ground = speed * Math.cos(climb);
  return { x: ground * Math.cos(heading), y: ground * Math.sin(heading), z: speed * Math.sin(climb) };
}

/** Returns the closing speed of two bodies [m/s]. */
function closingSpeed(a, b) {
  const [from, to] = [velocityOf(a), velocityOf(b)];
  const away = [b.x - a.x, b.y - a.y, (b.z ?? 0) - (a.z ?? 0)];
  const opening = away[0] * (to.x - from.x) + away[1] * (to.y - from.y) + away[2] * (to.z - from.z);
  return -opening / Math.max(distance(a, b), 1);
}
