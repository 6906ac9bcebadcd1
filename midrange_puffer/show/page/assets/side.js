// The view from the side in fights with height: height over the way from one fighter to its enemy. The first one, at the
// left, is red, in a side's picture that side's fighter, and in teams the chosen one.

const SIDE_MARGIN = { left: 44, right: 20, top: 26, bottom: 26 };
const SIDE_SPACING = { x: 70, y: 22 }; // least distance between lines [px]
const SIDE_ROOM = 0.1; // share of the way that is free before the first and behind the last body
const LEAST_WAY = 6000; // m across
const SIDE_SIZE = 10; // of a fighter's symbol [px]
const FAN = Array.from({ length: 61 }, (_, i) => i / 30 - 1); // rays of a radar's cone, in half widths of its cut

class SideView {
  constructor(canvas, fights, settings) {
    Object.assign(this, { canvas, fights, settings });
  }

  get fight() {
    return this.fights[this.settings.picture];
  }

  draw(time) {
    const { canvas, fight } = this;
    if (!canvas.clientHeight) return; // a low window hides it
    const heights = [...fight.fighters, ...fight.missiles]
      .map(({ entries: { z } }) => z.reduce((a, b) => (Number.isNaN(b) ? a : Math.max(a, b)), 0));
    this.top = 1000 * Math.ceil(Math.max(...heights) / 1000 + 0.2); // m
    const context = begin(canvas);
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    Object.assign(this, { context, time, width, height, colours: colours() });
    this.labels = new Labels(context, width, height, this.colours.paper);
    this.states = fight.states(time);
    this._aim();
    this._drawGrid();
    context.save();
    context.beginPath();
    context.rect(SIDE_MARGIN.left, 0, width - SIDE_MARGIN.left, height);
    context.clip();
    this._drawSensors();
    fight.missiles.forEach((missile) => drawMissile(this, missile));
    fight.fighters.forEach((fighter) => this._drawTrail(fighter));
    this._shown().forEach((fighter) => this._drawFighter(fighter));
    context.restore();
    this._nameBodies();
    this.labels.draw();
  }

  /** Lays the way through both fighters, and selects the part of it to be shown. */
  _aim() {
    const { fight, time } = this;
    this.pair = fight.pairAt(this.settings.fighter, time);
    if (fight.side === 1 && !fight.isTeam) this.pair.reverse();
    const [own, other] = this.pair.map((number) => this.states[number]);
    const [dx, dy] = other.known === false ? [0, 0] : [other.x - own.x, other.y - own.y];
    const way = Math.hypot(dx, dy);
    if (way > 1) this.ahead = { x: dx / way, y: dy / way };
    this.ahead ??= { x: Math.cos(own.heading), y: Math.sin(own.heading) };
    this.origin = own;
    const flying = fight.missiles.filter((missile) => phaseOf(missile, time) === "flying");
    const isOver = time >= fight.length;
    const living = this._shown().filter((fighter) => this.pair.includes(fighter.number) || !isDead(fighter, time));
    const shown = isOver ? [...fight.fighters, ...fight.missiles].flatMap(pointsOf)
      : [...living.map(({ number }) => this.states[number]), ...flying.map((missile) => stateAt(missile, time))];
    const places = shown.map((point) => this._along(point));
    const [low, high] = [Math.min, Math.max].map((extreme) => places.reduce((a, b) => extreme(a, b)));
    const free = Math.max((LEAST_WAY - (high - low)) / 2, SIDE_ROOM * (high - low));
    [this.low, this.high] = [low - free, high + free];
  }

  /** Returns the fighters whose place is known. */
  _shown() {
    return this.fight.fighters.filter(({ number }) => this.states[number].known !== false);
  }

  /** Returns the way from the first fighter to a point, along the line to the other one [m]. */
  _along({ x, y }) {
    return (x - this.origin.x) * this.ahead.x + (y - this.origin.y) * this.ahead.y;
  }

  /** Returns pixels per metre of the way, and of height. */
  get scales() {
    const { left, right, top, bottom } = SIDE_MARGIN;
    return {
      x: (this.width - left - right) / (this.high - this.low),
      y: (this.height - top - bottom) / this.top,
    };
  }

  place(point) {
    const { scales } = this;
    return {
      x: SIDE_MARGIN.left + (this._along(point) - this.low) * scales.x,
      y: this.height - SIDE_MARGIN.bottom - point.z * scales.y,
    };
  }

  angle(state) {
    const { scales, ahead } = this;
    const { x, y, z } = velocityOf(state);
    return Math.atan2(-z * scales.y, (x * ahead.x + y * ahead.y) * scales.x);
  }

  /** Draws the ground, lines of equal height, and ticks of the way from the first fighter. */
  _drawGrid() {
    const { context, width, height, labels, scales, colours: { line: rule, dim } } = this;
    const [left, ground] = [SIDE_MARGIN.left, height - SIDE_MARGIN.bottom];
    const km = (metres) => String(Math.round(metres / 100) / 10);
    for (const z of multiples(niceStep(SIDE_SPACING.y / scales.y), 0, this.top)) {
      const y = ground - z * scales.y;
      line(context, [{ x: left, y }, { x: width, y }], z ? rule : dim, z ? 1 : 2);
      labels.fixed(km(z), left - 6, y, { colour: dim, align: "right" });
    }
    for (const way of multiples(niceStep(SIDE_SPACING.x / scales.x), this.low, this.high)) {
      const x = left + (way - this.low) * scales.x;
      line(context, [{ x, y: ground }, { x, y: ground + 4 }], dim);
      labels.fixed(km(way), x, ground + 12, { colour: dim, align: "center" });
    }
    const [from, to] = this.pair.map((number) => this.fight.callsigns[number]);
    labels.fixed(`Height [km] over the way from ${from} to ${to} [km]`, left, 11, { colour: dim });
  }

