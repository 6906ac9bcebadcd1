// The first flight: lessons in which the player tries each control, and a fight to win at the end.

const DONE = "first flight"; // name of the kept note that the lessons were flown or declined
const NEAR_TURN = 0.5; // rad
const REST = 3; // s in which the end of a lesson's fight is seen
const HEADED_NORTH = 12; // the engagement of a start from which red flies up the screen, toward blue

/** Returns the own fighter's present state. */
const pilotOf = (session) => session.fight.states(session.fight.now)[0];

/** Returns a body's angle off the own nose [rad], positive to the left. */
function offNoseOf(session, body) {
  const own = pilotOf(session);
  return offNose(Math.atan2(body.y - own.y, body.x - own.x), own);
}

const enemyOf = (session) => session.fight.states(session.fight.now)[1];
const missilesOf = (session, seat) => session.fight.missiles.filter(({ owner }) => owner === seat);
const isFlying = ({ fate }) => fate === FLYING;
const hasHit = ({ fate }) => fate === HIT;
const isInside = (session, missile) => (
  launchZone(session.fight, missile, tables.debrief.zones).zone === tables.debrief.zones.inside);

/** True if a missile at red is behind it and falls back. */
function isOutrun(session, missile) {
  const state = stateAt(missile, session.fight.now);
  return Math.abs(offNoseOf(session, state)) > Math.PI / 2 && closingSpeed(pilotOf(session), state) < 0;
}

const start = (kilometres, others = {}) => ({
  start_range_min: 1000 * kilometres, start_range_max: 1000 * kilometres, start_off_boresight_max_deg: 0, ...others,
});

/**
 * The lessons. `text` has words for keys and for fingers where they differ. A lesson with a `fight`
 * starts it. `runs` is true if the clock does not wait for the player's first move. `isDone` ends the
 * lesson; one that `follows` needs what the lesson before it did. `isLost` returns the reason if it can no longer be done. `memory` belongs to the lesson.
 */
const LESSONS = [
  {
    text: ["You are red, at the bottom. Hold A, or ←, to turn left.",
      "You are red, at the bottom. Put a finger on the stick, drag it to the left, and hold it there."],
    fight: { players: [HUMAN, "straight"], parameters: start(26) },
    isDone: (session, memory) => {
      memory.heading ??= pilotOf(session).heading;
      return offNose(memory.heading, pilotOf(session)) < -NEAR_TURN;
    },
  },
  {
    text: ["Now D, or →, until blue is ahead of your nose again.",
      "Now drag to the right, until blue is ahead of your nose again."],
    isDone: (session) => Math.abs(offNoseOf(session, enemyOf(session))) < 0.15,
  },
  {
    text: ["The filled zone around you is R_NEZ: an enemy in it when you fire cannot escape. No missile reaches beyond the " +
      "dashed line, R_aero. Fly at blue, and press Space when it is in the filled zone.",
    "The filled zone around you is R_NEZ: an enemy in it when you fire cannot escape. No missile reaches beyond the " +
      "dashed line, R_aero. Fly at blue, and press Fire when it is in the filled zone."],
    note: (session) => (missilesOf(session, 0).length ? "That shot was from outside your zone. " : ""),
    isDone: (session) => missilesOf(session, 0).some((missile) => isInside(session, missile)),
    isLost: (session) => (isWithoutMissiles(session) ? "All six were fired from outside the zone." : null),
  },
  {
    follows: true,
    text: "Your missile's motor burns for 10 s, drawn thick. Then it only gets slower: that is why near shots are good.",
    runs: true,
    isDone: (session) => missilesOf(session, 0).some(hasHit),
    isLost: (session) => (missilesOf(session, 0).some(isFlying) ? null : "Your missile missed."),
    praise: "A hit: blue is destroyed.",
  },
  {
    text: "Now blue fires at you. Fly on until the warning comes.",
    fight: { players: [HUMAN, "shooter"], parameters: start(34, { ammunition: 1 }) },
    runs: true,
    isDone: () => lookout.warning !== null,
  },
  {
    follows: true,
    text: ["A missile! It is faster than you, but not for long. Turn with A or D until it is behind you, then fly straight " +
      "and run. With = time goes faster.",
    "A missile! It is faster than you, but not for long. Turn until it is behind you, then let go and run. With + time " +
      "goes faster."],
    isDone: (session) => missilesOf(session, 1).some((missile) => isOutrun(session, missile)),
    isLost: (session) => (missilesOf(session, 1).some(isFlying) ? null : "It missed you, but you did not outrun it."),
    praise: "You have outrun it: it is slower than you now, and falls back.",
  },
  {
    text: ["V shows the space-time graph. Time runs downward, and the cone is where a missile that blue fires now could " +
      "be. Green escapes get away from it. Press V, and look.",
    "The button “View” shows the space-time graph. Time runs downward, and the cone is where a missile that blue fires " +
      "now could be. Green escapes get away from it. Press it, and look."],
    fight: { players: [HUMAN, "evader"], parameters: start(45) },
    goesOn: () => settings.view === "spacetime",
    isDone: (session) => session.time > 6,
  },
  {
    text: ["You are back above. With sensors your missile needs your radar until its own seeker has a lock. Press Space, and " +
      "keep blue inside your cone until there is a ring around the missile.",
    "You are back above. With sensors your missile needs your radar until its own seeker has a lock. Press Fire, and " +
      "keep blue inside your cone until there is a ring around the missile."],
    fight: { players: [HUMAN, "straight"], parameters: start(28, { sensing: "radar" }) },
    isDone: (session) => missilesOf(session, 0).some(({ entries }) => entries.guided.includes(ACTIVE)),
    isLost: (session) => (isWithoutMissiles(session) ? "No missile got a lock of its own." : null),
    praise: "The ring: its seeker has a lock, and you are free to turn away.",
  },
  {
    text: "Now a fight. Blue has one missile, as you have, and fires early. Run until it is spent, come back, and fire " +
      "when blue is in your filled zone.",
    fight: { players: [HUMAN, "shooter"], parameters: start(32, { ammunition: 1 }) },
    isFight: true,
    isDone: (session) => session.fight.outcome === "red wins",
    praise: "You have won. Now climb the ladder of opponents: the champion is at its end.",
  },
];

