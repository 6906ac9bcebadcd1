// The plane view: the fight seen from above, north up.

const [TRAIL, THIN_TRAIL] = [2.2, 1.3]; // px wide; in teams thin unless the fighter is chosen
const CLICK = 28; // greatest distance of a click from the fighter that it chooses [px]
const LEAST_VIEW = 6000; // m across, if the view follows both
const BLIND_VIEW = 60000; // the same, for a side without a contact
const GRID_SPACING = 90; // least distance between lines [px]

class Plane {
  constructor(canvas, fights, settings, changed) {
    Object.assign(this, { canvas, fights, settings, changed });
    this.view = { x: 0, y: 0, scale: 0 }; // centre [m], pixels per metre
    listen(canvas, {
      onDrag: (dx, dy) => this._pan(dx, dy),
      onZoom: (factor, point) => this._zoom(factor, point),
      onClick: (point) => this._click(point),
    });
  }

  get fight() {
    return this.fights[this.settings.picture];
  }

  /** Shows everything that happens in the fight. */
  fit() {
    this.settings.follow = "off";
    this._frame(this._whole());
  }

  draw(time) {
    const context = begin(this.canvas);
    Object.assign(this, { context, time, colours: colours() });
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.labels = new Labels(context, this.width, this.height, this.colours.paper);
    this.states = this.fight.states(time);
    this._follow();
    this._drawGrid();
    if (this.fight.line) this._drawLine(this.fight.line);
    this._drawSensors();
    this.pair = this.fight.pairAt(this.settings.fighter, time);
    if (this.settings.zones === "on") this.pair.forEach((number, i) => this._drawZones(number, i));
    this._drawRange();
    this.fight.missiles.forEach((missile) => drawMissile(this, missile));
    this.fight.fighters.forEach((fighter) => this._drawTrail(fighter));
    this._inOrder().forEach((fighter) => this._drawFighter(fighter));
    if (this.fight.hasHeight) this._nameMissiles();
    this._drawWarnings();
    this.labels.draw();
  }

  /** Returns the fighters, the chosen one first, so that its name has the best place. */
  _inOrder() {
    const { fighters, isTeam } = this.fight;
    const chosen = fighters[this.settings.fighter];
    return isTeam ? [chosen, ...fighters.filter((fighter) => fighter !== chosen)] : fighters;
  }

  /** True if a missile's height and guidance are written: all are. */
  hasWords() {
    return true;
  }

  /** True if a fighter is drawn in full: in teams only the chosen one. */
  _isMain(fighter) {
    return !this.fight.isTeam || fighter.number === this.settings.fighter;
  }

  /** Chooses, in teams, the fighter nearest to a click. */
  _click(point) {
    if (!this.fight.isTeam || !this.states) return;
    const away = this.states.map((state, number) => (
      this._isChoosable(number, state) ? distance(this.place(state), point) : Infinity));
    const nearest = away.indexOf(Math.min(...away));
    if (away[nearest] > CLICK) return;
    this.settings.fighter = nearest;
    this.changed();
  }

  /** True if a click chooses a fighter; a contact only where `settings.aims`, for the game page's shots. */
  _isChoosable(number, state) {
    return !this.fight.isContact(this.fight.fighters[number]) || Boolean(this.settings.aims && state.known);
  }

  _drawSensors() {
    const { context, states, colours: { seats } } = this;
    for (const { number, side } of radarsShown(this)) drawRadar(this, states[number], seats[side]);
    for (const { number, side } of cloudsShown(this)) drawChaff(context, this.place(states[number].cloud), seats[side]);
  }

  /** Draws the warnings of a side's receivers, in teams of the chosen fighter's. */
  _drawWarnings() {
    const { fight, states, time } = this;
    if (!fight.contacts) return;
    fight.fighters.filter((fighter) => !fight.isContact(fighter) && this._isMain(fighter))
      .forEach(({ number }) => drawWarnings(this, states[number], fight.warningsAt(number, time), fight.enemy));
  }

  _pan(dx, dy) {
    this.settings.follow = "off";
    this.view.x -= dx / this.view.scale;
    this.view.y += dy / this.view.scale;
    this.changed();
  }

