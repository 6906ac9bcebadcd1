// A fight that humans may fly in, whose time can be paused, scaled and rewound. A decision is a physics step, as in
// replays/session.py with a human. Policies decide every `substeps` steps and hold their controls in between.
//
// In teams a human flies one fighter of a side, and may take over another. Pilots or a policy fly the others, its wingmen.

const CONTROL_STEPS = 16; // of a human's rudder and throttle
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
   * `players`: red and blue, each HUMAN, a pilot's name or a policy's name. `wingmen`: in teams the pilot or policy
   * that flies the other fighters of each human's side. `policies`: networks by name. `parameters`: those that differ
   * from the defaults. `record`: controls [decision][fighter] to fly again before anything else; null for a fighter whose
   * pilot or policy decides anew. `pilots`: of each fighter, if they are not those of the players.
   */
  constructor(core, { players, wingmen, policies, seed = 0, engagement = 0, parameters = {}, record = [], pilots }) {
    const { controllers, defaults } = core.tables;
    Object.assign(this, { core, players, policies, seed, engagement, record });
    this.wingmen = wingmen ?? SEATS.map(() => core.tables.wingmen);
    if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`There is no seed ${seed}.`);
    this.parameters = { substeps: 1, ...parameters };
    this.hold = this.parameters.substeps === 1 ? defaults.substeps : 1; // decisions of an action
    this.pilots = pilots ?? sizesOf(parameters).flatMap((size, side) => (
      Array.from({ length: size }, () => (Object.hasOwn(controllers, players[side]) ? players[side] : "agent"))));
    this.sim = new Simulation(core, seed, this.pilots, this.parameters);
    this.sim.start(engagement, 0);
    this.decision = this.sim.parameters.physics_dt * this.sim.parameters.substeps; // s
    this.humans = [0, 1].filter((side) => players[side] === HUMAN).map((side) => this.sim.membersOf(side)[0]);
    this.hasChanged = false; // if a human has left a fighter for another
    this.targets = new Map(); // the enemies that humans have chosen, by fighter
    this.crews = this._makeCrews();
    this.fight = new LiveFight(this.sim, players, (number) => (this.humans.includes(number) ? this.targetOf(number) : undefined));
    this.random = new Random(seed * 1000003 + engagement);
    this.columns = Object.fromEntries(this.sim.controls.map((name, column) => [name, column]));
    const throttle = this.sim.read("fighter").throttle;
    this.commands = this.pilots.map(() => this.sim.controls.map(() => 0));
    this.commands.forEach((row, seat) => { row[this.columns.throttle] = throttle[seat]; });
    Object.assign(this, { controls: [], hashes: [this.sim.fightHash], marks: [], due: 0 });
    Object.assign(this, { paused: false, timeScale: 1 });
    this._setMark();
  }

  /** Returns the crews of the fighters beside humans, by side; pilots fly them, since a policy needs no crew. */
  _makeCrews() {
    const { core, players, wingmen, sim } = this;
    const hasCrew = (side) => sim.sizes[side] > 1 && players[side] === HUMAN && Object.hasOwn(core.tables.controllers, wingmen[side]);
    return [0, 1].map((side) => (hasCrew(side) ? new Crew(this, wingmen[side]) : null));
  }

  /** Returns the player of a fighter at present. */
  playerOf(number) {
    const side = this.sim.sideOf(number);
    return this.players[side] === HUMAN && !this.humans.includes(number) ? this.wingmen[side] : this.players[side];
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
    this.crews.forEach((crew) => crew?.destroy());
    this.fight.destroy();
    this.sim.destroy();
  }

  /** Sets a human's rudder. Its steps, and those of the throttle, make links short. */
  steer(seat, rudder) {
    this.commands[seat][this.columns.rudder] = inSteps(rudder, -1);
  }

  /** Sets a human's climb, 1 steepest climb to -1 steepest dive, in a game with height. */
  climb(seat, climb) {
    if (this.sim.hasHeight) this.commands[seat][this.columns.climb] = inSteps(climb, -1);
  }

  throttleOf(seat) {
    return this.commands[seat][this.columns.throttle];
  }

  /** Sets a human's throttle lever, which stays where it is put. */
  setThrottle(seat, throttle) {
    this.commands[seat][this.columns.throttle] = inSteps(throttle, 0);
  }

  /** Commands a launch, in teams at the target; of a load the first type that is left is launched. */
  fire(seat) {
    const { sim } = this;
    this.commands[seat][this.columns.fire] = sim.isTeam ? shotAt(enemiesOf(sim, seat), this.targetOf(seat))
      : Math.max(stocksOf(sim.read("fighter"), seat).findIndex(Boolean), 0) + 1;
  }

  /** Switches a human's radar off, or on again, in a game with emission control. */
  switchRadar(seat) {
    if (this.sim.hasSilence) this.commands[seat][this.columns.systems] ^= SILENT;
  }

  /** Commands one cartridge of chaff, in a game with chaff. */
  dropChaff(seat) {
    if (this.sim.hasChaff) this.commands[seat][this.columns.systems] |= DROP;
  }

  /** Returns the enemy of a fighter's shots: the chosen one while it is known, else that nearest the nose; or undefined. */
  targetOf(number) {
    const { sim } = this;
    if (!sim.isTeam) return 1 - number;
    const chosen = this.targets.get(number);
    return enemiesOf(sim, number).includes(chosen) ? chosen : nearestNose(sim, number);
  }

  /** Chooses the enemy of a fighter's shots. */
  aim(number, enemy) {
    this.targets.set(number, enemy);
  }

  /** Chooses the next enemy that a fighter knows. */
  aimNext(number) {
    this.aim(number, nextAfter(enemiesOf(this.sim, number).sort((a, b) => a - b), this.targetOf(number)));
  }

  /** Gives a fighter of a human's side to the human, by default the next living one; a wingman flies on the one left. */
  change(human, fighter) {
    const { alive } = this.sim.read("fighter");
    const next = fighter ?? nextAfter(this.sim.membersOf(this.sim.sideOf(human)).filter((number) => alive[number]), human);
    if (next === undefined || next === human) return;
    this.humans = this.humans.map((number) => (number === human ? next : number));
    this.hasChanged = true;
    for (const number of [human, next]) this.commands[number][this.columns.fire] = 0;
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

  /** Flies one decision: as recorded or given [fighter], or with the humans', the policies' and the crews' commands. */
  step(given = null) {
    const recorded = this.record[this.controls.length] ?? [];
    const isWhole = recorded.length > 0 && recorded.every(Boolean);
    if (!isWhole && this.controls.length % this.hold === 0) this._askPolicies();
    this._askCrews(); // during a record, too: crews fly by what they have seen
    (given ?? recorded).forEach((row, seat) => { if (row) this.commands[seat] = [...row]; });
    const before = this.sim.read("fighter");
    const orders = this.pilots.map((pilot, seat) => (this.sim.isTeam && pilot !== "agent" ? enemiesOf(this.sim, seat) : []));
    this.sim.step(this.commands);
    this.controls.push(this._flown(before, orders));
    if (this.controls.length % HASH_INTERVAL === 0) this.hashes.push(this.sim.fightHash);
    this.fight.note();
    this.commands.forEach((row) => {
      row[this.columns.fire] = 0;
      if (this.sim.hasSystems) row[this.columns.systems] &= SILENT; // a radar stays as it is
    });
    if (this.controls.length % Math.max(Math.round(MARK_INTERVAL / this.decision), 1) === 0) this._setMark();
  }

  /** Returns the controls of the decision just flown, with those of pilots, so that a human can take over anywhere. */
  _flown(before, orders) {
    const after = readFighters(this.sim);
    return this.commands.map((row, seat) => {
      if (this.pilots[seat] === "agent") return row.map(Math.fround);
      if (this.sim.isTeam) return pilotControls(this.sim.controls, after, seat, orders[seat]);
      const [earlier, left] = [before, after].map((states) => stocksOf(states, seat));
      const launched = 1 + left.findIndex((count, type) => count < earlier[type]); // its type, from 1; 0 for none
      return this.sim.controls.map((name) => (name === "fire" ? launched : after[`${name}_command`][seat]));
    });
  }

  _askPolicies() {
    const policies = this.pilots.map((pilot, number) => (pilot === "agent" ? this.policies[this.playerOf(number)] : undefined));
    if (!policies.some(Boolean)) return;
    const observations = this.sim.observe();
    policies.forEach((policy, seat) => {
      if (!policy) return;
      const noise = this.sim.controls.map(() => this.random.next());
      this.commands[seat] = controlsOf(policy.act(observations[seat], noise), this.sim.isTeam);
    });
  }

  _askCrews() {
    this.crews.forEach((crew, side) => {
      if (!crew) return;
      const fighters = this.sim.membersOf(side).filter((number) => !this.humans.includes(number));
      crew.commands(this.sim, fighters).forEach((row, i) => { this.commands[fighters[i]] = row; });
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
    this.crews.forEach((crew, side) => crew?.restore(mark.crews[side]));
    for (const given of flown.slice(mark.decisions, target)) this.step(given);
  }

  /**
   * Returns the same fight flown by a human on a side from now on. In teams the side's last player flies the wingmen; they
   * stay the side's present ones if the page does not know that player.
   */
  handOver(side) {
    const { core, policies, seed, engagement, parameters, sim, controls: record } = this;
    const exchanged = (values, value) => values.map((present, other) => (other === side ? value : present));
    const player = this.players[side];
    const isKnown = player !== "agent" && [policies, core.tables.controllers].some((names) => Object.hasOwn(names, player));
    const session = new Session(core, {
      players: exchanged(this.players, HUMAN),
      wingmen: isKnown ? exchanged(this.wingmen, player) : this.wingmen,
      pilots: this.pilots.map((pilot, number) => (sim.sideOf(number) === side ? "agent" : pilot)),
      policies, seed, engagement, parameters, record,
    });
    while (session.isReplayed) session.step();
    session.hasChanged = this.hasChanged;
    session.humans = session.humans.map((number) => this.humans.find((own) => sim.sideOf(own) === sim.sideOf(number)) ?? number);
    session.humans.filter((number) => !sim.read("fighter").alive[number]).forEach((number) => session.change(number));
    return session;
  }

  _setMark() {
    this.marks.push({
      decisions: this.controls.length,
      state: this.sim.snapshot(),
      fight: this.fight.mark(),
      random: this.random.state,
      commands: this.commands.map((row) => [...row]),
      crews: this.crews.map((crew) => crew?.snapshot()),
    });
  }
}

/** Returns the number after another one in a rising list, or the first. */
function nextAfter(numbers, number) {
  return numbers.find((other) => other > number) ?? numbers[0];
}

/** Returns the numbers of missiles that a seat has left, by type; in the plane there is one type. */
function stocksOf(states, seat) {
  const [all, ...later] = STOCKS.map((name) => states[name]?.[seat] ?? 0);
  return [all - later.reduce((sum, count) => sum + count, 0), ...later];
}

/** Returns a control in the steps of a human's controls, from `least` to 1; never −0. */
function inSteps(value, least) {
  return Math.round(Math.min(Math.max(value, least), 1) * CONTROL_STEPS) / CONTROL_STEPS + 0;
}
