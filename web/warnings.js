// Warnings of inbound missiles, as in show/play/threats.py: their direction, their time to impact, and advice.

const BEHIND = (150 * Math.PI) / 180; // least bearing of a missile that is behind and should stay there
const LOOK_INTERVAL = 0.2; // s of the fight between two looks at the space-time graph

/**
 * A seat's view of the missiles that fly at it. `checks` has {time, isOpen} for each look with such a
 * missile: if an escape to the left or to the right evades them all.
 */
class Lookout {
  constructor(seat) {
    Object.assign(this, { seat, checks: [], looked: -Infinity, threats: [] });
  }

  /** Looks again, if enough time has passed, or the fight went back. */
  look(fight, known) {
    const { now } = fight;
    if (now < this.looked) this.checks = this.checks.filter(({ time }) => time <= now);
    else if (now - this.looked < LOOK_INTERVAL) return;
    this.looked = now;
    const inbound = fight.inboundOf(this.seat, now);
    if (!inbound.length) {
      this.threats = [];
      return;
    }
    const missiles = fight.graphs[this.seat].at().missiles.filter(({ target }) => target === this.seat);
    const isOpen = [0, 1].some((way) => missiles.every(({ escapeMiss }) => escapeMiss[way] > 0));
    this.checks.push({ time: now, isOpen });
    const own = known.states(now)[this.seat];
    this.threats = known.contacts ? heardThreats(known, own, now) : seenThreats(fight, own, missiles);
    this.threats.sort((a, b) => a.isOutrun - b.isOutrun || a.seconds - b.seconds);
    this.isTooLate = !known.contacts && !isOpen;
  }

  /** Returns {text, advice, isOutrun, seconds} about the most pressing missile; null if there is none. */
  get warning() {
    const [threat] = this.threats;
    if (!threat) return null;
    const { bearing, seconds, isOutrun } = threat;
    const hour = hourOf(bearing);
    if (isOutrun) return { text: `Missile at ${hour} o'clock: outrun`, advice: "as long as you run", isOutrun, seconds };
    const soon = seconds < Infinity ? `, ${seconds.toFixed(0)} s` : "";
    return { text: `Missile at ${hour} o'clock${soon}`, advice: this._advice(bearing), isOutrun, seconds };
  }

  _advice(bearing) {
    if (this.isTooLate) return "too late to get away: fire at the enemy";
    if (Math.abs(bearing) >= BEHIND) return "keep it behind you";
    return `turn ${bearing > 0 ? "right" : "left"} until it is behind you`;
  }
}

/** Returns the missiles with a lock on the own fighter; their ranges are unknown. */
function heardThreats(known, own, time) {
  return known.warningsAt(known.side, time)
    .filter(({ seeker }) => seeker)
    .map(({ bearing }) => ({ bearing: offNose(bearing, own), seconds: Infinity, isOutrun: false }));
}

/** Returns the missiles of the predictions. One is outrun if it misses while both fighters hold their controls. */
function seenThreats(fight, own, predictions) {
  const { x, y, s, c, v } = fight.sim.read("missile");
  return predictions.map(({ slot, hits, ended, harmless }) => {
    const state = { x: x[slot], y: y[slot], heading: Math.atan2(s[slot], c[slot]), speed: v[slot] };
    const closing = closingSpeed(own, state);
    const bearing = offNose(Math.atan2(state.y - own.y, state.x - own.x), own);
    const seconds = closing > 0 ? distance(own, state) / closing : Infinity;
    const isOutrun = !hits && (closing <= 0 || !Number.isNaN(harmless));
    return { bearing, seconds: hits ? ended : seconds, isOutrun };
  });
}
