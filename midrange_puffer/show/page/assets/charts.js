// Charts over time: speed, load, energy, range, and the missiles in the air.

const MARGIN = { left: 44, right: 44, bottom: 20 };
const TITLE_HEIGHT = 19;
const BAR = 4; // height of the bar of a missile's time in the air [px]
const TICK_SPACING = 18; // least distance of ticks [px]
const LEAST_STRIP = 72; // least height of a chart with its title [px]
const EMPTY_SHARE = 0.06; // share of a chart above and below its curves

class Charts {
  constructor(canvas, fights, settings, jump) {
    const { length, isTeam } = fights.truth;
    Object.assign(this, { canvas, fights, settings, length: Math.max(length, 1) });
    this.stripsOf = mapValues(fights, isTeam ? makeTeamStrips : makeStrips);
    const go = (event) => jump(this._timeAt(event.offsetX));
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    canvas.addEventListener("pointermove", (event) => event.buttons && go(event));
  }

  draw(time) {
    this.fight = this.fights[this.settings.picture];
    this._choose();
    const context = begin(this.canvas);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    Object.assign(this, { context, time, width, height, colours: colours() });
    const each = (height - MARGIN.bottom - this.bars) / this.strips.length;
    this.strips.forEach((strip, index) => this._drawStrip(strip, index * each, each));
    this._drawMissiles(height - MARGIN.bottom - this.bars);
    this._drawTimeAxis(height - MARGIN.bottom);
  }

  /** Selects the charts and missiles, in teams of the chosen fighter, and their room. */
  _choose() {
    const { settings: { picture, fighter: number }, fights: { truth } } = this;
    const strips = this.stripsOf[picture];
    this.strips = truth.isTeam ? strips(number) : strips;
    const concerns = ({ owner, entries }) => owner === number || entries.targets.includes(number);
    const isShown = (missile) => !truth.isTeam || concerns(missile);
    this.missiles = this.fight.missiles.filter(isShown);
    const lanes = truth.missiles.filter(isShown).length;
    this.bars = TITLE_HEIGHT + lanes * (BAR + 1) + 6; // height of the missiles
    const least = LEAST_STRIP * this.strips.length + this.bars + MARGIN.bottom;
    this.canvas.style.minHeight = `${least}px`; // its column scrolls if there is no room
  }

  /** Draws the line of the present time. */
  _drawCursor(top, bottom) {
    const x = this._x(this.time);
    line(this.context, [{ x, y: top }, { x, y: bottom }], this.colours.ink);
  }

  _x(time) {
    return MARGIN.left + (time / this.length) * (this.width - MARGIN.left - MARGIN.right);
  }

  _timeAt(x) {
    return ((x - MARGIN.left) / (this.width - MARGIN.left - MARGIN.right)) * this.length;
  }

  _across(y, colour) {
    line(this.context, [{ x: MARGIN.left, y }, { x: this.width - MARGIN.right, y }], colour);
  }

  _text(text, x, y, colour, align = "left") {
    Object.assign(this.context, { font: SMALL, fillStyle: colour });
    Object.assign(this.context, { textAlign: align, textBaseline: "middle" });
    this.context.fillText(text, x, y);
  }

  _drawStrip(strip, top, height) {
    const { dim, line: rule } = this.colours;
    const plot = { top: top + TITLE_HEIGHT, height: height - TITLE_HEIGHT - 6 };
    const y = (value) => plot.top + (plot.height * (strip.high - value)) / (strip.high - strip.low);
    const most = Math.max(plot.height / TICK_SPACING, 1);
    for (const value of ticksOf(strip.low, strip.high, most, strip.leastStep)) {
      const at = y(value);
      this._across(at, rule);
      this._text(String(value), MARGIN.left - 5, at, dim, "right");
    }
    if (strip.second) this._drawSecondScale(strip, y, most);
    strip.series.forEach((series) => this._drawSeries(series, y));
    this._drawCursor(plot.top, plot.top + plot.height);
    this._drawTitle(strip, top + TITLE_HEIGHT / 2);
  }

  /** Draws another unit's scale at the right. */
  _drawSecondScale({ low, high, second: { unit } }, y, most) {
    const { dim } = this.colours;
    for (const value of ticksOf(low / unit, high / unit, most)) {
      this._text(String(value), this.width - MARGIN.right + 6, y(value * unit), dim);
    }
  }

  _drawSeries({ colour, times, values, isFaint }, y) {
    const points = Array.from(times, (time, index) => ({ x: this._x(time), y: y(values[index]) }));
    const [width, alpha] = isFaint ? [1, 0.35] : [1.6, 1];
    line(this.context, points, this.colours[colour], width, alpha);
  }

  /** Writes a chart's title, and at the right the present values. */
  _drawTitle(strip, y) {
    this._text(strip.title, MARGIN.left, y, this.colours.ink);
    let right = this.width - MARGIN.right;
    const series = strip.series.filter(({ isFaint }) => !isFaint);
    for (const { colour, times, values } of series.reverse()) {
      const { index, next, share } = between(times, this.time);
      const over = this.time > times[times.length - 1];
      const value = mix(values[index], values[next], share);
      const text = over || Number.isNaN(value) ? "–" : strip.value(value);
      this._text(text, right, y, this.colours[colour], "right");
      right -= this.context.measureText(text).width + 12;
    }
    const { second } = strip;
    if (second) this._text(second.title, this.width - MARGIN.right + 6, y, this.colours.dim);
  }

