// The core in WebAssembly: simulations of one engagement, and networks that fly in them.

const FIGHTERS = 2;
const MISSILES = 12;
const ENTITIES = { engagement: 0, fighter: 1, missile: 2, contact: 3, belief: 4 };
const COUNTS = { engagement: 1, fighter: FIGHTERS, missile: MISSILES, contact: FIGHTERS, belief: MISSILES };
const CONTROLS = 3; // rudder, throttle, fire

/** Bytes out of base64. */
function fromBase64(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

class Engine {
  /**
   * `tables` says what the core's Python package knows: names and defaults of the parameters in
   * their order, names of the controllers, features by observation, and the envelope's map.
   */
  static async load(wasm, tables) {
    const { instance } = await WebAssembly.instantiate(wasm, {});
    return new Engine(instance.exports, tables);
  }

  constructor(core, tables) {
    Object.assign(this, { core, tables });
    this.fields = Object.fromEntries(Object.entries(ENTITIES).map(
      ([name, entity]) => [name, this._fieldsOf(entity)]));
    this.scratch = core.malloc(1 << 16);
    const map = new Float32Array(fromBase64(tables.envelope).buffer);
    this.floats(core.web_envelope(), map.length).set(map);
  }

  /** Views of the memory. They are made anew each time: the memory moves when it grows. */
  floats(at, count) {
    return new Float32Array(this.core.memory.buffer, at, count);
  }

  ints(at, count) {
    return new Int32Array(this.core.memory.buffer, at, count);
  }

  bytes(at, count) {
    return new Uint8Array(this.core.memory.buffer, at, count);
  }

  _fieldsOf(entity) {
    const fields = [];
    for (let place = 0; ; place += 1) {
      const name = this.core.web_field_name(entity, place);
      if (!name) return fields;
      fields.push({ name: this._text(name), isInt: Boolean(this.core.web_field_is_int(entity, place)) });
    }
  }

  _text(at) {
    const bytes = this.bytes(at, 100);
    return new TextDecoder().decode(bytes.subarray(0, bytes.indexOf(0)));
  }
}

/** Parameters that the core may be given: it trusts its caller. An Error names what is wrong. */
function checkParameters(parameters, { defaults, choices, integers, limits, pairs }) {
  for (const [name, value] of Object.entries(parameters)) {
    if (!Object.hasOwn(defaults, name)) throw new Error(`There is no parameter ${name}.`);
    const [low, high] = limits[name];
    const isOne = choices[name]
      ? choices[name].includes(value)
      : Number.isFinite(value) && value >= low && value <= high &&
        (!integers.includes(name) || Number.isInteger(value));
    if (!isOne) throw new Error(`${name} = ${value} is not possible.`);
  }
  const pair = pairs.find(([low, high]) => parameters[low] > parameters[high]);
  if (pair) throw new Error(`${pair[0]} is greater than ${pair[1]}.`);
}

/** One engagement. `parameters` are those that differ from the defaults; words are given as words. */
class Simulation {
  constructor(engine, seed = 0, pilots = ["agent", "agent"], parameters = {}) {
    const { core, tables } = engine;
    this.engine = engine;
    this.parameters = { ...tables.defaults, ...parameters };
    checkParameters(this.parameters, tables);
    const stranger = pilots.find((pilot) => !tables.controllers.includes(pilot));
    if (stranger !== undefined) throw new Error(`There is no pilot ${stranger}.`);
    const isBlind = tables.sensorPilots.some((pilot) => pilots.includes(pilot));
    if (isBlind && this.parameters.sensing !== "radar") throw new Error("That pilot needs sensors.");
    Object.keys(tables.defaults).forEach((name, row) => {
      const choices = tables.choices[name];
      const value = this.parameters[name];
      core.web_set_parameter(row, choices ? choices.indexOf(value) : value);
    });
    this.observation = this.parameters.sensing === "radar" ? "radar" : "default";
    const numbers = pilots.map((pilot) => tables.controllers.indexOf(pilot));
    const observation = Object.keys(tables.features).indexOf(this.observation);
    this.sim = core.web_create(BigInt(seed), ...numbers, observation);
  }

  get hasSensors() {
    return this.observation === "radar";
  }

  destroy() {
    this.engine.core.mr_destroy(this.sim);
  }

  start(engagement = 0, episode = 0) {
    const isPossible = [engagement, episode].every((n) => Number.isInteger(n) && n >= 0 && n <= 2 ** 30);
    if (!isPossible) throw new Error(`There is no start ${engagement}, ${episode}.`);
    this.engine.core.mr_start_episode(this.sim, 0, engagement, episode);
  }

  /** One decision; controls [[rudder, throttle, fire], …] of red and blue. */
  step(controls) {
    const { engine } = this;
    engine.floats(engine.scratch, FIGHTERS * CONTROLS).set(controls.flat());
    engine.core.mr_step_controls(this.sim, engine.scratch, 0);
  }

  /** What both seats see, Float32Array each. */
  observe() {
    const { engine } = this;
    const count = engine.tables.features[this.observation];
    engine.core.mr_observe_all(this.sim, engine.scratch);
    const seen = engine.floats(engine.scratch, FIGHTERS * count);
    return Array.from({ length: FIGHTERS }, (_, seat) => seen.slice(seat * count, (seat + 1) * count));
  }

  /** Fields of a kind of entity by name, an array each. */
  read(entity) {
    const { engine } = this;
    const count = COUNTS[entity];
    return Object.fromEntries(engine.fields[entity].map(({ name, isInt }, place) => {
      engine.core.web_get_field(this.sim, ENTITIES[entity], place, engine.scratch);
      const values = (isInt ? engine.ints : engine.floats).call(engine, engine.scratch, count);
      return [name, Array.from(values)];
    }));
  }

  get stateHash() {
    return BigInt.asUintN(64, this.engine.core.mr_state_hash(this.sim));
  }

  get fightHash() {
    return BigInt.asUintN(64, this.engine.core.mr_fight_hash(this.sim));
  }

  snapshot() {
    const { engine } = this;
    const size = engine.core.mr_snapshot_bytes(this.sim);
    const at = engine.core.malloc(size);
    engine.core.mr_snapshot(this.sim, at);
    const bytes = engine.bytes(at, size).slice();
    engine.core.free(at);
    return bytes;
  }

  restore(bytes) {
    const { engine } = this;
    const at = engine.core.malloc(bytes.length);
    engine.bytes(at, bytes.length).set(bytes);
    engine.core.mr_restore(this.sim, at);
    engine.core.free(at);
  }
}

/** A network of the package: weights as of `flat_copy` of policies/native.py, and the sensing of its game. */
class Network {
  constructor(engine, { features, layers, width, weights: flat, sensing }) {
    Object.assign(this, { engine, features, sensing });
    this.network = engine.core.web_make_network(features, layers, width);
    const at = engine.core.malloc(flat.byteLength);
    engine.floats(at, flat.length).set(flat);
    engine.core.mr_learner_load(this.network, at);
    engine.core.free(at);
  }

  /** Levels of rudder, throttle and fire; `noise`: three numbers in [0, 1), null: the likeliest. */
  act(observation, noise) {
    const { engine } = this;
    const [seen, drawn, out] = this._rooms(observation);
    if (noise) engine.floats(drawn, CONTROLS).set(noise);
    engine.core.web_act(this.network, seen, noise ? drawn : 0, out);
    return Array.from(engine.ints(out, CONTROLS));
  }

  /** The log-probability of levels, and the value. */
  score(observation, levels) {
    const { engine } = this;
    const [seen, room, actions] = this._rooms(observation);
    engine.ints(actions, CONTROLS).set(levels);
    engine.core.web_score(this.network, seen, actions, room);
    return Array.from(engine.floats(room, 2));
  }

  _rooms(observation) {
    const { scratch } = this.engine;
    this.engine.floats(scratch, this.features).set(observation.subarray(0, this.features));
    return [scratch, scratch + 4096, scratch + 4160];
  }
}

/** A network of the page's tables, as `Network` takes it. */
function shippedNetwork(told) {
  return { ...told, weights: new Float32Array(fromBase64(told.weights).buffer) };
}

/** The controls that levels stand for. */
function controlsOf(levels) {
  return [levels[0] / 2 - 1, levels[1] / 2, levels[2]];
}
