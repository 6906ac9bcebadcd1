// Warnings of inbound missiles, as in show/play/threats.py: their direction, their time to impact, and advice.

const BEHIND = (150 * Math.PI) / 180; // least bearing of a missile that is behind and should stay there
const STEEP = (10 * Math.PI) / 180; // a missile farther above or below the horizon is high or low
const LOW = 1500; // m: below it no dive is advised
const LOOK_INTERVAL = 0.2; // s of the fight between two looks at the space-time graph
const HEIGHT_INTERVAL = 0.5; // the same with height, where shots are flown out, too

/**
 * A fighter's view of the missiles that fly at it. `checks` has {time, isOpen} for each look with such a
 * missile: if an escape to the left or to the right evades them all. With height `hits` has, by the enemy's evasion,
 * if a missile fired now hits it. `tooLate` is the advice if no escape is open.
 */
class Lookout {
  constructor(seat, tooLate) {
    Object.assign(this, { seat, tooLate, checks: [], looked: -Infinity, threats: [], hits: undefined });
  }

  /** Looks again, if enough time has passed, or the fight went back. */
  look(fight, known) {
    const { now, hasHeight } = fight;
    if (now < this.looked) this.checks = this.checks.filter(({ time }) => time <= now);
    else if (now - this.looked < (hasHeight ? HEIGHT_INTERVAL : LOOK_INTERVAL)) return;
    this.looked = now;
    const states = known.states(now);
    this.own = states[this.seat];
    if (hasHeight) this.hits = this._judgeShot(fight, states);
    const inbound = fight.inboundOf(this.seat, now);
    if (!inbound.length) {
      this.threats = [];
      return;
    }
    const scene = fight.graphs[this.seat].at();
    const missiles = scene.missiles.filter(({ target }) => target === scene.side);
    const isOpen = [0, 1].some((way) => missiles.every(({ escapeMiss }) => escapeMiss[way] > 0));
    this.checks.push({ time: now, isOpen });
    this.threats = known.contacts ? heardThreats(known, this.seat, this.own, now) : seenThreats(fight, this.own, missiles);
    this.threats.sort((a, b) => a.isOutrun - b.isOutrun || a.seconds - b.seconds);
    this.isTooLate = !known.contacts && !isOpen;
  }

  /** Returns the fly-outs of a missile fired now at the enemy as known; none that hits without a track. */
  _judgeShot(fight, states) {
    const { sim, flyOuts } = fight;
    const target = fight.targetOf(this.seat);
    if (target === undefined || states[target].tracked === false) return [false];
    const kind = Math.max(stocksOf(sim.read("fighter"), this.seat).findIndex(Boolean), 0);
    return flyOuts.hits([this.seat, target], this.own, states[target], kind);
  }

  /** Returns {text, advice, isOutrun, seconds} about the most pressing missile; null if there is none. */
  get warning() {
    const [threat] = this.threats;
    if (!threat) return null;
    const { bearing, above = 0, seconds, isOutrun } = threat;
    const level = above > STEEP ? " high" : above < -STEEP ? " low" : "";
    const place = `Missile at ${hourOf(bearing)} o'clock${level}`;
    if (isOutrun) return { text: `${place}: outrun`, advice: "as long as you run", isOutrun, seconds };
    const soon = seconds < Infinity ? `, ${seconds.toFixed(0)} s` : "";
    return { text: `${place}${soon}`, advice: this._advice(bearing), isOutrun, seconds };
  }

  _advice(bearing) {
    if (this.isTooLate) return this.tooLate;
    const isBehind = Math.abs(bearing) >= BEHIND;
    const turn = isBehind ? "keep it behind you" : `turn ${bearing > 0 ? "right" : "left"} until it is behind you`;
    return this.own.z >= LOW ? `dive, and ${turn}` : turn;
  }
}

/** Returns the missiles with a lock on the own fighter; their ranges are unknown. */
function heardThreats(known, number, own, time) {
  return known.warningsAt(number, time)
    .filter(({ seeker }) => seeker)
    .map(({ bearing }) => ({ bearing: offNose(bearing, own), seconds: Infinity, isOutrun: false }));
}

/** Returns the missiles of the predictions. One is outrun if it misses while both fighters hold their controls. */
function seenThreats(fight, own, predictions) {
  const { x, y, z, s, c, u, v } = fight.sim.read("missile");
  return predictions.map(({ slot, hits, ended, harmless }) => {
    const high = fight.hasHeight ? { z: z[slot], climb: Math.asin(u[slot]) } : {};
    const state = { x: x[slot], y: y[slot], heading: Math.atan2(s[slot], c[slot]), speed: v[slot], ...high };
    const closing = closingSpeed(own, state);
    const range = distance(own, state);
    const bearing = offNose(Math.atan2(state.y - own.y, state.x - own.x), own);
    const above = fight.hasHeight ? Math.asin((state.z - own.z) / Math.max(range, 1)) : 0;
    const seconds = closing > 0 ? range / closing : Infinity;
    const isOutrun = !hits && (closing <= 0 || !Number.isNaN(harmless));
    return { bearing, above, seconds: hits ? ended : seconds, isOutrun };
  });
}
