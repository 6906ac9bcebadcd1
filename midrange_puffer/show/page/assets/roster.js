// Teams: a line for each fighter, and the charts of all and of the chosen one.

/** Returns the fighter whose missile has hit another one; undefined if there is none. */
function killerOf(fight, { number }) {
  return fight.missiles.find(({ fate, entries }) => fate === "hit" && entries.targets.at(-1) === number)?.owner;
}

/** Returns the nearest living enemy of a fighter at a time, {number, range}; null if there is none. */
function nearestEnemy(fight, states, { number, side }, time) {
  const enemies = fight.fighters
    .filter((other) => other.side !== side && !isDead(other, time))
    .map((other) => ({ number: other.number, range: distance(states[number], states[other.number]) }));
  return enemies.length ? enemies.reduce((a, b) => (b.range < a.range ? b : a)) : null;
}

/** The table of all fighters: a click on a line chooses its fighter. */
class Roster {
  constructor(table, rangeLine, fights, settings, choose) {
    Object.assign(this, { rangeLine, fight: fights.truth, settings });
    table.classList.add("roster");
    table.tHead.replaceChildren();
    const titles = ["", "Mach", "missiles", "nearest enemy", "inbound"];
    const head = table.tHead.insertRow();
    for (const textContent of titles) {
      head.append(Object.assign(document.createElement("th"), { scope: "col", textContent }));
    }
    this.lines = this.fight.fighters.map((fighter) => {
      const row = table.tBodies[0].insertRow();
      const button = Object.assign(document.createElement("button"), {
        type: "button", className: SEATS[fighter.side],
        textContent: this.fight.callsigns[fighter.number],
      });
      row.append(document.createElement("th"));
      row.cells[0].append(button);
      row.addEventListener("click", (event) => {
        choose(fighter.number);
        if (event.detail) button.blur(); // so that space plays after a click
      });
      return { row, button, cells: titles.slice(1).map(() => row.insertCell()) };
    });
  }

  draw(time) {
    const { fight, settings: { fighter: chosen } } = this;
    const states = fight.states(time);
    fight.fighters.forEach((fighter) => {
      const { row, button, cells } = this.lines[fighter.number];
      row.classList.toggle("chosen", fighter.number === chosen);
      row.classList.toggle("dead", isDead(fighter, time));
      button.setAttribute("aria-pressed", fighter.number === chosen);
      const words = this._words(fighter, states, time);
      cells.forEach((cell, i) => setText(cell, words[i]));
    });
    setText(this.rangeLine, this._range(states, time));
  }

  /** Returns Mach number, missiles left and in the air, the nearest enemy, and missiles inbound. */
  _words(fighter, states, time) {
    const { fight } = this;
    const [state, inTheAir] = [states[fighter.number], fight.inTheAir(fighter.number, time).length];
    const missiles = inTheAir ? `${state.ammo} + ${inTheAir}` : `${state.ammo}`;
    if (isDead(fighter, time)) {
      const killer = killerOf(fight, fighter);
      const by = killer === undefined ? "" : ` by ${fight.callsigns[killer]}`;
      return ["–", inTheAir ? missiles : "–", `killed ${formatTime(fighter.died).split(".")[0]}${by}`, ""];
    }
    const enemy = nearestEnemy(fight, states, fighter, time);
    const nearest = enemy ? `${formatKm(enemy.range)}  ${fight.callsigns[enemy.number]}` : "–";
    const inbound = fight.inboundOf(fighter.number, time).length;
    return [fight.machOf(state).toFixed(2), missiles, nearest, inbound ? `▲ ${inbound}` : ""];
  }

  _range(states, time) {
    const { fight, settings: { fighter } } = this;
    const pair = [fighter, fight.threatOf(fighter, time)];
    const isOver = pair.some((number) => isDead(fight.fighters[number], time));
    const names = pair.map((number) => fight.callsigns[number]).join(" and ");
    const words = rangeWords(pair.map((number) => states[number]), isOver);
    return `${names}: ${words.replace("Range ", "")}`;
  }
}

/** Returns the charts of teams by the chosen fighter; the others have faint curves. */
function makeTeamStrips(fight) {
  const alive = scaled({
    title: "Fighters alive", value: (count) => count.toFixed(0), leastStep: 1,
    series: SEATS.map((_, side) => aliveSeries(fight, side)),
  });
  const made = new Map();
  const make = (number) => {
    const isFaint = (fighter) => fighter.number !== number;
    const speeds = fight.fighters.map((fighter) => ({
      colour: SEATS[fighter.side], times: fighter.entries.times, values: fighter.entries.speed,
      isFaint: isFaint(fighter),
    }));
    const name = fight.callsigns[number];
    return [
      alive,
      scaled({ title: `Speed of ${name} [m/s]`, series: speeds.sort((a, b) => b.isFaint - a.isFaint),
        value: (speed) => speed.toFixed(0), second: { title: "Mach", unit: fight.mach } }),
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
function nearestSeries(fight, { side, entries: { times, x, y } }) {
  const enemies = fight.fighters.filter((other) => other.side !== side).map(({ entries }) => entries);
  const range = (_, i) => Math.min(...enemies
    .filter((other) => i < other.times.length)
    .map((other) => Math.hypot(other.x[i] - x[i], other.y[i] - y[i]) / 1000));
  const values = Float64Array.from(times, range).map((value) => (Number.isFinite(value) ? value : NaN));
  return { colour: SEATS[side], times, values };
}
