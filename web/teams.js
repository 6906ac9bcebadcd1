// Teams: the enemies of a fighter in the core's order, shots at them, and crews that fly beside a human. As in
// game/targets.py and replays/crews.py.

const { fround } = Math;

/** Returns the bodies that a fighter knows of its enemies: [{number, x, y, z}]; with sensors those of its tracks. */
function knownEnemies(sim, fighter) {
  const { alive, x, y, z } = sim.read("fighter");
  const living = sim.membersOf(1 - sim.sideOf(fighter)).filter((enemy) => alive[enemy]);
  if (!sim.hasSensors) return living.map((number) => ({ number, x: x[number], y: y[number], z: z?.[number] }));
  const contacts = sim.read("contact");
  return living.map((number) => ({ number, place: sim.contactPlace(fighter, number) }))
    .filter(({ place }) => TRACKS.includes(contacts.source[place]))
    .map(({ number, place }) => ({ number, x: contacts.x[place], y: contacts.y[place], z: contacts.z?.[place] }));
}

/** Returns a fighter's squared range to a body, and its way along the nose, in the core's float32 operations. */
function sightOf(fighters, fighter, { x, y, z }) {
  const [dx, dy] = [fround(x - fighters.x[fighter]), fround(y - fighters.y[fighter])];
  const dot = (a, b, c, d) => fround(fround(a * b) + fround(c * d));
  const [square, ahead] = [dot(dx, dx, dy, dy), dot(dx, fighters.c[fighter], dy, fighters.s[fighter])];
  if (!fighters.z) return { square, ahead };
  const dz = fround(z - fighters.z[fighter]);
  return { square: fround(square + fround(dz * dz)), ahead: fround(ahead + fround(dz * fighters.u[fighter])) };
}

/** Returns the numbers of the enemies that a fighter knows, the nearest first: the core counts shots in this order. */
function enemiesOf(sim, fighter) {
  const fighters = sim.read("fighter");
  return knownEnemies(sim, fighter).map((body) => ({ ...body, ...sightOf(fighters, fighter, body) }))
    .sort((a, b) => a.square - b.square).map(({ number }) => number);
}

/** Returns the known enemy at the least angle off a fighter's nose; undefined if it knows none. */
function nearestNose(sim, fighter) {
  const fighters = sim.read("fighter");
  const seen = knownEnemies(sim, fighter).map((body) => {
    const { square, ahead } = sightOf(fighters, fighter, body);
    return { number: body.number, cosine: ahead / Math.max(Math.sqrt(square), 1) };
  });
  return seen.sort((a, b) => b.cosine - a.cosine)[0]?.number;
}

/** Returns the fire control of a shot at an enemy in teams, by the order of `enemiesOf`; 0 if the enemy is not in it. */
function shotAt(order, enemy) {
  const place = order.indexOf(enemy);
  return place < 0 ? 0 : place + 2;
}

/** Copies all bodies of a fight to another simulation of the same game. */
function copyBodies(from, to) {
  const { wasm, scratch } = from.core;
  for (let number = 0; number < from.fighters; number += 1) {
    wasm.mr_get_fighter(from.sim, 0, number, scratch);
    wasm.mr_set_fighter(to.sim, 0, number, scratch);
  }
  const [flying, copied] = [from, to].map((sim) => sim.read("missile").active);
  flying.forEach((isActive, slot) => {
    if (!isActive && !copied[slot]) return;
    wasm.mr_get_missile(from.sim, 0, slot, scratch);
    wasm.mr_set_missile(to.sim, 0, slot, scratch);
  });
}

/** Returns the fields of all fighters, with the commands of their systems. */
function readFighters(sim) {
  const fighters = sim.read("fighter");
  return sim.hasSystems ? { ...fighters, systems_command: sim.read("systems").command } : fighters;
}

/** Returns the controls, of these names, that a pilot gave a fighter in a decision; `order` is of its enemies before it. */
function pilotControls(names, { fire, target, ...commands }, fighter, order) {
  return names.map((name) => {
    if (name !== "fire") return commands[`${name}_command`][fighter];
    return fire[fighter] ? shotAt(order, target[fighter]) : 0;
  });
}

/**
 * A scripted pilot that flies fighters which are agents for the core, so that a human may take over any of them. It
 * flies in a second simulation, which copies all bodies before each decision. With sensors the copied missiles have no
 * locks, so the pilot supports each missile to its end.
 */
class Crew {
  constructor({ core, seed, engagement, parameters, sim }, pilot) {
    this.copy = new Simulation(core, seed, Array.from({ length: sim.fighters }, () => pilot), parameters);
    this.copy.start(engagement, 0);
  }

  /** Returns the next controls of some fighters. */
  commands(sim, fighters) {
    copyBodies(sim, this.copy);
    this.copy.step(Array.from({ length: sim.fighters }, () => sim.controls.map(() => 0)));
    const given = readFighters(this.copy);
    return fighters.map((fighter) => pilotControls(sim.controls, given, fighter, enemiesOf(sim, fighter)));
  }

  snapshot() {
    return this.copy.snapshot();
  }

  restore(bytes) {
    this.copy.restore(bytes);
  }

  destroy() {
    this.copy.destroy();
  }
}
