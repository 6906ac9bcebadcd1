// A WebGL canvas that draws triangles and lines, written anew for each picture into one buffer.

const VERTEX_BYTES = 16; // x, y, z as float32, then the colour in four bytes
const SHADERS = {
  VERTEX_SHADER: `
    attribute vec3 place;
    attribute vec4 colour;
    uniform mat4 view;
    varying vec4 tint;
    void main() {
      gl_Position = view * vec4(place, 1.0);
      tint = vec4(colour.rgb * colour.a, colour.a);
    }`,
  FRAGMENT_SHADER: `
    precision mediump float;
    varying vec4 tint;
    void main() { gl_FragColor = tint; }`,
};
// What is drawn, in this order: the ground first, which hides nothing, and last what shines through.
const LAYERS = [
  { name: "floor", mode: "TRIANGLES" },
  { name: "floorLines", mode: "LINES" },
  { name: "solid", mode: "TRIANGLES", hides: true },
  { name: "lines", mode: "LINES", tests: true },
  { name: "veil", mode: "TRIANGLES", tests: true },
];

const parsed = new Map(); // colours that were read

/** Returns a colour for vertices: of "#rrggbb" and an opacity from 0 to 1. `light` makes it darker below 1. */
function tint(hex, alpha = 1, light = 1) {
  if (!parsed.has(hex)) parsed.set(hex, [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const [red, green, blue] = parsed.get(hex);
  const part = (value) => Math.min(Math.round(value * light), 255);
  return ((Math.round(alpha * 255) << 24) | (part(blue) << 16) | (part(green) << 8) | part(red)) >>> 0;
}

/** A growing list of vertices. */
class Vertices {
  constructor() {
    this.count = 0;
    this._grow(new ArrayBuffer(VERTEX_BYTES * 1024));
  }

  _grow(buffer) {
    Object.assign(this, { buffer, floats: new Float32Array(buffer), colours: new Uint32Array(buffer) });
  }

  add({ x, y, z }, colour) {
    if (this.count * VERTEX_BYTES === this.buffer.byteLength) {
      const { floats } = this;
      this._grow(new ArrayBuffer(2 * this.buffer.byteLength));
      this.floats.set(floats);
    }
    const at = 4 * this.count;
    this.floats[at] = x;
    this.floats[at + 1] = y;
    this.floats[at + 2] = z;
    this.colours[at + 3] = colour;
    this.count += 1;
  }

  triangle(a, b, c, colour) {
    this.add(a, colour);
    this.add(b, colour);
    this.add(c, colour);
  }

  line(a, b, colour, colourOfB = colour) {
    this.add(a, colour);
    this.add(b, colourOfB);
  }

  get bytes() {
    return new Uint8Array(this.buffer, 0, VERTEX_BYTES * this.count);
  }
}

class Painter {
  /** `layers` has the Vertices by their names. */
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl", { antialias: true });
    this.layers = Object.fromEntries(LAYERS.map(({ name }) => [name, new Vertices()]));
    if (!this.gl) return;
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this._prepare());
    this._prepare();
  }

  /** True if the browser has WebGL. */
  get isPossible() {
    return Boolean(this.gl);
  }

  _prepare() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, text] of Object.entries(SHADERS)) {
      const shader = gl.createShader(gl[kind]);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    gl.useProgram(program);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    for (const [name, size, type, at] of [["place", 3, gl.FLOAT, 0], ["colour", 4, gl.UNSIGNED_BYTE, 12]]) {
      const place = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, type, type !== gl.FLOAT, VERTEX_BYTES, at);
    }
    this.view = gl.getUniformLocation(program, "view");
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** Empties all layers, and fits the canvas to its place on the screen. */
  begin() {
    const ratio = window.devicePixelRatio || 1;
    const size = [this.canvas.clientWidth, this.canvas.clientHeight].map((pixels) => Math.round(pixels * ratio));
    if (this.canvas.width !== size[0] || this.canvas.height !== size[1]) {
      [this.canvas.width, this.canvas.height] = size;
    }
    for (const layer of Object.values(this.layers)) layer.count = 0;
  }

  /** Draws all layers with a view, a matrix in the order of WebGL. */
  draw(view) {
    const { gl, layers } = this;
    const total = LAYERS.reduce((sum, { name }) => sum + layers[name].count, 0);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.depthMask(true);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.uniformMatrix4fv(this.view, false, view);
    gl.bufferData(gl.ARRAY_BUFFER, VERTEX_BYTES * total, gl.DYNAMIC_DRAW);
    let first = 0;
    for (const { name, mode, hides = false, tests = hides } of LAYERS) {
      const { bytes, count } = layers[name];
      gl.bufferSubData(gl.ARRAY_BUFFER, VERTEX_BYTES * first, bytes);
      gl[tests ? "enable" : "disable"](gl.DEPTH_TEST);
      gl.depthMask(hides);
      gl.drawArrays(gl[mode], first, count);
      first += count;
    }
  }
}
