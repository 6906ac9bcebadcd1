// The free camera: the fight in three dimensions, from any place above the ground.

const FIELD_OF_VIEW = (40 * Math.PI) / 180; // of the shorter side of the picture
const HEIGHT_SCALE = 2; // heights are drawn so much larger
const [START_TURN, START_PITCH] = [1.2, 0.4]; // rad; the camera first looks across the line of sight, red at the left
const PITCHES = [0.03, Math.PI / 2 - 0.001];
const ZOOMS = [0.05, 40];
const ORBIT = 0.006; // rad per pixel of a drag
const FREE = 1.15; // free around the bodies that are followed
const RINGS = 18; // of the ground
const NO_CAMERA = "This browser has no WebGL, which the camera needs.";
const GRID_LINES = 14; // from the middle of the ground to its edge

class Camera {
  /** `labels` is a canvas above the picture, for texts and symbols. */
  constructor(canvas, labels, fights, settings, changed) {
    Object.assign(this, { canvas, labelCanvas: labels, fights, settings, changed });
    this.painter = null; // made with the first picture
    this.target = { x: 0, y: 0, z: 0 };
    this.reset();
    listen(canvas, {
      onDrag: (dx, dy) => this.turn(this.camera.yaw + dx * ORBIT, this.camera.pitch + dy * ORBIT),
      onPan: (dx, dy) => this._pan(dx, dy),
      onZoom: (factor) => this.zoom(this.camera.zoom * factor),
      onClick: (point) => this._click(point),
    });
  }

  /** True if the browser has WebGL. */
  get isPossible() {
    this.painter ??= new Painter(this.canvas);
    return this.painter.isPossible;
  }

  get fight() {
    return this.fights[this.settings.picture];
  }

  reset() {
    const states = this.fights.truth.states(0);
    const [red, blue] = [states[0], states[states.length - 1]];
    const sight = Math.atan2(blue.y - red.y, blue.x - red.x);
    this.camera = { yaw: sight + START_TURN, pitch: START_PITCH, zoom: 1 };
    this.base = 0; // distance of the camera with zoom 1 [m]
  }

  turn(yaw, pitch) {
    Object.assign(this.camera, { yaw, pitch: Math.min(Math.max(pitch, PITCHES[0]), PITCHES[1]) });
    this.changed();
  }

  zoom(zoom) {
    this.camera.zoom = Math.min(Math.max(zoom, ZOOMS[0]), ZOOMS[1]);
    this.changed();
  }

  /** Moves the point that the camera looks at over the ground, so that it follows the pointer. */
  _pan(dx, dy) {
    this.settings.follow = "off";
    const metres = this.distance / this.focal;
    const { yaw, pitch } = this.camera;
    const [across, along] = [-dx * metres, (dy * metres) / Math.max(Math.sin(pitch), 0.2)];
    this.target.x += across * Math.sin(yaw) + along * Math.cos(yaw);
    this.target.y += along * Math.sin(yaw) - across * Math.cos(yaw);
    this.changed();
  }

  /** Chooses, in teams, the fighter nearest to a click. */
  _click(point) {
    if (!this.fight.isTeam || !this.states) return;
    const away = this.states.map((state, number) => {
      const isChoosable = !this.fight.isContact(this.fight.fighters[number]) || (this.settings.aims && state.known);
      const at = isChoosable ? this.place(this._point(state)) : null;
      return at ? distance(at, point) : Infinity;
    });
    const nearest = away.indexOf(Math.min(...away));
    if (away[nearest] > CLICK) return;
    this.settings.fighter = nearest;
    this.changed();
  }

  draw(time) {
    const { canvas, fight, painter } = this;
    Object.assign(this, { time, colours: colours(), states: fight.states(time) });
    this.context = begin(this.labelCanvas);
    [this.width, this.height] = [canvas.clientWidth, canvas.clientHeight];
    this.labels = new Labels(this.context, this.width, this.height, this.colours.paper);
    painter.begin();
    this._aim();
    this._drawGround();
    if (this.settings.zones === "on") this._drawZones();
    drawSensors3(this);
    drawBodies(this);
    painter.draw(this.matrix);
    this.labels.draw();
  }

