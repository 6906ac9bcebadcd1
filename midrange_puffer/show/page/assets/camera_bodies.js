// What the free camera shows of fighters and missiles: trails, shadows, symbols with their attitude, radar cones and chaff.

const MOST_POINTS = 300; // of a trail that are drawn
const POST = 10; // s between the posts below a trail
const RIBBON = 7; // px of a trail to either side, which lies as the wings did
const SHADOW = "#000000";
const SUN = { x: -0.4, y: 0.5, z: 0.77 };
// A fighter's points along nose, left wing and top, and its faces.
const JET = {
  nose: [1, 0, 0], left: [-0.75, 0.7, 0], right: [-0.75, -0.7, 0], tail: [-0.5, 0, 0],
  top: [-0.3, 0, 0.17], belly: [-0.3, 0, -0.1], fin: [-0.85, 0, 0.5],
};
const JET_FACES = [
  ["nose", "left", "top"], ["nose", "top", "right"], ["left", "tail", "top"], ["right", "top", "tail"],
  ["nose", "belly", "left"], ["nose", "right", "belly"], ["left", "belly", "tail"], ["right", "tail", "belly"],
  ["top", "tail", "fin"],
];
const DARTS = { // of a missile, without and with its flame
  body: [[1, 0, 0], [-1, 0.22, 0], [-1, -0.11, 0.19], [-1, -0.11, -0.19]],
  flame: [[-2.2, 0, 0], [-1, 0.2, 0], [-1, -0.1, 0.17], [-1, -0.1, -0.17]],
};
const CONE_RAYS = 32; // of a radar's cone; a multiple of 4
const CEILING = 16_000; // m, where its rays end
const [JET_SIZE, MISSILE_SIZE] = [15, 8]; // px

const plus = (a, b, share = 1) => ({ x: a.x + b.x * share, y: a.y + b.y * share, z: a.z + b.z * share });
const dot = (a, b) => a.x * b.x + a.y * b.y + a.z * b.z;
const cross = (a, b) => ({ x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x });
const unitOf = (a) => {
  const length = Math.hypot(a.x, a.y, a.z) || 1;
  return { x: a.x / length, y: a.y / length, z: a.z / length };
};

/** Returns a body's axes in the picture: nose, left wing and top. Lift points to the top. */
function axesOf({ heading, climb = 0, load = 0, lift = 1 }) {
  const nose = unitOf({
    x: Math.cos(climb) * Math.cos(heading), y: Math.cos(climb) * Math.sin(heading), z: HEIGHT_SCALE * Math.sin(climb),
  });
  const level = { x: -Math.sin(heading), y: Math.cos(heading), z: 0 };
  const pull = plus({ x: level.x * load, y: level.y * load, z: 0 }, cross(nose, level), lift);
  const top = Math.hypot(load, lift) > 0.05 ? unitOf(pull) : cross(nose, level);
  return { nose, left: cross(top, nose), top };
}

/** Returns a body's states between two times, at most MOST_POINTS; null stands for a gap. */
function flownStates(path, from, to) {
  const { entries } = path;
  const { times, x } = entries;
  const end = Math.min(to, times[times.length - 1]);
  if (end <= from) return [];
  const [first, last] = [lastNotAfter(times, from) + 1, lastNotAfter(times, end)];
  const stride = Math.max(Math.ceil((last - first) / MOST_POINTS), 1);
  const states = [stateAt(path, from)];
  for (let i = Math.ceil(first / stride) * stride; i <= last; i += stride) {
    if (times[i] >= end) break;
    const { y, z, heading, climb, load, lift } = entries;
    states.push({
      times: times[i], x: x[i], y: y[i], z: z?.[i], heading: heading[i], climb: climb?.[i], load: load[i], lift: lift?.[i],
    });
  }
  return [...states, stateAt(path, end)].map((state) => (Number.isNaN(state.x) ? null : state));
}

/** Draws a band through vertices that faces the camera, some pixels wide. `colourOf` gives the colour of each. */
function drawBand(camera, layer, vertices, width, colourOf) {
  const { eye } = camera;
  let before = null;
  vertices.forEach((vertex, i) => {
    const pixel = vertex && camera.pixelAt(vertex);
    if (!pixel) {
      before = null;
      return;
    }
    const [behind, ahead] = [vertices[i - 1] ?? vertex, vertices[i + 1] ?? vertex];
    const across = unitOf(cross(plus(ahead, behind, -1), plus(vertex, eye, -1)));
    const half = (width / 2) * pixel;
    const ends = [plus(vertex, across, half), plus(vertex, across, -half), colourOf(i)];
    if (before) joinBand(layer, before, ends);
    before = ends;
  });
}

/** Fills the quadrangle between two ends [left, right, colour] of a band. */
function joinBand(layer, [a, b, colour], [c, d, next]) {
  for (const [vertex, own] of [[a, colour], [b, colour], [c, next], [b, colour], [d, next], [c, next]]) {
    layer.add(vertex, own);
  }
}

