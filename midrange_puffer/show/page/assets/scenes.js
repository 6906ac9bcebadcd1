// Launch zones and scenes of the space-time graphs, which were computed every `interval` seconds.

const STANDING = 5; // m between two times: less than any fighter flies

/** Launch zones in rows: ranges by bearing from the nose, every `interval` seconds. */
class Zones {
  constructor(packed, interval) {
    const { shape, values } = decode(packed);
    Object.assign(this, { interval, shape, values });
  }

  /** Returns the edges R_aero and R_NEZ of a row's zone around its fighter's state, [{x, y} …] each. */
  at(time, row, state) {
    const { shape: [count, , edges] } = this;
    const place = Math.min(time / this.interval, count - 1);
    const [index, next] = [Math.floor(place), Math.ceil(place)];
    return Array.from({ length: edges }, (_, edge) => {
      const [from, to] = [index, next].map((scene) => this._ranges(scene, row, edge));
      return Array.from(from, (range, i) => {
        const angle = state.heading + (2 * Math.PI * i) / from.length;
        const metres = mix(range, Number.isNaN(to[i]) ? range : to[i], place - index);
        return { x: state.x + metres * Math.cos(angle), y: state.y + metres * Math.sin(angle) };
      });
    }).filter(([point]) => !Number.isNaN(point.x));
  }

  _ranges(scene, row, edge) {
    const [, rows, edges, bearings] = this.shape;
    const place = (scene * rows + row) * edges + edge;
    return this.values.subarray(place * bearings, (place + 1) * bearings);
  }
}

/** The scenes of a fighter, by its `number` and `side`; `enemies` has the enemy of each scene. */
class Scenes {
  constructor(packed, { number, side, interval, enemies }) {
    Object.assign(this, { number, side, interval, enemies });
    Object.assign(this, { times: packed.times, counts: packed.missiles.counts });
    this.count = this.counts.length;
    this.origins = decode(packed.origins).values;
    this.own = decode(packed.own);
    this.escapes = decode(packed.escapes);
    this.shots = decode(packed.shots);
    this.fronts = decode(packed.fronts);
    this.escapeMiss = decode(packed.escapeMiss).values;
    this.points = decode(packed.missiles.points);
    this.predictions = decodeColumns(packed.missiles);
    this.missileMiss = decode(packed.missiles.escapeMiss).values;
    this.firsts = this.counts.map((_, index) => sum(this.counts.slice(0, index)));
  }

  /** Returns the scene at a time, interpolated between two, so that it moves evenly. */
  at(time) {
    const place = time / this.interval;
    const index = Math.min(Math.floor(place + 1e-6), this.count - 1);
    const next = Math.min(index + 1, this.count - 1);
    const isSame = this.enemies[index] === this.enemies[next];
    const share = isSame ? Math.max(place - index, 0) : 0;
    const mixed = (packed) => mixPaths(
      this._paths(packed, index, index), this._paths(packed, next, next), share);
    return {
      number: this.number,
      side: this.side,
      enemy: this.enemies[index],
      noted: index * this.interval,
      times: this.times,
      horizon: this.times[this.times.length - 1],
      own: untilHit(mixed(this.own)[0]),
      escapes: mixed(this.escapes).map(untilHit),
      shots: mixed(this.shots),
      fronts: mixed(this.fronts),
      escapeMiss: [...this.escapeMiss.subarray(2 * index, 2 * index + 2)],
      missiles: this._missiles(index, next, share),
    };
  }

  /** Returns the paths [[{x, y} …] …] of a row of a packed array, with height [[{x, y, z} …] …]. */
  _paths({ shape, values }, row, scene) {
    const [count, length] = shape.length === 4 ? shape.slice(1, 3) : [1, shape[1]];
    const axes = ["x", "y", "z"].slice(0, shape.at(-1));
    const point = (i) => Object.fromEntries(axes.map((axis, a) => [
      axis, this.origins[axes.length * scene + a] + values[axes.length * i + a]]));
    const path = (_, p) => Array.from({ length }, (_, i) => point((row * count + p) * length + i));
    return Array.from({ length: count }, path);
  }

  _missiles(scene, next, share) {
    const later = this._predictions(next);
    return this._predictions(scene).map((missile) => {
      const isSame = (other) => other.slot === missile.slot && other.owner === missile.owner;
      const same = later.find(isSame);
      const path = same ? mixPaths([missile.path], [same.path], share)[0] : missile.path;
      return { ...missile, path };
    });
  }

  _predictions(scene) {
    return Array.from({ length: this.counts[scene] }, (_, index) => {
      const row = this.firsts[scene] + index;
      const columns = Object.entries(this.predictions);
      const prediction = Object.fromEntries(columns.map(([name, values]) => [name, values[row]]));
      const escapeMiss = [...this.missileMiss.subarray(2 * row, 2 * row + 2)];
      return { ...prediction, escapeMiss, path: this._paths(this.points, row, scene)[0] };
    });
  }
}

/** Returns a fighter's path up to its hit, after which it would stand still. */
function untilHit(path) {
  const stands = (point, i) => i > 0 && distance(point, path[i - 1]) < STANDING;
  const end = path.findIndex(stands);
  return end < 0 ? path : path.slice(0, end);
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Interpolates between two sets of paths; a point missing in the second stays as in the first. */
function mixPaths(from, to, share) {
  const mixed = (a, b) =>
    Number.isNaN(b.x) ? a : mapValues(a, (value, axis) => mix(value, b[axis], share));
  return from.map((path, p) => path.map((point, i) => mixed(point, to[p][i])));
}
