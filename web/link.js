// A fight in the fragment of an address: its players, its start, parameters other than the defaults, and the humans'
// controls. Pilots and policies do the same again.

const LINK = "f=";
const LONGEST_LINK = 120; // characters of a fragment
const LONGEST_FIGHT = 2 ** 16; // decisions
const LONGEST_TEXT = 1000; // bytes of a parameter
const PLAIN = [0, CONTROL_STEPS, -CONTROL_STEPS]; // positions of a control that keys command
const DELTA_BITS = 6; // of a change to another one, from −32 to 31 steps
const RECENT = 3; // decisions after a change in which the next one is likelier

/** Returns [fragment, isWhole]: a link to a session's fight up to now, or to its start if that is too long. */
function linkOf(session) {
  const whole = isReproducible(session) ? `#${LINK}${toBase64(sealed(session, writeInputs(session)))}` : null;
  if (whole && whole.length <= LONGEST_LINK) return [whole, true];
  return [`#${LINK}${toBase64(sealed(session, []))}`, false];
}

/** Reads the fight of a fragment for a `Session`; null if it has none; an Error if it is damaged. */
function readLink(fragment, tables) {
  if (!fragment.startsWith(`#${LINK}`)) return null;
  try {
    return unsealed(fromBase64(fragment.slice(1 + LINK.length).replaceAll("-", "+").replaceAll("_", "/")), tables);
  } catch (error) {
    if (error instanceof OtherVersion) throw error;
    throw new Error("The link is damaged or cut short: no fight can be read from it.");
  }
}

class OtherVersion extends Error {}