  /** Follows what the settings say, and computes the view. */
  _aim() {
    const { follow, fighter } = this.settings;
    const { fight, time, states } = this;
    const number = follow === "one" ? fighter : SEATS.indexOf(follow);
    const isSeen = (state) => state.known !== false && !Number.isNaN(state.x);
    const alive = states.filter((state, other) => isSeen(state) && !isDead(fight.fighters[other], time));
    const seen = alive.length ? alive : states.filter(isSeen);
    const isOver = follow === "both" && time >= fight.length;
    const points = isOver ? [...fight.fighters, ...fight.missiles].flatMap(cornersOf) : seen;
    if (states[number] && isSeen(states[number])) this.target = this._point(states[number]);
    if (follow === "both" || !this.base) this._fit(points, !states[number]);
    this.distance = this.base / this.camera.zoom;
    this.focal = Math.min(this.width, this.height) / (2 * Math.tan(FIELD_OF_VIEW / 2)); // px
    this._look();
  }

  /** Sets the distance so that bodies and the ground below fit into the picture, and with `centres` the target, too. */
  _fit(bodies, centres) {
    const points = bodies.flatMap((body) => [this._point(body), this._point({ ...body, z: 0 })]);
    const ends = ["x", "y", "z"].map((axis) => {
      const values = points.map((point) => point[axis]);
      return [Math.min(...values), Math.max(...values)];
    });
    const [x, y, z] = ends.map(([low, high]) => (low + high) / 2);
    const radius = Math.max(Math.hypot(...ends.map(([low, high]) => high - low)) / 2, LEAST_VIEW / 2);
    if (centres) this.target = { x, y, z };
    this.base = (FREE * radius) / Math.sin(FIELD_OF_VIEW / 2);
  }

  /** Computes the camera's place, its axes, and the matrix of the view. All is relative to the target, in its distance. */
  _look() {
    const { yaw, pitch } = this.camera;
    const [c, s] = [Math.cos(pitch), Math.sin(pitch)];
    const ahead = { x: c * Math.cos(yaw), y: c * Math.sin(yaw), z: -s };
    const right = { x: Math.sin(yaw), y: -Math.cos(yaw), z: 0 };
    const up = { x: s * Math.cos(yaw), y: s * Math.sin(yaw), z: c };
    Object.assign(this, { axes: { right, up, ahead }, eye: { x: -ahead.x, y: -ahead.y, z: -ahead.z } });
    const [wide, high] = [(2 * this.focal) / this.width, (2 * this.focal) / this.height];
    const [near, far] = [0.02, 60];
    const [a, b] = [(far + near) / (far - near), (-2 * far * near) / (far - near)];
    const column = (axis) => [wide * right[axis], high * up[axis], a * ahead[axis], ahead[axis]];
    this.matrix = new Float32Array([...column("x"), ...column("y"), ...column("z"), 0, 0, a + b, 1]);
  }

  /** Returns a body's place in the picture's space [m]. */
  _point({ x, y, z = 0 }) {
    return { x, y, z: z * HEIGHT_SCALE };
  }

  /** Returns a place as vertices have it: relative to the target, in its distance. */
  near(state) {
    const { x, y, z } = this._point(state);
    const { target, distance: unit } = this;
    return { x: (x - target.x) / unit, y: (y - target.y) / unit, z: (z - target.z) / unit };
  }

  /** Returns the size of a pixel at a vertex, and null behind the camera. */
  pixelAt({ x, y, z }) {
    const { eye, axes: { ahead }, focal } = this;
    const depth = (x - eye.x) * ahead.x + (y - eye.y) * ahead.y + (z - eye.z) * ahead.z;
    return depth > 0.02 ? depth / focal : null;
  }

  /** Returns the place of a vertex on the screen [px]; null behind the camera. */
  project(vertex) {
    const pixel = this.pixelAt(vertex);
    if (pixel === null) return null;
    const { eye, axes: { right, up } } = this;
    const part = (axis) => (
      ((vertex.x - eye.x) * axis.x + (vertex.y - eye.y) * axis.y + (vertex.z - eye.z) * axis.z) / pixel);
    return { x: this.width / 2 + part(right), y: this.height / 2 - part(up) };
  }