/** True if red has no missile left, neither aboard nor in the air. */
function isWithoutMissiles(session) {
  return pilotOf(session).ammo === 0 && !missilesOf(session, 0).some(isFlying);
}

class Lessons {
  /** `begin` starts a lesson's fight; `show` shows the words of one, or hides them for null. */
  constructor(begin, show) {
    Object.assign(this, { begin, show, index: null, isOffered: false });
  }

  /** True if the lessons were neither flown nor declined in this browser. */
  get isNew() {
    return !recall(DONE, false);
  }

  get isFlown() {
    return this.index !== null;
  }

  /** True while the clock waits for the player. */
  get isWaiting() {
    return this.isOffered || (this.isFlown && this.waits);
  }

  /** True if the result of the present fight belongs to a lesson, which goes on by itself. */
  get hidesOutcome() {
    return this.isFlown && !LESSONS[this.index].isFight;
  }

  offer() {
    this.isOffered = true;
    this.show({ words: "New here? The first flight shows in a few minutes how it is done.", start: "Fly it" });
  }

  /** Goes on from a text that waits, or begins the lessons. */
  start() {
    if (this.isWaiting && !this.isOffered) this.goOn();
    else this._go(0);
  }

  /** Lets the clock run: the player has moved. */
  goOn() {
    if (this.isOffered || LESSONS[this.index].goesOn) return;
    this.waits = false;
    this._showText();
  }

  next() {
    const next = LESSONS.findIndex(({ follows }, index) => index > this.index && !follows);
    if (this.isFlown && next >= 0) this._go(next);
    else this.end();
  }

  /** Ends the lessons for good. */
  end() {
    Object.assign(this, { index: null, isOffered: false });
    this.show(null);
    keep(DONE, true);
  }

  /** Called after each frame, `seconds` after the last one. */
  look(session, seconds) {
    if (!this.isFlown) return;
    const lesson = LESSONS[this.index];
    if (this.after) this._rest(seconds);
    else if (this.waits) this.waits = !lesson.goesOn?.();
    else if (lesson.isDone(session, this.memory)) this._finish(lesson);
    else if (lesson.isLost?.(session) || session.isOver) this._lose(lesson, session);
    else if (lesson.note) this._showText();
  }

  /** Starts the present lesson's fight again, if it is the last one; true if it did. */
  repeat() {
    if (!this.isFlown || !LESSONS[this.index].isFight) return false;
    this._go(this.index);
    return true;
  }

  _finish({ praise, isFight }) {
    if (isFight) {
      this.end();
      this.show({ words: praise, close: true });
    } else if (praise) this._restBefore(this.index + 1, praise);
    else this._go(this.index + 1);
  }

  _lose({ isLost, isFight }, session) {
    if (isFight) return; // the outcome offers another start
    const isHit = isDead(session.fight.fighters[0], session.fight.now);
    const reason = isHit ? "You were hit." : isLost?.(session) ?? "The fight is over.";
    let again = this.index;
    while (!LESSONS[again].fight) again -= 1;
    this._restBefore(again, `${reason} Once more.`);
  }

  _restBefore(index, words) {
    this.after = { index, seconds: REST };
    this.show({ words });
  }

  _rest(seconds) {
    this.after.seconds -= seconds;
    if (this.after.seconds <= 0) this._go(this.after.index);
  }

  _go(index) {
    const { fight, runs } = LESSONS[index];
    if (fight) this.begin({ ...fight, engagement: HEADED_NORTH });
    Object.assign(this, { index, memory: {}, after: null, isOffered: false, waits: !runs });
    this._showText();
  }

  _showText() {
    const { text, note, goesOn } = LESSONS[this.index];
    const words = Array.isArray(text) ? text[Number(hands.isTouch)] : text;
    const before = note ? note(session) : "";
    this.show({
      words: `${this.index + 1} of ${LESSONS.length}. ${before}${words}`,
      start: this.waits && !goesOn ? "Go" : null,
    });
  }
}
