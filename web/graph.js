// The space-time graph of a fight that is being flown. It follows game/spacetime.py, which uses the core's look-ahead,
// and game/contacts.py, which has the game that a side believes in.

const HORIZON = 20; // s, a point every second
const LANES = 16;
const [HELD, ESCAPES, THREATENED] = [0, [1, 2], [3, 4]]; // lanes of mr_look_ahead
const PREDICTION = 5; // numbers of an MrPrediction
const [CONE_POINTS, HIGH_CONE_POINTS] = [16 * LANES, 5 * 8 * LANES]; // of an MrCone, of an MrHighCone
const LEAST_COSINE = 1e-3; // of a climb, below which a body has no heading
const FRONT = 16; // points of one side of a front
const NORMALS = Array.from({ length: 72 }, (_, i) => {
  const angle = (i * 2 * Math.PI) / 72;
  return { x: Math.cos(angle), y: Math.sin(angle) };
});

/** The graph of a seat; `gameNow` returns its simulation, and a stamp that changes with it. */
class LiveGraph {
  constructor(gameNow, seat) {
    Object.assign(this, { gameNow, seat, computed: null });
  }

  /** Returns the present scene, as `Scenes` does. It is computed once for each decision. */
  at() {
    const { sim, stamp } = this.gameNow();
    if (this.computed !== stamp) Object.assign(this, { computed: stamp, scene: this._look(sim) });
    return this.scene;
  }

  _look(sim) {
    const { core } = sim;
    const count = HORIZON + 1;
    const steps = Math.round(1 / sim.parameters.physics_dt);
    const moment = 3 * LANES * (1 + MISSILES); // numbers of an MrMoment
    const [moments, predictions] = [core.scratch, core.scratch + 4 * moment * count];
    core.wasm.mr_look_ahead(sim.sim, 0, this.seat, steps, count, moments, predictions);
    const points = core.floats(moments, moment * count).slice();
    const bytes = core.bytes(predictions, 4 * PREDICTION * LANES * MISSILES).slice();
    const heights = 2 * LANES * (1 + MISSILES); // the place of the first height of an MrMoment
    const path = (body, lane) => Array.from({ length: count }, (_, t) => {
      const [first, place] = [t * moment, body * LANES + lane];
      const flat = { x: points[first + 2 * place], y: points[first + 2 * place + 1] };
      return sim.hasHeight ? { ...flat, z: points[first + heights + place] } : flat;
    });
    const prediction = (slot, lane) => predictionAt(bytes, slot * LANES + lane, sim.parameters.physics_dt);
    const isThreat = THREATENED.every((lane) => prediction(0, lane).present);
    const times = Array.from({ length: count }, (_, t) => t);
    const nowhere = { x: NaN, y: NaN, ...(sim.hasHeight ? { z: NaN } : {}) };
    const absent = times.map(() => nowhere);
    return {
      number: this.seat,
      side: this.seat,
      enemy: 1 - this.seat,
      noted: 0,
      times,
      horizon: HORIZON,
      own: untilHit(path(0, HELD)),
      escapes: THREATENED.map((lane) => untilHit(path(0, lane))),
      shots: THREATENED.map((lane) => (isThreat ? path(1, lane) : absent)),
      fronts: isThreat ? this._fronts(sim, steps, count) : times.map(() => [nowhere]),
      escapeMiss: THREATENED.map((lane) => (isThreat ? prediction(0, lane).miss : NaN)),
      missiles: this._missiles(sim, path, prediction),
    };
  }

  _missiles(sim, path, prediction) {
    const { owner, target } = sim.read("missile");
    return Array.from({ length: MISSILES }, (_, slot) => slot)
      .filter((slot) => prediction(slot, HELD).present)
      .map((slot) => ({
        ...prediction(slot, HELD),
        slot,
        owner: owner[slot],
        target: target[slot],
        escapeMiss: ESCAPES.map((lane) => prediction(slot, lane).miss),
        path: path(1 + slot, HELD),
      }));
  }

  /** Returns the front of a missile that the enemy fires now, for each time. */
  _fronts(sim, steps, count) {
    const { core } = sim;
    const { x, y, c, s, v } = mapValues(sim.read("fighter"), (values) => values[1 - this.seat]);
    const axes = sim.hasHeight ? 3 : 2;
    const size = axes * (sim.hasHeight ? HIGH_CONE_POINTS : CONE_POINTS);
    if (sim.hasHeight) core.wasm.mr_high_threat_cone(sim.sim, 0, 1 - this.seat, steps, count, core.scratch);
    else core.wasm.mr_threat_cone(sim.sim, v, steps, count, core.scratch);
    const numbers = core.floats(core.scratch, size * count).slice();
    const level = Math.max(Math.hypot(c, s), LEAST_COSINE);
    const [cos, sin] = [c / level, s / level];
    const place = (point) => ({ ...point, x: x + point.x * cos - point.y * sin, y: y + point.x * sin + point.y * cos });
    return Array.from({ length: count }, (_, t) => {
      const left = frontOf(numbers.subarray(size * t, size * (t + 1)), axes);
      const right = left.slice(1).map((point) => ({ ...point, y: -point.y }));
      return [...left.reverse(), ...right].map(place);
    });
  }
}

