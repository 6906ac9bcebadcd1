// Texts: the state of both seats, and the captions of the drawings.

const OF_CONTACT = ["speed", "Mach", "height", "climb"]; // known of an enemy with a track
const side = (value) => (value > 0 ? "left" : "right");

/** Returns a value with its side; to the left is positive. */
function sided(text, value, least) {
  return Math.abs(value) < least ? "none" : `${text(Math.abs(value))} ${side(value)}`;
}

const HEIGHT_ROWS = {
  height: (state) => formatKm(state.z),
  climb: (state) => `${Math.round(velocityOf(state).z) || 0} m/s`.replace("-", "−"),
};

/** Returns the acceleration by lift [g]. */
function loadOf({ load, lift }) {
  return Math.hypot(load, lift);
}

/** Returns the rows of the status table: a name, and the text of a fighter's state. */
function statusRows(fight) {
  const percent = (share) => `${Math.round(100 * share)} %`;
  return {
    speed: (state) => `${state.speed.toFixed(0)} m/s`,
    Mach: (state) => fight.machOf(state).toFixed(2),
    ...(fight.hasHeight ? HEIGHT_ROWS : {}),
    load: (state) => (fight.hasHeight ? `${loadOf(state).toFixed(1)} g`
      : sided((load) => `${load.toFixed(1)} g`, state.load, 0.05)),
    rudder: (state) => sided(percent, state.rudder, 0.005),
    throttle: (state) => percent(state.throttle),
    missiles: (state, seat, time) =>
      `${state.ammo} left, ${fight.inTheAir(seat, time).length} in the air`,
  };
}

class Status {
  constructor(table, rangeLine, fights, settings) {
    Object.assign(this, { rangeLine, fights, settings, cells: {} });
    for (const name of Object.keys(statusRows(fights.truth))) {
      const row = table.tBodies[0].insertRow();
      const head = document.createElement("th");
      head.scope = "row";
      head.textContent = name;
      row.append(head);
      this.cells[name] = SEATS.map(() => row.insertCell());
    }
  }

  draw(time) {
    this.fight = this.fights[this.settings.picture];
    this.rows = statusRows(this.fight);
    const states = this.fight.states(time);
    for (const [name, cells] of Object.entries(this.cells)) {
      cells.forEach((cell, seat) => setText(cell, this._value(name, states[seat], seat, time)));
    }
    setText(this.rangeLine, this._range(states, time));
  }

  _value(name, state, seat, time) {
    const fighter = this.fight.fighters[seat];
    if (seat === this.fight.enemy && !(state.tracked && OF_CONTACT.includes(name))) return "–";
    if (name !== "missiles" && isDead(fighter, time)) {
      return name === "speed" ? `killed at ${formatTime(fighter.died)}` : "–";
    }
    return this.rows[name](state, seat, time);
  }

  _range(states, time) {
    const contact = states[this.fight.enemy]; // undefined if the truth is shown
    const source = contact ? `, ${contactWords(contact)}` : "";
    if (contact && !contact.tracked) return `Range unknown${source}`;
    const isOver = this.fight.fighters.some((fighter) => isDead(fighter, time));
    return rangeWords(states, isOver) + (isOver ? "" : source);
  }
}

