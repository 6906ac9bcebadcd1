// The first flight: lessons of two minutes in which the player tries each control.

const KEPT = "midrange first flight"; // key in the browser's storage once the lessons were flown or declined
const NEAR_TURN = 0.5; // rad

/** Returns the own fighter's present state. */
const pilotOf = (session) => session.fight.states(session.fight.now)[0];

/** Returns blue's angle off the nose [rad]. */
function offOf(session) {
  const [own, enemy] = session.fight.states(session.fight.now);
  return Math.abs(offNose(Math.atan2(enemy.y - own.y, enemy.x - own.x), own));
}

const ownMissiles = (session) => session.fight.missiles.filter(({ owner }) => owner === 0);
const start = (kilometres, others = {}) => ({
  start_range_min: 1000 * kilometres, start_range_max: 1000 * kilometres, start_off_boresight_max_deg: 0, ...others,
});

/**
 * The lessons: their texts, and the conditions that end them. A lesson with a `fight` starts it, and
 * starts it again if it ends before the lesson does. `memory` belongs to the lesson, empty at first.
 */
const LESSONS = [
  {
    text: "You are red. Hold A, or ←, to turn left.",
    fight: { players: [HUMAN, "straight"], parameters: start(30) },
    isDone: (session, memory) => {
      memory.heading ??= pilotOf(session).heading;
      return Math.abs(offNose(memory.heading, pilotOf(session))) > NEAR_TURN;
    },
  },
  {
    text: "Now D, or →, until blue is ahead of your nose again.",
    isDone: (session) => offOf(session) < 0.15,
  },
  {
    text: "The filled zone around you is R_NEZ: an enemy in it when you fire cannot escape. Outside of the dashed " +
      "line, R_aero, no missile reaches. Fly on, and press Space when blue is in the filled zone.",
    isDone: (session) => ownMissiles(session).length > 0,
  },
  {
    text: "Your missile's motor burns for 10 s, drawn thick. Then it only gets slower: that is why near shots are good.",
    isDone: (session) => ownMissiles(session).some(({ fate }) => fate !== FLYING),
  },
  {
    text: "Now blue fires at you. When the warning comes, turn until the missile is behind you, and run. It is faster " +
      "than you, but not for long.",
    fight: { players: [HUMAN, "shooter"], parameters: start(38, { ammunition: 1 }) },
    isDone: (session) => session.fight.missiles.some(({ owner, fate }) => owner === 1 && fate === SPENT),
  },
  {
    text: "You have outrun it. V shows the space-time graph: time runs downward, and the cone is where a missile that " +
      "blue fires now could be. Green escapes get away from it. Look at it now.",
    fight: { players: [HUMAN, "evader"], parameters: start(35) },
    isDone: (session, memory) => {
      memory.since ??= settings.view === "spacetime" ? session.time : undefined;
      return session.time - memory.since > 4;
    },
  },
  {
    text: "V again, and you are back. Last: with sensors your missile needs your radar until its own seeker has a lock. " +
      "Fire, and keep blue inside your cone until there is a ring around the missile.",
    fight: { players: [HUMAN, "straight"], parameters: start(28, { sensing: "radar" }) },
    isDone: (session) => ownMissiles(session).some(({ entries }) => entries.guided.includes(ACTIVE)),
  },
  { text: "That is all. Choose an opponent, or press N: the champion is waiting.", isDone: () => false },
];

class Lessons {
  /** `begin` starts a lesson's fight; `show` shows its text, or hides it for null. */
  constructor(begin, show) {
    Object.assign(this, { begin, show, index: null });
  }

  /** True if the lessons were neither flown nor declined in this browser. */
  get isNew() {
    try {
      return !localStorage.getItem(KEPT);
    } catch {
      return false; // without storage the question would come every time
    }
  }

  start() {
    this._go(0);
  }

  next() {
    if (this.index !== null) this._go(this.index + 1);
  }

  /** Ends the lessons for good. */
  end() {
    this.index = null;
    this.show(null);
    try {
      localStorage.setItem(KEPT, "1");
    } catch {
      // Without storage they are offered again.
    }
  }

  /** Called after a frame: goes to the next lesson, or repeats one whose fight is over. */
  look(session) {
    if (this.index === null) return;
    const { isDone } = LESSONS[this.index];
    if (isDone(session, this.memory)) this._go(this.index + 1);
    else if (session.isOver && this.index < LESSONS.length - 1) this._again();
  }

  _go(index) {
    if (index >= LESSONS.length) {
      this.end();
      return;
    }
    this.index = index;
    this.memory = {};
    const { text, fight } = LESSONS[index];
    if (fight) this.begin(fight);
    this.show(`${index + 1} of ${LESSONS.length}. ${text}`);
  }

  /** Goes back to the last lesson that starts a fight. */
  _again() {
    while (!LESSONS[this.index].fight) this.index -= 1;
    this._go(this.index);
  }
}
