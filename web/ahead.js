// Warnings in fights with height, by a look ahead, as show/play/threats.py has them by the graph: copies of the fight are flown
// for some seconds. In one both fighters hold their controls. In two others the own fighter dives and turns to one side at
// full throttle until its tail points at the enemy, then runs.

const AHEAD = 20; // s
const AHEAD_DECISION = 0.5; // s, about the time between two commands of an escape
const AHEAD_INTERVAL = 0.5; // s of the fight between two looks
const AHEAD_WAYS = [0, 1, -1]; // of the copies: controls held, an escape to the left, to the right
const SOFT = 0.3; // rad; with a smaller angle to go the rudder is not full
const STEEP = (10 * Math.PI) / 180; // a missile farther above or below the horizon is high or low
const LOW = 1500; // m: below it no dive is advised

/** The look ahead of a seat. */
class Ahead {
  constructor({ core, sim, seed, engagement }, seat) {
    const substeps = Math.max(Math.round(AHEAD_DECISION / sim.parameters.physics_dt), 1);
    Object.assign(this, { sim, seat, engagement, decision: substeps * sim.parameters.physics_dt });
    this.copies = AHEAD_WAYS.map(() => new Simulation(core, seed, ["agent", "agent"], { ...sim.parameters, substeps }));
  }

  destroy() {
    this.copies.forEach((copy) => copy.destroy());
  }

  /** Returns the missiles that fly at the seat, [{slot, hit [s] or null, harmless}], and if it survives an escape. */
  look() {
    const { active, target } = this.sim.read("missile");
    const slots = active.map((_, slot) => slot).filter((slot) => active[slot] && target[slot] === this.seat);
    if (!slots.length || !this.sim.read("fighter").alive[this.seat]) return { inbound: [], survives: true };
    const [held, ...escapes] = this.copies.map((copy, i) => this._fly(copy, AHEAD_WAYS[i], slots));
    return { inbound: this._inbound(slots, held), survives: escapes.some(({ alive }) => alive) };
  }

  /** Flies a copy; returns if the seat is alive at the end, and the missiles' distances at all times up to its death. */
  _fly(copy, way, slots) {
    copy.start(this.engagement); // the last look may have ended it
    copyBodies(this.sim, copy);
    const given = this.sim.read("fighter");
    const commands = SEATS.map((_, seat) => (
      this.sim.controls.map((name) => (name === "fire" ? 0 : given[`${name}_command`][seat]))));
    const distances = [this._distances(copy, slots)];
    let [alive, isTurning] = [true, true];
    for (let count = 0; alive && count < Math.round(AHEAD / this.decision); count += 1) {
      if (way) isTurning = this._escape(copy, commands[this.seat], way, isTurning);
      copy.step(commands);
      distances.push(this._distances(copy, slots));
      alive = Boolean(copy.read("fighter").alive[this.seat]);
    }
    return { alive, distances };
  }

  /** Returns the missiles' distances; those that have ended are at infinity. */
  _distances(copy, slots) {
    const [missiles, fighters] = [copy.read("missile"), copy.read("fighter")];
    return slots.map((slot) => (missiles.active[slot]
      ? Math.hypot(...["x", "y", "z"].map((axis) => missiles[axis][slot] - fighters[axis][this.seat])) : Infinity));
  }

  /** Sets the seat's commands in an escape; returns true while the first turn is not over. */
  _escape(copy, commands, way, isTurning) {
    const { x, y, c, s } = copy.read("fighter");
    const { seat } = this;
    const away = Math.atan2(y[seat] - y[1 - seat], x[seat] - x[1 - seat]);
    const toGo = mixAngle(0, away - Math.atan2(s[seat], c[seat]), 1);
    const turns = isTurning && Math.abs(toGo) > SOFT;
    const rudder = turns ? way : Math.min(Math.max(toGo / SOFT, -1), 1);
    commands.splice(0, 4, rudder, -this.sim.parameters.pilot_dive, 1, 0);
    return turns;
  }

