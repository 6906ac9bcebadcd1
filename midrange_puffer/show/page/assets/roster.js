// Teams: a line for each fighter, and the charts of all and of the chosen one.

/** Returns the fighter whose missile has hit another one; undefined if there is none. */
function killerOf(fight, { number }) {
  return fight.missiles.find(({ fate, entries }) => fate === "hit" && entries.targets.at(-1) === number)?.owner;
}

/** Returns the nearest living enemy of a fighter at a time, {number, range}; null if there is none. */
function nearestEnemy(fight, states, { number, side }, time) {
  const enemies = fight.fighters
    .filter((other) => other.side !== side && !isDead(other, time) && states[other.number].tracked !== false)
    .map((other) => ({ number: other.number, range: distance(states[number], states[other.number]) }));
  return enemies.length ? enemies.reduce((a, b) => (b.range < a.range ? b : a)) : null;
}

/** The table of all fighters: a click on a line chooses its fighter. */
class Roster {
  constructor(table, rangeLine, fights, settings, choose) {
    Object.assign(this, { rangeLine, fights, settings });
    const { truth } = fights;
    table.classList.add("roster");
    table.tHead.replaceChildren();
    const titles = {
      name: "", mach: "Mach", ...(truth.hasHeight ? { height: "km" } : {}),
      missiles: "missiles", nearest: "nearest enemy", inbound: "inbound",
    };
    const head = table.tHead.insertRow();
    for (const [className, textContent] of Object.entries(titles)) {
      head.append(Object.assign(document.createElement("th"), { scope: "col", className, textContent }));
    }
    this.lines = truth.fighters.map((fighter) => {
      const row = table.tBodies[0].insertRow();
      const button = Object.assign(document.createElement("button"), {
        type: "button", className: SEATS[fighter.side],
        textContent: truth.callsigns[fighter.number],
      });
      row.append(document.createElement("th"));
      row.cells[0].append(button);
      row.addEventListener("click", (event) => {
        choose(fighter.number);
        if (event.detail) button.blur(); // so that space plays after a click
      });
      const { name, ...values } = titles;
      return { row, button, cells: mapValues(values, () => row.insertCell()) };
    });
  }

  draw(time) {
    const { settings: { picture, fighter: chosen } } = this;
    const fight = this.fights[picture];
    this.fight = fight;
    const states = fight.states(time);
    fight.fighters.forEach((fighter) => {
      const { row, button, cells } = this.lines[fighter.number];
      row.classList.toggle("chosen", fighter.number === chosen);
      row.classList.toggle("dead", isDead(fighter, time));
      button.setAttribute("aria-pressed", fighter.number === chosen);
      const words = this._words(fighter, states, time);
      for (const [name, cell] of Object.entries(cells)) setText(cell, words[name] ?? "–");
    });
    setText(this.rangeLine, this._range(states, time));
  }

  /** Returns a line's words: Mach number, height, missiles left and in the air, the nearest enemy, and missiles inbound. */
  _words(fighter, states, time) {
    const { fight } = this;
    if (fight.isContact(fighter)) return wordsOfContact(fight, states[fighter.number]);
    const [state, inTheAir] = [states[fighter.number], fight.inTheAir(fighter.number, time).length];
    const missiles = inTheAir ? `${state.ammo} + ${inTheAir}` : `${state.ammo}`;
    if (isDead(fighter, time)) {
      const killer = killerOf(fight, fighter);
      const by = killer === undefined ? "" : ` by ${fight.callsigns[killer]}`;
      const nearest = `killed ${formatTime(fighter.died).split(".")[0]}${by}`;
      return { missiles: inTheAir ? missiles : "–", nearest, inbound: "" };
    }
    const enemy = nearestEnemy(fight, states, fighter, time);
    const nearest = enemy ? `${formatKm(enemy.range)}  ${fight.callsigns[enemy.number]}` : "–";
    const inbound = inboundCount(fight, fighter.number, time);
    return { ...flightWords(fight, state), missiles, nearest, inbound: inbound ? `▲ ${inbound}` : "" };
  }