/** Reads an MrPrediction from its bytes; times in seconds, NaN for none. */
function predictionAt(bytes, place, dt) {
  const view = new DataView(bytes.buffer, 4 * PREDICTION * place, 4 * PREDICTION);
  const seconds = (at) => {
    const steps = view.getInt32(at, true);
    return steps < 0 ? NaN : steps * dt;
  };
  return {
    present: view.getInt32(0, true),
    hits: view.getInt32(4, true),
    ended: seconds(8),
    harmless: seconds(12),
    miss: view.getFloat32(16, true),
  };
}

/**
 * Returns the outline of the convex hull of points and their mirror images, from straight ahead to the left. With three
 * axes each point has the height of the farthest one towards its side of the hull.
 */
function frontOf(numbers, axes) {
  const support = NORMALS.map(() => -Infinity);
  const farthestAt = NORMALS.map(() => 0); // the places of the farthest points
  let farthest = 0;
  let isEmpty = true;
  for (let i = 0; i < numbers.length; i += axes) {
    const [x, y] = [numbers[i], numbers[i + 1]];
    if (Number.isNaN(x)) continue;
    isEmpty = false;
    farthest = Math.max(farthest, Math.abs(Math.atan2(y, x)));
    NORMALS.forEach((normal, n) => {
      const reach = x * normal.x + Math.abs(y * normal.y);
      if (reach > support[n]) [support[n], farthestAt[n]] = [reach, i];
    });
  }
  const high = (z) => (axes === 3 ? { z } : {});
  if (isEmpty) return Array.from({ length: FRONT }, () => ({ x: 0, y: 0, ...high(0) }));
  const last = support.every((reach) => reach > 0) ? Math.PI : farthest;
  return Array.from({ length: FRONT }, (_, i) => {
    const angle = (last * i) / (FRONT - 1);
    const ray = { x: Math.cos(angle), y: Math.sin(angle) };
    const reaches = NORMALS.map((normal, n) => {
      const facing = ray.x * normal.x + ray.y * normal.y;
      return facing > 1e-6 ? support[n] / facing : Infinity;
    });
    const reach = Math.min(...reaches);
    return { x: ray.x * reach, y: ray.y * reach, ...high(numbers[farthestAt[reaches.indexOf(reach)] + 2]) };
  });
}

// Places in an MrFighterState.
const FIGHTER_STATE = { x: 0, y: 1, z: 2, directionX: 3, directionY: 4, directionZ: 5, speed: 6, rudder: 7, climb: 8 };
const ALIVE = 10; // its index among them

/** Returns the game with full information that a seat believes in; the caller destroys it. */
function believedGame(sim, seat) {
  const { core } = sim;
  const { wasm, scratch } = core;
  const contact = sim.read("contact");
  const out = new Simulation(core, 0, ["agent", "agent"], { ...sim.parameters, ...flownTypes(sim), sensing: "full" });
  wasm.mr_get_fighter(sim.sim, 0, seat, scratch);
  wasm.mr_set_fighter(out.sim, 0, seat, scratch);
  const enemy = 1 - seat;
  wasm.mr_get_fighter(out.sim, 0, enemy, scratch);
  const state = core.floats(scratch, ALIVE);
  const [x, y, z] = [contact.x[seat], contact.y[seat], contact.z?.[seat] ?? 0];
  const isTracked = TRACKS.includes(contact.source[seat]);
  Object.entries({ x, y, z, speed: contact.v[seat], rudder: 0, climb: 0 }).forEach(([name, value]) => {
    state[FIGHTER_STATE[name]] = value;
  });
  if (isTracked) {
    state[FIGHTER_STATE.directionX] = contact.c[seat];
    state[FIGHTER_STATE.directionY] = contact.s[seat];
    state[FIGHTER_STATE.directionZ] = contact.u?.[seat] ?? 0;
  } else {
    core.ints(scratch, ALIVE + 1)[ALIVE] = 0;
  }
  wasm.mr_set_fighter(out.sim, 0, enemy, scratch);
  const { active, owner } = sim.read("missile");
  active.forEach((isActive, slot) => {
    if (!isActive || owner[slot] !== seat) return;
    wasm.mr_get_missile(sim.sim, 0, slot, scratch);
    wasm.mr_set_missile(out.sim, 0, slot, scratch);
  });
  return out;
}
