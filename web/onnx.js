// Policies of the player: exported ONNX files of this package's networks. A file is read here and sent nowhere.

const MOST_LAYERS = 3;
const MOST_WIDTH = 1024;
const WIDTH_UNIT = 16;
const WEIGHT_LIMIT = 1e6; // as in policies/networks.py
const SEAL_LENGTH = 78; // bytes of the last entry, which holds the SHA-256 of all before it
const WIRE = { varint: 0, bytes: 2 };

/** Yields the fields of a protobuf message, [number, value] each; a value is bytes or a number. */
function* fieldsOf(bytes) {
  let at = 0;
  const varint = () => {
    let [value, shift] = [0, 1];
    for (;;) {
      if (at >= bytes.length) throw new Error("it is cut short");
      const byte = bytes[at];
      at += 1;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
      shift *= 128;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const [number, wire] = [Math.floor(key / 8), key % 8];
    if (wire === WIRE.varint) yield [number, varint()];
    else if (wire === WIRE.bytes) {
      const length = varint();
      if (at + length > bytes.length) throw new Error("it is cut short");
      yield [number, bytes.subarray(at, at + length)];
      at += length;
    } else if (wire === 5) at += 4;
    else if (wire === 1) at += 8;
    else throw new Error("it is no ONNX file");
  }
}

/** Returns the values of one field of a message. */
function valuesOf(bytes, wanted) {
  return [...fieldsOf(bytes)].filter(([number]) => number === wanted).map(([, value]) => value);
}

const textOf = (bytes) => new TextDecoder().decode(bytes);

// Numbers of fields in onnx.proto.
const MODEL = { graph: 7, metadata: 14 };
const GRAPH = { node: 1, initializer: 5 };
const NODE = { input: 1, operator: 4 };
const TENSOR = { dims: 1, name: 8, raw: 9 };

/** Returns the file's metadata by name. */
function metadataOf(model) {
  const entries = valuesOf(model, MODEL.metadata).map((entry) => {
    const [[name], [value]] = [valuesOf(entry, 1), valuesOf(entry, 2)];
    return [textOf(name), JSON.parse(textOf(value))];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns weights and biases of the network's layers, in the order of its parameters. Biases that
 * are all zeros are not in the file.
 */
function weightsOf(graph) {
  const tensors = new Map(valuesOf(graph, GRAPH.initializer).map((tensor) => [
    textOf(valuesOf(tensor, TENSOR.name)[0]),
    { rows: valuesOf(tensor, TENSOR.dims)[0], raw: valuesOf(tensor, TENSOR.raw)[0] },
  ]));
  const layers = valuesOf(graph, GRAPH.node)
    .filter((node) => textOf(valuesOf(node, NODE.operator)[0]) === "Gemm");
  const numbers = ({ raw }) => new Float32Array(raw.slice().buffer);
  return layers.flatMap((node) => {
    const [, weights, biases] = valuesOf(node, NODE.input).map((name) => tensors.get(textOf(name)));
    return [numbers(weights), biases ? numbers(biases) : new Float32Array(weights.rows)];
  });
}

/** Returns the reason why a network cannot fly here; null if it can. */
function reasonAgainst(metadata, tables) {
  if (metadata.format !== "midrange_puffer policy") return "it is no policy of this package";
  if (metadata.policy_name !== "Policy" || metadata.rnn_name !== null) {
    return `it is a ${metadata.rnn_name ?? metadata.policy_name}; this page computes the package's MLP alone`;
  }
  if (metadata.action_mode === "orders") return "it gives orders, which this page cannot fly";
  if (metadata.action_mode !== "discrete") return "its actions are continuous";
  if (!Object.hasOwn(tables.features, metadata.observation)) return `it sees “${metadata.observation}”`;
  if (metadata.features.length !== tables.features[metadata.observation]) {
    return `it sees ${metadata.features.length} features, not the ${tables.features[metadata.observation]} of this version`;
  }
  const { hidden_size: width, hidden_layers: layers } = metadata.policy;
  if (width % WIDTH_UNIT || width > MOST_WIDTH || layers > MOST_LAYERS) {
    return `it has ${layers} layers of ${width}; possible are ${MOST_LAYERS} of a multiple of ${WIDTH_UNIT}`;
  }
  return null;
}

/** Reads a file for `Network`, with the `sensing` of its game; an Error has the reason if that fails. */
async function readOnnx(bytes, tables) {
  const refuse = (why) => { throw new Error(`This file cannot fly here: ${why}.`); };
  let [metadata, weights] = [null, null];
  try {
    metadata = metadataOf(bytes);
    weights = weightsOf(valuesOf(bytes, MODEL.graph)[0]);
  } catch (error) {
    refuse(error.message.startsWith("it is") ? error.message : "it is no ONNX file of this package");
  }
  const why = reasonAgainst(metadata, tables);
  if (why) refuse(why);
  if (hasSystems(metadata.env)) refuse("it is of a game with emission control or chaff");
  const sealed = bytes.subarray(0, bytes.length - SEAL_LENGTH);
  const digest = Array.from(await sha256(sealed), (byte) => byte.toString(16).padStart(2, "0"));
  if (digest.join("") !== metadata.sha256) refuse("it is damaged");
  const { hidden_size: width, hidden_layers: layers } = metadata.policy;
  const features = metadata.features.length;
  const { sensing, dimensions = 2 } = metadata.env;
  const outputs = { 2: 10, 3: 15 }[dimensions] + 1; // logits and the value
  const expected = (features + 1) * width + (layers - 1) * (width + 1) * width + (width + 1) * outputs;
  const flat = new Float32Array(weights.reduce((sum, part) => sum + part.length, 0));
  if (flat.length !== expected) refuse(`it has ${flat.length} weights, not ${expected}`);
  weights.reduce((at, part) => {
    flat.set(part, at);
    return at + part.length;
  }, 0);
  if (!flat.every((weight) => Math.abs(weight) <= WEIGHT_LIMIT)) refuse("its weights are no usable numbers");
  return { features, layers, width, weights: flat, sensing, dimensions };
}
