// The list of what the fighters were ordered and did.

class TellTale {
  constructor(list, fights, settings, jump) {
    Object.assign(this, { list, settings, fights, fight: fights.truth });
    this.lines = this.fight.told.map(([start, fighter, ordered, words]) => {
      const row = document.createElement("li");
      const button = Object.assign(document.createElement("button"), { type: "button" });
      const name = Object.assign(document.createElement("span"), {
        className: SEATS[this.fight.fighters[fighter].side], textContent: this.fight.callsigns[fighter],
      });
      const text = Object.assign(document.createElement("span"), {
        className: ordered ? "ordered" : "", textContent: words,
      });
      button.append(formatTime(start), name, text);
      button.addEventListener("click", (event) => {
        jump(start);
        if (event.detail) button.blur(); // so that space plays after a click
      });
      row.append(button);
      list.append(row);
      return { row, start, fighter, ordered };
    });
    list.hidden = !this.lines.length;
  }

  /** Marks what holds at a time, and shows the last line that has begun. */
  draw(time) {
    const shown = this.fights[this.settings.picture];
    const now = new Map();
    let last = null;
    for (const line of this.lines) {
      line.row.hidden = shown.isContact(shown.fighters[line.fighter]);
      if (line.start > time || line.row.hidden) continue;
      now.set(`${line.fighter} ${line.ordered}`, line);
      last = line;
    }
    const dead = ({ fighter }) => isDead(this.fight.fighters[fighter], time);
    const marked = new Set([...now.values()].filter((line) => !dead(line)));
    for (const line of this.lines) line.row.classList.toggle("now", marked.has(line));
    if (last === this.last) return;
    this.last = last;
    this.list.scrollTop = last ? last.row.offsetTop + last.row.offsetHeight - this.list.clientHeight : 0;
  }
}
