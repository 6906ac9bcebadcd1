// The space-time graph: the plane with time running downward, seen from any side.

const BOLD_EVERY = 5; // s between marked times
const TIME_SHARE = 0.8; // height of the box, as a share of its width
const PITCH = { least: 0.03, most: Math.PI / 2, start: 0.42 };
const ZOOM = { least: 0.3, most: 30 };
const TURN = 0.008; // rad per pixel of a drag
const BOX_MARGIN = { x: 56, y: 30 }; // px around the box

class Graph {
  constructor(canvas, fights, settings, changed) {
    Object.assign(this, { canvas, fights, settings });
    this.reset();
    listen(canvas, {
      onDrag: (dx, dy) => {
        this.turn(this.camera.yaw + TURN * dx, this.camera.pitch + TURN * dy);
        changed();
      },
      onZoom: (factor, point) => {
        this.zoom(this.camera.zoom * factor, point);
        changed();
      },
    });
  }

  get fight() {
    return this.fights[this.settings.picture];
  }

  /** Looks at the first line between the fighters from its side and slightly from above. */
  reset() {
    const [a, b] = this.fights.truth.states(0);
    const sight = Math.atan2(b.y - a.y, b.x - a.x);
    this.camera = { yaw: Math.PI / 5 - sight, pitch: PITCH.start, zoom: 1, shift: { x: 0, y: 0 } };
  }

  turn(yaw, pitch) {
    this.camera.yaw = yaw;
    this.camera.pitch = Math.min(Math.max(pitch, PITCH.least), PITCH.most);
  }

  /** Zooms about a point of the canvas, by default its middle. */
  zoom(zoom, point = { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 }) {
    const { camera, canvas } = this;
    const before = camera.zoom;
    camera.zoom = Math.min(Math.max(zoom, ZOOM.least), ZOOM.most);
    const keep = (from, shift) => from - (from - shift) * (camera.zoom / before);
    camera.shift = {
      x: keep(point.x - canvas.clientWidth / 2, camera.shift.x),
      y: keep(point.y - canvas.clientHeight / 2, camera.shift.y),
    };
  }

  /** Returns the scene of the chosen fighter; null once it is dead. */
  scene(time) {
    const { fight, settings: { fighter: number } } = this;
    const graph = fight.graphOf(number);
    if (!graph || isDead(fight.fighters[number], time)) return null;
    const scene = graph.at(time);
    const enemy = fight.fighters[scene.enemy];
    return isDead(enemy, time) ? withoutEnemy(scene, isDead(enemy, scene.noted)) : scene;
  }

  draw(time) {
    const context = begin(this.canvas);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    Object.assign(this, { context, width, height, colours: colours() });
    const scene = this.scene(time);
    if (!scene) return;
    const enemy = this.fight.fighters[scene.enemy];
    this.own = this.colours.seats[scene.side];
    this.threat = this.colours.seats[enemy.side];
    this.labels = new Labels(context, width, height, this.colours.paper);
    const isHidden = isDead(enemy, time) || this.fight.contacts;
    this.enemy = isHidden ? [] : this.fight.graphOf(scene.enemy).at(time).own;
    const states = this.fight.states(time);
    this.pair = this.fight.fighters
      .map((fighter) => ({ fighter, state: states[fighter.number] }))
      .filter(({ fighter, state }) => (
        [scene.number, scene.enemy].includes(fighter.number) && state.known !== false));
    this.box = boxAround(scene, [this.pair.map(({ state }) => state), this.enemy]);
    this.projection = new Projection(this.box, this.camera, width, height);
    this._drawTimes();
    this._nameFighters();
    this._drawFloor(scene);
    this.parts = [];
    this._addCone(scene);
    this._addPaths(scene);
    this.parts.sort((a, b) => b.depth - a.depth).forEach((part) => part.draw());
    this._drawFighters(time);
    if (this.fight.hasHeight) this._drawScale();
    this.labels.draw();
  }

  _at(point, time) {
    return this.projection.place(point, time);
  }

