// Playback: the present time of the fight and its rate.

const RATES = [0.25, 0.5, 1, 2, 4, 8, 16];

class Player {
  /** `onChange` is called whenever the time or the rate has changed. */
  constructor(length, onChange) {
    Object.assign(this, { length, onChange, time: 0, playing: false, rate: 1 });
  }

  jump(time) {
    this.time = Math.min(Math.max(time, 0), this.length);
    this.onChange();
  }

  toggle() {
    if (!this.playing && this.time >= this.length) this.time = 0;
    this.playing = !this.playing;
    if (this.playing) this._run(performance.now());
    this.onChange();
  }

  /** Changes the rate by a number of steps of RATES. */
  shift(steps) {
    const index = RATES.indexOf(this.rate) + steps;
    this.rate = RATES[Math.min(Math.max(index, 0), RATES.length - 1)];
    this.onChange();
  }

  _run(before) {
    requestAnimationFrame((now) => {
      if (!this.playing) return;
      this.playing = this.time < this.length;
      this.jump(this.time + (Math.max(now - before, 0) / 1000) * this.rate);
      this._run(now);
    });
  }
}