  /** Draws the cuts of the pair's radar cones with the plane of the view, and the clouds of chaff. */
  _drawSensors() {
    const { context, states, colours: { seats } } = this;
    for (const { number, side } of radarsShown(this, this.pair)) {
      const cut = this._radarCut(states[number]);
      if (cut.length) drawCone(context, cut.map((point) => this.place(point)), seats[side]);
    }
    for (const { number, side } of cloudsShown(this)) drawChaff(context, this.place(states[number].cloud), seats[side]);
  }

  /** Returns the cut of a radar's cone, between the ground and the top; none if the nose points too far to the side. */
  _radarCut(state) {
    const { ahead, top, fight: { radar: { radar_half_angle_deg: half, radar_range_nose: reach } } } = this;
    const limit = Math.cos((half * Math.PI) / 180);
    const { x, y, z: up } = velocityOf({ ...state, speed: 1 });
    const along = x * ahead.x + y * ahead.y;
    // The cosine to the nose of a ray at the angle a: share * cos(a - middle).
    const [share, middle] = [Math.hypot(along, up), Math.atan2(up, along)];
    if (share <= limit) return [];
    const width = Math.acos(Math.max(limit / share, -1));
    const rays = FAN.map((part) => {
      const angle = middle + part * width;
      const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
      // A level ray may lie on the ground and never meets it, so it counts as a rising one.
      const room = (sine >= 0 ? top - state.z : state.z) / Math.abs(sine);
      const length = Math.min(Math.max(room, 0), reach);
      return { x: state.x + length * cosine * ahead.x, y: state.y + length * cosine * ahead.y, z: state.z + length * sine };
    });
    return [state, ...rays, state];
  }

  _drawTrail(fighter) {
    const { fight, time, settings, colours: { seats } } = this;
    if (fight.isContact(fighter)) {
      drawTracks(this, fighter, settings.trails === "whole" ? 0 : time - FADE, time, seats[fighter.side]);
    } else drawTrail(this, fighter, this._isMain(fighter) ? TRAIL : THIN_TRAIL);
  }

  /** True if a fighter is drawn in full: in teams only the pair. */
  _isMain({ number }) {
    return !this.fight.isTeam || this.pair.includes(number);
  }

  _drawFighter(fighter) {
    const { context, fight, time, labels, colours: { seats, paper, star } } = this;
    const [state, colour] = [this.states[fighter.number], seats[fighter.side]];
    const [at, dead] = [this.place(state), isDead(fighter, time)];
    const foot = { x: at.x, y: this.height - SIDE_MARGIN.bottom };
    dashed(context, [2, 4], () => line(context, [at, foot], colour, 1, 0.6));
    if (fight.isContact(fighter)) {
      const name = `${fight.callsigns[fighter.number]}  ${formatKm(state.z)}`;
      drawContact(this, state, this._isMain(fighter) ? name : "", colour);
      return;
    }
    const size = this._isMain(fighter) ? SIDE_SIZE : 0.75 * SIDE_SIZE;
    if (dead) drawStar(context, at, size, star, colour);
    else drawDart(context, at, this.angle(state), size, colour, paper);
    labels.reserve(at.x - 9, at.y - 9, 18, 18);
  }

  /** True if a missile's height and guidance are written; in teams if it is of the first fighter or flies at it. */
  hasWords(missile) {
    const { fight, time, pair: [own] } = this;
    return !fight.isTeam || missile.owner === own || targetAt(missile, time) === own;
  }

  /** Writes names and heights of fighters, in teams of the pair, and heights [km] of missiles in the air. */
  _nameBodies() {
    const { fight, time, labels, colours: { seats } } = this;
    for (const fighter of this._shown().filter((shown) => !fight.isContact(shown) && this._isMain(shown))) {
      const state = this.states[fighter.number];
      const text = `${fight.callsigns[fighter.number]}  ${formatKm(state.z)}`;
      labels.beside(this.place(state), text, { colour: seats[fighter.side], towards: [0, -1], gap: 18 });
    }
    for (const missile of fight.missiles) {
      if (!this.hasWords(missile) || phaseOf(missile, time) !== "flying") continue;
      const state = stateAt(missile, time);
      const colour = seats[fight.sideOf(missile.owner)];
      const height = (state.z / 1000).toFixed(1);
      labels.beside(this.place(state), height, { colour, towards: [0, -1], gap: 12, font: SMALL });
    }
  }
}

/** Returns the noted places of a body, without not-a-numbers. */
function pointsOf({ entries: { x, y } }) {
  return Array.from(x, (value, i) => ({ x: value, y: y[i] })).filter((point) => !Number.isNaN(point.x));
}