  /** Returns the place of a point of the picture's space [m] on the screen. */
  place(point) {
    return this.project(this.near({ ...point, z: point.z / HEIGHT_SCALE }));
  }

  /** Draws the ground, which fades out, and its grid. */
  _drawGround() {
    const { painter: { layers: { floor, floorLines } }, target, distance: unit, colours: { mark, dim } } = this;
    const step = niceStep((unit * 90) / this.focal);
    const reach = (GRID_LINES * step) / unit;
    const z = -target.z / unit;
    const rim = (radius, k) => {
      const angle = (2 * Math.PI * k) / RINGS;
      return { x: radius * Math.cos(angle), y: radius * Math.sin(angle), z };
    };
    for (let k = 0; k < RINGS; k += 1) {
      floor.triangle({ x: 0, y: 0, z }, rim(reach, k), rim(reach, k + 1), tint(mark));
      const [a, b, c, d] = [rim(reach, k), rim(reach, k + 1), rim(2.5 * reach, k + 1), rim(2.5 * reach, k)];
      for (const [point, alpha] of [[a, 1], [b, 1], [c, 0], [a, 1], [c, 0], [d, 0]]) floor.add(point, tint(mark, alpha));
    }
    const faded = (x, y) => tint(dim, 0.3 * Math.max(1 - Math.hypot(x, y) / reach, 0));
    const first = (value) => Math.round(value / step);
    for (let k = -GRID_LINES; k <= GRID_LINES; k += 1) {
      const x = ((first(target.x) + k) * step - target.x) / unit;
      const y = ((first(target.y) + k) * step - target.y) / unit;
      for (let part = -GRID_LINES; part < GRID_LINES; part += 1) {
        const [from, to] = [part, part + 1].map((end) => (end * step) / unit);
        floorLines.line({ x, y: from, z }, { x, y: to, z }, faded(x, from), faded(x, to));
        floorLines.line({ x: from, y, z }, { x: to, y, z }, faded(from, y), faded(to, y));
      }
    }
    const words = step < 1000 ? `${step} m` : `${step / 1000} km`;
    const stretched = this.fight.hasHeight ? `, heights × ${HEIGHT_SCALE}` : "";
    this.labels.fixed(`Grid ${words}${stretched}`, this.width - 10, this.height - 12, { colour: dim, align: "right" });
    this._drawNorth();
  }

  /** Draws an arrow to the north in the corner. */
  _drawNorth() {
    const { context, axes: { right, up }, colours: { dim }, height } = this;
    const middle = { x: 36, y: height - 36 };
    const tip = { x: middle.x + 14 * right.y, y: middle.y - 14 * up.y };
    const tail = { x: middle.x - 14 * right.y, y: middle.y + 14 * up.y };
    line(context, [tail, tip], dim, 1.5);
    drawDot(context, tip, 2.5, dim, dim);
    this.labels.fixed("N", tip.x + 12 * right.y, tip.y - 12 * up.y - 4, { colour: dim, align: "center" });
  }

  /** Draws the launch zones at their fighters' heights: R_NEZ as a surface, R_aero as a line. */
  _drawZones() {
    const { fight, time, states, settings, painter: { layers: { veil, lines } } } = this;
    const pair = fight.pairAt(settings.fighter, time);
    if (pair.some((number) => isDead(fight.fighters[number], time))) return;
    pair.forEach((number, place) => {
      const colour = this.colours.seats[fight.sideOf(number)];
      const state = states[number];
      const [aero, nez] = fight.zoneIn(pair, place, time, state)
        .map((edge) => edge.map(({ x, y }) => this.near({ x, y, z: state.z })));
      if (!aero) return;
      const middle = this.near(state);
      nez.forEach((point, i) => {
        const next = nez[(i + 1) % nez.length];
        veil.triangle(middle, point, next, tint(colour, 0.09));
        lines.line(point, next, tint(colour, 0.8));
      });
      aero.forEach((point, i) => lines.line(point, aero[(i + 1) % aero.length], tint(colour, i % 2 ? 0.15 : 0.6)));
    });
  }
}
