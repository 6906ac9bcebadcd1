// The page: a fight, its controls, and the texts about it.

const element = (id) => document.getElementById(id);
const REWIND_RATE = 8; // s of the fight rewound in a second

const tables = JSON.parse(element("tables").textContent);
const core = await Core.load(fromBase64(element("core").textContent), tables);
const policies = mapValues(tables.policies, (network) => new Network(core, shippedNetwork(network)));
const settings = { view: "plane", seat: 0, follow: "both", trails: "whole", zones: "on", picture: "truth" };
const fights = { truth: null }; // and, with sensors, each side's knowledge
const hands = new Hands();
const score = { won: 0, drawn: 0, lost: 0 };
const lessons = new Lessons(beginLesson, showLesson);
let session = null;
let [views, status, lookout] = [null, null, null];
let [rewinding, rewound, counted] = [false, 0, false];

/** Returns the players and the parameters chosen in the sidebar. */
function chosen() {
  const number = (id) => {
    const { value, min, max } = element(id);
    element(id).value = Math.min(Math.max(Number(value), Number(min)), Number(max));
    return Number(element(id).value);
  };
  const range = 1000 * number("start-range");
  const height = heightChosen(); // may choose other players
  return {
    players: [element("red-player").value, element("blue-player").value],
    parameters: {
      start_range_min: range,
      start_range_max: range,
      start_off_boresight_max_deg: number("off-nose"),
      ammunition: number("ammunition"),
      sensing: element("sensing").checked ? "radar" : "full",
      ...height,
    },
  };
}

/** Starts a fight; by default from the start of the last one. */
function startFight(engagement = session?.engagement ?? Math.floor(Math.random() * 2 ** 30)) {
  const { players, parameters } = chosen();
  const needsSensors = players.includes("notcher");
  if (needsSensors) parameters.sensing = "radar";
  element("sensing").checked = parameters.sensing === "radar";
  if (players.every((player) => player === HUMAN) && parameters.sensing === "radar") {
    say("With sensors only one of you can fly: at one screen each would see the other's picture.");
    return;
  }
  const { sensing, dimensions = 2 } = parameters;
  const other = players.find((player) => policies[player] &&
    (policies[player].sensing !== sensing || policies[player].dimensions !== dimensions));
  if (other) {
    const how = policies[other].dimensions !== dimensions ? "with height" : `${sensing === "radar" ? "without" : "with"} sensors`;
    say(`${other} was trained ${how} and cannot fly in another game. Choose another player.`);
    return;
  }
  take(new Session(core, { players, policies, seed: 0, engagement, parameters }));
}

/** Starts a lesson's fight, and shows its players in the sidebar. */
function beginLesson({ players, parameters }) {
  SEATS.forEach((seat, index) => { element(`${seat}-player`).value = players[index]; });
  element("sensing").checked = parameters.sensing === "radar";
  element("height").checked = false;
  settings.view = "plane";
  take(new Session(core, { players, policies, engagement: 1, parameters }));
}

function showLesson(text) {
  element("lesson").hidden = !text;
  element("lesson-start").hidden = true;
  setText(element("lesson-words"), text ?? "");
}

/** Offers the lessons to a new player. */
function offerLessons() {
  if (!lessons.isNew || location.hash) return;
  showLesson("New here? The first flight shows you in two minutes how it is done.");
  element("lesson-start").hidden = false;
}

/** Shows another session. */
function take(next) {
  session?.destroy();
  lookout?.destroy();
  session = next;
  hands.lever = undefined;
  hands.letGo();
  [rewinding, counted] = [false, false];
  settings.picture = "truth";
  renew();
  const { hasHeight } = session.sim;
  views ??= new Views(fights, settings);
  element("status").tBodies[0].replaceChildren(); // fights with height have more rows
  status = new Status(element("status"), element("range-line"), fights, settings);
  lookout = hasHeight && session.humans.length ? new HeightLookout(session, session.humans[0]) : null;
  element("lever").hidden = !hasHeight;
  settings.fighter = session.humans[0] ?? 0;
  views.reset();
  say("");
}

/** Updates each side's knowledge. While the fight goes on, a single human sees what the sensors show. */
function renew() {
  const { fight, humans } = session;
  fights.truth = fight;
  SEATS.forEach((name, seat) => {
    if (fight.radar) fights[name] = fight.knownTo(seat);
    else delete fights[name];
  });
  if (fight.radar && humans.length === 1 && !session.isOver) settings.picture = SEATS[humans[0]];
}

function say(words) {
  setText(element("message"), words);
}

function frame(now, before) {
  const seconds = Math.max(now - before, 0) / 1000;
  if (rewinding) rewind(seconds);
  else {
    if (!session.isReplayed) hands.steer(session, seconds);
    session.advance(seconds);
  }
  if (session.isOver && !counted) count();
  lessons.look(session);
  renew();
  lookout?.look();
  draw();
  requestAnimationFrame((next) => frame(next, now));
}

function rewind(seconds) {
  rewound += seconds * REWIND_RATE;
  const decisions = Math.floor(rewound / session.decision);
  if (!decisions) return;
  rewound -= decisions * session.decision;
  session.rewind(decisions);
}

