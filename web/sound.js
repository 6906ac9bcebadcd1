// Sounds of the fight, made by WebAudio: launches, the warning receiver, the tone of a good shot, hits. Off until asked.

const VOLUME = 0.25;
const BEEP = 0.09; // s
const [SLOWEST, FASTEST] = [1.2, 0.15]; // s between two beeps
const URGENT = 30; // s to impact from which beeps come faster
const TONE = 520; // Hz

class Sound {
  constructor() {
    Object.assign(this, { context: null, fight: null, launched: 0, dead: 0, nextBeep: 0 });
  }

  get isOn() {
    return this.context?.state === "running";
  }

  /** Switches the sound on or off; a browser allows it in answer to a click or a key. */
  async toggle() {
    if (this.isOn) await this.context.suspend();
    else {
      this.context ??= this._make();
      await this.context.resume();
    }
  }

  _make() {
    const context = new AudioContext();
    this.out = new GainNode(context, { gain: VOLUME });
    this.out.connect(context.destination);
    const samples = new AudioBuffer({ length: context.sampleRate, sampleRate: context.sampleRate });
    samples.getChannelData(0).forEach((_, i, data) => { data[i] = 2 * Math.random() - 1; });
    this.noise = samples;
    this.tone = new GainNode(context, { gain: 0 });
    const voice = new OscillatorNode(context, { type: "triangle", frequency: TONE });
    voice.connect(this.tone).connect(this.out);
    voice.start();
    return context;
  }

  /** Called after each frame with the fight, the part of it that the human knows, the warning, and the aim. */
  look(fight, known, warning, isGood, isRunning) {
    const [launched, dead] = [known.missiles.length, fight.fighters.filter(({ died }) => died !== null).length];
    const isSame = this.fight === fight;
    const [launches, hits] = isSame ? [launched - this.launched, dead - this.dead] : [0, 0];
    Object.assign(this, { fight, launched, dead });
    if (!this.isOn) return;
    if (launches > 0) this._rush({ seconds: 1.2, type: "bandpass", from: 1500, to: 250, gain: 0.5 });
    if (hits > 0) this._rush({ seconds: 2, type: "lowpass", from: 900, to: 60, gain: 1 });
    this.tone.gain.setTargetAtTime(isGood && isRunning ? 0.15 : 0, this.context.currentTime, 0.03);
    if (warning && isRunning && !warning.isOutrun) this._warn(warning.seconds);
  }

  /** Plays noise whose filter moves from one frequency to another [Hz] while it fades. */
  _rush({ seconds, type, from, to, gain }) {
    const { context } = this;
    const now = context.currentTime;
    const source = new AudioBufferSourceNode(context, { buffer: this.noise, loop: true });
    const filter = new BiquadFilterNode(context, { type, frequency: from });
    const level = new GainNode(context, { gain });
    filter.frequency.exponentialRampToValueAtTime(to, now + seconds);
    level.gain.exponentialRampToValueAtTime(0.001, now + seconds);
    source.connect(filter).connect(level).connect(this.out);
    source.start(now);
    source.stop(now + seconds);
  }

  /** Beeps, the faster the sooner the missile hits. */
  _warn(seconds) {
    const { context } = this;
    const now = context.currentTime;
    if (now < this.nextBeep) return;
    const share = Math.min(seconds / URGENT, 1);
    this.nextBeep = now + FASTEST + (SLOWEST - FASTEST) * share;
    const level = new GainNode(context, { gain: 0.2 });
    const voice = new OscillatorNode(context, { type: "square", frequency: 1250 });
    voice.connect(level).connect(this.out);
    voice.start(now);
    voice.stop(now + BEEP);
  }
}
