// The core in WebAssembly: simulations of one engagement, and networks that fly in them.

const PAIR_MISSILES = 12; // slots in one against one
const MOST_OF_SIDE = 4; // fighters of a side for which this core has room
const ENTITIES = { engagement: 0, fighter: 1, missile: 2, contact: 3, belief: 4, systems: 5 };
const RADAR_ROWS = 3; // the warnings of radars, among the kinds of rows of a team's observation (MrRow)
const [SILENT, DROP] = [1, 2]; // parts of the control of systems: a silent radar, a cartridge of chaff

/** True in games with emission control or chaff, which have a control more. */
function hasSystems({ sensing, emission_control: control = "off", chaff = 0 }) {
  return sensing === "radar" && (control !== "off" || chaff > 0);
}

/** Returns the names of a fighter's controls in a game with these parameters. */
function controlNames(parameters) {
  const climb = parameters.dimensions === 3 ? ["climb"] : [];
  return ["rudder", ...climb, "throttle", ...(hasSystems(parameters) ? ["systems"] : []), "fire"];
}

/** Decodes bytes from base64. */
function fromBase64(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

class Core {
  /**
   * Loads the core from the bytes of its module. `tables` comes from the Python package: names and
   * defaults of the parameters in their order, numbers of the controllers, features by observation,
   * and the envelope's map.
   */
  static async load(bytes, tables) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Core(instance.exports, tables);
  }

  constructor(wasm, tables) {
    Object.assign(this, { wasm, tables });
    this.fields = {}; // by the game
    this.scratch = wasm.malloc(1 << 18);
    const map = new Float32Array(fromBase64(tables.envelope).buffer);
    this.floats(wasm.web_envelope(), map.length).set(map);
  }

  /** Returns a view of the memory. Views must not be kept: the memory moves when it grows. */
  floats(at, count) {
    return new Float32Array(this.wasm.memory.buffer, at, count);
  }

  ints(at, count) {
    return new Int32Array(this.wasm.memory.buffer, at, count);
  }

  bytes(at, count) {
    return new Uint8Array(this.wasm.memory.buffer, at, count);
  }

  /** Returns the fields of a simulation's game: entity -> [{name, isInt} …]. */
  fieldsOf({ sim, isTeam, parameters: { dimensions } }) {
    const game = `${dimensions} ${isTeam}`;
    this.fields[game] ??= mapValues(ENTITIES, (entity) => this._readFields(sim, entity));
    return this.fields[game];
  }

  _readFields(sim, entity) {
    const fields = [];
    for (let place = 0; ; place += 1) {
      const name = this.wasm.web_field_name(sim, entity, place);
      if (!name) return fields;
      fields.push({ name: this._text(name), isInt: Boolean(this.wasm.web_field_is_int(sim, entity, place)) });
    }
  }

  _text(at) {
    const bytes = this.bytes(at, 100);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }
}

/** Checks parameters, since the core trusts its caller. An Error names the first wrong one. */
function checkParameters(parameters, { defaults, choices, integers, limits, pairs, texts }) {
  for (const [name, value] of Object.entries(parameters)) {
    if (!Object.hasOwn(defaults, name)) throw new Error(`There is no parameter ${name}.`);
    if (texts.includes(name)) {
      if (typeof value !== "string") throw new Error(`${name} = ${value} is not possible.`);
      continue; // gameTypes checks it
    }
    const [low, high] = limits[name] ?? [];
    const isPossible = choices[name]
      ? choices[name].includes(value)
      : Number.isFinite(value) && value >= low && value <= high &&
        (!integers.includes(name) || Number.isInteger(value));
    if (!isPossible) throw new Error(`${name} = ${value} is not possible.`);
  }
  const pair = pairs.find(([low, high]) => parameters[low] > parameters[high]);
  if (pair) throw new Error(`${pair[0]} is greater than ${pair[1]}.`);
}

/** Returns the numbers of red's and blue's fighters in a game with these parameters. */
function sizesOf({ red_size: red = 1, blue_size: blue = 1 }) {
  return [red, blue];
}

