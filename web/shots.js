// Shots of the game with height, which the core flies out: which of them hit, and the ranges from which they hit. As in game/shots.py.

const EVASIONS = 7; // of the core's table; the first one flies on
const AT_ONCE = 16; // shots that the core flies side by side
const FLOWN_BEARINGS = 24; // of a launch zone
const FARTHEST = 200_000; // m, where the search for a zone begins
const HALVINGS = 10;
const LEAST_STEP = 0.05; // s
const OF_SHOTS = [ // parameters that shots depend on
  "dimensions", "physics_dt", "gravity", "fighter_rudder_rate", "fighter_climb_rate", "fighter_throttle_rate",
  "missile_hit_radius", "missile_launch_offset", "pilot_dive", "types",
];

/** Fly-outs of the shots of a fight, by the types that `drawnTypes` returned. */
class FlyOuts {
  constructor(sim, flown) {
    Object.assign(this, { core: sim.core, parameters: sim.parameters, flown, sims: new Map() });
  }

  destroy() {
    this.sims.forEach((sim) => sim.destroy());
  }

  /** Returns the simulation of a fighter's shots at an enemy; in it red fires at blue. */
  _simOf([shooter, target], kind) {
    const types = { red_missile: this.flown[shooter].missiles[kind], blue_aircraft: this.flown[target].aircraft };
    const key = `${types.red_missile} ${types.blue_aircraft}`;
    if (!this.sims.has(key)) {
      const game = Object.fromEntries(OF_SHOTS.map((name) => [name, this.parameters[name]]));
      game.physics_dt = Math.max(game.physics_dt, LEAST_STEP);
      this.sims.set(key, new Simulation(this.core, 0, ["agent", "agent"], { ...game, ...types }));
    }
    return this.sims.get(key);
  }

  /**
   * Returns for each shot, {bearing, range, evasion}, of the first fighter of a pair at the second: 1 if it hits. The
   * enemy is at that bearing and range, with its height, course and speed, and begins level.
   */
  fly(pair, own, enemy, shots, kind = 0) {
    const { core } = this;
    const { sim } = this._simOf(pair, kind);
    const size = core.wasm.web_shot_numbers();
    const numbers = core.floats(core.scratch, size * shots.length);
    const whole = core.ints(core.scratch, size * shots.length);
    shots.forEach(({ bearing, range, evasion }, i) => {
      const [nose, aspect] = [own.heading - bearing, enemy.heading - bearing - Math.PI];
      numbers.set([range, Math.cos(nose), Math.sin(nose), Math.cos(aspect), Math.sin(aspect), own.speed, enemy.speed,
        Math.max(own.z, 0), Math.max(enemy.z, 0), Math.sin(own.climb)], size * i);
      whole[size * (i + 1) - 1] = evasion;
    });
    const out = core.scratch + 4 * size * shots.length;
    core.wasm.mr_fly_shots(sim, core.scratch, shots.length, out);
    return core.bytes(out, shots.length).slice();
  }

  /** Returns true or false by the enemy's evasion: if a missile that is fired now hits. */
  hits(pair, own, enemy, kind) {
    const [bearing, range] = [Math.atan2(enemy.y - own.y, enemy.x - own.x), Math.hypot(enemy.x - own.x, enemy.y - own.y)];
    const shots = Array.from({ length: EVASIONS }, (_, evasion) => ({ bearing, range, evasion }));
    return Array.from(this.fly(pair, own, enemy, shots, kind), Boolean);
  }

  /** Yields after every AT_ONCE shots, and returns a launch zone: R_aero and R_NEZ on all bearings from the nose [m]. */
  * zone(pair, own, enemy) {
    const turns = Array.from({ length: FLOWN_BEARINGS }, (_, i) => (2 * Math.PI * i) / FLOWN_BEARINGS);
    const evasions = Array.from({ length: EVASIONS }, (_, evasion) => evasion);
    const aero = yield* this._edge(pair, own, enemy, turns, turns.map(() => FARTHEST), [0]);
    return [aero, yield* this._edge(pair, own, enemy, turns, aero, evasions)];
  }

  /** Finds by halving the ranges within which a shot hits against all of these evasions, up to `farthest`. */
  * _edge(pair, own, enemy, turns, farthest, evasions) {
    const [near, far] = [turns.map(() => 0), [...farthest]];
    for (let round = 0; round < HALVINGS; round += 1) {
      const shots = turns.flatMap((turn, i) => evasions.map((evasion) => (
        { bearing: own.heading + turn, range: (near[i] + far[i]) / 2, evasion })));
      const hits = [];
      for (let first = 0; first < shots.length; first += AT_ONCE) {
        hits.push(...this.fly(pair, own, enemy, shots.slice(first, first + AT_ONCE)));
        yield null;
      }
      turns.forEach((_, i) => {
        const all = hits.slice(i * evasions.length, (i + 1) * evasions.length).every(Boolean);
        (all ? near : far)[i] = (near[i] + far[i]) / 2;
      });
    }
    return near;
  }
}