  /** Draws the plane at the last time, with its grid and the shadows of paths. */
  _drawFloor(scene) {
    const { box, context, colours: { line: rule, dim } } = this;
    const floor = (x, y) => this._at({ x, y }, box.horizon);
    const step = niceStep(box.radius / 3);
    const [xs, ys] = [box.xs, box.ys].map(([low, high]) => multiples(step, low, high));
    for (const x of xs) line(context, box.ys.map((y) => floor(x, y)), rule);
    for (const y of ys) line(context, box.xs.map((x) => floor(x, y)), rule);
    for (const time of [0, box.horizon]) {
      const edge = [...box.corners, box.corners[0]].map((corner) => this._at(corner, time));
      line(context, edge, dim, 1, 0.5);
    }
    for (const corner of box.corners) {
      line(context, [this._at(corner, 0), this._at(corner, box.horizon)], dim, 1, 0.5);
    }
    for (const path of [scene.own, ...scene.escapes]) {
      const shadow = path.map(({ x, y }) => floor(x, y));
      line(context, shadow, dim, 1.5, 0.5);
    }
    this._nameFloor(xs, ys, floor);
  }

  /** Draws the colours of heights, and writes heights beside them [km]. */
  _drawScale() {
    const { context, height, colours: { dim } } = this;
    const [left, length] = [14, 120];
    const at = (z) => height - 24 - (length * z) / HIGHEST;
    for (let z = 0; z < HIGHEST; z += HIGHEST / length) {
      Object.assign(context, { fillStyle: shade(z) });
      context.fillRect(left, at(z) - 1, 8, 1.5);
    }
    for (const z of multiples(HIGHEST / 3, 0, HIGHEST)) {
      this.labels.fixed(z ? formatKm(z).replace(".0", "") : "ground", left + 13, at(z), { colour: dim });
    }
  }

  /** Writes coordinates in km along the two nearest edges of the floor. */
  _nameFloor(xs, ys, floor) {
    const { box, colours: { dim } } = this;
    const nearest = ([low, high], place) => (place(low).y > place(high).y ? low : high);
    const y = nearest(box.ys, (value) => floor(box.x, value));
    const x = nearest(box.xs, (value) => floor(value, box.y));
    const middle = floor(box.x, box.y);
    const name = (value, at) => this.labels.fixed(String(Math.round(value / 100) / 10),
      at.x + 14 * Math.sign(at.x - middle.x), at.y + 10, { colour: dim, align: "center" });
    for (const value of xs) name(value, floor(value, y));
    for (const value of ys) name(value, floor(x, value));
  }

  /** Writes the times along the leftmost upright edge of the box. */
  _drawTimes() {
    const { box, context, colours: { dim } } = this;
    const corner = box.corners.reduce((a, b) => (this._at(a, 0).x <= this._at(b, 0).x ? a : b));
    for (const time of multiples(BOLD_EVERY, 0, box.horizon)) {
      const at = this._at(corner, time);
      line(context, [at, { x: at.x - 5, y: at.y }], dim);
      const name = time ? `${time} s` : "now";
      this.labels.fixed(name, at.x - 8, at.y, { colour: dim, align: "right" });
    }
  }

  _add(points, draw) {
    const depth = sum(points.map((point) => point.depth)) / points.length;
    this.parts.push({ depth, draw });
  }

  /** Adds a path piece by piece, so that each is drawn by its depth. `colour` may be one for each point. */
  _addPath(path, colour, width, { alpha = 1, dash = [] } = {}) {
    for (let i = 1; i < path.length; i += 1) {
      const ends = [path[i - 1], path[i]];
      if (ends.some((end) => Number.isNaN(end.x))) continue;
      const stroke = Array.isArray(colour) ? colour[i] : colour;
      const draw = () => line(this.context, ends, stroke, width, alpha);
      this._add(ends, () => dashed(this.context, dash, draw));
    }
  }

  /** Adds the fronts of all times and the surface between them. */
  _addCone({ fronts, times }) {
    const placed = fronts.map((front, i) => front.map((point) => this._at(point, times[i])));
    placed.forEach((front, i) => {
      const bold = isMarked(times, i);
      const isShaded = bold && this.fight.hasHeight && !Number.isNaN(fronts[i][0].z);  // else there is no front
      const shades = isShaded ? fronts[i].map(({ z }) => shade(z)) : null;
      this._addPath(front, shades ?? this.threat, bold ? 1.8 : 0.8, { alpha: bold ? 0.9 : 0.35 });
      if (i) this._addSurface(placed[i - 1], front);
    });
    for (const edge of [0, -1]) {
      this._addPath(placed.map((front) => front.at(edge)), this.threat, 1.4, { alpha: 0.7 });
    }
  }

