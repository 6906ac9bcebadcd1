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

/**
 * The graph of a fighter. `gameNow` returns {sim, stamp, side, enemy, slots}: its game, one against one with red as 0; a
 * stamp that changes with it; the fighter's side; the enemy's number in the fight; and the slots there of the game's
 * missiles, undefined if they are the same. Owners and targets of missiles are sides.
 */
class LiveGraph {
  constructor(gameNow, number) {
    Object.assign(this, { gameNow, number, computed: null });
  }

  /** Returns the present scene, as `Scenes` does. It is computed once for each decision. */
  at() {
    const game = this.gameNow();
    if (this.computed !== game.stamp) Object.assign(this, { computed: game.stamp, scene: this._look(game) });
    return this.scene;
  }

  _look({ sim, side, enemy, slots }) {
    const { core } = sim;
    const count = HORIZON + 1;
    const steps = Math.round(1 / sim.parameters.physics_dt);
    const moment = 3 * LANES * (1 + PAIR_MISSILES); // numbers of an MrMoment
    const [moments, predictions] = [core.scratch, core.scratch + 4 * moment * count];
    core.wasm.mr_look_ahead(sim.sim, 0, side, steps, count, moments, predictions);
    const points = core.floats(moments, moment * count).slice();
    const bytes = core.bytes(predictions, 4 * PREDICTION * LANES * PAIR_MISSILES).slice();
    const heights = 2 * LANES * (1 + PAIR_MISSILES); // the place of the first height of an MrMoment
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
      number: this.number,
      side,
      enemy,
      noted: 0,
      times,
      horizon: HORIZON,
      own: untilHit(path(0, HELD)),
      escapes: THREATENED.map((lane) => untilHit(path(0, lane))),
      shots: THREATENED.map((lane) => (isThreat ? path(1, lane) : absent)),
      fronts: isThreat ? this._fronts(sim, 1 - side, steps, count) : times.map(() => [nowhere]),
      escapeMiss: THREATENED.map((lane) => (isThreat ? prediction(0, lane).miss : NaN)),
      missiles: this._missiles(sim, path, prediction, slots),
    };
  }

  _missiles(sim, path, prediction, slots) {
    const { owner, target } = sim.read("missile");
    return Array.from({ length: PAIR_MISSILES }, (_, slot) => slot)
      .filter((slot) => prediction(slot, HELD).present)
      .map((slot) => ({
        ...prediction(slot, HELD),
        slot: slots?.[slot] ?? slot,
        owner: owner[slot],
        target: target[slot],
        escapeMiss: ESCAPES.map((lane) => prediction(slot, lane).miss),
        path: path(1 + slot, HELD),
      }));
  }

  /** Returns the front of a missile that a seat fires now, for each time. */
  _fronts(sim, launcher, steps, count) {
    const { core } = sim;
    const { x, y, c, s, v } = mapValues(sim.read("fighter"), (values) => values[launcher]);
    const axes = sim.hasHeight ? 3 : 2;
    const size = axes * (sim.hasHeight ? HIGH_CONE_POINTS : CONE_POINTS);
    if (sim.hasHeight) core.wasm.mr_high_threat_cone(sim.sim, 0, launcher, steps, count, core.scratch);
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

// Places in an MrMissileState.
const MISSILE_STATE = { active: 0, owner: 1, target: 2 };
// Places in an MrFighterState.
const FIGHTER_STATE = { x: 0, y: 1, z: 2, directionX: 3, directionY: 4, directionZ: 5, speed: 6, rudder: 7, climb: 8 };
const SYSTEMS_STATE = [16, 19]; // the first and after the last of the counts of its systems
const ALIVE = 10; // its index among them

/** Returns a new game of one against one between a fighter and an enemy, as duel_parameters in game/targets.py. */
function duelOf(sim, fighter, enemy, changes) {
  const pair = [fighter, enemy].sort((a, b) => a - b);
  const { mission } = sim.core.tables.defaults;
  const parameters = { ...sim.parameters, ...flownTypes(sim, pair), red_size: 1, blue_size: 1, mission, ...changes };
  return new Simulation(sim.core, 0, ["agent", "agent"], parameters);
}

/** Copies a missile of a fight to a slot of a duel, as one of a side's. */
function copyMissile(sim, slot, out, place, owner) {
  const { core: { wasm, scratch }, core } = sim;
  wasm.mr_get_missile(sim.sim, 0, slot, scratch);
  const state = core.ints(scratch, MISSILE_STATE.target + 1);
  [state[MISSILE_STATE.owner], state[MISSILE_STATE.target]] = [owner, 1 - owner];
  wasm.mr_set_missile(out.sim, 0, place, scratch);
}

/**
 * Returns {sim, slots}: the game of a fighter and an enemy alone, as pair_of in game/spacetime.py, with the missiles at
 * the fighter as the enemy's and its own at the enemy; and the slots of these in the fight. The caller destroys it.
 */
function pairGame(sim, fighter, enemy) {
  const { core: { wasm, scratch } } = sim;
  const side = sim.sideOf(fighter);
  const out = duelOf(sim, fighter, enemy, {});
  for (const [number, seat] of [[fighter, side], [enemy, 1 - side]]) {
    wasm.mr_get_fighter(sim.sim, 0, number, scratch);
    wasm.mr_set_fighter(out.sim, 0, seat, scratch);
  }
  const { active, owner, target, x, y } = sim.read("missile");
  const own = mapValues(sim.read("fighter"), (values) => values[fighter]);
  const isInbound = (slot) => target[slot] === fighter;
  const away = (slot) => Math.hypot(x[slot] - own.x, y[slot] - own.y);
  const slots = active.map((_, slot) => slot)
    .filter((slot) => active[slot] && (isInbound(slot) || (owner[slot] === fighter && target[slot] === enemy)))
    .sort((a, b) => isInbound(b) - isInbound(a) || away(a) - away(b))
    .slice(0, PAIR_MISSILES).sort((a, b) => a - b);
  slots.forEach((slot, place) => copyMissile(sim, slot, out, place, isInbound(slot) ? 1 - side : side));
  return { sim: out, slots };
}

/** Returns the game with full information that a fighter believes in, as believed in game/contacts.py; the caller destroys it. */
function believedGame(sim, fighter, enemy) {
  const { core } = sim;
  const { wasm, scratch } = core;
  const side = sim.sideOf(fighter);
  const place = sim.contactPlace(fighter, enemy);
  const contact = mapValues(sim.read("contact"), (values) => values[place]);
  const out = duelOf(sim, fighter, enemy, { sensing: "full" });
  wasm.mr_get_fighter(sim.sim, 0, fighter, scratch);
  core.ints(scratch, SYSTEMS_STATE[1]).fill(0, ...SYSTEMS_STATE); // the game without sensors has none
  wasm.mr_set_fighter(out.sim, 0, side, scratch);
  wasm.mr_get_fighter(out.sim, 0, 1 - side, scratch);
  const state = core.floats(scratch, ALIVE);
  Object.entries({ x: contact.x, y: contact.y, z: contact.z ?? 0, speed: contact.v, rudder: 0, climb: 0 }).forEach(([name, value]) => {
    state[FIGHTER_STATE[name]] = value;
  });
  if (TRACKS.includes(contact.source)) {
    state[FIGHTER_STATE.directionX] = contact.c;
    state[FIGHTER_STATE.directionY] = contact.s;
    state[FIGHTER_STATE.directionZ] = contact.u ?? 0;
  } else {
    core.ints(scratch, ALIVE + 1)[ALIVE] = 0;
  }
  wasm.mr_set_fighter(out.sim, 0, 1 - side, scratch);
  const { active, owner, target } = sim.read("missile");
  const mine = active.map((_, slot) => slot).filter((slot) => active[slot] && owner[slot] === fighter && target[slot] === enemy);
  mine.forEach((slot, number) => copyMissile(sim, slot, out, sim.isTeam ? number : slot, side));
  return out;
}