/** Returns the range of two fighters in words and, unless one is dead, their closing speed. */
function rangeWords(states, isOver) {
  const range = `Range ${(distance(...states) / 1000).toFixed(1)} km`;
  if (isOver) return range;
  const closing = Math.round(closingSpeed(...states));
  return `${range}, ${closing < 0 ? "opening" : "closing"} at ${Math.abs(closing)} m/s`;
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

const shownLines = new WeakMap(); // of elements, as text

/** Shows lines of parts [class, text] as paragraphs of an element. */
function showLines(element, lines) {
  const text = JSON.stringify(lines);
  if (shownLines.get(element) === text) return; // layout takes time
  shownLines.set(element, text);
  element.replaceChildren(...lines.map((parts) => {
    const paragraph = document.createElement("p");
    for (const [className, textContent] of parts) {
      paragraph.append(Object.assign(document.createElement("span"), { className, textContent }));
    }
    return paragraph;
  }));
}

/** Returns a time as minutes, seconds and tenths. */
function formatTime(seconds) {
  const tenths = Math.round(seconds * 10);
  const rest = (tenths % 600) / 10;
  return `${Math.floor(tenths / 600)}:${rest.toFixed(1).padStart(4, "0")}`;
}

/** Returns the words about silent radars and chaff in games that have them. */
function systemsCaption({ fighters }) {
  return fighters.some(({ entries }) => entries.silent) ? " A silent radar has no cone. Ring of dots: chaff." : "";
}

/** Returns the caption of the plane view, as lines of parts [class, text]. */
function planeCaption({ zones, picture }, fight) {
  const symbols = "Missiles: thick while the motor burns, ★ hit, × spent. Coordinates in km.";
  const high = "Beside each body: its height, and ↗ the angle of its climb or ↘ of its dive. Below: the fight from the " +
    "side, along the present line between two fighters, with heights stretched.";
  const now = fight.hasHeight ? "at its present height, course and speed" : "on its present course and speed";
  const rule = `Launch zones, were the enemy there, ${now}: ` +
    "dashed R_aero, a missile fired now hits if it flies on; " +
    "filled R_NEZ, hits against every declared evasion.";
  const whose = picture === "truth" ? "The truth." : `What ${picture} knows. Of the enemy: ◆ on ` +
    "radar, ◇ from memory, × where it was lost. Strokes: warnings of radars and seekers, of no range.";
  const guided = `Ring: the missile's own seeker has a lock. Cone: what a radar sees, nose-on.${systemsCaption(fight)}`;
  return [
    ...(fight.radar ? [[["", `${whose} ${guided}`]]] : []),
    ...(zones === "on" ? [[["", rule]]] : []),
    [["", symbols]],
    ...(fight.hasHeight ? [[["", high]]] : []),
  ];
}

/** Returns the caption of the free camera, as lines of parts [class, text]. */
function cameraCaption({ zones }, fight) {
  const hands = "Drag to turn, wheel or pinch to zoom; two fingers, the right button or shift and a drag to move.";
  const trails = "A trail lies as the wings did. Missiles: thick while the motor burns, ★ hit, × spent.";
  const high = `Heights are drawn ${HEIGHT_SCALE} times as large. On the ground: shadows; posts below a trail are ${POST} s apart.`;
  const rule = "Launch zones at their fighters' heights: R_NEZ as a surface, R_aero as a line.";
  const sensors = `Cone: what a radar sees, nose-on.${systemsCaption(fight)}`;
  return [
    [["", `${trails}${fight.hasHeight ? ` ${high}` : ""}`]],
    ...(fight.radar ? [[["", sensors]]] : []),
    ...(zones === "on" ? [[["", rule]]] : []),
    [["", hands]],
  ];
}

/** Returns the caption of a fighter's space-time graph, as lines of parts [class, text]. */
function graphCaption(scene, number, fight, time) {
  const name = fight.callsigns[number];
  if (!scene) return [[["", `${name} was killed at ${formatTime(fight.fighters[number].died)}.`]]];
  const enemy = fight.callsigns[scene.enemy];
  const inTheAir = fight.contacts
    ? "Dash-dotted: own missiles in the air. The ranges of the enemy's are unknown: they are not shown."
    : "Dash-dotted: missiles in the air.";
  const isBlind = fight.contacts && !fight.contactAt(scene.enemy, time).tracked;
  const [rule, lines] = Number.isNaN(scene.escapeMiss[0])
    ? [isBlind ? `No track of ${enemy}: its shots are unknown.` : `${enemy} can fire no missile: there is no cone.`,
      inTheAir]
    : [`Cone: where a missile that ${enemy} fires now could be${fight.hasHeight ? ", at any height" : ""}. ` +
        "An escape that stays outside is safe.",
      `Dotted: that missile, guided at the escapes. ${inTheAir}`];
  const high = fight.hasHeight ? " From above; colours are heights. Escapes dive." : "";
  return [
    [["", `Time runs downward.${high} ${rule}`]],
    [["", lines]],
    scene.escapes.map((_, index) => escapeWords(scene, index)),
  ];
}

/** Returns in words how near a missile fired now, and those in the air, come to an escape. */
function escapeWords(scene, index) {
  const { now, air } = escapeMisses(scene, index);
  const words = [
    now === 0 && "hit by a missile fired now",
    now > 0 && `a missile fired now stays ${formatKm(now)} off`,
    air === 0 && "hit by one in the air",
    air > 0 && air < Infinity && `those in the air stay ${formatKm(air)} off`,
  ].filter(Boolean).join(", ") || "no missile to escape from";
  const hit = now === 0 || air === 0;
  return [hit ? "danger" : "safe", `${["Left", "Right"][index]} escape: ${words}.`];
}

/** Returns the least distance [m] of an escape from a missile fired now, and from those in the air. */
function escapeMisses({ escapeMiss, missiles, side: own }, index) {
  const inbound = missiles.filter((missile) => missile.target === own);
  return {
    now: escapeMiss[index],
    air: Math.min(...inbound.map((missile) => missile.escapeMiss[index])),
  };
}
