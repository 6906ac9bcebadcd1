// The choices of the game beside the view: the size of teams, height with its types, radar switch and chaff, and players
// that fly the game.

const TYPE_CHOICES = SEATS.flatMap((seat) => KINDS.map((kind) => ({ id: `${seat}-${kind}`, name: `${seat}_${kind}`, kind })));
const SYSTEMS = { emission_control: "on", chaff: 12 }; // of the choice of both
let keptSystems = SYSTEMS; // of the ticked box: those of an opened fight until it is unticked
const ANY_GAME = "ace"; // takes the place of a policy that does not fly the chosen game

function fillTypes() {
  for (const { id, kind } of TYPE_CHOICES) {
    element(id).replaceChildren(...Object.keys(tables.types[kind].types).map((name) => new Option(name)));
  }
}

/**
 * True if a policy was trained for a game of this size and these dimensions, and with this sensing unless that is left
 * out. No policy flies with `systems`: radar switch and chaff.
 */
function isOfGame(policy, { size, dimensions, sensing = policy.sensing, systems = null }) {
  return policy.size === size && policy.dimensions === dimensions && policy.sensing === sensing && systems === null;
}

/** Chooses the game of a policy; a pilot flies any. */
function adoptGame(name) {
  const policy = policies[name];
  if (!policy) return;
  element("sensing").checked = policy.sensing === "radar";
  element("systems").checked = false;
  element("height").checked = policy.dimensions === 3;
  element("size").value = policy.size;
}

/** True if a human flies with wingmen in the chosen game. */
function hasWingmen() {
  return element("size").value !== "1" && SEATS.some((seat) => element(`${seat}-player`).value === HUMAN);
}

/** Shows the choice of the wingmen if the chosen game has any. */
function showWingmen() {
  element("wingmen-field").hidden = !hasWingmen();
}

/** Returns the chosen parameters of radar switch and chaff, which need sensors; null without them. */
function systemsChosen() {
  return element("sensing").checked && element("systems").checked ? keptSystems : null;
}

/** Chooses a game, and shows the fields that it needs. `systems`: as `systemsChosen` returns them. */
function showChoices({ size, dimensions, sensing, systems }) {
  element("size").value = size;
  element("height").checked = dimensions === 3;
  element("types").hidden = dimensions === 2;
  element("sensing").checked = sensing === "radar";
  element("systems").checked = systems !== null;
  keptSystems = systems ?? SYSTEMS;
  element("systems-field").hidden = sensing !== "radar";
  showWingmen();
}

/**
 * Returns the chosen parameters of size, height, radar switch and chaff. Policies of a game of another size or of other
 * dimensions, or with height of other sensors, give way to one of this game, or to a pilot. With radar switch and chaff
 * all policies give way to pilots.
 */
function gameChosen() {
  const [size, dimensions] = [Number(element("size").value), element("height").checked ? 3 : 2];
  const sensing = element("sensing").checked ? "radar" : "full";
  const game = { size, dimensions, sensing, systems: systemsChosen() };
  const isExact = dimensions === 3 || size > 1 || game.systems !== null;
  const present = isExact ? game : { size, dimensions };
  showChoices(game);
  const champion = Object.keys(policies).find((name) => isOfGame(policies[name], game));
  for (const player of ["red-player", "blue-player", "wingmen"].map(element)) {
    const policy = policies[player.value];
    if (policy && !isOfGame(policy, present)) player.value = champion ?? ANY_GAME;
  }
  const sizes = size > 1 ? { red_size: size, blue_size: size } : {};
  return { ...sizes, ...(dimensions === 3 ? heightChosen() : {}), ...game.systems };
}

/** Returns the chosen parameters of the game with height. */
function heightChosen() {
  return {
    dimensions: 3,
    ...Object.fromEntries(TYPE_CHOICES.map(({ id, name }) => [name, element(id).value])),
  };
}