  _addSurface(earlier, later) {
    for (let m = 1; m < later.length; m += 1) {
      const corners = [earlier[m - 1], earlier[m], later[m], later[m - 1]];
      if (corners.some((corner) => Number.isNaN(corner.x))) continue;
      this._add(corners, () => this._fill(corners));
    }
  }

  _fill(corners) {
    const { context } = this;
    context.globalAlpha = 0.13;
    context.fillStyle = this.threat;
    context.beginPath();
    for (const { x, y } of corners) context.lineTo(x, y);
    context.fill();
    context.globalAlpha = 1;
  }

  _addPaths(scene) {
    const { safe, danger, ink } = this.colours;
    const placed = (path) => path.map((point, i) => this._at(point, scene.times[i]));
    scene.escapes.forEach((path, index) => {
      const { now, air } = escapeMisses(scene, index);
      const colour = now === 0 || air === 0 ? danger : safe;
      this._addNamedPath(path, scene.times, colour, `${["left", "right"][index]} escape`, [6, 5]);
      this._addPath(placed(scene.shots[index]), colour, 1.1, { dash: [2, 4] });
    });
    this._addNamedPath(scene.own, scene.times, this.own, "as it flies now", []);
    this._addPath(placed(this.enemy), this.threat, 1.2, { alpha: 0.6 });
    for (const missile of scene.missiles) {
      const target = missile.target === scene.side ? scene.own : this.enemy;
      const path = withEnd(placed(missile.path), missile.hits && placed(target).at(-1));
      const colour = this.colours.seats[missile.owner];
      this._addPath(path, colour, 1.4, { dash: [7, 3, 2, 3] });
      this._addEnd(missile, path, scene.times, colour, ink);
    }
  }

  /** Adds a path with dots, its name at its end, and a star if a hit cuts it short. */
  _addNamedPath(path, times, colour, name, dash) {
    const placed = path.map((point, i) => this._at(point, times[i]));
    this._addPath(placed, colour, 2.4, { dash });
    placed.forEach((point, i) => {
      if (!i || !isMarked(times, i)) return;
      const fill = path[i].z === undefined ? this.colours.paper : shade(path[i].z);
      this._add([point], () => drawDot(this.context, point, 3, fill, colour));
    });
    const end = placed[placed.length - 1];
    const height = path[path.length - 1].z;
    const { star } = this.colours;
    if (placed.length < times.length) {
      this._add([end], () => drawStar(this.context, end, 9, star, colour));
    }
    this.labels.reserve(end.x - 4, end.y - 4, 8, 8);
    const words = height === undefined ? name : `${name}, ${formatKm(height)}`;
    this.labels.beside(end, words, { colour, towards: [0, 1], gap: 14, font: SMALL });
  }

  /** Marks the place where a missile hits or becomes harmless. */
  _addEnd(missile, path, times, colour, ink) {
    const last = path.findLast((point) => !Number.isNaN(point.x));
    if (!last) return;
    if (missile.hits) {
      this._add([last], () => drawStar(this.context, last, 9, this.colours.star, colour));
      this.labels.beside(last, "hits", { colour, font: SMALL });
    } else if (!Number.isNaN(missile.harmless)) {
      const at = path[Math.max(lastNotAfter(times, missile.harmless), 0)];
      const place = Number.isNaN(at.x) ? last : at;
      this._add([place], () => drawDot(this.context, place, 4, this.colours.paper, colour));
      const after = Math.round(missile.harmless);
      const text = after ? `harmless after ${after} s` : "harmless";
      this.labels.beside(place, text, { colour: ink, font: SMALL });
    }
  }