  _inbound(slots, { alive, distances }) {
    const flown = alive ? distances : distances.slice(0, -1);
    const last = flown[flown.length - 1];
    const before = flown[flown.length - 2] ?? last;
    const nearest = last.indexOf(Math.min(...last));
    return slots.map((slot, i) => {
      const isHit = !alive && i === nearest;
      return {
        slot,
        hit: isHit ? (distances.length - 1) * this.decision : null,
        harmless: !isHit && (last[i] === Infinity || last[i] > before[i]),
      };
    });
  }
}

/** Copies all bodies of a simulation to another one of the same game. */
function copyBodies({ core, sim }, to) {
  const { wasm, scratch } = core;
  SEATS.forEach((_, seat) => {
    wasm.mr_get_fighter(sim, 0, seat, scratch);
    wasm.mr_set_fighter(to.sim, 0, seat, scratch);
  });
  for (let slot = 0; slot < MISSILES; slot += 1) {
    wasm.mr_get_missile(sim, 0, slot, scratch);
    wasm.mr_set_missile(to.sim, 0, slot, scratch);
  }
}

/** Lookout of a human's seat in a fight with height: its warning, and under `hits` fly-outs of a missile fired now. */
class HeightLookout {
  constructor(session, seat) {
    Object.assign(this, { session, seat, ahead: new Ahead(session, seat), checks: [], looked: -Infinity });
    Object.assign(this, { warning: null, hits: [false] });
  }

  destroy() {
    this.ahead.destroy();
  }

  /** Looks again, if enough time has passed, or the fight went back. */
  look() {
    const { session: { fight, sim }, seat } = this;
    const { now } = fight;
    if (now < this.looked) this.checks = this.checks.filter(({ time }) => time <= now);
    else if (now - this.looked < AHEAD_INTERVAL) return;
    this.looked = now;
    const { inbound, survives } = this.ahead.look();
    if (inbound.length) this.checks.push({ time: now, isOpen: survives });
    const states = fight.states(now);
    this.warning = heightWarning(inbound.map((look) => threatOf(sim, states[seat], look)), states[seat], !survives);
    const kind = Math.max(stocksOf(sim.read("fighter"), seat).findIndex(Boolean), 0);
    this.hits = fight.flyOuts.hits(seat, states[seat], states[1 - seat], kind);
  }
}

/** Returns the threat of a missile to a fighter: its bearing, elevation, time to impact, and true if it is outrun. */
function threatOf(sim, own, { slot, hit, harmless }) {
  const { x, y, z, c, s, u, v } = sim.read("missile");
  const state = { x: x[slot], y: y[slot], z: z[slot], speed: v[slot], heading: Math.atan2(s[slot], c[slot]), climb: Math.asin(u[slot]) };
  const closing = closingSpeed(own, state);
  const range = distance(own, state);
  return {
    bearing: mixAngle(0, Math.atan2(state.y - own.y, state.x - own.x) - own.heading, 1),
    above: Math.asin((state.z - own.z) / Math.max(range, 1)),
    seconds: hit ?? (closing > 0 ? range / closing : Infinity),
    isOutrun: hit === null && (harmless || closing <= 0),
  };
}

/** Returns {text, advice, isOutrun, seconds} about the most pressing of threats; null if there is none. */
function heightWarning(threats, own, isTooLate) {
  const [threat] = [...threats].sort((a, b) => a.isOutrun - b.isOutrun || a.seconds - b.seconds);
  if (!threat) return null;
  const { bearing, above, seconds, isOutrun } = threat;
  const level = above > STEEP ? " high" : above < -STEEP ? " low" : "";
  const place = `Missile at ${hourOf(bearing)} o'clock${level}`;
  if (isOutrun) return { text: `${place}: outrun`, advice: "as long as you run", isOutrun, seconds };
  const soon = seconds < Infinity ? `, ${seconds.toFixed(0)} s` : "";
  if (isTooLate) return { text: `${place}${soon}`, advice: "too late to get away: fire at the enemy", isOutrun, seconds };
  const turn = Math.abs(bearing) >= BEHIND ? "keep it behind you" : `turn ${bearing > 0 ? "right" : "left"} until it is behind you`;
  return { text: `${place}${soon}`, advice: own.z < LOW ? turn : `dive, and ${turn}`, isOutrun, seconds };
}
