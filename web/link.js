// A fight in the fragment of an address: its players, its start, parameters other than the defaults, all controls.

const LINK = "fight=";

function toBase64(bytes) {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Returns the fragment that reproduces a session's fight up to now. */
async function linkOf(session) {
  const { players, seed, engagement, parameters, controls } = session;
  const head = JSON.stringify({ players, seed, engagement, parameters, decisions: controls.length });
  const bytes = join(new TextEncoder().encode(`${head}\n`), packControls(controls));
  return `#${LINK}${toBase64(await deflate(bytes))}`;
}

/** Reads the fight of a fragment for a `Session`; null if it has none; an Error if it is damaged. */
async function readLink(fragment) {
  if (!fragment.startsWith(`#${LINK}`)) return null;
  try {
    const text = fragment.slice(1 + LINK.length).replaceAll("-", "+").replaceAll("_", "/");
    const bytes = await inflate(fromBase64(text));
    const end = bytes.indexOf(10);
    const { decisions, ...head } = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end)));
    return { ...head, record: unpackControls(bytes.subarray(end + 1), decisions, controlCount(head.parameters)) };
  } catch {
    throw new Error("The fight in the address is damaged or cut short.");
  }
}