  /** Zooms about the pointer, or about the fighter that is followed. */
  _zoom(factor, point) {
    const { view, settings } = this;
    if (settings.follow === "both") settings.follow = "off";
    const [dx, dy] = [point.x - this.width / 2, point.y - this.height / 2];
    const before = view.scale;
    view.scale = Math.min(Math.max(before * factor, 1e-4), 1);
    view.x += dx / before - dx / view.scale;
    view.y -= dy / before - dy / view.scale;
    this.changed();
  }

  /** Aims at the followed fighters; with both, at the whole fight once it is over. */
  _follow() {
    const { follow, fighter } = this.settings;
    const followed = this.states[follow === "one" ? fighter : SEATS.indexOf(follow)];
    const isSeen = (state) => state.known !== false;
    const isAlive = (state, number) => isSeen(state) && !isDead(this.fight.fighters[number], this.time);
    const alive = this.fight.isTeam ? this.states.filter(isAlive) : [];
    const known = alive.length ? alive : this.states.filter(isSeen);
    if (followed && followed.known !== false) ({ x: this.view.x, y: this.view.y } = followed);
    const isOver = this.time >= this.fight.length;
    const least = known.length > 1 ? LEAST_VIEW : BLIND_VIEW;
    if (follow === "both" && isOver) this._frame(this._whole());
    else if (follow === "both" || !this.view.scale) this._frame(this._withLine(known), least);
  }

  /** Returns corners around everything that is known to happen. */
  _whole() {
    const { fighters, missiles } = this.fight;
    return this._withLine([...fighters, ...missiles].flatMap(cornersOf));
  }

  /** Returns points and, in missions, the point of the line that is nearest to their middle. */
  _withLine(points) {
    if (!this.fight.line) return points;
    const { way: [x, y], at } = this.fight.line;
    const mean = (name) => points.reduce((sum, point) => sum + point[name], 0) / points.length;
    const ahead = at - (x * mean("x") + y * mean("y"));
    return [...points, { x: mean("x") + ahead * x, y: mean("y") + ahead * y }];
  }

  _frame(points, least = LEAST_VIEW) {
    const range = (values) => [Math.min(...values), Math.max(...values)];
    const [left, right] = range(points.map((point) => point.x));
    const [bottom, top] = range(points.map((point) => point.y));
    const fits = (pixels, metres) => (0.72 * pixels) / Math.max(metres, 0.72 * least);
    const { clientWidth, clientHeight } = this.canvas;
    this.view = {
      x: (left + right) / 2,
      y: (bottom + top) / 2,
      scale: Math.min(fits(clientWidth, right - left), fits(clientHeight, top - bottom)),
    };
  }

  /** Converts a point of the plane [m] to one of the canvas. */
  place({ x, y }) {
    const { view } = this;
    return {
      x: this.width / 2 + (x - view.x) * view.scale,
      y: this.height / 2 - (y - view.y) * view.scale,
    };
  }

  /** Returns the angle of a body's symbol, clockwise on the canvas. */
  angle({ heading }) {
    return -heading;
  }

  _drawGrid() {
    const { view, width, height, colours: { line: colour, dim } } = this;
    const step = niceStep(GRID_SPACING / view.scale);
    const half = { x: width / 2 / view.scale, y: height / 2 / view.scale };
    const name = (metres) => String(Math.round(metres / 100) / 10);
    for (const x of multiples(step, view.x - half.x, view.x + half.x)) {
      const at = this.place({ x, y: 0 }).x;
      line(this.context, [{ x: at, y: 0 }, { x: at, y: height }], colour);
      this.labels.fixed(name(x), at, height - 10, { colour: dim, align: "center" });
    }
    for (const y of multiples(step, view.y - half.y, view.y + half.y)) {
      const at = this.place({ x: 0, y }).y;
      line(this.context, [{ x: 0, y: at }, { x: width, y: at }], colour);
      this.labels.fixed(name(y), 6, at, { colour: dim });
    }
    this._drawScale(step);
  }