/** Returns the colours of states: fading with their age if trails fade. */
function fading(camera, hex, states, alpha) {
  const { time, settings } = camera;
  if (settings.trails === "whole") return () => tint(hex, alpha);
  return (i) => tint(hex, alpha * Math.max(1 - (time - (states[i]?.times ?? time)) / FADE, 0));
}

function drawTrail3(camera, fighter) {
  const { time, settings, painter: { layers: { veil, floor, lines } } } = camera;
  const hex = camera.colours.seats[fighter.side];
  const from = settings.trails === "whole" ? fighter.entries.times[0] : Math.max(time - FADE, 0);
  const states = flownStates(fighter, from, time);
  const vertices = states.map((state) => state && camera.near(state));
  drawBand(camera, veil, vertices, 2.4, fading(camera, hex, states, 0.95));
  const ribbon = fading(camera, hex, states, 0.28);
  let before = null;
  states.forEach((state, i) => {
    const pixel = state && camera.pixelAt(vertices[i]);
    const { left } = pixel ? axesOf(state) : {};
    const ends = pixel
      ? [plus(vertices[i], left, RIBBON * pixel), plus(vertices[i], left, -RIBBON * pixel), ribbon(i)] : null;
    if (before && ends) joinBand(veil, before, ends);
    before = ends;
  });
  if (!camera.fight.hasHeight) return;
  const grounded = states.map((state) => state && camera.near({ ...state, z: 0 }));
  drawBand(camera, floor, grounded, 1.6, fading(camera, SHADOW, states, 0.22));
  for (let post = Math.ceil(from / POST) * POST; post < Math.min(time, fighter.entries.times.at(-1)); post += POST) {
    const state = stateAt(fighter, post);
    lines.line(camera.near(state), camera.near({ ...state, z: 0 }), tint(hex, 0.4), tint(hex, 0.1));
  }
}

/** Returns a function from a point along a body's axes, in sizes, to a vertex. */
function bodyFrame(camera, state, pixels) {
  const at = camera.near(state);
  const size = pixels * (camera.pixelAt(at) ?? 0);
  const { nose, left, top } = axesOf(state);
  return ([x, y, z]) => plus(plus(plus(at, nose, x * size), left, y * size), top, z * size);
}

function drawJet(camera, state, hex, alpha) {
  const { painter: { layers: { solid, veil, floor, lines } }, fight } = camera;
  const vertexOf = bodyFrame(camera, state, JET_SIZE);
  const points = mapValues(JET, vertexOf);
  const layer = alpha < 1 ? veil : solid;
  for (const [a, b, c] of JET_FACES) {
    const face = unitOf(cross(plus(points[b], points[a], -1), plus(points[c], points[a], -1)));
    layer.triangle(points[a], points[b], points[c], tint(hex, alpha, 0.8 + 0.35 * Math.abs(dot(face, SUN))));
  }
  if (!fight.hasHeight) return;
  const ground = camera.near({ ...state, z: 0 });
  const onGround = bodyFrame(camera, { ...state, z: 0, climb: 0, load: 0, lift: 1 }, JET_SIZE);
  const [nose, left, tail, right] = ["nose", "left", "tail", "right"].map((name) => onGround(JET[name]));
  floor.triangle(nose, left, tail, tint(SHADOW, 0.35));
  floor.triangle(nose, tail, right, tint(SHADOW, 0.35));
  lines.line(camera.near(state), ground, tint(hex, 0.8));
}

function drawMissile3(camera, missile) {
  const { time, settings, fight, painter: { layers: { solid, veil, floor } }, context, colours: { seats, star } } = camera;
  const phase = phaseOf(missile, time);
  const { times } = missile.entries;
  const isFaded = settings.trails === "fading" && time - times[times.length - 1] > END_SHOWN;
  if (phase === "waiting" || isFaded) return;
  const hex = seats[fight.sideOf(missile.owner)];
  const states = flownStates(missile, times[0], time);
  const vertices = states.map((state) => camera.near(state));
  const alpha = phase === "flying" ? 1 : 0.5;
  const isBurning = (i) => states[i].times <= missile.burnt_out;
  drawBand(camera, veil, vertices, 1.4, (i) => tint(hex, (isBurning(i) ? 0.9 : 0.7) * alpha));
  const burnt = vertices.filter((_, i) => isBurning(i));
  drawBand(camera, veil, burnt, 5, () => tint(hex, 0.35 * alpha));
  if (fight.hasHeight) {
    drawBand(camera, floor, states.map((state) => camera.near({ ...state, z: 0 })), 1, () => tint(SHADOW, 0.12));
  }
  const state = stateAt(missile, time);
  const at = camera.project(camera.near(state));
  if (!at) return;
  if (phase === "hit") drawStar(context, at, 11, star, hex);
  else if (phase !== "flying") drawCross(context, at, 4, hex);
  else drawDart3(camera, missile, state, hex, { solid });
}

function drawDart3(camera, missile, state, hex, { solid }) {
  const vertexOf = bodyFrame(camera, state, MISSILE_SIZE);
  const parts = camera.time < missile.burnt_out ? [["body", hex], ["flame", camera.colours.star]] : [["body", hex]];
  for (const [part, colour] of parts) {
    const [tip, ...rim] = DARTS[part].map(vertexOf);
    rim.forEach((point, i) => {
      solid.triangle(tip, point, rim[(i + 1) % rim.length], tint(colour, 1, [0.75, 0.9, 1.05][i]));
    });
  }
}

