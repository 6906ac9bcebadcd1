// Drawings of sensors in the plane view: radar cones, contacts, warnings and missile guidance.

const CONTACT_COURSE = 20; // s of flight that the stroke ahead of a contact stands for
const WARNING_STROKE = [24, 70]; // px from the own fighter to the two ends of the stroke
const DIAMOND_SIZE = 9; // px
const CLOUD_SIZE = 5; // px

/**
 * Returns the fighters whose radar cones a view shows, among some numbers: those that live, emit, and are no contacts.
 * The numbers are by default both fighters, in teams the chosen one alone.
 */
function radarsShown({ fight, settings, states, time }, numbers = fight.isTeam ? [settings.fighter] : [0, 1]) {
  if (!fight.radar || settings.zones !== "on") return [];
  return fight.fighters.filter((fighter) => numbers.includes(fighter.number) && !fight.isContact(fighter)
    && !isDead(fighter, time) && !states[fighter.number].silent);
}

/** Returns the fighters whose clouds of chaff a view shows: a side knows its own. */
function cloudsShown({ fight, states }) {
  return fight.fighters.filter((fighter) => !fight.isContact(fighter) && states[fighter.number].cloud);
}

/** Draws a radar's cone, to its range against an enemy that flies toward it. */
function drawRadar(plane, state, colour) {
  const { radar_half_angle_deg: half, radar_range_nose: range } = plane.fight.radar;
  const far = Array.from({ length: 25 }, (_, i) => {
    const angle = state.heading + (half * (i / 12 - 1) * Math.PI) / 180;
    return { x: state.x + range * Math.cos(angle), y: state.y + range * Math.sin(angle) };
  });
  drawCone(plane.context, [state, ...far, state].map((point) => plane.place(point)), colour);
}

function drawCone(context, outline, colour) {
  line(context, outline, colour, 1, 0.35);
  Object.assign(context, { fillStyle: colour, globalAlpha: 0.04 });
  context.fill();
  context.globalAlpha = 1;
}

/** Draws a cloud of chaff at a place on a canvas: a small ring of dots. */
function drawChaff(context, at, colour) {
  for (let i = 0; i < 8; i += 1) {
    const turn = (i * Math.PI) / 4;
    const dot = { x: at.x + CLOUD_SIZE * Math.cos(turn), y: at.y + CLOUD_SIZE * Math.sin(turn) };
    drawDot(context, dot, 1.5, colour, colour);
  }
}

/** Draws a believed enemy and its name: filled on radar, hollow from memory, a cross where lost. */
function drawContact(view, contact, name, colour) {
  if (!contact.known) return;
  const { context, labels } = view;
  const at = view.place(contact);
  if (contact.tracked) {
    line(context, [at, view.place(flownOn(contact, CONTACT_COURSE))], colour, 1.3, 0.8);
    const corners = [[1, 0], [0, 1], [-1, 0], [0, -1]];
    const diamond = corners.map(([x, y]) => [at.x + DIAMOND_SIZE * x, at.y + DIAMOND_SIZE * y]);
    shape(context, diamond, contact.source === LIVE ? colour : view.colours.paper, colour);
  } else {
    drawCross(context, at, 6, colour);
  }
  labels.reserve(at.x - 9, at.y - 9, 18, 18);
  if (name) labels.beside(at, name, { colour, towards: [1, -0.4], gap: 16 });
}

/** Draws the curves on which an enemy was tracked between two times. */
function drawTracks(view, { entries }, from, to, colour) {
  const { times, x, y, z } = entries;
  const points = Array.from(times, (time, i) => (
    !Number.isNaN(x[i]) && time >= from && time <= to ? view.place({ x: x[i], y: y[i], z: z?.[i] }) : null));
  for (let i = 1; i < points.length; i += 2) {
    if (points[i - 1] && points[i]) line(view.context, [points[i - 1], points[i]], colour, 1.6);
  }
}

/** Draws a stroke toward the source of each warning, which has a bearing but no range. */
function drawWarnings(plane, own, warnings, enemy) {
  const { colours: { lock, star, dim } } = plane;
  const centre = plane.place(own);
  for (const warning of warnings) {
    const colour = warning.seeker ? lock : warning.tracking ? star : dim;
    const way = { x: Math.cos(warning.bearing), y: -Math.sin(warning.bearing) };
    const [from, to] = WARNING_STROKE.map((r) => ({ x: centre.x + r * way.x, y: centre.y + r * way.y }));
    line(plane.context, [from, to], colour, warning.tracking ? 3 : 1.5);
    const words = warningWords(warning, enemy);
    plane.labels.beside(to, words, { colour, towards: [way.x, way.y], gap: 8 });
  }
}

const GUIDED = { [ALONE]: "no support", [ACTIVE]: "active", [RELAYED]: "by a wingman" };

/** Draws a ring around a missile with a lock; names guidance other than by its own fighter where the view has names. */
function drawGuidance(view, missile, at) {
  const { context, labels, colours: { lock, dim } } = view;
  const guided = guidedAt(missile, view.time);
  if (guided === ACTIVE) drawDot(context, at, 9, "transparent", lock);
  if (guided === SUPPORTED || !view.hasWords(missile)) return;
  labels.beside(at, GUIDED[guided], { colour: guided === ACTIVE ? lock : dim, gap: 12, font: SMALL });
}