  /** Draws the line of a mission across the view, and a ring around the transport. */
  _drawLine({ way: [x, y], at, attacker, transport }) {
    const { context, view, width, height, colours } = this;
    const colour = colours.seats[attacker];
    const ahead = at - (x * view.x + y * view.y);
    const foot = { x: view.x + ahead * x, y: view.y + ahead * y };
    const reach = (width + height) / view.scale;
    context.save();
    context.setLineDash([9, 9]);
    const ends = [-reach, reach].map((way) => this.place({ x: foot.x - way * y, y: foot.y + way * x }));
    line(context, ends, colour, 2);
    context.restore();
    const here = this.place(foot);
    const isInView = here.x > 0 && here.x < width && here.y > 0 && here.y < height;
    if (isInView) this.labels.fixed("line", here.x + 8, here.y + 12, { colour });
    if (transport === null || isDead(this.fight.fighters[transport], this.time)) return;
    const state = this.states[transport];
    if (state.known === false) return;
    const centre = this.place(state);
    context.beginPath();
    context.arc(centre.x, centre.y, 15, 0, 2 * Math.PI);
    Object.assign(context, { strokeStyle: colour, lineWidth: 1.5 });
    context.stroke();
    this.labels.fixed("transport", centre.x, centre.y + 24, { colour, align: "center" });
  }

  /** Draws a scale bar as long as the grid's spacing. */
  _drawScale(step) {
    const { context, width, height, colours: { dim } } = this;
    const [right, y] = [width - 14, height - 28];
    const left = right - step * this.view.scale;
    const ends = [[left, -4], [left, 0], [right, 0], [right, -4]];
    line(context, ends.map(([x, rise]) => ({ x, y: y + rise })), dim, 1.5);
    const text = step < 1000 ? `${step} m` : `${step / 1000} km`;
    this.labels.fixed(text, (left + right) / 2, y - 10, { colour: dim, align: "center" });
    this.labels.reserve(left - 4, y - 4, right - left + 8, 8);
  }

  /** Draws a launch zone for the enemy's course and speed: R_NEZ filled, R_aero dashed. */
  _drawZones(number, place) {
    const { context, time, states, fight } = this;
    if (this.pair.some((fighter) => isDead(fight.fighters[fighter], time))) return;
    const colour = this.colours.seats[fight.sideOf(number)];
    const [aero, nez] = fight.zoneIn(this.pair, place, time, states[number])
      .map((edge) => [...edge, edge[0]].map((point) => this.place(point)));
    if (!aero) return;
    dashed(context, [7, 5], () => line(context, aero, colour, 1, 0.55));
    line(context, nez, colour, 1.4, 0.7);
    Object.assign(context, { fillStyle: colour, globalAlpha: 0.1 });
    context.fill();
    context.globalAlpha = 1;
  }

  /** Draws the line between the fighters with its length. */
  _drawRange() {
    const { colours: { dim } } = this;
    const states = this.pair.map((number) => this.states[number]);
    if (states.some((state) => state.tracked === false)) return;
    const [from, to] = states.map((state) => this.place(state));
    dashed(this.context, [2, 5], () => line(this.context, [from, to], dim));
    if (distance(from, to) < 110) return;
    const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
    const across = [Math.abs(to.y - from.y), -Math.abs(to.x - from.x) || -1];
    const text = formatKm(distance(...states));
    this.labels.beside(middle, text, { colour: dim, towards: across, gap: 10 });
  }

  _drawTrail(fighter) {
    if (this.fight.isContact(fighter)) {
      const from = this.settings.trails === "whole" ? 0 : this.time - FADE;
      drawTracks(this, fighter, from, this.time, this.colours.seats[fighter.side]);
      return;
    }
    drawTrail(this, fighter, this._isMain(fighter) ? TRAIL : THIN_TRAIL);
  }

  _drawFighter(fighter) {
    const { context, colours: { seats, paper, star } } = this;
    const [state, colour] = [this.states[fighter.number], seats[fighter.side]];
    if (this.fight.isContact(fighter)) {
      drawContact(this, state, this._contactName(fighter, state), colour);
      return;
    }
    const at = this.place(state);
    const dead = isDead(fighter, this.time);
    const outside = at.x < 0 || at.y < 0 || at.x > this.width || at.y > this.height;
    if (outside) {
      if (dead && !this._isMain(fighter)) return;
      this._drawPointer(fighter, at, colour);
      return;
    }
    const size = this._isMain(fighter) ? 12 : 9;
    if (this.fight.isTeam && this._isMain(fighter)) drawDot(context, at, 16, "transparent", colour);
    if (dead) {
      drawBlast(context, at, this.time - fighter.died, star);
      drawStar(context, at, size, star, colour);
    } else drawDart(context, at, this.angle(state), size, colour, paper);
    this.labels.reserve(at.x - 9, at.y - 9, 18, 18);
    this._nameFighter(fighter, at, dead, colour);
  }

