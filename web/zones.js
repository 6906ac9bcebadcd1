// The launch zones around the fighters of a fight that is being flown; on the page of a replay these are `Zones`.

const ZONE_BEARINGS = 48;
const BUDGET = 1.5; // ms in which shots are flown for a zone of a picture, in the mean

/** The launch zones of a fight in the plane, from the core's table. */
class LiveZones {
  constructor(core, sim, fightNow) {
    Object.assign(this, { core, sim, fightNow });
  }

  /**
   * Returns R_aero and R_NEZ around the state of one of a pair, by its place in it, [{x, y} …] each; none without a
   * missile or a target.
   */
  at(time, pair, place, own) {
    const fight = this.fightNow();
    const enemy = fight.states(time)[pair[1 - place]];
    const isKnown = (state) => state.tracked !== false;
    const mayFire = own.ammo === undefined || own.ammo > 0; // a contact's missiles are unknown
    const alive = pair.every((number) => !isDead(fight.fighters[number], time));
    if (!alive || !mayFire || !isKnown(own) || !isKnown(enemy)) return [];
    const angles = Array.from({ length: ZONE_BEARINGS },
      (_, i) => own.heading + (2 * Math.PI * i) / ZONE_BEARINGS);
    const edges = this.edges(own, enemy, angles);
    return [0, 1].map((edge) => angles.map((angle, i) => {
      const range = edges[4 * i + edge];
      return { x: own.x + range * Math.cos(angle), y: own.y + range * Math.sin(angle) };
    }));
  }

  edges(own, enemy, angles) {
    const { core, sim } = this;
    const size = core.wasm.web_shot_numbers();
    const [shots, out] = [core.scratch, core.scratch + 4 * size * angles.length];
    const numbers = core.floats(shots, size * angles.length);
    angles.forEach((bearing, i) => {
      const nose = own.heading - bearing;
      const aspect = enemy.heading - bearing - Math.PI;
      numbers.set([0, Math.cos(nose), Math.sin(nose), Math.cos(aspect), Math.sin(aspect),
        own.speed, enemy.speed], size * i);
    });
    core.wasm.mr_look_up_shots(sim.sim, shots, angles.length, out);
    return core.floats(out, 4 * angles.length).slice();
  }
}

/** The launch zones of a fight with height. Each picture flies a part of the shots, so they are some seconds old. */
class FlownZones {
  constructor(flyOuts, fightNow) {
    Object.assign(this, { flyOuts, fightNow, debt: 0 });
    this._begin([]);
  }

  _begin(pair) {
    Object.assign(this, { pair, found: [null, null], search: null, place: 1 });
  }

  /**
   * Returns R_aero and R_NEZ around the state of one of a pair, by its place in it, [{x, y} …] each; none without a
   * missile or before they are found.
   */
  at(time, pair, place, own) {
    const fight = this.fightNow();
    const states = fight.states(time);
    const isBlind = pair.some((number) => states[number].tracked === false);
    if (own.ammo === 0 || isBlind || pair.some((number) => isDead(fight.fighters[number], time))) return [];
    if (pair.join() !== this.pair.join()) this._begin(pair);
    this._advance(pair.map((number) => states[number]));
    return (this.found[place] ?? []).map((ranges) => ranges.map((range, i) => {
      const angle = own.heading + (2 * Math.PI * i) / ranges.length;
      return { x: own.x + range * Math.cos(angle), y: own.y + range * Math.sin(angle) };
    }));
  }

  /** Goes on with the search, of one fighter of the pair after the other. */
  _advance(states) {
    this.debt = Math.max(this.debt - BUDGET, 0); // ms that the last time took too long
    if (this.debt) return;
    const begin = performance.now();
    do {
      if (!this.search) {
        this.place = 1 - this.place;
        const turned = (values) => [values[this.place], values[1 - this.place]];
        this.search = this.flyOuts.zone(turned(this.pair), ...turned(states));
      }
      const { done, value } = this.search.next();
      if (done) {
        this.found[this.place] = value;
        this.search = null;
      }
      this.debt = performance.now() - begin;
    } while (this.debt < BUDGET);
  }
}
