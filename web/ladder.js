// The ladder of opponents, from the weakest to the strongest, and the player's results against each in this browser.

const RESULTS = "results"; // name of the kept results: [won, drawn, lost] by opponent

class Ladder {
  /** `rungs`: the opponents' names; `easy`: the one that a new player meets. */
  constructor(rungs, easy) {
    Object.assign(this, { rungs, easy, results: recall(RESULTS, {}) });
  }

  /** Returns the opponent that a player meets first: from the easy one on, the first one not yet beaten. */
  get first() {
    const open = this.rungs.slice(this.rungs.indexOf(this.easy)).find((name) => !this.isBeaten(name));
    return open ?? this.rungs.at(-1);
  }

  isBeaten(name) {
    return this.of(name)[0] > 0;
  }

  /** Returns [won, drawn, lost] against an opponent. */
  of(name) {
    const counts = this.results[name];
    const isUsable = Array.isArray(counts) && counts.length === 3 && counts.every(Number.isInteger);
    return isUsable ? counts : [0, 0, 0];
  }

  /** Adds a result (0 won, 1 drawn, 2 lost), or takes it away again with `count` −1. */
  note(name, result, count = 1) {
    if (!this.rungs.includes(name)) return;
    const counts = [...this.of(name)];
    counts[result] = Math.max(counts[result] + count, 0);
    this.results[name] = counts;
    keep(RESULTS, this.results);
  }

  /** Returns the opponents one rung below and above; null where there is none. */
  around(name) {
    const place = this.rungs.indexOf(name);
    return place < 0 ? [null, this.easy] : [this.rungs[place - 1] ?? null, this.rungs[place + 1] ?? null];
  }
}
