// An adaptive binary range coder, as in LZMA (Martin 1979), whose probabilities come from counts.

const TOP = 2 ** 32;
const BOTTOM = 2 ** 24; // the range is kept above it
const PARTS = 2 ** 16; // of a probability

/** The odds of a bit; they follow the bits. */
class Odds {
  constructor(zeros = 1, ones = 1) {
    this.counts = [zeros, ones];
  }

  /** Returns the part of a range that stands for 0. */
  split(range) {
    const [zeros, ones] = this.counts;
    const share = Math.floor((PARTS * zeros) / (zeros + ones));
    return Math.floor(range / PARTS) * Math.min(Math.max(share, 1), PARTS - 1);
  }
}

class Encoder {
  constructor() {
    Object.assign(this, { low: 0, range: TOP - 1, held: null, ones: 0, out: [] });
  }

  put(odds, bit) {
    const part = odds.split(this.range);
    if (bit) {
      this.low += part;
      this.range -= part;
    } else this.range = part;
    odds.counts[bit] += 1;
    while (this.range < BOTTOM) {
      this.range *= 256;
      this._shift();
    }
    return bit;
  }

  /** Moves out the highest byte of `low`. Bytes of 255 wait, since a carry may still change them. */
  _shift() {
    const carry = this.low >= TOP ? 1 : 0;
    const byte = Math.floor(this.low / BOTTOM) % 256;
    if (byte < 255 || carry) {
      if (this.held !== null) this.out.push((this.held + carry) % 256);
      for (; this.ones > 0; this.ones -= 1) this.out.push((255 + carry) % 256);
      this.held = byte;
    } else this.ones += 1;
    this.low = (this.low % BOTTOM) * 256;
  }

  /** Returns all bytes; zeros at the end are left out. */
  end() {
    for (let i = 0; i < 5; i += 1) this._shift();
    while (this.out.at(-1) === 0) this.out.pop();
    return Uint8Array.from(this.out);
  }
}

class Decoder {
  constructor(bytes) {
    Object.assign(this, { bytes, at: 0, code: 0, range: TOP - 1 });
    for (let i = 0; i < 4; i += 1) this.code = this.code * 256 + this._next();
  }

  _next() {
    this.at += 1;
    return this.bytes[this.at - 1] ?? 0;
  }

  put(odds) {
    const part = odds.split(this.range);
    const bit = Number(this.code >= part);
    if (bit) {
      this.code -= part;
      this.range -= part;
    } else this.range = part;
    odds.counts[bit] += 1;
    while (this.range < BOTTOM) {
      this.range *= 256;
      this.code = this.code * 256 + this._next();
    }
    return bit;
  }
}
