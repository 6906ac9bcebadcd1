// Human input: keys, a gamepad, and fingers on a screen.

const RIGHT_HAND = { left: "ArrowLeft", right: "ArrowRight", more: "ArrowUp", less: "ArrowDown", fire: ["Enter", "ControlRight"] };
const LEFT_HAND = { left: "KeyA", right: "KeyD", more: "KeyW", less: "KeyS", fire: ["Space", "ShiftLeft"] };
const THROTTLE_RATE = 1; // 1/s, of the lever: from idle to full in one second
const DEADZONE = 0.15; // of a stick, which never rests exactly in its middle
const STICK = 50; // way of a finger to full rudder [px]

/** Returns the keys by seat; a single human may use either side of the keyboard. */
function keysOf(humans) {
  const sides = [LEFT_HAND, RIGHT_HAND];
  return new Map(humans.map((seat) => [seat, humans.length > 1 ? [sides[seat]] : sides]));
}

class Hands {
  constructor() {
    this.held = new Set(); // codes of keys
    this.touch = { rudder: 0, throttle: 0, fires: false };
    this.fired = new Set(); // seats that command a launch
    this.pressed = false; // the gamepad's button in the last frame
  }

  /** True if the page is made for fingers: texts then speak of the stick. */
  get isTouch() {
    return matchMedia("(pointer: coarse)").matches;
  }

  /** True if a human moves a control now. */
  get isMoving() {
    const { rudder, throttle, fires } = this.touch;
    const pad = this._gamepad();
    return this.held.size > 0 || this.fired.size > 0 || fires || pad.fires || Boolean(rudder || throttle || pad.rudder);
  }

  /** Notes a pressed key; returns true if it is a flight control. */
  press(event, humans) {
    for (const [seat, sides] of keysOf(humans)) {
      for (const keys of sides) {
        const { fire, ...others } = keys;
        if (fire.includes(event.code)) {
          if (!event.repeat) this.fired.add(seat);
          return true;
        }
        if (Object.values(others).includes(event.code)) {
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
    Object.assign(this.touch, { rudder: 0, throttle: 0 });
  }

  /** Moves the controls of a session's humans for an amount of real time [s]. */
  steer(session, seconds) {
    const pad = this._gamepad();
    keysOf(session.humans).forEach((sides, seat) => {
      const count = (name) => sides.filter((keys) => this.held.has(keys[name])).length;
      const isFirst = seat === session.humans[0];
      const [stick, lever] = isFirst ? [pad.rudder + this.touch.rudder, pad.lever + this.touch.throttle] : [0, 0];
      session.steer(seat, Math.min(Math.max(count("left") - count("right") + stick, -1), 1));
      const rate = Math.min(Math.max(count("more") - count("less") + lever, -1), 1);
      this._moveLever(session, seat, rate * THROTTLE_RATE * seconds);
      if (this.fired.has(seat) || (isFirst && (pad.fires || this.touch.fires))) session.fire(seat);
    });
    this.fired.clear();
    this.touch.fires = false;
  }

  /** Moves a lever that is finer than the throttle's steps. */
  _moveLever(session, seat, change) {
    if (!change) return;
    this.lever = Math.min(Math.max((this.lever ?? session.commands[seat][THROTTLE]) + change, 0), 1);
    session.setThrottle(seat, this.lever);
  }

  _gamepad() {
    const pad = (navigator.getGamepads?.() ?? []).find(Boolean);
    if (!pad) return { rudder: 0, lever: 0, fires: false };
    const axis = (value) => Math.sign(value) * Math.max(Math.abs(value) - DEADZONE, 0) / (1 - DEADZONE);
    const isDown = Boolean(pad.buttons[0]?.pressed);
    const fires = isDown && !this.pressed;
    this.pressed = isDown;
    return { rudder: -axis(pad.axes[0] ?? 0), lever: -axis(pad.axes[1] ?? 0), fires };
  }

  /** Listens to fingers: on `stick` rudder (across) and throttle (up and down); `button` fires. */
  listenToFingers(stick, button) {
    let start = null;
    stick.addEventListener("pointerdown", (event) => {
      stick.setPointerCapture(event.pointerId);
      start = { x: event.clientX, y: event.clientY };
    });
    const moveKnob = (x, y) => {
      stick.style.setProperty("--x", `${STICK * x}px`);
      stick.style.setProperty("--y", `${STICK * y}px`);
    };
    stick.addEventListener("pointermove", (event) => {
      if (!start) return;
      const part = (pixels) => Math.min(Math.max(pixels / STICK, -1), 1);
      this.touch.rudder = -part(event.clientX - start.x);
      const lever = part(start.y - event.clientY);
      this.touch.throttle = Math.abs(lever) > 0.3 ? lever : 0;
      moveKnob(-this.touch.rudder, -lever);
    });
    const end = () => {
      start = null;
      Object.assign(this.touch, { rudder: 0, throttle: 0 });
      moveKnob(0, 0);
    };
    stick.addEventListener("pointerup", end);
    stick.addEventListener("pointercancel", end);
    button.addEventListener("pointerdown", () => { this.touch.fires = true; });
  }
}
