// The page: a fight, its controls, and the texts about it.

const element = (id) => document.getElementById(id);
const REWIND_RATE = 8; // s of the fight rewound in a second
const STARTS = 2 ** 16; // different starts; more would make links longer
const AFTERMATH = 1.2; // s in which the end is seen before the words about it

const tables = JSON.parse(element("tables").textContent);
const core = await Core.load(await inflate(fromBase64(element("core").textContent)), tables);
const policies = mapValues(tables.policies, (network) => new Network(core, shippedNetwork(network)));
const settings = { view: "plane", seat: 0, follow: "both", trails: "whole", zones: "on", picture: "truth" };
const fights = { truth: null }; // and, with sensors, each side's knowledge
const hands = new Hands();
const statusTable = element("status").cloneNode(true);
const score = [0, 0, 0]; // won, drawn, lost in this visit
const sound = new Sound();
const ladder = new Ladder([...tables.ladder, "champion"], tables.easy);
const lessons = new Lessons(beginLesson, showLesson);
let session = null;
let [views, status, lookout] = [null, null, null];
let shownFighter = 0; // the fighter in the middle of the views, as last drawn
let [rewinding, rewound] = [false, 0];
let counted = null; // the noted result of the present fight: opponent and place in the score
let overSince = 0; // s since the end was first shown
let daily = null; // {day, tries} of a fight of the day, and its result in words

/** Returns the players and the parameters chosen in the sidebar. */
function chosen() {
  const number = (id) => {
    const { value, min, max } = element(id);
    element(id).value = Math.min(Math.max(Number(value), Number(min)), Number(max));
    return Number(element(id).value);
  };
  const range = 1000 * number("start-range");
  const game = gameChosen(); // may choose other players
  return {
    players: [element("red-player").value, element("blue-player").value],
    wingmen: SEATS.map(() => element("wingmen").value),
    parameters: {
      start_range_min: range,
      start_range_max: range,
      start_off_boresight_max_deg: number("off-nose"),
      ammunition: number("ammunition"),
      sensing: element("sensing").checked ? "radar" : "full",
      ...game,
    },
  };
}

/** Starts a fight; by default from the start of the last one. */
function startFight(engagement = session?.engagement ?? Math.floor(Math.random() * STARTS)) {
  const ids = ["red-player", "blue-player", ...(hasWingmen() ? ["wingmen"] : [])];
  const isAmong = (names) => ids.some((id) => names.includes(element(id).value));
  if (isAmong(tables.wingPilots) && element("size").value === "1") element("size").value = 2;
  if (isAmong(tables.sensorPilots)) element("sensing").checked = true;
  const { players, wingmen, parameters } = chosen();
  if (players.every((player) => player === HUMAN) && parameters.sensing === "radar") {
    say("With sensors only one of you can fly: at one screen each would see the other's picture.");
    return;
  }
  const other = players.find((player) => policies[player] && policies[player].sensing !== parameters.sensing);
  if (other) {
    const how = `${parameters.sensing === "radar" ? "without" : "with"} sensors`;
    say(`${other} was trained ${how} and cannot fly in another game. Choose another player.`);
    return;
  }
  take(new Session(core, { players, wingmen, policies, seed: 0, engagement, parameters }));
}

/** Starts a lesson's fight, and shows its players in the sidebar. */
function beginLesson({ players, parameters, engagement }) {
  showPlayers({ players });
  settings.view = "plane";
  take(new Session(core, { players, policies, engagement, parameters }));
}

/** Shows a lesson's words, and the button that starts or goes on; hides all for null. */
function showLesson(lesson) {
  element("lesson").hidden = !lesson;
  if (!lesson) return;
  setText(element("lesson-words"), lesson.words);
  setText(element("lesson-start"), lesson.start ?? "");
  element("lesson-start").hidden = !lesson.start;
  setText(element("lesson-end"), lesson.close ? "Close" : "No lessons");
  element("lesson-next").hidden = !lessons.isFlown;
}

/** Ends the lessons; whoever leaves them meets an opponent of the ladder. */
function leaveLessons() {
  const hasFight = !lessons.isFlown;
  lessons.end();
  if (!hasFight) meetOpponent(ladder.first);
}