  /** Returns a contact's number in teams, its source, and with height its height and climb. */
  _contactName({ number }, state) {
    const { fight } = this;
    const height = state.tracked ? heightWords : ({ z }) => formatKm(z); // a lost contact has no course
    const parts = [fight.isTeam && String(fight.indexOf(number)), contactWords(state), fight.hasHeight && height(state)];
    return parts.filter(Boolean).join("  ");
  }

  /** Writes the height and climb of each missile in the air. */
  _nameMissiles() {
    const { fight, time, colours: { seats } } = this;
    for (const missile of fight.missiles) {
      if (phaseOf(missile, time) !== "flying") continue;
      const state = stateAt(missile, time);
      const colour = seats[fight.sideOf(missile.owner)];
      const towards = [-Math.cos(state.heading), Math.sin(state.heading)];
      this.labels.beside(this.place(state), heightWords(state), { colour, towards, gap: 10, font: SMALL });
    }
  }

  /** Writes a fighter's name and speed; in teams, unless it is chosen, its number in its side. */
  _nameFighter(fighter, at, dead, colour) {
    const { fight, states } = this;
    if (!this._isMain(fighter)) {
      const text = String(fight.indexOf(fighter.number));
      this.labels.beside(at, text, { colour, towards: this._behind(fighter.number), gap: 11 });
      return;
    }
    const name = fight.callsigns[fighter.number];
    const state = states[fighter.number];
    const height = fight.hasHeight ? `  ${heightWords(state)}` : "";
    const text = dead ? `${name}, killed` : `${name}  Mach ${fight.machOf(state).toFixed(2)}${height}`;
    const towards = fight.isTeam ? this._behind(fighter.number) : this._away(fighter.number);
    this.labels.beside(at, text, { colour, towards, gap: 18 });
  }

  /** Returns the direction against the course, on the screen. */
  _behind(number) {
    const { heading } = this.states[number];
    return [-Math.cos(heading), Math.sin(heading)];
  }

  /** Returns the direction across the course, away from the other fighter, on the screen. */
  _away(seat) {
    const [own, other] = [this.states[seat], this.states[1 - seat]];
    if (other.known === false) return [1, -1];
    const left = { x: -Math.sin(own.heading), y: Math.cos(own.heading) };
    const toLeft = (other.x - own.x) * left.x + (other.y - own.y) * left.y < 0;
    return toLeft ? [left.x, -left.y] : [-left.x, left.y];
  }

  /** Draws an arrow at the border toward a fighter out of view. */
  _drawPointer(fighter, at, colour) {
    const middle = { x: this.width / 2, y: this.height / 2 };
    const [dx, dy] = [at.x - middle.x, at.y - middle.y];
    const inset = 22;
    const shrink = Math.min((middle.x - inset) / Math.abs(dx), (middle.y - inset) / Math.abs(dy));
    const tip = { x: middle.x + dx * shrink, y: middle.y + dy * shrink };
    drawDart(this.context, tip, Math.atan2(dy, dx), 10, this.colours.paper, colour);
    this.labels.reserve(tip.x - 10, tip.y - 10, 20, 20);
    const beyond = formatKm(Math.hypot(dx, dy) * (1 - shrink) / this.view.scale);
    const text = this._isMain(fighter)
      ? `${this.fight.callsigns[fighter.number]}, ${beyond} out of view` : String(this.fight.indexOf(fighter.number));
    this.labels.beside(tip, text, { colour, towards: [-dx, -dy], gap: 16 });
  }
}

/** Returns two corners of the box that holds a path. */
function cornersOf({ entries: { x, y } }) {
  const known = (values) => values.filter((value) => !Number.isNaN(value));
  const [xs, ys] = [x, y].map(known);
  if (!xs.length) return [];
  return [Math.min, Math.max].map((extreme) => (
    { x: xs.reduce((a, b) => extreme(a, b)), y: ys.reduce((a, b) => extreme(a, b)) }));
}
