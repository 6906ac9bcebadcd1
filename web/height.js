// The choices of the game beside the view: the size of teams, height with its types, and players that fly the game.

const TYPE_CHOICES = SEATS.flatMap((seat) => KINDS.map((kind) => ({ id: `${seat}-${kind}`, name: `${seat}_${kind}`, kind })));
const ANY_GAME = "ace"; // takes the place of a policy that does not fly the chosen game

function fillTypes() {
  for (const { id, kind } of TYPE_CHOICES) {
    element(id).replaceChildren(...Object.keys(tables.types[kind].types).map((name) => new Option(name)));
  }
}

/** True if a policy was trained for a game of this size and these dimensions, and with this sensing unless that is left out. */
function isOfGame(policy, { size, dimensions, sensing = policy.sensing }) {
  return policy.size === size && policy.dimensions === dimensions && policy.sensing === sensing;
}

/** Chooses the game of a policy; a pilot flies any. */
function adoptGame(name) {
  const policy = policies[name];
  if (!policy) return;
  element("sensing").checked = policy.sensing === "radar";
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

/** Chooses a size and dimensions, and shows the fields that such a game needs. */
function showChoices({ size, dimensions }) {
  element("size").value = size;
  element("height").checked = dimensions === 3;
  element("types").hidden = dimensions === 2;
  showWingmen();
}

/**
 * Returns the chosen parameters of size and height. Policies of a game of another size or of other dimensions, or with
 * height of other sensors, give way to one of this game, or to a pilot.
 */
function gameChosen() {
  const [size, dimensions] = [Number(element("size").value), element("height").checked ? 3 : 2];
  const sensing = element("sensing").checked ? "radar" : "full";
  const present = { size, dimensions, ...(dimensions === 3 || size > 1 ? { sensing } : {}) };
  showChoices(present);
  const champion = Object.keys(policies).find((name) => isOfGame(policies[name], { size, dimensions, sensing }));
  for (const player of ["red-player", "blue-player", "wingmen"].map(element)) {
    const policy = policies[player.value];
    if (policy && !isOfGame(policy, present)) player.value = champion ?? ANY_GAME;
  }
  return { ...(size > 1 ? { red_size: size, blue_size: size } : {}), ...(dimensions === 3 ? heightChosen() : {}) };
}

/** Returns the chosen parameters of the game with height. */
function heightChosen() {
  return {
    dimensions: 3,
    ...Object.fromEntries(TYPE_CHOICES.map(({ id, name }) => [name, element(id).value])),
  };
}
