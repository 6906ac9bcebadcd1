// A fight that humans may fly in, whose time can be paused, scaled and rewound. A decision is a physics step, as in
// replays/session.py with a human. Policies decide every `substeps` steps and hold their controls in between.

const HUMAN = "human";
const TIME_SCALES = [0.25, 0.5, 1, 2, 4, 8, 16];
const MAX_LAG = 0.1; // most seconds of a frame that are flown
const MARK_INTERVAL = 1; // s of the fight between two snapshots
const HASH_INTERVAL = 20; // decisions between two state hashes of a replay
const STOCKS = ["ammunition", "ammunition_2", "ammunition_3"]; // fields: all missiles left, and those of later types

/** Random numbers in [0, 1) whose state can be restored (mulberry32). */
class Random {
  constructor(state) {
    this.state = state >>> 0;
  }

  next() {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  }
}

class Session {
  /**
   * `players`: red and blue, each HUMAN, a pilot's name or a policy's name. `policies`: networks by
   * name. `parameters`: those that differ from the defaults. `record`: controls [decision][seat] to
   * fly again before anything else.
   */
  constructor(core, { players, policies, seed = 0, engagement = 0, parameters = {}, record = [] }) {
    const { controllers, defaults } = core.tables;
    Object.assign(this, { core, players, policies, seed, engagement, record });
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`There is no seed ${seed}.`);
    this.parameters = { substeps: 1, ...parameters };
    this.hold = this.parameters.substeps === 1 ? defaults.substeps : 1; // decisions of an action
    this.pilots = players.map((player) => (Object.hasOwn(controllers, player) ? player : "agent"));
    this.sim = new Simulation(core, seed, this.pilots, this.parameters);
    this.sim.start(engagement, 0);
    this.decision = this.sim.parameters.physics_dt * this.sim.parameters.substeps; // s
    this.fight = new LiveFight(this.sim, players);
    this.random = new Random(seed * 1000003 + engagement);
    this.columns = Object.fromEntries(this.sim.controls.map((name, column) => [name, column]));
    const throttle = this.sim.read("fighter").throttle;
    this.commands = SEATS.map(() => this.sim.controls.map(() => 0));
    this.commands.forEach((row, seat) => { row[this.columns.throttle] = throttle[seat]; });
    Object.assign(this, { controls: [], hashes: [this.sim.fightHash], marks: [], due: 0 });
    Object.assign(this, { paused: false, timeScale: 1 });
    this._setMark();
  }

  get humans() {
    return [0, 1].filter((seat) => this.players[seat] === HUMAN);
  }

  get isOver() {
    return this.fight.length < Infinity;
  }

  get isReplayed() {
    return this.controls.length < this.record.length;
  }

  /** The time of the fight to show [s], up to one decision behind the flown time. */
  get time() {
    const { now } = this.fight;
    return this.isOver ? now : Math.max(now - this.decision + this.due, 0);
  }

  destroy() {
    this.fight.destroy();
    this.sim.destroy();
  }

  /** Sets a human's rudder. Its steps, and those of the throttle, make links short. */
  steer(seat, rudder) {
    this.commands[seat][this.columns.rudder] = Math.round(rudder * 16) / 16;
  }

  /** Sets a human's climb, 1 steepest climb to -1 steepest dive, in a game with height. */
  climb(seat, climb) {
    if (this.sim.hasHeight) this.commands[seat][this.columns.climb] = Math.round(climb * 16) / 16;
  }

  throttleOf(seat) {
    return this.commands[seat][this.columns.throttle];
  }

  /** Sets a human's throttle lever, which stays where it is put. */
  setThrottle(seat, throttle) {
    this.commands[seat][this.columns.throttle] = Math.round(Math.min(Math.max(throttle, 0), 1) * 64) / 64;
  }

  /** Commands a launch; of a load the first type that is left is launched. */
  fire(seat) {
    this.commands[seat][this.columns.fire] = Math.max(stocksOf(this.sim.read("fighter"), seat).findIndex(Boolean), 0) + 1;
  }

  scaleTime(steps) {
    const index = TIME_SCALES.indexOf(this.timeScale) + steps;
    this.timeScale = TIME_SCALES[Math.min(Math.max(index, 0), TIME_SCALES.length - 1)];
  }

  /** Lets real time pass [s]. */
  advance(seconds) {
    if (this.paused || this.isOver) return;
    this.due += Math.min(seconds, MAX_LAG) * this.timeScale;
    while (this.due >= this.decision && !this.isOver) {
      this.due -= this.decision;
      this.step();
    }
    if (this.isOver) this.due = 0;
  }

  /** Flies one decision: as recorded, or with the humans' and the policies' commands. */
  step() {
    if (this.isReplayed) this.commands = this.record[this.controls.length].map((row) => [...row]);
    else if (this.controls.length % this.hold === 0) this._askPolicies();
    const before = this.sim.read("fighter");
    this.sim.step(this.commands);
    this.controls.push(this._flown(before));
    if (this.controls.length % HASH_INTERVAL === 0) this.hashes.push(this.sim.fightHash);
    this.fight.note();
    this.commands.forEach((row) => { row[this.columns.fire] = 0; });
    if (this.controls.length % Math.max(Math.round(MARK_INTERVAL / this.decision), 1) === 0) this._setMark();
  }

  /** Returns the controls of the decision just flown, with those of pilots, so that a human can take over anywhere. */
  _flown(before) {
    const after = this.sim.read("fighter");
    return this.commands.map((row, seat) => {
      if (this.pilots[seat] === "agent") return row.map(Math.fround);
      const [earlier, left] = [before, after].map((states) => stocksOf(states, seat));
      const launched = 1 + left.findIndex((count, type) => count < earlier[type]); // its type, from 1; 0 for none
      return this.sim.controls.map((name) => (name === "fire" ? launched : after[`${name}_command`][seat]));
    });
  }

  _askPolicies() {
    const policies = this.players.map((player) => this.policies[player]);
    if (!policies.some(Boolean)) return;
    const observations = this.sim.observe();
    policies.forEach((policy, seat) => {
      if (!policy) return;
      const noise = this.sim.controls.map(() => this.random.next());
      this.commands[seat] = controlsOf(policy.act(observations[seat], noise));
    });
  }

  /** Takes back a number of decisions; the state is then bit for bit the earlier one. */
  rewind(decisions) {
    const target = Math.max(this.controls.length - decisions, 0);
    const flown = this.controls;
    while (this.marks.at(-1).decisions > target) this.marks.pop();
    const mark = this.marks.at(-1);
    this.sim.restore(mark.state);
    this.fight.cutBack(mark.fight);
    this.random.state = mark.random;
    this.commands = mark.commands.map((row) => [...row]);
    this.controls = flown.slice(0, mark.decisions);
    this.hashes.splice(1 + Math.floor(mark.decisions / HASH_INTERVAL));
    this.due = 0;
    for (const given of flown.slice(mark.decisions, target)) {
      this.humans.forEach((seat) => { this.commands[seat] = [...given[seat]]; });
      this.step();
    }
  }

  /** Returns the same fight with another player, a human or a policy, in a seat from now on. */
  handOver(seat, player) {
    const { core, policies, seed, engagement, parameters, controls: record } = this;
    const players = this.players.map((present, other) => (other === seat ? player : present));
    const session = new Session(core, { players, policies, seed, engagement, parameters, record });
    while (session.isReplayed) session.step();
    return session;
  }

  _setMark() {
    this.marks.push({
      decisions: this.controls.length,
      state: this.sim.snapshot(),
      fight: this.fight.mark(),
      random: this.random.state,
      commands: this.commands.map((row) => [...row]),
    });
  }
}

/** Returns the numbers of missiles that a seat has left, by type; in the plane there is one type. */
function stocksOf(states, seat) {
  const [all, ...later] = STOCKS.map((name) => states[name]?.[seat] ?? 0);
  return [all - later.reduce((sum, count) => sum + count, 0), ...later];
}
