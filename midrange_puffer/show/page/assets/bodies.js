// Drawings of trails and missiles, for views from above and from the side. A view has `place(state)`,
// a body's place on its canvas, and `angle(state)`, the angle of its flight, clockwise there.

const FADE = 30; // s until a fading trail has gone
const END_SHOWN = 8; // s that a missile's end stays marked while trails fade

/** Returns a body's path between two times on the canvas. */
function pathBetween(view, path, from, to) {
  const { entries, entries: { times, x, y, z } } = path;
  const end = Math.min(to, times[times.length - 1]);
  if (end <= from) return [];
  const inner = [];
  for (let i = lastNotAfter(times, from) + 1; i < times.length && times[i] < end; i += 1) {
    inner.push({ x: x[i], y: y[i], z: z?.[i] });
  }
  return [stateAt({ entries }, from), ...inner, stateAt({ entries }, end)].map((point) => view.place(point));
}

/** Draws a fighter's trail, whole or fading. */
function drawTrail(view, fighter, width) {
  const { context, time, settings } = view;
  const colour = view.colours.seats[fighter.side];
  if (settings.trails === "whole") {
    line(context, pathBetween(view, fighter, 0, time), colour, width);
    return;
  }
  context.lineCap = "butt"; // round ends would overlap
  for (let age = FADE; age > 0; age -= 1) {
    const path = pathBetween(view, fighter, Math.max(time - age, 0), time - age + 1);
    line(context, path, colour, width, 1 - (age - 1) / FADE);
  }
  context.lineCap = "round";
}

/** Draws a missile: thick while its motor burns, thin while it coasts, a cross where spent. */
function drawMissile(view, missile) {
  const { context, time, colours: { seats, star } } = view;
  const phase = phaseOf(missile, time);
  const { times } = missile.entries;
  const since = time - times[times.length - 1];
  const faded = view.settings.trails === "fading" && since > END_SHOWN;
  if (phase === "waiting" || faded) return;
  const colour = seats[view.fight.sideOf(missile.owner)];
  const [begun, burnt] = [times[0], Math.min(missile.burnt_out, time)];
  const alpha = phase === "flying" ? 1 : 0.6;
  line(context, pathBetween(view, missile, begun, burnt), colour, 4.5, 0.4 * alpha);
  line(context, pathBetween(view, missile, begun, time), colour, 1.1, 0.9 * alpha);
  const at = view.place(stateAt(missile, time));
  if (phase === "flying") drawFlying(view, missile, at, colour);
  else if (phase === "hit") drawStar(context, at, 11, star, colour);
  else drawCross(context, at, 4, colour);
}

function drawFlying(view, missile, at, colour) {
  const angle = view.angle(stateAt(missile, view.time));
  const burning = view.time < missile.burnt_out;
  const tail = { x: at.x - 9 * Math.cos(angle), y: at.y - 9 * Math.sin(angle) };
  line(view.context, [tail, at], colour, burning ? 4 : 2.2);
  if (view.fight.radar) drawGuidance(view, missile, at);
}