/** Draws the radar cones and the clouds of chaff. */
function drawSensors3(camera) {
  const { states, context, colours: { seats } } = camera;
  for (const { number, side } of radarsShown(camera)) drawRadar3(camera, states[number], seats[side]);
  for (const { number, side } of cloudsShown(camera)) {
    const at = camera.project(camera.near(states[number].cloud));
    if (at) drawChaff(context, at, seats[side]);
  }
}

/**
 * Returns the ends [{x, y, z}] of the rays around a radar's cone [m]; the last ray is the first. A ray ends at the
 * radar's range, at the ground or at CEILING. In a fight in the plane the rays cover the part of it that the radar sees.
 */
function coneEnds(state, { radar_half_angle_deg: degrees, radar_range_nose: range }, hasHeight) {
  const half = (degrees * Math.PI) / 180;
  const nose = velocityOf({ ...state, speed: 1 });
  const left = { x: -Math.sin(state.heading), y: Math.cos(state.heading), z: 0 };
  const top = cross(nose, left);
  const rays = Array.from({ length: CONE_RAYS + 1 }, (_, i) => {
    const turn = (2 * Math.PI * i) / CONE_RAYS;
    const [along, across, up] = hasHeight
      ? [Math.cos(half), Math.sin(half) * Math.cos(turn), Math.sin(half) * Math.sin(turn)]
      : [Math.cos((2 * i / CONE_RAYS - 1) * half), Math.sin((2 * i / CONE_RAYS - 1) * half), 0];
    return plus(plus(plus({ x: 0, y: 0, z: 0 }, nose, along), left, across), top, up);
  });
  const place = { x: state.x, y: state.y, z: state.z ?? 0 };
  return rays.map((ray) => {
    const [room, rise] = [Math.max(ray.z > 0 ? CEILING - place.z : place.z, 0), Math.abs(ray.z)];
    return plus(place, ray, hasHeight && room < range * rise ? room / rise : range);
  });
}

/** Draws a radar's cone. */
function drawRadar3(camera, state, hex) {
  const { fight: { hasHeight, radar }, painter: { layers: { veil, lines } } } = camera;
  const ends = coneEnds(state, radar, hasHeight).map((end) => camera.near(end));
  const apex = camera.near({ ...state, z: state.z ?? 0 });
  ends.slice(1).forEach((end, i) => {
    veil.triangle(apex, ends[i], end, tint(hex, 0.02));
    lines.line(ends[i], end, tint(hex, 0.35));
  });
  const drawn = hasHeight ? ends.filter((_, i) => i % (CONE_RAYS / 4) === 0) : [ends[0], ends.at(-1)];
  for (const end of drawn) lines.line(apex, end, tint(hex, 0.25));
}

/** Draws all fighters and missiles, and writes their names. */
function drawBodies(camera) {
  const { fight, time, states, labels, settings, context, colours: { seats, star } } = camera;
  fight.missiles.forEach((missile) => drawMissile3(camera, missile));
  fight.fighters.forEach((fighter) => drawTrail3(camera, fighter));
  for (const fighter of fight.fighters) {
    const state = states[fighter.number];
    const isDeadNow = isDead(fighter, time);
    if (state.known === false || Number.isNaN(state.x)) continue;
    const hex = seats[fighter.side];
    if (!isDeadNow) drawJet(camera, state, hex, state.tracked === false ? 0.45 : 1);
    const at = camera.project(camera.near(state));
    if (!at) continue;
    const isChosen = !fight.isTeam || fighter.number === settings.fighter;
    if (isDeadNow) drawStar(context, at, isChosen ? 12 : 9, star, hex);
    else if (fight.isTeam && isChosen) drawDot(context, at, 18, "transparent", hex);
    labels.reserve(at.x - 12, at.y - 12, 24, 24);
    labels.beside(at, nameOf(camera, fighter, state, isDeadNow, isChosen), { colour: hex, towards: [0, -1], gap: 18 });
  }
  for (const missile of fight.missiles) {
    if (!fight.hasHeight || phaseOf(missile, time) !== "flying") continue;
    const state = stateAt(missile, time);
    const at = camera.project(camera.near(state));
    const colour = seats[fight.sideOf(missile.owner)];
    if (at) labels.beside(at, formatKm(state.z), { colour, towards: [0, -1], gap: 12, font: SMALL });
  }
}

/** Returns the words beside a fighter: in teams, unless it is chosen, its number in its side. */
function nameOf({ fight }, fighter, state, isDeadNow, isChosen) {
  if (!isChosen) return String(fight.indexOf(fighter.number));
  const name = fight.callsigns[fighter.number];
  if (isDeadNow) return `${name}, killed`;
  const height = fight.hasHeight ? `  ${heightWords(state)}` : "";
  if (fight.isContact(fighter)) return `${name}  ${contactWords(state)}${height}`;
  return `${name}  Mach ${fight.machOf(state).toFixed(2)}${height}`;
}