/** Checks the pilots of a game's fighters. An Error names what is wrong. */
function checkPilots(pilots, parameters, { controllers, sensorPilots, wingPilots }) {
  const sizes = sizesOf(parameters);
  const [most, count] = [Math.max(...sizes), sizes[0] + sizes[1]];
  if (most > MOST_OF_SIDE) throw new Error(`A side has ${most} fighters; this page flies ${MOST_OF_SIDE} at most.`);
  if (pilots.length !== count) throw new Error(`There are ${pilots.length} pilots for ${count} fighters.`);
  const unknown = pilots.find((pilot) => !Object.hasOwn(controllers, pilot));
  if (unknown !== undefined) throw new Error(`There is no pilot ${unknown}.`);
  const isAny = (names) => names.some((pilot) => pilots.includes(pilot));
  if (isAny(sensorPilots) && parameters.sensing !== "radar") throw new Error("That pilot needs sensors.");
  if (isAny(wingPilots) && most < 2) throw new Error("That pilot flies in teams only.");
}

/**
 * One engagement. `pilots` has one for each fighter, red's first; `parameters` are those that differ from the defaults,
 * choices by their names.
 */
class Simulation {
  constructor(core, seed = 0, pilots = ["agent", "agent"], parameters = {}) {
    const { wasm, tables } = core;
    this.core = core;
    this.parameters = { ...tables.defaults, ...parameters };
    checkParameters(this.parameters, tables);
    checkPilots(pilots, this.parameters, tables);
    this.sizes = sizesOf(this.parameters);
    Object.keys(tables.limits).forEach((name, row) => {
      const choices = tables.choices[name];
      const value = this.parameters[name];
      const isText = tables.texts.includes(name); // the types say what it means
      wasm.web_set_parameter(row, isText ? 0 : choices ? choices.indexOf(value) : value);
    });
    this.controls = controlNames(this.parameters);
    this.game = this.hasHeight ? gameTypes(this.parameters, tables) : null;
    if (this.game) setTypes(core, this.game);
    pilots.forEach((pilot, fighter) => wasm.web_set_pilot(fighter, tables.controllers[pilot]));
    this.sim = wasm.web_create(BigInt(seed));
    this.features = wasm.web_features();
    this.rows = this.isTeam ? this._readRows() : null;
    this.counts = mapValues(ENTITIES, (entity) => wasm.mr_count_of(this.sim, entity));
  }

  /** Returns the kinds of rows of a team's observation, in the order of MrRow: {rows, features, place} each. */
  _readRows() {
    const { core } = this;
    const kinds = core.wasm.web_rows(core.scratch);
    const numbers = Array.from(core.ints(core.scratch, 3 * kinds));
    return Array.from({ length: kinds }, (_, kind) => {
      const [rows, features, place] = numbers.slice(3 * kind, 3 * kind + 3);
      return { rows, features, place };
    });
  }

  get isTeam() {
    return Math.max(...this.sizes) > 1;
  }

  /** The number of fighters of both sides. */
  get fighters() {
    return this.counts.fighter;
  }

  sideOf(fighter) {
    return Number(fighter >= this.sizes[0]);
  }

  /** Returns the numbers of a side's fighters. */
  membersOf(side) {
    return Array.from({ length: this.sizes[side] }, (_, index) => side * this.sizes[0] + index);
  }

  /** Returns the place of a fighter's contact with an enemy among all contacts. */
  contactPlace(fighter, enemy) {
    const [red, blue] = this.sizes;
    return fighter < red ? fighter * blue + enemy - red : red * blue + (fighter - red) * red + enemy;
  }

  get hasSensors() {
    return this.parameters.sensing === "radar";
  }

  get hasHeight() {
    return this.parameters.dimensions === 3;
  }

  /** True if fighters have a control of systems: of the radar's emissions, of chaff, or of both. */
  get hasSystems() {
    return hasSystems(this.parameters);
  }

  get hasSilence() {
    return this.hasSystems && this.parameters.emission_control === "on";
  }

  get hasChaff() {
    return this.hasSystems && this.parameters.chaff > 0;
  }

  destroy() {
    this.core.wasm.mr_destroy(this.sim);
  }

  start(engagement = 0, episode = 0) {
    const isPossible = [engagement, episode].every((n) => Number.isInteger(n) && n >= 0 && n <= 2 ** 30);
    if (!isPossible) throw new Error(`There is no start ${engagement}, ${episode}.`);
    this.core.wasm.mr_start_episode(this.sim, 0, engagement, episode);
  }

