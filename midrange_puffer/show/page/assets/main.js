// The page: its views and settings, its buttons and keys, and the settings in its address.

const element = (id) => document.getElementById(id);
const fight = Fight.decode(JSON.parse(element("fight").textContent));
const CHOICES = {
  view: ["plane", "spacetime", "camera"],
  follow: ["both", ...(fight.isTeam ? ["one"] : SEATS), "off"],
  trails: ["whole", "fading"],
  zones: ["on", "off"],
  picture: ["truth"],
};
const fights = { truth: fight }; // and, with sensors, each side's knowledge
fight.known.forEach((_, seat) => {
  fights[SEATS[seat]] = new SideFight(fight, seat);
  CHOICES.picture.push(SEATS[seat]);
});
const settings = {
  view: "plane", fighter: 0, follow: "both", trails: fight.isTeam ? "fading" : "whole", zones: "on",
  picture: "truth",
};
const player = new Player(fight.length, changed);
const plane = new Plane(element("plane"), fights, settings, changed);
const sideView = fight.hasHeight ? new SideView(element("side"), fights, settings) : null;
const graph = new Graph(element("graph"), fights, settings, changed);
const camera = new Camera(element("camera"), element("camera-labels"), fights, settings, changed);
const charts = new Charts(element("charts"), fights, settings, (time) => player.jump(time));
const status = fight.isTeam
  ? new Roster(element("status"), element("range"), fights, settings, choose)
  : new Status(element("status"), element("range"), fights, settings);
const told = new TellTale(element("told"), fights, settings, (time) => player.jump(time));
const VIEWS = { plane, spacetime: graph, camera };
let waiting = false;
let isBlind = false; // the camera was asked for, and the browser has no WebGL

/** Draws again with the next frame. */
function changed() {
  if (!waiting) requestAnimationFrame(draw);
  waiting = true;
}

function draw() {
  waiting = false;
  const { view } = settings;
  element("plane").hidden = view !== "plane";
  element("graph").hidden = view !== "spacetime";
  element("camera").hidden = element("camera-labels").hidden = view !== "camera";
  element("side").hidden = !fight.hasHeight || view !== "plane";
  status.draw(player.time);
  told.draw(player.time);
  drawCaption();
  drawButtons();
  drawTime();
  // The canvases come last, since the texts determine their size.
  VIEWS[view].draw(player.time);
  if (view === "plane") sideView?.draw(player.time);
  charts.draw(player.time);
}

function drawCaption() {
  const captions = {
    plane: () => [...(isBlind ? [[["", NO_CAMERA]]] : []), ...planeCaption(settings, fight)],
    spacetime: () => graphCaption(graph.scene(player.time), settings.fighter, graph.fight, player.time),
    camera: () => cameraCaption(settings, fight),
  };
  showLines(element("caption"), captions[settings.view]());
}

function drawButtons() {
  const pressed = { "view-plane": settings.view === "plane", "view-camera": settings.view === "camera" };
  SEATS.forEach((seat, index) => {
    const isChosen = fight.isTeam || settings.fighter === index;
    pressed[`view-${seat}`] = settings.view === "spacetime" && isChosen;
  });
  if (fight.isTeam) setText(element("view-red"), `Space-time ${fight.callsigns[settings.fighter]}`);
  for (const [id, value] of Object.entries(pressed)) {
    element(id).setAttribute("aria-pressed", value);
  }
  for (const name of ["follow", "trails", "zones", "picture"]) {
    setText(element(name), `${name[0].toUpperCase()}${name.slice(1)}: ${choiceWords(name)}`);
    element(name).hidden = settings.view === "spacetime";
  }
  element("picture").hidden = !fight.radar;
  element("view-camera").hidden = isBlind;
  // A side knows only its own graph.
  SEATS.forEach((seat, side) => {
    const isUnknown = fight.isTeam ? side > 0 : fights[settings.picture].enemy === side;
    element(`view-${seat}`).hidden = isUnknown;
  });
  setText(element("play"), player.playing ? "Pause" : "Play");
}

/** Returns a setting's choice as the text of its button. */
function choiceWords(name) {
  if (!fight.isTeam || name !== "follow") return settings[name];
  return { both: "all", one: fight.callsigns[settings.fighter], off: "off" }[settings.follow];
}

function drawTime() {
  const [now, end] = [player.time, fight.length].map(formatTime);
  element("time").value = player.time;
  element("time").setAttribute("aria-valuetext", `${now} of ${end}`);
  setText(element("time-words"), `${now} / ${end}`);
  setText(element("rate"), `${{ 0.25: "¼", 0.5: "½" }[player.rate] ?? player.rate}×`);
}

function show(view, fighter = settings.fighter) {
  isBlind ||= view === "camera" && !camera.isPossible;
  const shown = view === "camera" && isBlind ? "plane" : view;
  Object.assign(settings, { view: shown, fighter: knownFighter(fighter) });
}

/** Returns a fighter, or instead of a contact the first living fighter of the side whose picture is shown. */
function knownFighter(number) {
  const { fighters, side } = fights[settings.picture];
  if (side === undefined || fighters[number].side === side) return number;
  const ours = fighters.filter((fighter) => fighter.side === side);
  return (ours.find((fighter) => !isDead(fighter, player.time)) ?? ours[0]).number;
}