function toBase64(bytes) {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** True if the humans' controls determine a session's fight, and a link can hold them. */
function isReproducible(session) {
  const { record, pilots, controls, humans, hasChanged } = session;
  if (hasChanged) return false; // a link holds the controls of one fighter of a side
  // Agents other than humans would decide anew: policies, and crews after a human has taken over a side.
  const isGiven = (row) => row.some((given, number) => given && pilots[number] === "agent" && !humans.includes(number));
  const isPosition = (value) => Number.isInteger(value) && Math.abs(value) <= CONTROL_STEPS;
  return !record.some(isGiven) && controls.length < LONGEST_FIGHT &&
    controls.every((row) => humans.every((seat) => scaled(row[seat], scalesOf(session)).every(isPosition)));
}

/** Returns the steps of each of a fighter's controls; those of systems, and in teams fire, are whole numbers. */
function scalesOf({ sim: { controls, isTeam } }) {
  return controls.map((name) => (name === "systems" || (isTeam && name === "fire") ? 1 : CONTROL_STEPS));
}

const scaled = (row, scales) => row.map((value, control) => value * scales[control]);

/** Returns a link's bytes: a checksum, the version of the rules, the start, in teams the wingmen, and the humans' controls. */
function sealed({ core: { tables }, players, wingmen, seed, engagement, parameters }, inputs) {
  const isTeam = Math.max(...sizesOf(parameters)) > 1;
  const [red, blue, ...others] = [...players, ...(isTeam ? wingmen : [])].map((player) => tables.linked.indexOf(player));
  if ([red, blue, ...others].includes(-1)) throw new Error("A link cannot hold a policy of your own. Save the replay instead.");
  const names = Object.keys(tables.defaults);
  const changed = names.filter((name) => name in parameters && parameters[name] !== tables.defaults[name]);
  const values = changed.flatMap((name) => [names.indexOf(name), ...valueBytes(name, parameters[name], tables)]);
  const body = [
    tables.rules, red, blue, ...varint(seed), ...varint(engagement), changed.length, ...values, ...others, ...inputs,
  ];
  return Uint8Array.from([...checksum(body), ...body]);
}

function unsealed(bytes, tables) {
  const reader = { bytes, at: 2 };
  const [first, second] = checksum(bytes.subarray(2));
  if (bytes.length < 3 || first !== bytes[0] || second !== bytes[1]) throw new Error("damaged");
  if (readByte(reader) !== tables.rules) throw new OtherVersion("The link is of another version of the game.");
  const players = SEATS.map(() => tables.linked[readByte(reader)]);
  const [seed, engagement, count] = [readVarint(reader), readVarint(reader), readByte(reader)];
  const names = Object.keys(tables.defaults);
  const parameters = {};
  for (let i = 0; i < count; i += 1) {
    const name = names[readByte(reader)];
    parameters[name] = readValue(reader, name, tables);
  }
  const sizes = sizesOf(parameters);
  const isPossible = (size) => Number.isInteger(size) && size >= 1 && size <= MOST_OF_SIDE;
  if (!sizes.every(isPossible)) throw new Error("damaged");
  const isTeam = Math.max(...sizes) > 1;
  const wingmen = isTeam ? SEATS.map(() => tables.linked[readByte(reader)]) : undefined;
  const humans = [0, sizes[0]].filter((_, side) => players[side] === HUMAN); // the first fighters of their sides
  const game = { sim: { controls: controlNames(parameters), isTeam }, humans, fighters: sizes[0] + sizes[1] };
  const record = reader.at < bytes.length ? readInputs(reader, game) : [];
  return { players, wingmen, seed, engagement, parameters, record };
}

/** Returns two bytes that change with any of the others (Fletcher's sums). */
function checksum(bytes) {
  let [first, second] = [1, 0];
  for (const byte of bytes) {
    first = (first + byte) % 251;
    second = (second + first) % 251;
  }
  return [first, second];
}

function readByte(reader) {
  if (reader.at >= reader.bytes.length) throw new Error("cut short");
  reader.at += 1;
  return reader.bytes[reader.at - 1];
}

/** Returns a whole number as bytes of seven bits, the lowest first. */
function varint(number) {
  return number < 128 ? [number] : [128 + (number % 128), ...varint(Math.floor(number / 128))];
}

function readVarint(reader) {
  const byte = readByte(reader);
  return byte < 128 ? byte : byte - 128 + 128 * readVarint(reader);
}

/** Returns a parameter's value: the place of a choice, a text, twice a whole number, or 1 and a float. */
function valueBytes(name, value, { choices, texts }) {
  if (texts.includes(name)) {
    const letters = new TextEncoder().encode(value);
    return [...varint(letters.length), ...letters];
  }
  if (choices[name]) return varint(choices[name].indexOf(value));
  if (Number.isSafeInteger(2 * value) && Number.isInteger(value) && value >= 0) return varint(2 * value);
  return [1, ...new Uint8Array(new Float32Array([value]).buffer)];
}

function readValue(reader, name, { choices, texts }) {
  const number = readVarint(reader);
  if (texts.includes(name)) {
    return new TextDecoder().decode(Uint8Array.from({ length: Math.min(number, LONGEST_TEXT) }, () => readByte(reader)));
  }
  if (choices[name]) return choices[name][number];
  if (number % 2 === 0) return number / 2;
  const bytes = Uint8Array.from({ length: 4 }, () => readByte(reader));
  return new Float32Array(bytes.buffer)[0];
}

/** Passes the controls of a game's humans through a coder, which writes `rows` or returns what it reads. */
function passInputs(coder, decisions, game, rows) {
  const { humans, fighters } = game;
  const scales = scalesOf(game);
  const models = humans.map(() => scales.map(() => ({
    last: 0, still: 0,
    changes: Array.from({ length: RECENT + 1 }, (_, since) => new Odds(since < RECENT ? 1 : 12, 1)),
    plain: Array.from({ length: 2 * PLAIN.length }, () => new Odds()),
    deltas: Array.from({ length: 2 ** DELTA_BITS }, () => new Odds()),
  })));
  const pass = (model, scale, given) => {
    const changed = coder.put(model.changes[Math.min(model.still, RECENT)], Number(given !== model.last));
    model.still = changed ? 0 : model.still + 1;
    if (changed) model.last = passPosition(coder, model, given);
    return model.last / scale;
  };
  return Array.from({ length: decisions }, (_, decision) => Array.from({ length: fighters }, (_name, number) => {
    const place = humans.indexOf(number);
    if (place < 0) return null;
    return models[place].map((model, control) => (
      pass(model, scales[control], rows && rows[decision][number][control] * scales[control])));
  }));
}

/** Passes the new position of a control: the place of a plain one, or the change in bits, the highest first. */
function passPosition(coder, { last, plain, deltas }, given) {
  const others = PLAIN.filter((position) => position !== last);
  for (const [place, position] of others.entries()) {
    if (coder.put(plain[place + (last ? PLAIN.length : 0)], Number(given === position))) return position;
  }
  let node = 1;
  for (let bit = DELTA_BITS - 1; bit >= 0; bit -= 1) node = 2 * node + coder.put(deltas[node], ((given - last) >> bit) & 1);
  const half = 2 ** (DELTA_BITS - 1);
  return ((last + node + half) % (2 * half)) - half; // `node` has a leading 1, a multiple of 2 * half
}

/** Returns the controls of a session's humans in bytes: their count, their code, and a mark of the fight. */
function writeInputs(session) {
  const { controls, humans, sim } = session;
  if (!controls.length) return [];
  const coder = new Encoder();
  passInputs(coder, controls.length, { sim, humans, fighters: sim.fighters }, controls);
  return [...varint(controls.length), Number(sim.fightHash % 256n), ...coder.end()];
}

function readInputs(reader, game) {
  const decisions = readVarint(reader);
  if (decisions > LONGEST_FIGHT) throw new Error("too long");
  const mark = readByte(reader);
  const record = passInputs(new Decoder(reader.bytes.subarray(reader.at)), decisions, game, null);
  return Object.assign(record, { mark });
}