/** Shows another session. */
function take(next) {
  session?.destroy();
  session = next;
  hands.lever = undefined;
  hands.letGo();
  [rewinding, counted, overSince, daily] = [false, null, 0, null];
  const { sim, humans: [human = 0] } = session;
  settings.picture = "truth";
  Object.assign(settings, { fighter: human, trails: sim.isTeam ? "fading" : "whole", aims: session.humans.length > 0 });
  shownFighter = human;
  watch();
  renew();
  showLadder();
  views ??= new Views(fights, settings);
  element("status").replaceWith(statusTable.cloneNode(true)); // the rows differ between games
  const Table = sim.isTeam ? Roster : Status;
  status = new Table(element("status"), element("range-line"), fights, settings, (number) => { settings.fighter = number; });
  const { sensing, emission_control, chaff } = sim.parameters;
  const systems = sim.hasSystems ? { emission_control, chaff } : null;
  showChoices({ size: Math.max(...sim.sizes), dimensions: sim.hasHeight ? 3 : 2, sensing, systems });
  views.reset();
  say("");
}

/** Looks out from the fighter of the first human, if there is one. */
function watch() {
  const [human] = session.humans;
  if (lookout?.fight === session.fight && lookout.seat === human) return;
  lookout = human === undefined ? null : Object.assign(new Lookout(human, tables.debrief.tooLate), { fight: session.fight });
  hands.lever = undefined;
}

/** Heeds, in teams, the choice of a fighter by a click: of the human's side to fly it, of the other side to aim at it. */
function heedChoice() {
  const { fighter } = settings;
  const [human] = session.humans;
  if (fighter === shownFighter || !session.sim.isTeam) return;
  shownFighter = fighter;
  if (human === undefined || session.isOver) return;
  if (session.sim.sideOf(fighter) !== session.sim.sideOf(human)) session.aim(human, fighter);
  else if (!isDead(session.fight.fighters[fighter], session.fight.now)) session.change(human, fighter);
}

/** Updates each side's knowledge. While the fight goes on, a single human sees what the sensors show. */
function renew() {
  const { fight, humans } = session;
  fights.truth = fight;
  SEATS.forEach((name, seat) => {
    if (fight.radar) fights[name] = fight.knownTo(seat);
    else delete fights[name];
  });
  if (fight.radar && humans.length === 1 && !session.isOver) settings.picture = SEATS[session.sim.sideOf(humans[0])];
}

function say(words) {
  setText(element("message"), words);
}

function frame(now, before) {
  const seconds = Math.max(now - before, 0) / 1000;
  heedChoice();
  if (rewinding) rewind(seconds);
  else if (lessons.isWaiting) {
    if (hands.isMoving) lessons.goOn();
  } else {
    if (!session.isReplayed) hands.steer(session, seconds);
    session.advance(seconds);
  }
  overSince = session.isOver ? overSince + seconds : 0;
  if (session.isOver && !counted) count();
  checkLinked();
  lessons.look(session, seconds);
  renew();
  watch();
  lookout?.look(session.fight, knownTo(lookout.seat));
  draw();
  requestAnimationFrame((next) => frame(next, now));
}

/** Returns the fight as a fighter's side knows it. */
function knownTo(number) {
  return fights[session.fight.radar ? SEATS[session.sim.sideOf(number)] : "truth"];
}

function rewind(seconds) {
  rewound += seconds * REWIND_RATE;
  const decisions = Math.floor(rewound / session.decision);
  if (!decisions) return;
  rewound -= decisions * session.decision;
  session.rewind(decisions);
  daily = null; // a result is of a fight without going back
  if (counted) note(-1); // the fight is open again
  counted = null;
}

/** Flies against an opponent: in the seat that no human has, by default blue. */
function meetOpponent(name) {
  const [red, blue] = SEATS.map((seat) => element(`${seat}-player`));
  const other = red.value !== HUMAN && blue.value === HUMAN ? red : blue;
  if (other === blue) red.value = HUMAN;
  other.value = name;
  adoptGame(name);
  document.body.classList.remove("with-sidebar");
  startFight();
}

function draw() {
  const { time, fight } = session;
  status.draw(time);
  drawView(time);
  setText(element("time-words"), formatTime(time));
  setText(element("rate"), `${{ 0.25: "¼", 0.5: "½" }[session.timeScale] ?? session.timeScale}×`);
  setText(element("pause"), session.paused ? "Go on" : "Pause");
  setText(element("zones"), `Zones: ${settings.zones}`);
  setText(element("picture"), `Picture: ${settings.picture}`);
  element("picture").hidden = !fight.radar || (session.humans.length > 0 && !session.isOver);
  element("outcome").hidden = !session.isOver || overSince < AFTERMATH || lessons.hidesOutcome;
  setText(element("tally"), `won ${score[0]}, drawn ${score[1]}, lost ${score[2]}`);
  setText(element("sound"), `Sound: ${sound.isOn ? "on" : "off"}`);
  const [warning, isGood] = [drawWarning(time), drawCommands(time)];
  sound.look(fight, fights[settings.picture], warning, isGood, !session.paused && !lessons.isWaiting);
}

