// What sensors show, seen from above: radar cone, contact, warnings, and what missiles fly at.

const CONTACT_COURSE = 20; // s of flight, which the stroke before a contact is long
const WARNING_STROKE = [24, 70]; // px from the own fighter, between which it is
const DIAMOND_SIZE = 9; // px

/** The cone a radar sees in, as far as it sees an enemy that flies toward it. */
function drawRadar(plane, state, colour) {
  const { radar_half_angle_deg: half, radar_range_nose: range } = plane.fight.radar;
  const far = Array.from({ length: 25 }, (_, i) => {
    const angle = state.heading + (half * (i / 12 - 1) * Math.PI) / 180;
    return { x: state.x + range * Math.cos(angle), y: state.y + range * Math.sin(angle) };
  });
  const outline = [state, ...far, state].map((point) => plane.place(point));
  line(plane.context, outline, colour, 1, 0.35);
  Object.assign(plane.context, { fillStyle: colour, globalAlpha: 0.04 });
  plane.context.fill();
  plane.context.globalAlpha = 1;
}

/** Where the enemy is believed to be: full on radar, hollow from memory, a cross where lost. */
function drawContact(plane, contact, colour) {
  if (!contact.known) return;
  const { context, labels } = plane;
  const at = plane.place(contact);
  if (contact.tracked) {
    const ahead = {
      x: contact.x + CONTACT_COURSE * contact.speed * Math.cos(contact.heading),
      y: contact.y + CONTACT_COURSE * contact.speed * Math.sin(contact.heading),
    };
    line(context, [at, plane.place(ahead)], colour, 1.3, 0.8);
    const corners = [[1, 0], [0, 1], [-1, 0], [0, -1]];
    const diamond = corners.map(([x, y]) => [at.x + DIAMOND_SIZE * x, at.y + DIAMOND_SIZE * y]);
    shape(context, diamond, contact.source === LIVE ? colour : plane.colours.paper, colour);
  } else {
    drawCross(context, at, 6, colour);
  }
  labels.reserve(at.x - 9, at.y - 9, 18, 18);
  labels.beside(at, contactWords(contact), { colour, towards: [1, -0.4], gap: 16 });
}

/** The curves on which the enemy has been tracked from one time to another. */
function drawTracks(plane, { entries }, from, to, colour) {
  const { times, x, y, source } = entries;
  const points = Array.from(times, (time, i) => {
    const tracked = source[i] === LIVE || source[i] === MEMORY;
    return tracked && time >= from && time <= to ? plane.place({ x: x[i], y: y[i] }) : null;
  });
  for (let i = 1; i < points.length; i += 2) {
    if (points[i - 1] && points[i]) line(plane.context, [points[i - 1], points[i]], colour, 1.6);
  }
}

/** A stroke toward each warning, from a ring around the own fighter on: they have no range. */
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

/** A ring around a missile whose seeker has a lock; a word at one that its fighter does not guide. */
function drawGuidance(plane, missile, at) {
  const { context, labels, colours: { lock, dim } } = plane;
  const guided = guidedAt(missile, plane.time);
  if (guided === ACTIVE) drawDot(context, at, 9, "transparent", lock);
  if (guided === SUPPORTED) return;
  labels.beside(at, GUIDED[guided], { colour: guided === ACTIVE ? lock : dim, gap: 12, font: SMALL });
}