  _drawTimeAxis(y) {
    const { dim } = this.colours;
    const step = niceStep((45 * this.length) / (this.width - MARGIN.left - MARGIN.right));
    this._across(y, dim);
    for (const time of multiples(step, 0, this.length)) {
      const x = this._x(time);
      line(this.context, [{ x, y }, { x, y: y + 3 }], dim);
      this._text(String(time), x, y + 11, dim, "center");
    }
    this._text("s", this.width - 14, y + 11, dim);
  }

  /** Draws a bar from launch to end for each missile, full while its motor burns; a star for a hit. */
  _drawMissiles(top) {
    const { seats, star, ink } = this.colours;
    const { isTeam, callsigns } = this.fight;
    const title = isTeam ? `Missiles of ${callsigns[this.settings.fighter]} and at it` : "Missiles in the air";
    this._text(title, MARGIN.left, top + TITLE_HEIGHT / 2, ink);
    this._drawCursor(top + TITLE_HEIGHT, this.height - MARGIN.bottom);
    const order = (a, b) => a.owner - b.owner || a.launched - b.launched;
    [...this.missiles].sort(order).forEach((missile, lane) => {
      const colour = seats[this.fight.sideOf(missile.owner)];
      const y = top + TITLE_HEIGHT + (lane + 0.5) * (BAR + 1);
      const { times } = missile.entries;
      const end = times[times.length - 1];
      const bar = (until, alpha) => {
        const ends = [times[0], until].map((time) => ({ x: this._x(time), y }));
        line(this.context, ends, colour, BAR - 1, alpha);
      };
      bar(end, 0.4);
      bar(Math.min(missile.burnt_out, end), 1);
      const at = { x: this._x(end) + 2, y };
      if (missile.fate === "hit") drawStar(this.context, at, 6, star, colour);
    });
  }
}

/** Returns the charts with their curves and scales. */
function makeStrips(fight) {
  const ofSeats = (value) => fight.fighters.map(({ entries }, seat) => ({
    colour: SEATS[seat],
    times: entries.times,
    values: value(entries),
  }));
  const { hasHeight, mach, gravity } = fight;
  const energy = (e) => e.speed.map((speed, i) => (e.z?.[i] ?? 0) / 1000 + speed ** 2 / (2000 * gravity));
  const decimal = (value) => (Math.round(10 * value) / 10 || 0).toFixed(1);
  const charts = [
    { title: "Speed [m/s]", series: ofSeats((e) => e.speed),
      value: (speed) => speed.toFixed(0), second: hasHeight ? undefined : { title: "Mach", unit: mach } },
    hasHeight
      ? { title: "Load [g]", series: ofSeats((e) => e.load.map((load, i) => loadOf({ load, lift: e.lift[i] }))) }
      : { title: "Load [g], left positive", series: ofSeats((e) => e.load) },
    { title: hasHeight ? "Energy height z + v²/2g [km]" : "Energy height v²/2g [km]", series: ofSeats(energy) },
    { title: "Range [km]", series: [rangeSeries(fight)] },
  ];
  if (hasHeight) charts.unshift({ title: "Height [km]", series: ofSeats((e) => e.z.map((z) => z / 1000)) });
  return charts.map((chart) => scaled({ value: decimal, ...chart }));
}

/** Returns the place of an entry of a path. */
function pointOf({ x, y, z }, i) {
  return { x: x[i], y: y[i], z: z?.[i] };
}

/** Returns the range between the fighters while both live. */
function rangeSeries({ fighters }) {
  const count = Math.min(...fighters.map((fighter) => fighter.entries.times.length));
  const [a, b] = fighters.map(({ entries }) => entries);
  const times = a.times.subarray(0, count);
  const range = (_, i) => distance(pointOf(a, i), pointOf(b, i)) / 1000;
  return { colour: "ink", times, values: Float64Array.from(times, range) };
}

function scaled(strip) {
  const isNumber = (value) => !Number.isNaN(value);
  const values = strip.series.flatMap((series) => [...series.values].filter(isNumber));
  if (!values.length) return { ...strip, low: 0, high: 1 }; // it was never known
  // Math.min(...values) fails for very long arrays.
  const [least, most] = [Math.min, Math.max].map((extreme) => values.reduce((a, b) => extreme(a, b)));
  const room = Math.max((most - least) * EMPTY_SHARE, 1e-3 * Math.abs(most), 0.01);
  const [low, high] = [least - room, most + room];
  return { ...strip, low, high };
}

function ticksOf(low, high, most, leastStep = 0) {
  const round = (tick) => Math.round(tick * 1e6) / 1e6;
  return multiples(niceStep(Math.max((high - low) / most, leastStep)), low, high).map(round);
}
