// Names each fighter's manoeuvres from its path, by the rules of game/manoeuvres.py. The tables have their limits and words.

/** Returns the runs [{start, end, manoeuvre}] of a living fighter's manoeuvres. */
function manoeuvresOf(fight, number, limits) {
  const { died, entries: { times } } = fight.fighters[number];
  const runs = [];
  let seen = null;
  times.forEach((time, index) => {
    if (died !== null && time >= died) return;
    seen = manoeuvreAt(fight, number, index, seen, limits);
    if (seen) extend(runs, { start: time, end: time, manoeuvre: seen });
  });
  const joined = [];
  runs.forEach((run) => extend(joined, run, run.end - run.start >= limits.held));
  return joined;
}

/** Lets the last of some runs go on if it is the same manoeuvre; otherwise adds the run if it counts. */
function extend(runs, run, counts = true) {
  const last = runs.at(-1);
  const isSame = last && Object.entries(run.manoeuvre).every(([name, value]) => last.manoeuvre[name] === value);
  if (isSame) last.end = run.end;
  else if (counts) runs.push({ ...run });
}

/** Returns a manoeuvre in words, such as "crank left of blue_1, supporting red_0". */
function manoeuvreInWords({ callsigns }, number, { course, enemy, evades, side, supports }, words) {
  const flown = fill(words[evades ? "evades" : course], { course, side, enemy: callsigns[enemy] });
  if (supports === null) return flown;
  return fill(words.supports, { course: flown, whom: supports === number ? words.its_own : callsigns[supports] });
}

/** Returns a fighter's manoeuvre at an entry of its path, after the one `before`; null if no enemy lives. */
function manoeuvreAt(fight, number, index, before, limits) {
  const own = bodyAt(fight.fighters[number], index);
  const enemy = referenceEnemy(fight, number, own, before, limits);
  if (enemy === null) return null;
  const supports = supportedBy(fight, number, own.time);
  const missile = inboundAt(fight, number, own, limits);
  const angleTo = (body) => offNose(Math.atan2(body.y - own.y, body.x - own.x), own);
  const courseTo = (body, isEvasion) => (
    courseOf(Math.abs(angleTo(body)), before?.evades === isEvasion ? before.course : null, limits));
  if (missile) {
    const course = courseTo(placeAt(missile, own.time), true);
    if (["beam", "cold"].includes(course)) return { course, enemy: missile.owner, evades: true, side: "", supports };
  }
  const body = placeAt(fight.fighters[enemy], own.time);
  const course = courseTo(body, false);
  const isNotch = course === "beam" && contactAt(fight, number, enemy, own.time)?.heard === TRACKED;
  const side = course === "crank" ? (angleTo(body) > 0 ? "right" : "left") : "";
  return { course: isNotch ? "notch" : course, enemy, evades: false, side, supports };
}

/** Returns the course at an angle off the nose [rad]; between two courses it is the one of before. */
function courseOf(angle, before, { ends, margin }) {
  const kept = before === "notch" ? "beam" : before;
  let low = 0;
  for (const [course, high] of Object.entries(ends)) {
    if (course === kept && angle >= low - margin && angle <= high + margin) return course;
    low = high;
  }
  return Object.keys(ends).find((course) => angle <= ends[course] + 1e-9);
}

function bodyAt({ entries: { times, x, y, z, speed, heading } }, index) {
  return { time: times[index], x: x[index], y: y[index], z: z?.[index], speed: speed[index], heading: heading[index] };
}

/** Returns a body as it was noted last up to a time. */
function placeAt(path, time) {
  return bodyAt(path, lastNotAfter(path.entries.times, time));
}

function isFlyingAt({ launched, entries: { times } }, time) {
  return launched <= time && time <= times.at(-1);
}

/** Returns the enemy to which a fighter's course refers: its last missile's target, else the nearest, else the one of before. */
function referenceEnemy(fight, number, own, before, { nearer }) {
  const living = fight.fighters.filter((other) => fight.sideOf(other.number) !== fight.sideOf(number) && !isDead(other, own.time));
  if (!living.length) return null;
  const numbers = living.map((other) => other.number);
  const shots = fight.missiles.filter((missile) => missile.owner === number && isFlyingAt(missile, own.time));
  const target = shots.length ? targetAt(shots.at(-1), own.time) : null;
  if (numbers.includes(target)) return target;
  const ranges = living.map((other) => distance(own, placeAt(other, own.time)));
  const least = Math.min(...ranges);
  const last = numbers.indexOf(before?.enemy);
  return last >= 0 && least > nearer * ranges[last] ? before.enemy : numbers[ranges.indexOf(least)];
}

/** Returns the closing missile at a fighter with the least time to go, of those under the limit; or null. */
function inboundAt(fight, number, own, { urgent }) {
  let [found, least] = [null, urgent];
  for (const missile of fight.missiles) {
    if (!isFlyingAt(missile, own.time) || targetAt(missile, own.time) !== number) continue;
    const body = placeAt(missile, own.time);
    const closing = closingSpeed({ ...own, z: 0 }, { ...body, z: 0 }); // as seen from above
    const seconds = distance(own, body) / closing;
    if (closing > 0 && seconds < least) [found, least] = [missile, seconds];
  }
  return found;
}

/** Returns a fighter's contact with an enemy: its source, and the warning heard; undefined without sensors. */
function contactAt({ contactLog }, number, enemy, time) {
  const path = contactLog.paths.find((contact) => contact.fighter === number && contact.enemy === enemy);
  if (!path) return undefined;
  const { times, source, heard } = path.entries;
  const index = lastNotAfter(times, time);
  return { source: source[index], heard: heard[index] };
}

/** Returns the fighter whose missile a fighter's radar guides, its own first; or null. */
function supportedBy(fight, number, time) {
  if (!fight.radar) return null;
  const flying = fight.missiles.filter((missile) => isFlyingAt(missile, time));
  const isOwn = ({ owner }) => owner === number;
  for (const missile of [...flying.filter(isOwn), ...flying.filter((other) => !isOwn(other))]) {
    const guided = missile.entries.guided[lastNotAfter(missile.entries.times, time)];
    if (isOwn(missile) && guided === SUPPORTED) return number;
    const isAllied = fight.sideOf(missile.owner) === fight.sideOf(number);
    const isRelayed = isAllied && guided === RELAYED;
    if (isRelayed && contactAt(fight, number, targetAt(missile, time), time)?.source === LIVE) return missile.owner;
  }
  return null;
}