  /** Draws both fighters now, in the plane on top. */
  _drawFighters(time) {
    this.pair.forEach(({ fighter, state }) => {
      const [at, colour] = [this._at(state, 0), this.colours.seats[fighter.side]];
      const ahead = { x: state.x + Math.cos(state.heading), y: state.y + Math.sin(state.heading) };
      const nose = this._at(ahead, 0);
      const angle = Math.atan2(nose.y - at.y, nose.x - at.x);
      if (state.tracked === false) drawCross(this.context, at, 7, colour);
      else if (isDead(fighter, time)) drawStar(this.context, at, 10, this.colours.star, colour);
      else drawDart(this.context, at, angle, 11, colour, this.colours.paper);
    });
  }

  _nameFighters() {
    this.pair.forEach(({ fighter: { number, side }, state }) => {
      const at = this._at(state, 0);
      this.labels.reserve(at.x - 9, at.y - 9, 18, 18);
      const colour = this.colours.seats[side];
      this.labels.beside(at, this.fight.callsigns[number], { colour, towards: [0, -1], gap: 16 });
    });
  }
}

/** True if a time is the nearest to a marked one. */
function isMarked(times, index) {
  const beside = times[index] - BOLD_EVERY * Math.round(times[index] / BOLD_EVERY);
  return Math.abs(beside) < (times[1] - times[0]) / 2;
}

/**
 * Returns a scene without the dead enemy: only its missiles are left to escape from. Escapes noted
 * before its death are left out, since a missile that it did not launch may cut them short.
 */
function withoutEnemy(scene, isNoted) {
  const missiles = scene.missiles.filter((missile) => missile.target === scene.side);
  const escapes = isNoted && missiles.length ? scene.escapes : [];
  return { ...scene, fronts: [], escapes, escapeMiss: [NaN, NaN], missiles };
}

/** Returns a path that ends at the place of its hit, if there is one. */
function withEnd(path, hit) {
  return hit ? [...path.filter((point) => !Number.isNaN(point.x)), hit] : path;
}

/** Returns the box that holds a scene: its middle, half its width, its corners and its last time. */
function boxAround(scene, others) {
  const missiles = scene.missiles.map((missile) => missile.path);
  const paths = [scene.own, ...scene.escapes, ...scene.fronts, ...missiles, ...others];
  const points = paths.flat().filter((point) => !Number.isNaN(point.x));
  const ends = (axis) => {
    const values = points.map((point) => point[axis]);
    return [Math.min(...values), Math.max(...values)];
  };
  const [[left, right], [low, high]] = [ends("x"), ends("y")];
  const [x, y] = [(left + right) / 2, (low + high) / 2];
  const radius = Math.max(right - left, high - low, 4000) / 2;
  const [xs, ys] = [[x - radius, x + radius], [y - radius, y + radius]];
  const corners = [[0, 0], [1, 0], [1, 1], [0, 1]].map(([i, j]) => ({ x: xs[i], y: ys[j] }));
  return { x, y, radius, xs, ys, corners, horizon: scene.horizon };
}

/** Parallel projection of (x, y, time ahead) onto the canvas; depth grows away from the eye. */
class Projection {
  constructor(box, { yaw, pitch, zoom, shift }, width, height) {
    this.box = box;
    this.cos = Math.cos(yaw);
    this.sin = Math.sin(yaw);
    this.rise = Math.sin(pitch); // share of depth in the plane that is seen as height
    this.upright = Math.cos(pitch); // share of time that is seen as height
    this.tall = (TIME_SHARE * 2 * box.radius) / box.horizon; // m per second
    const across = 2 * box.radius * (Math.abs(this.cos) + Math.abs(this.sin));
    const down = across * this.rise + this.tall * box.horizon * this.upright;
    const room = [width - 2 * BOX_MARGIN.x, height - 2 * BOX_MARGIN.y];
    this.scale = zoom * Math.min(room[0] / across, room[1] / down);
    this.middle = { x: width / 2 + shift.x, y: height / 2 + shift.y };
  }

  place({ x, y }, time) {
    const { box, middle, scale } = this;
    const [dx, dy] = [x - box.x, y - box.y];
    const right = this.cos * dx - this.sin * dy;
    const away = this.sin * dx + this.cos * dy;
    const up = this.tall * (box.horizon / 2 - time);
    return {
      x: middle.x + scale * right,
      y: middle.y - scale * (up * this.upright + away * this.rise),
      depth: away * this.upright - up * this.rise,
    };
  }
}
