// Human input: keys, a gamepad, and fingers on a screen.

const RIGHT_HAND = {
  left: "ArrowLeft", right: "ArrowRight", more: "ArrowUp", less: "ArrowDown", up: "PageUp", down: "PageDown",
  fire: ["Enter", "ControlRight"], target: ["ShiftRight"], fighter: ["End"], radar: ["Home"], chaff: ["Delete"],
};
const LEFT_HAND = {
  left: "KeyA", right: "KeyD", more: "KeyW", less: "KeyS", up: "KeyT", down: "KeyG", fire: ["Space", "ShiftLeft"],
  target: ["KeyQ"], fighter: ["KeyF"], radar: ["KeyY"], chaff: ["KeyC"],
};
// Commands of keys, with their gamepad buttons, as in show/play/inputs.py.
const BUTTON_OF = { fire: 0, target: 1, fighter: 2, radar: 4, chaff: 5 };
const COMMANDS = Object.keys(BUTTON_OF);

const THROTTLE_RATE = 1; // 1/s, of the lever: from idle to full in one second
const DEADZONE = 0.15; // of a stick, which never rests exactly in its middle
const STICK = 50; // way of a finger to full rudder [px]

/** Returns the keys by the humans' fighters, red's first; a single human may use either side of the keyboard. */
function keysOf(humans) {
  const sides = [LEFT_HAND, RIGHT_HAND];
  return new Map(humans.map((number, place) => [number, humans.length > 1 ? [sides[place]] : sides]));
}

class Hands {
  constructor() {
    this.held = new Set(); // codes of keys
    this.touch = { rudder: 0, climb: 0, throttle: 0, fires: false };
    this.commands = []; // [fighter, one of COMMANDS] each, not yet given
    this.pressed = []; // commands of the gamepad's buttons that were down in the last frame
  }

  /** True if the page is made for fingers: texts then speak of the stick. */
  get isTouch() {
    return matchMedia("(pointer: coarse)").matches;
  }

  /** True if a human moves a control now. */
  get isMoving() {
    const { rudder, climb, throttle, fires } = this.touch;
    const pad = this._gamepad();
    const isCommanded = fires || this.commands.length > 0 || pad.commands.length > 0;
    return this.held.size > 0 || isCommanded || Boolean(rudder || climb || throttle || pad.rudder);
  }

  /** Notes a pressed key; returns true if it is a flight control. */
  press(event, humans) {
    for (const [seat, sides] of keysOf(humans)) {
      for (const keys of sides) {
        const command = COMMANDS.find((name) => keys[name].includes(event.code));
        if (command) {
          if (!event.repeat) this.commands.push([seat, command]);
          return true;
        }
        if (Object.values(keys).includes(event.code)) {
          this.held.add(event.code);
          return true;
        }
      }
    }
    return false;
  }

  release(event) {
    this.held.delete(event.code);
  }

  letGo() {
    this.held.clear();
    Object.assign(this.touch, { rudder: 0, climb: 0, throttle: 0 });
  }

  /** Moves the controls of a session's humans for an amount of real time [s]. */
  steer(session, seconds) {
    const pad = this._gamepad();
    keysOf(session.humans).forEach((sides, seat) => {
      const count = (name) => sides.filter((keys) => this.held.has(keys[name])).length;
      const isFirst = seat === session.humans[0];
      const [stick, lever] = isFirst ? [pad.rudder + this.touch.rudder, pad.lever + this.touch.throttle] : [0, 0];
      session.steer(seat, Math.min(Math.max(count("left") - count("right") + stick, -1), 1));
      const pull = isFirst ? pad.climb + this.touch.climb : 0;
      session.climb(seat, Math.min(Math.max(count("up") - count("down") + pull, -1), 1));
      const rate = Math.min(Math.max(count("more") - count("less") + lever, -1), 1);
      this._moveLever(session, seat, rate * THROTTLE_RATE * seconds);
      const commands = this.commands.filter(([number]) => number === seat).map(([, command]) => command);
      if (isFirst) commands.push(...pad.commands, ...(this.touch.fires ? ["fire"] : []));
      commands.forEach((command) => this._give(session, seat, command));
    });
    this.commands = [];
    this.touch.fires = false;
  }

  _give(session, number, command) {
    if (command === "fire") session.fire(number);
    else if (command === "target") session.aimNext(number);
    else if (command === "radar") session.switchRadar(number);
    else if (command === "chaff") session.dropChaff(number);
    else session.change(number);
  }

  /** Moves a lever that is finer than the throttle's steps. */
  _moveLever(session, seat, change) {
    if (!change) return;
    this.lever = Math.min(Math.max((this.lever ?? session.throttleOf(seat)) + change, 0), 1);
    session.setThrottle(seat, this.lever);
  }

  _gamepad() {
    const pad = (navigator.getGamepads?.() ?? []).find(Boolean);
    if (!pad) return { rudder: 0, lever: 0, climb: 0, commands: [] };
    const axis = (value) => Math.sign(value) * Math.max(Math.abs(value) - DEADZONE, 0) / (1 - DEADZONE);
    const before = this.pressed;
    this.pressed = COMMANDS.filter((command) => pad.buttons[BUTTON_OF[command]]?.pressed);
    const commands = this.pressed.filter((command) => !before.includes(command));
    const [across = 0, along = 0, , second = 0] = pad.axes; // the last one is of the right stick
    return { rudder: -axis(across), lever: -axis(along), climb: -axis(second), commands };
  }

  /**
   * Listens to fingers: on `stick` rudder (across) and throttle, with height climb (up and down); with
   * height on `lever` throttle; `button` fires.
   */
  listenToFingers(stick, lever, button, hasHeight) {
    const least = (part) => (Math.abs(part) > 0.3 ? part : 0);
    followFinger(stick, (right, up) => {
      stick.style.setProperty("--x", `${STICK * right}px`);
      stick.style.setProperty("--y", `${-STICK * up}px`);
      this.touch.rudder = -right;
      this.touch[hasHeight() ? "climb" : "throttle"] = hasHeight() ? up : least(up);
    });
    followFinger(lever, (_, up) => { this.touch.throttle = least(up); });
    button.addEventListener("pointerdown", () => { this.touch.fires = true; });
  }
}

/** Calls `move(right, up)`, from -1 to 1, for the way of a finger on an element; both are 0 at its end. */
function followFinger(area, move) {
  let start = null;
  area.addEventListener("pointerdown", (event) => {
    area.setPointerCapture(event.pointerId);
    start = { x: event.clientX, y: event.clientY };
  });
  area.addEventListener("pointermove", (event) => {
    if (!start) return;
    const part = (pixels) => Math.min(Math.max(pixels / STICK, -1), 1);
    move(part(event.clientX - start.x), part(start.y - event.clientY));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    area.addEventListener(end, () => {
      start = null;
      move(0, 0);
    });
  }
}
