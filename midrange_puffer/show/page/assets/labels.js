// Texts on a canvas that do not cover each other.

const LINE_HEIGHT = 15;

class Labels {
  constructor(context, width, height, halo) {
    Object.assign(this, { context, width, height, halo, taken: [], placed: [] });
  }

  /** Keeps texts off a rectangle. */
  reserve(x, y, width, height) {
    this.taken.push({ x, y, width, height });
  }

  /** Adds a text at a place, if that is free. `align` is as of the canvas. */
  fixed(text, x, y, { colour, align = "left", font = SMALL }) {
    const box = this._box(text, x, y, align, font);
    if (this._isFree(box)) this._put(text, box, colour, font);
  }

  /** Adds a text beside a point, on the side of `towards` [dx, dy] if that is free. */
  beside({ x, y }, text, { colour, towards = [1, 0], gap = 12, font = FONT }) {
    const boxes = this._places(x, y, text, towards, gap, font);
    const free = boxes.find((box) => this._isFree(box));
    if (free) this._put(text, free, colour, font);
  }

  draw() {
    const { context } = this;
    Object.assign(context, { textAlign: "left", textBaseline: "middle", lineWidth: 3 });
    for (const { text, box, colour, font } of this.placed) {
      Object.assign(context, { font, strokeStyle: this.halo, fillStyle: colour });
      context.strokeText(text, box.x, box.y + box.height / 2);
      context.fillText(text, box.x, box.y + box.height / 2);
    }
  }

  _box(text, x, y, align, font) {
    this.context.font = font;
    const width = this.context.measureText(text).width;
    const left = { left: 0, center: width / 2, right: width }[align];
    return { x: x - left, y: y - LINE_HEIGHT / 2, width, height: LINE_HEIGHT };
  }

  /** Returns possible places: beside the point in eight directions, then farther away. */
  _places(x, y, text, towards, gap, font) {
    const first = Math.atan2(towards[1], towards[0]);
    const boxes = [];
    for (const reach of [gap, gap + LINE_HEIGHT, gap + 2.5 * LINE_HEIGHT]) {
      for (const turn of [0, 1, -1, 2, -2, 3, -3, 4]) {
        const angle = first + (turn * Math.PI) / 4;
        const [dx, dy] = [Math.cos(angle), Math.sin(angle)];
        const box = this._box(text, x + reach * dx, y + reach * dy, "center", font);
        box.x += (dx * box.width) / 2;
        boxes.push(box);
      }
    }
    return boxes;
  }

  _isFree(box) {
    const inside = box.x >= 2 && box.x + box.width <= this.width - 2 &&
      box.y >= 2 && box.y + box.height <= this.height - 2;
    return inside && !this.taken.some((other) =>
      box.x < other.x + other.width && other.x < box.x + box.width &&
      box.y < other.y + other.height && other.y < box.y + box.height);
  }

  _put(text, box, colour, font) {
    this.taken.push({ ...box, x: box.x - 3, width: box.width + 6 });
    this.placed.push({ text, box, colour, font });
  }
}