/** Shows the human's aim, and returns true if it is good; and shows the states of throttle and missiles beside the controls. */
function drawCommands(time) {
  const [human] = session.humans;
  element("launch-line").hidden = human === undefined;
  const { sim } = session;
  drawOrders(human);
  if (human === undefined) return false;
  const { words, isGood } = aimOf(session, knownTo(human), human, time, tables.debrief.zones, lookout.hits);
  setText(element("launch-line"), words);
  element("trigger").classList.toggle("good", isGood);
  const { ammo, throttle } = session.fight.states(time)[human];
  setText(element("trigger-words"), `${ammo} left`);
  const lever = `throttle ↕ ${Math.round(100 * throttle)} %`;
  setText(element("lever-words"), sim.hasHeight ? "climb ↕" : lever);
  setText(element("throttle-words"), lever);
  return isGood;
}

/**
 * Returns the number of the fighter in the middle of the views. While a human flies, this is the human's fighter of the
 * shown side, or the side's first fighter. In a fight without humans, and after a fight of teams, it is the chosen one.
 */
function fighterInView() {
  const { sim, humans, isOver } = session;
  const { side } = fights[settings.picture];
  const isFree = !humans.length || (isOver && sim.isTeam);
  if (isFree && (side === undefined || sim.sideOf(settings.fighter) === side)) return settings.fighter;
  const shown = side ?? sim.sideOf(humans[0]);
  return humans.find((number) => sim.sideOf(number) === shown) ?? sim.membersOf(shown)[0];
}

/** Draws the present view; the graph is of the fighter in its middle. */
function drawView(time) {
  settings.fighter = shownFighter = fighterInView();
  const isAhead = !session.isOver && !isDead(session.fight.fighters[settings.fighter], time);
  setText(element("view"), `View: ${settings.view === "spacetime" ? "space-time" : "from above"}`);
  const lines = views.draw(time, overSince, isAhead);
  element("caption").classList.toggle("plane", element("graph").hidden);
  showLines(element("caption"), lines);
}

/** Shows the warning of the most pressing missile, and returns it; null if there is none. */
function drawWarning(time) {
  const isAlive = lookout && !session.isOver && !isDead(session.fight.fighters[lookout.seat], time);
  const warning = isAlive ? lookout.warning : null;
  element("warning").hidden = !warning;
  if (!warning) return null;
  element("warning").classList.toggle("outrun", warning.isOutrun);
  setText(element("warning-words"), warning.text);
  setText(element("warning-advice"), warning.advice);
  return warning;
}

/** Shows in turn the truth and each side's knowledge. */
function cyclePicture() {
  const order = session.fight.radar ? ["truth", ...SEATS] : ["truth"];
  const isHuman = session.humans.length > 0;
  if (isHuman && !session.isOver) say("The truth is shown when the fight is over.");
  else settings.picture = order[(order.indexOf(settings.picture) + 1) % order.length];
}

/** Gives a side to a human in the middle of the fight. */
function takeOver(side) {
  if (session.players[side] === HUMAN || session.isOver) return;
  take(session.handOver(side));
  const number = session.humans.find((human) => session.sim.sideOf(human) === side);
  say(`You fly ${session.fight.callsigns[number]} from here on.`);
}

/** Shows or hides the help; the fight is paused meanwhile. */
function toggleHelp() {
  const help = element("help");
  if (help.open) {
    help.close();
    return;
  }
  const wasPaused = session.paused;
  session.paused = true;
  showLines(element("legend"), planeCaption(settings, views.plane.fight));
  help.addEventListener("close", () => { session.paused = wasPaused; }, { once: true });
  help.showModal();
}

/** Flies again from the same start. */
function flyAgain() {
  if (daily) startDaily(daily.day);
  else if (!lessons.repeat()) startFight();
}

const flyNext = () => startFight((session.engagement + 1) % STARTS);