  /** Flies one decision with the controls of all fighters, each in the order of `controls`. */
  step(controls) {
    const { core } = this;
    core.floats(core.scratch, this.fighters * this.controls.length).set(controls.flat());
    core.wasm.mr_step_controls(this.sim, core.scratch, 0);
  }

  /** Returns the observations of all fighters, a Float32Array each. */
  observe() {
    const { core } = this;
    const count = this.features;
    core.wasm.mr_observe_all(this.sim, core.scratch);
    const rows = core.floats(core.scratch, this.fighters * count);
    return Array.from({ length: this.fighters }, (_, number) => rows.slice(number * count, (number + 1) * count));
  }

  /** Returns the fields of a kind of entity by name, an array each. */
  read(entity) {
    const { core } = this;
    const count = this.counts[entity];
    return Object.fromEntries(core.fieldsOf(this)[entity].map(({ name, isInt }, place) => {
      core.wasm.web_get_field(this.sim, ENTITIES[entity], place, core.scratch);
      const values = (isInt ? core.ints : core.floats).call(core, core.scratch, count);
      return [name, Array.from(values)];
    }));
  }

  get stateHash() {
    return BigInt.asUintN(64, this.core.wasm.mr_state_hash(this.sim));
  }

  get fightHash() {
    return BigInt.asUintN(64, this.core.wasm.mr_fight_hash(this.sim));
  }

  snapshot() {
    const { core } = this;
    const size = core.wasm.mr_snapshot_bytes(this.sim);
    const at = core.wasm.malloc(size);
    core.wasm.mr_snapshot(this.sim, at);
    const bytes = core.bytes(at, size).slice();
    core.wasm.free(at);
    return bytes;
  }

  restore(bytes) {
    const { core } = this;
    const at = core.wasm.malloc(bytes.length);
    core.bytes(at, bytes.length).set(bytes);
    core.wasm.mr_restore(this.sim, at);
    core.wasm.free(at);
  }
}

/**
 * A network of the package: weights in the order of `flat_copy` in policies/native.py, and its game: sensing, dimensions
 * and in teams the fighters of a side. A network of teams also has the layout of its observation, `entities`: the kinds
 * of rows [rows, features, place], which of them is fired at, and the number of features made of each kind.
 */
class Network {
  constructor(core, { features, layers, width, weights: flat, sensing, dimensions, size = 1, entities = null }) {
    Object.assign(this, { core, features, sensing, dimensions, size, heads: controlNames({ dimensions }).length });
    const { kinds = [], targets = 0, entitySize = 0 } = entities ?? {};
    core.ints(core.scratch, kinds.flat().length).set(kinds.flat());
    const rows = entities ? core.scratch : 0;
    this.network = core.wasm.web_make_network(features, layers, width, dimensions, entitySize, rows, kinds.length, targets);
    const at = core.wasm.malloc(flat.byteLength);
    core.floats(at, flat.length).set(flat);
    core.wasm.mr_learner_load(this.network, at);
    core.wasm.free(at);
  }

  /** Returns a level of each control. `noise`: a number in [0, 1) for each, null: the likeliest. */
  act(observation, noise) {
    const { core } = this;
    const [row, drawn, out] = this._rooms(observation);
    if (noise) core.floats(drawn, this.heads).set(noise);
    core.wasm.web_act(this.network, row, noise ? drawn : 0, out);
    return Array.from(core.ints(out, this.heads));
  }

  /** Returns the log-probability of levels, and the value. */
  score(observation, levels) {
    const { core } = this;
    const [row, room, actions] = this._rooms(observation);
    core.ints(actions, this.heads).set(levels);
    core.wasm.web_score(this.network, row, actions, room);
    return Array.from(core.floats(room, 2));
  }

  _rooms(observation) {
    const { scratch } = this.core;
    this.core.floats(scratch, this.features).set(observation.subarray(0, this.features));
    return [scratch, scratch + 4096, scratch + 4160];
  }
}

/** Converts a network of the page's tables for `Network`. */
function shippedNetwork(network) {
  return { ...network, weights: new Float32Array(fromBase64(network.weights).buffer) };
}

/** Returns the controls of levels. In teams a shot at the k-th enemy is a fire of k + 1. */
function controlsOf(levels, isTeam) {
  const [throttle, fire] = levels.slice(-2);
  const shot = isTeam && fire ? fire + 1 : fire;
  return [...levels.slice(0, -2).map((level) => level / 2 - 1), throttle / 2, shot]; // rudder, climb
}
