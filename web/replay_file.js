// Replay files in the format of replays/format.py.

const REPLAY_LINE = "midrange_puffer replay 1\n";
const DIGEST_BYTES = 32;

async function through(stream, bytes) {
  const packed = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

const deflate = (bytes) => through(new CompressionStream("deflate"), bytes);
const inflate = (bytes) => through(new DecompressionStream("deflate"), bytes);

async function sha256(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

function join(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Returns parameters as Python's json writes them, sorted; floats have a point. */
function parametersText(parameters, integers) {
  const text = (name, value) => {
    const isFloat = typeof value === "number" && !integers.includes(name);
    return isFloat && Number.isInteger(value) ? `${value}.0` : JSON.stringify(value);
  };
  const names = Object.keys(parameters).sort();
  return `{${names.map((name) => `"${name}": ${text(name, parameters[name])}`).join(", ")}}`;
}

/** Packs controls [decision][fighter][control], ordered by fighter and control. */
function packControls(controls) {
  const columns = [];
  (controls[0] ?? []).forEach((given, fighter) => given.forEach((_, control) => {
    columns.push(controls.map((row) => row[fighter][control]));
  }));
  return new Uint8Array(new Float32Array(columns.flat()).buffer);
}

/** Unpacks the controls of a number of decisions, `count` of each of some fighters. */
function unpackControls(bytes, decisions, fighters, count) {
  if (bytes.length !== 4 * fighters * count * decisions) throw new Error("The controls are damaged.");
  const values = new Float32Array(bytes.slice().buffer);
  const at = (seat, control, decision) => values[(seat * count + control) * decisions + decision];
  return Array.from({ length: decisions }, (_, decision) => Array.from({ length: fighters }, (_name, seat) => (
    Array.from({ length: count }, (_number, control) => at(seat, control, decision)))));
}

/** Returns the names of red and blue; a human's has the wingmen after a comma, as in `puffer play`. */
function sideNames({ players, wingmen, sim }) {
  return players.map((player, side) => (sim.sizes[side] > 1 && player === HUMAN ? `${player}, ${wingmen[side]}` : player));
}

/** Returns the players of red and blue in a replay and the wingmen of each human, by the names of the sides. */
function playersOf({ pilots, names, parameters }, { wingmen: usual }) {
  const [red] = sizesOf(parameters);
  const sides = [pilots.slice(0, red), pilots.slice(red)];
  const flown = names.map((name) => name.split(", "));
  return {
    players: sides.map((ofSide, side) => (ofSide.includes("agent") ? flown[side][0] : ofSide[0])),
    wingmen: flown.map(([player, wingman]) => (player === HUMAN && wingman) || usual),
  };
}

/** Returns the bytes of a replay file of a session up to now. */
async function writeReplay(session) {
  const { tables } = session.core;
  const { parameters } = session.sim;
  const text = parametersText(parameters, tables.integers);
  const encode = (words) => new TextEncoder().encode(words);
  const digest = await sha256(encode(text));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const { controls, seed, engagement, pilots } = session;
  const header = {
    package: tables.version, rules_version: tables.rules, parameters: null, seed, engagement,
    episode: 0, pilots, names: sideNames(session), decisions: controls.length, hash_interval: HASH_INTERVAL,
    outcome: outcomeWords(session.sim), meta: {}, parameters_hash: hex,
  };
  const line = JSON.stringify(header).replace('"parameters":null', `"parameters": ${text}`);
  const hashes = [...session.hashes];
  if (controls.length % HASH_INTERVAL) hashes.push(session.sim.fightHash);
  const numbers = new Uint8Array(new BigUint64Array(hashes).buffer);
  const body = join(encode(`${line}\n`), await deflate(join(packControls(controls), numbers)));
  const length = new Uint8Array(new BigUint64Array([BigInt(body.length)]).buffer);
  return join(encode(REPLAY_LINE), length, await sha256(body), body);
}

/** Reads a file for a `Session` that flies its fight again; an Error has the reason if that fails. */
async function readReplay(bytes, tables) {
  const start = REPLAY_LINE.length + 8 + DIGEST_BYTES;
  const decode = (part) => new TextDecoder().decode(part);
  if (decode(bytes.subarray(0, REPLAY_LINE.length)) !== REPLAY_LINE) {
    throw new Error("This is not a replay of this version.");
  }
  const body = bytes.subarray(start);
  const expected = bytes.subarray(start - DIGEST_BYTES, start);
  const digest = await sha256(body);
  if (digest.some((byte, i) => byte !== expected[i])) throw new Error("The replay is damaged or cut short.");
  const end = body.indexOf(10);
  const header = JSON.parse(decode(body.subarray(0, end)));
  if (header.rules_version !== tables.rules) {
    throw new Error(`The replay is of version ${header.rules_version} of the rules; this page flies ${tables.rules}.`);
  }
  const arrays = await inflate(body.subarray(end + 1));
  const count = controlNames(header.parameters).length;
  const size = 4 * header.pilots.length * count * header.decisions;
  return {
    ...playersOf(header, tables),
    pilots: header.pilots,
    seed: header.seed,
    engagement: header.engagement,
    parameters: header.parameters,
    record: unpackControls(arrays.subarray(0, size), header.decisions, header.pilots.length, count),
  };
}