const BUTTONS = {
  "again": flyAgain,
  "next": flyNext,
  "outcome-again": flyAgain,
  "outcome-next": flyNext,
  "easier": () => meetOpponent(element("easier").value),
  "harder": () => meetOpponent(element("harder").value),
  "aim": () => session.aimNext(session.humans[0]),
  "change": () => session.change(session.humans[0]),
  "radar": () => session.switchRadar(session.humans[0]),
  "chaff": () => session.dropChaff(session.humans[0]),
  "pause": () => { session.paused = !session.paused; },
  "slower": () => session.scaleTime(-1),
  "faster": () => session.scaleTime(1),
  "view": () => say(views.toggle("spacetime")),
  "view-camera": () => say(views.toggle("camera")),
  "zones": () => { settings.zones = settings.zones === "on" ? "off" : "on"; },
  "picture": cyclePicture,
  "fit": () => { settings.follow = "both"; },
  "take-red": () => takeOver(0),
  "take-blue": () => takeOver(1),
  "daily": () => startDaily(today()),
  "copy-result": () => copy(daily.words, `Copied: ${daily.words}`, daily.words),
  "save": save,
  "share": share,
  "open": () => element("file").click(),
  "lesson-start": () => lessons.start(),
  "lesson-next": () => lessons.next(),
  "lesson-end": leaveLessons,
  "first-flight": () => lessons.start(),
  "sound": () => sound.toggle(),
  "help-open": toggleHelp,
  "sidebar-open": () => document.body.classList.toggle("with-sidebar"),
};

const KEYS = {
  "KeyP": BUTTONS.pause,
  "KeyR": BUTTONS.again,
  "KeyN": BUTTONS.next,
  "KeyV": BUTTONS.view,
  "KeyL": BUTTONS["view-camera"],
  "KeyZ": BUTTONS.zones,
  "KeyM": BUTTONS.sound,
  "KeyK": cyclePicture,
  "Minus": BUTTONS.slower,
  "Equal": BUTTONS.faster,
  "KeyH": toggleHelp,
  "Backspace": () => { [rewinding, rewound] = [true, 0]; },
};

function press(event) {
  const inField = event.target.matches("select, input, dialog *");
  if (event.ctrlKey || event.altKey || event.metaKey || inField) return;
  if (hands.press(event, session.humans)) event.preventDefault();
  else if (KEYS[event.code]) {
    event.preventDefault();
    if (!event.repeat) KEYS[event.code]();
  }
}

function listenToAll() {
  for (const [id, act] of Object.entries(BUTTONS)) {
    element(id).addEventListener("click", () => {
      act();
      element(id).blur(); // so that space launches and does not press the button
    });
  }
  document.addEventListener("keydown", press);
  document.addEventListener("keyup", (event) => {
    hands.release(event);
    if (event.code === "Backspace") rewinding = false;
  });
  window.addEventListener("blur", () => { hands.letGo(); rewinding = false; });
  const types = TYPE_CHOICES.map(({ id }) => id);
  for (const id of ["red-player", "blue-player", "wingmen"]) {
    element(id).addEventListener("change", () => adoptGame(element(id).value));
  }
  const fields = ["size", "red-player", "blue-player", "wingmen", "start-range", "off-nose", "ammunition", "sensing", "systems", "height"];
  for (const id of [...fields, ...types]) {
    element(id).addEventListener("change", () => { startFight(); element(id).blur(); });
  }
  element("file").addEventListener("change", ({ target }) => { open(target.files[0]); target.value = ""; });
  window.addEventListener("hashchange", readAddress);
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) open(event.dataTransfer.files[0]);
  });
  hands.listenToFingers(element("stick"), element("lever"), element("trigger"), () => session.sim.hasHeight);
}

function fillPlayers() {
  const pilots = Object.keys(tables.controllers).filter((name) => name !== "agent");
  const others = [...Object.keys(policies), ...pilots];
  for (const [id, first] of [["red-player", HUMAN], ["blue-player", ladder.first], ["wingmen", tables.wingmen]]) {
    const players = id === "wingmen" ? others : [HUMAN, ...others];
    element(id).replaceChildren(...players.map((name) => new Option(name, name, false, name === first)));
  }
}

fillPlayers();
fillTypes();
listenToAll();
startFight();
await readAddress();
if (lessons.isNew && !location.hash) lessons.offer();
requestAnimationFrame((now) => {
  frame(now, now);
  performance.mark("ready"); // the first frame is drawn
});