function count() {
  counted = true;
  if (session.humans.length !== 1) return;
  const { outcome: [outcome] } = session.sim.read("engagement");
  score[outcome === 3 ? "drawn" : outcome - 1 === session.humans[0] ? "won" : "lost"] += 1;
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
  element("outcome").hidden = !session.isOver;
  if (session.isOver) setText(element("outcome-words"), fight.outcome);
  setText(element("tally"), `won ${score.won}, drawn ${score.drawn}, lost ${score.lost}`);
  drawWarning(time);
}

/** Draws the present view; the graph is of the shown side, of the human, or of red. */
function drawView(time) {
  const { side } = fights[settings.picture];
  settings.fighter = side ?? session.humans[0] ?? settings.fighter;
  const isAhead = !session.isOver && !isDead(session.fight.fighters[settings.fighter], time);
  setText(element("view"), settings.view === "spacetime" ? "Space-time" : "From above");
  views.draw(time, isAhead);
  if (element("caption").hidden) return;
  const { graph } = views;
  showLines(element("caption"), graphCaption(graph.scene(time), settings.fighter, graph.fight, time));
}

function drawWarning(time) {
  const [human] = session.humans;
  const isAlive = human !== undefined && !session.isOver && !isDead(session.fight.fighters[human], time);
  const knows = fights[session.fight.radar ? SEATS[human] : "truth"];
  const seen = isAlive && (lookout ? lookout.warning : warningOf(session.fight, knows, human, time));
  const warning = seen || null;
  setText(element("outlook"), isAlive && lookout ? `A missile fired now: ${lookout.outlook}` : "");
  element("warning").hidden = !warning;
  if (!warning) return;
  setText(element("warning-words"), warning.text);
  setText(element("warning-advice"), warning.advice);
}

/** Shows in turn the truth and each side's knowledge. */
function cyclePicture() {
  const order = session.fight.radar ? ["truth", ...SEATS] : ["truth"];
  const isHuman = session.humans.length > 0;
  if (isHuman && !session.isOver) say("The truth is shown when the fight is over.");
  else settings.picture = order[(order.indexOf(settings.picture) + 1) % order.length];
}

/** Gives a seat to a human in the middle of the fight. */
function takeOver(seat) {
  if (session.players[seat] === HUMAN || session.isOver) return;
  const next = session.handOver(seat, HUMAN);
  take(next);
  say(`You fly ${SEATS[seat]} from here on.`);
}

async function save() {
  const bytes = await writeReplay(session);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = `midrange-${session.engagement}.replay`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Opens a file: a replay, or a policy to fly against. */
async function open(file) {
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (file.name.endsWith(".onnx")) meet(file.name, await readOnnx(bytes, tables));
    else again(await readReplay(bytes, tables));
  } catch (error) {
    say(error.message);
  }
}

/** Flies a recorded fight again. */
function again(recorded) {
  take(new Session(core, { ...recorded, policies }));
  say("A recorded fight: it flies as it went. Red or Blue of “Take over” lets you change it.");
}

/** Flies against a policy of the player. */
function meet(name, network) {
  policies[name] = new Network(core, network);
  for (const id of ["red-player", "blue-player"]) element(id).add(new Option(name));
  element("blue-player").value = name;
  element("sensing").checked = network.sensing === "radar";
  element("height").checked = network.dimensions === 3;
  startFight();
  if (session.players[1] === name) say(`You fly against ${name}. The file was read here and sent nowhere.`);
}

/** Puts the fight into the address and, if the browser allows it, into the clipboard. */
async function share() {
  history.replaceState(null, "", await linkOf(session));
  try {
    await navigator.clipboard.writeText(location.href);
    say("A link to this fight is in the clipboard, and in the address.");
  } catch {
    say("The address is now a link to this fight.");
  }
}

async function readAddress() {
  try {
    const recorded = await readLink(location.hash);
    if (recorded) again(recorded);
  } catch (error) {
    say(error.message);
  }
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
  help.addEventListener("close", () => { session.paused = wasPaused; }, { once: true });
  help.showModal();
}

const BUTTONS = {
  "again": () => startFight(),
  "next": () => startFight(session.engagement + 1),
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
  "save": save,
  "share": share,
  "open": () => element("file").click(),
  "lesson-start": () => lessons.start(),
  "lesson-next": () => lessons.next(),
  "lesson-end": () => lessons.end(),
  "first-flight": () => lessons.start(),
  "help-open": toggleHelp,
  "sidebar-open": () => document.body.classList.toggle("with-sidebar"),
};

const KEYS = {
  "KeyP": BUTTONS.pause,
  "KeyR": BUTTONS.again,
  "KeyN": BUTTONS.next,
  "KeyV": BUTTONS.view,
  "KeyC": BUTTONS["view-camera"],
  "KeyZ": BUTTONS.zones,
  "KeyK": cyclePicture,
  "Minus": BUTTONS.slower,
  "Equal": BUTTONS.faster,
  "KeyH": toggleHelp,
  "Backspace": () => { [rewinding, rewound] = [true, 0]; counted = false; },
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
  for (const id of ["red-player", "blue-player", "start-range", "off-nose", "ammunition", "sensing", "height", ...types]) {
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
  const players = [HUMAN, ...Object.keys(policies), ...pilots];
  for (const [id, first] of [["red-player", HUMAN], ["blue-player", "champion"]]) {
    element(id).replaceChildren(...players.map((name) => new Option(name, name, false, name === first)));
  }
}

fillPlayers();
fillTypes();
listenToAll();
startFight();
await readAddress();
offerLessons();
requestAnimationFrame((now) => {
  frame(now, now);
  performance.mark("ready"); // the first frame is drawn
});
