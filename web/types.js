// Types of aircraft and missiles in the game with height. The texts of `types`, mixes and loads are as in game/types.py.

const KINDS = ["aircraft", "missile"];
const TYPE_NAME = /^[a-z][a-z0-9_]{0,31}$/;
const TYPE_PARTS = { // of the core's configuration, in the order of web/core.c
  aircraft: 0, missile: 1, aircraftShares: 2, missileShares: 3, loads: 4, loadTypes: 5,
};
const DRAWN = 10; // numbers of an MrDrawnTypes
const BURN_FACTOR = 9; // the last of them

function refuseType(text) {
  throw new Error(`“${text}” is not possible as types of aircraft or missiles.`);
}

/** Returns the counts of a mix or a load by name: of "light:2,heavy" {light: 2, heavy: 1}. */
function countsOf(text) {
  const parts = text.trim() ? text.split(",").map((part) => part.trim().split(":")) : [];
  const counts = Object.fromEntries(parts.map(([name, count = "1"]) => [name, Number(count)]));
  if (Object.values(counts).some((count) => !(count > 0 && count < Infinity))) refuseType(text);
  return counts;
}

/** Returns the changes of a text of `types`: [{name, base, fields}], those of the package's types first. */
function changesOf(text) {
  const parts = text.trim() ? text.split(",").map((part) => part.trim().split(/\s+/)) : [];
  const changes = parts.map(([head, ...words]) => {
    const [name, base = name] = head.split("=");
    const fields = words.map((word) => word.split("=")).map(([field, value]) => [field, Number(value)]);
    return { name, base, fields };
  });
  return changes.sort((a, b) => Number(a.name !== a.base) - Number(b.name !== b.base));
}

/**
 * Returns the types of a game, of both kinds: {names, values: [type][field], shares: [side][type]}, and
 * under `loads` of each side the types and numbers of missiles, [[type, count] …]. An Error names a text
 * that is not possible.
 */
function gameTypes(parameters, { types: tables }) {
  const types = Object.fromEntries(KINDS.map((kind) => [kind, new Map(Object.entries(tables[kind].types))]));
  for (const { name, base, fields } of changesOf(parameters.types)) {
    const kind = KINDS.find((one) => types[one].has(base));
    if (!kind || !TYPE_NAME.test(name)) refuseType(parameters.types);
    const values = [...types[kind].get(base)];
    for (const [field, value] of fields) {
      const place = tables[kind].fields.findIndex(([known]) => known === field);
      const [, low, high] = tables[kind].fields[place] ?? [];
      if (!(value >= low && value <= high)) refuseType(parameters.types);
      values[place] = value;
    }
    types[kind].set(name, values);
    if (types[kind].size > tables.most) refuseType(parameters.types);
  }
  const counted = (name, known) => {
    const counts = countsOf(parameters[name]);
    if (Object.keys(counts).some((type) => !known.has(type))) refuseType(parameters[name]);
    return counts;
  };
  const loads = SEATS.map((seat) => {
    const text = parameters[`${seat}_missiles`];
    const load = Object.entries(counted(`${seat}_missiles`, types.missile));
    const total = load.reduce((sum, [, count]) => sum + count, 0);
    const isWhole = load.every(([, count]) => Number.isInteger(count));
    if (load.length > tables.mostKinds || total > tables.mostMissiles || !isWhole) refuseType(text);
    return load.map(([name, count]) => [[...types.missile.keys()].indexOf(name), count]);
  });
  const game = Object.fromEntries(KINDS.map((kind) => {
    const names = [...types[kind].keys()];
    const shares = SEATS.map((seat, side) => {
      const first = kind === "missile" ? loads[side][0] : undefined;
      const mix = counted(`${seat}_${kind}`, types[kind]);
      return names.map((name, place) => (first ? Number(place === first[0]) : mix[name] ?? 0));
    });
    return [kind, { names, values: [...types[kind].values()], shares }];
  }));
  return { ...game, loads };
}

/** Writes a game's types into the core's configuration, for the next simulation. */
function setTypes(core, game) {
  const { most, mostKinds } = core.tables.types;
  const at = (part) => core.wasm.web_types(TYPE_PARTS[part]);
  for (const kind of KINDS) {
    const { values, shares } = game[kind];
    core.floats(at(kind), values.flat().length).set(values.flat());
    const rows = core.floats(at(`${kind}Shares`), SEATS.length * most).fill(0);
    shares.forEach((row, side) => rows.set(row, side * most));
  }
  const [loadTypes, loads] = ["loadTypes", "loads"].map((part) => (
    core.ints(at(part), SEATS.length * mostKinds).fill(0)));
  game.loads.forEach((load, side) => load.forEach(([type, count], kind) => {
    loadTypes[side * mostKinds + kind] = type;
    loads[side * mostKinds + kind] = count;
  }));
}

/** Returns the parameters of a game with the types that red's and blue's fighters have drawn, without factors; none in the plane. */
function flownTypes(sim, pair = [0, 1]) {
  if (!sim.hasHeight) return {};
  const drawn = drawnTypes(sim);
  const ofSide = ({ aircraft, missiles: [missile] }, side) => ({
    [`${SEATS[side]}_aircraft`]: aircraft,
    ...(sim.game.loads[side].length ? {} : { [`${SEATS[side]}_missile`]: missile }),
  });
  return Object.assign({ aircraft_spread: 0, missile_spread: 0 }, ...pair.map((number, side) => ofSide(drawn[number], side)));
}

/** Returns what each fighter flies: {aircraft, missiles: names of its load's types, burns: motor times [s]}. */
function drawnTypes(sim) {
  const { core, game } = sim;
  const { engagement: [engagement], episode: [episode] } = sim.read("engagement");
  core.wasm.mr_draw_types(sim.sim, engagement, episode, core.scratch);
  const fieldAt = (name) => core.tables.types.missile.fields.findIndex(([field]) => field === name);
  const [burn, sustain] = ["burn_time", "sustain_time"].map(fieldAt);
  return Array.from({ length: sim.fighters }, (_, number) => {
    const side = sim.sideOf(number);
    const [aircraft, missile] = core.ints(core.scratch + 4 * DRAWN * number, 2);
    const factor = core.floats(core.scratch + 4 * DRAWN * number, DRAWN)[BURN_FACTOR];
    const missiles = game.loads[side].length ? game.loads[side].map(([type]) => type) : [missile];
    return {
      aircraft: game.aircraft.names[aircraft],
      missiles: missiles.map((type) => game.missile.names[type]),
      burns: missiles.map((type) => factor * (game.missile.values[type][burn] + game.missile.values[type][sustain])),
    };
  });
}