/** Goes to another view, and from that one back to the view from above. */
function toggle(view) {
  show(settings.view === view ? "plane" : view);
}

/** Chooses a fighter of a team. */
function choose(number) {
  if (knownFighter(number) === number) settings.fighter = number;
  changed();
}

/** Shows the space-time graph of a side; in teams chooses its next living fighter. */
function showSide(side) {
  if (!fight.isTeam) {
    show("spacetime", side);
    return;
  }
  if (side === fights[settings.picture].enemy) return;
  const { fighter: chosen } = settings;
  const ours = fight.fighters.filter((fighter) => fighter.side === side && !isDead(fighter, player.time));
  if (ours.length) settings.fighter = (ours.find(({ number }) => number > chosen) ?? ours[0]).number;
}

/** Takes the next choice of a setting. */
function cycle(name) {
  const values = CHOICES[name];
  settings[name] = values[(values.indexOf(settings[name]) + 1) % values.length];
}

/** Shows in turn the truth, red's knowledge and blue's knowledge. */
function cyclePicture() {
  cycle("picture");
  settings.fighter = knownFighter(settings.fighter);
}

/** Shows everything; the graph has no fighter to follow. */
function fit() {
  if (settings.view === "plane") plane.fit();
  else VIEWS[settings.view].reset();
  if (settings.view === "camera") settings.follow = "both";
}

function toggleHelp() {
  const help = element("help");
  if (help.open) help.close();
  else help.showModal();
}

const BUTTONS = {
  "view-plane": () => show("plane"),
  "view-red": () => show("spacetime", fight.isTeam ? settings.fighter : 0),
  "view-blue": () => show("spacetime", 1),
  "view-camera": () => show("camera"),
  "follow": () => cycle("follow"),
  "trails": () => cycle("trails"),
  "zones": () => cycle("zones"),
  "picture": cyclePicture,
  "fit": fit,
  "help-open": toggleHelp,
  "play": () => player.toggle(),
  "slower": () => player.shift(-1),
  "faster": () => player.shift(1),
};

const KEYS = {
  " ": () => player.toggle(),
  "ArrowLeft": (event) => player.jump(player.time - (event.shiftKey ? 10 : 1)),
  "ArrowRight": (event) => player.jump(player.time + (event.shiftKey ? 10 : 1)),
  "Home": () => player.jump(0),
  "End": () => player.jump(fight.length),
  "+": () => player.shift(1),
  "=": () => player.shift(1),
  "-": () => player.shift(-1),
  "v": () => toggle("spacetime"),
  "l": () => toggle("camera"),
  "1": () => showSide(0),
  "2": () => showSide(1),
  "f": () => cycle("follow"),
  "t": () => cycle("trails"),
  "z": () => cycle("zones"),
  "k": cyclePicture,
  "0": fit,
  "?": toggleHelp,
};

/** Handles a key of the page; a focused button keeps its space key. */
function press(event) {
  const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  const isForOthers = event.ctrlKey || event.altKey || event.metaKey ||
    (element("help").open && event.key !== "?") ||
    (event.key === " " && event.target.matches("button"));
  if (!act || isForOthers) return;
  event.preventDefault();
  act(event);
  changed();
}

/** Applies the settings of an address like #t=30&view=spacetime&seat=blue_2&yaw=40; angles in degrees. */
function readAddress() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const number = (name, fallback) => {
    const value = parseFloat(asked.get(name));
    return Number.isFinite(value) ? value : fallback;
  };
  for (const [name, values] of Object.entries(CHOICES)) {
    if (values.includes(asked.get(name))) settings[name] = asked.get(name);
  }
  const fighter = fight.callsigns.indexOf(asked.get("seat"));
  if (fighter >= 0) settings.fighter = fighter;
  show(settings.view);
  const degree = Math.PI / 180;
  const turned = settings.view === "camera" ? camera : graph;
  const { yaw, pitch, zoom } = turned.camera;
  turned.turn(number("yaw", yaw / degree) * degree, number("pitch", pitch / degree) * degree);
  turned.zoom(number("zoom", zoom));
  player.jump(number("t", player.time));
}

function start() {
  SEATS.forEach((seat, side) => {
    const count = fight.isTeam ? ` × ${fight.sizes[side]}` : "";
    setText(element(seat), fight.names[side] + count);
  });
  const unused = { "of-pair": fight.isTeam, "of-team": !fight.isTeam, "of-height": !fight.hasHeight, "of-sensors": !fight.radar };
  for (const [className, isUnused] of Object.entries(unused)) {
    for (const part of document.querySelectorAll(`.${className}`)) part.hidden = isUnused;
  }
  element("stage").classList.toggle("high", fight.hasHeight);
  setText(element("outcome"), `${fight.outcome} after ${Math.round(fight.length)} s`);
  element("time").max = fight.length;
  element("time").addEventListener("input", (event) => player.jump(+event.target.value));
  for (const [id, act] of Object.entries(BUTTONS)) {
    element(id).addEventListener("click", (event) => {
      act();
      if (event.detail) element(id).blur(); // so that space plays after a click
      changed();
    });
  }
  document.addEventListener("keydown", press);
  window.addEventListener("hashchange", readAddress);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  const observer = new ResizeObserver(draw); // at once, so that no old picture is stretched
  document.querySelectorAll("canvas").forEach((canvas) => observer.observe(canvas));
  readAddress();
}

start();
