// Shared parts of the drawings: sharp canvases, the page's colours, scales, symbols.

const FONT = "12px system-ui, sans-serif";
const SMALL = "11px system-ui, sans-serif";
const BLAST = 2; // s that an explosion is seen

/** Clears a canvas at the screen's resolution; returns its context in CSS pixels. */
function begin(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const size = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineJoin = context.lineCap = "round";
  return context;
}

/** Returns the page's present colours, light or dark. */
function colours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ink", "paper", "dim", "line", "mark", "red", "blue", "star", "safe", "danger", "lock"];
  const values = Object.fromEntries(
    names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  );
  return { ...values, seats: SEATS.map((seat) => values[seat]) };
}

/** Returns the smallest of 1, 2, 5, 10, 20 … that is not below `least`. */
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least * 0.999);
}

/** Returns the multiples of `step` from `low` to `high`. */
function multiples(step, low, high) {
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(count, 0) }, (_, index) => (first + index) * step);
}

function line(context, points, colour, width = 1, alpha = 1) {
  Object.assign(context, { strokeStyle: colour, lineWidth: width, globalAlpha: alpha });
  context.beginPath();
  let begins = true; // at first and after a gap of not-a-number
  for (const { x, y } of points) {
    const isGap = Number.isNaN(x) || Number.isNaN(y);
    if (!isGap && begins) context.moveTo(x, y);
    else if (!isGap) context.lineTo(x, y);
    begins = isGap;
  }
  context.stroke();
  context.globalAlpha = 1;
}

function dashed(context, pattern, draw) {
  context.setLineDash(pattern);
  draw();
  context.setLineDash([]);
}

function shape(context, points, fill, stroke) {
  context.beginPath();
  for (const [x, y] of points) context.lineTo(x, y);
  context.closePath();
  Object.assign(context, { fillStyle: fill, strokeStyle: stroke, lineWidth: 1.5 });
  context.fill();
  context.stroke();
}

const DART = [[1, 0], [-0.8, 0.65], [-0.45, 0], [-0.8, -0.65]]; // nose along +x

/** Draws an oriented symbol: a fighter or an arrow. `angle` is clockwise on the screen. */
function drawDart(context, { x, y }, angle, size, fill, stroke) {
  const [c, s] = [Math.cos(angle) * size, Math.sin(angle) * size];
  shape(context, DART.map(([u, v]) => [x + u * c - v * s, y + u * s + v * c]), fill, stroke);
}

function drawStar(context, { x, y }, size, fill, stroke) {
  const point = (_, index) => {
    const [angle, radius] = [(index * Math.PI) / 5, index % 2 ? size * 0.42 : size];
    return [x + radius * Math.sin(angle), y - radius * Math.cos(angle)];
  };
  shape(context, Array.from({ length: 10 }, point), fill, stroke);
}

/** Draws an explosion, `since` seconds after it. */
function drawBlast(context, { x, y }, since, colour) {
  const share = since / BLAST;
  if (share < 0 || share > 1) return;
  for (const [delay, size] of [[0, 46], [0.25, 30]]) {
    if (share < delay) continue;
    context.globalAlpha = (1 - share) * 0.6;
    drawDot(context, { x, y }, size * Math.sqrt(share - delay) + 4, colour, "transparent");
  }
  context.globalAlpha = 1;
}

function drawCross(context, { x, y }, size, colour) {
  for (const side of [-1, 1]) {
    const ends = [{ x: x - size, y: y - side * size }, { x: x + size, y: y + side * size }];
    line(context, ends, colour, 1.5);
  }
}

function drawDot(context, { x, y }, radius, fill, stroke) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  Object.assign(context, { fillStyle: fill, strokeStyle: stroke, lineWidth: 1.3 });
  context.fill();
  context.stroke();
}

// Colours of heights: at the ground, half way up and at HIGHEST [m].
const HIGHEST = 12000;
const SHADES = [[126, 87, 194], [38, 160, 150], [245, 180, 40]];

/** Returns the colour of a height. */
function shade(height) {
  const place = (Math.min(Math.max(height / HIGHEST, 0), 1)) * (SHADES.length - 1);
  const index = Math.min(Math.floor(place), SHADES.length - 2);
  const [low, high] = [SHADES[index], SHADES[index + 1]];
  return `rgb(${low.map((value, part) => Math.round(mix(value, high[part], place - index))).join(" ")})`;
}

/** Returns kilometres in words, with a decimal below 100 km. */
function formatKm(metres) {
  const km = metres / 1000;
  return `${km.toFixed(km < 100 ? 1 : 0)} km`;
}

/** Returns a body's height and the angle of its climb in words. */
function heightWords({ z, climb }) {
  const degrees = Math.round((climb * 180) / Math.PI);
  const arrow = degrees === 0 ? "→" : `${degrees > 0 ? "↗" : "↘"} ${Math.abs(degrees)}°`;
  return `${formatKm(z)} ${arrow}`;
}