  _range(states, time) {
    const { fight, settings: { fighter } } = this;
    const pair = fight.pairAt(fighter, time);
    const isOver = pair.some((number) => isDead(fight.fighters[number], time));
    const names = pair.map((number) => fight.callsigns[number]).join(" and ");
    const [, other] = pair.map((number) => states[number]);
    if (other.tracked === false) return `${names}: unknown, ${contactWords(other)}`;
    const words = rangeWords(pair.map((number) => states[number]), isOver);
    return `${names}: ${words.replace("Range ", "")}`;
  }
}

/** Returns a body's Mach number, and with height its height [km]. */
function flightWords(fight, state) {
  const mach = fight.machOf(state).toFixed(2);
  return fight.hasHeight ? { mach, height: (state.z / 1000).toFixed(1) } : { mach };
}

/** Returns the words of an enemy's line as a side knows it: its flight while there is a track, and the source. */
function wordsOfContact(fight, state) {
  return { ...(state.tracked ? flightWords(fight, state) : {}), nearest: contactWords(state), inbound: "" };
}

/** Returns the number of missiles that fly at a fighter, in a side's picture of those that its receiver hears. */
function inboundCount(fight, number, time) {
  if (!fight.contacts) return fight.inboundOf(number, time).length;
  return fight.warningsAt(number, time).filter(({ seeker }) => seeker).length;
}

/** Returns the charts of teams by the chosen fighter; the others have faint curves. */
function makeTeamStrips(fight) {
  const alive = scaled({
    title: "Fighters alive", value: (count) => count.toFixed(0), leastStep: 1,
    series: [0, 1].filter((side) => side !== fight.enemy).map((side) => aliveSeries(fight, side)),
  });
  const made = new Map();
  const make = (number) => {
    const isFaint = (fighter) => fighter.number !== number;
    const ofAll = (value) => fight.fighters.map((fighter) => ({
      colour: SEATS[fighter.side], times: fighter.entries.times, values: value(fighter.entries),
      isFaint: isFaint(fighter),
    })).sort((a, b) => b.isFaint - a.isFaint);
    const name = fight.callsigns[number];
    const heights = () => scaled({ title: `Height of ${name} [km]`, series: ofAll((e) => e.z.map((z) => z / 1000)),
      value: (height) => height.toFixed(1) });
    return [
      alive,
      ...(fight.hasHeight ? [heights()] : []),
      scaled({ title: `Speed of ${name} [m/s]`, series: ofAll((e) => e.speed),
        value: (speed) => speed.toFixed(0), second: fight.hasHeight ? undefined : { title: "Mach", unit: fight.mach } }),
      scaled({ title: `Range of ${name} to the nearest enemy [km]`,
        series: [nearestSeries(fight, fight.fighters[number])], value: (range) => range.toFixed(1) }),
    ];
  };
  return (number) => {
    if (!made.has(number)) made.set(number, make(number));
    return made.get(number);
  };
}

/** Returns the number of a side's living fighters, in steps. */
function aliveSeries(fight, side) {
  const ours = fight.fighters.filter((fighter) => fighter.side === side);
  const deaths = ours.map(({ died }) => died).filter((died) => died !== null).sort((a, b) => a - b);
  const steps = deaths.flatMap((time, i) => [[time, ours.length - i], [time, ours.length - i - 1]]);
  const points = [[0, ours.length], ...steps, [fight.length, ours.length - deaths.length]];
  return { colour: SEATS[side], times: points.map(([time]) => time), values: points.map(([, count]) => count) };
}

/** Returns the range from a fighter to the nearest living enemy, while there is one. */
function nearestSeries(fight, { side, entries }) {
  const { times } = entries;
  const enemies = fight.fighters.filter((other) => other.side !== side).map((other) => other.entries);
  const range = (_, i) => Math.min(...enemies
    .filter((other) => i < other.times.length && !Number.isNaN(other.x[i]))
    .map((other) => distance(pointOf(entries, i), pointOf(other, i)) / 1000));
  const values = Float64Array.from(times, range).map((value) => (Number.isFinite(value) ? value : NaN));
  return { colour: SEATS[side], times, values };
}
