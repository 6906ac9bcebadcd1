// The choices of the game with height beside the view: types of aircraft and missiles, and opponents that fly it.

const TYPE_CHOICES = SEATS.flatMap((seat) => KINDS.map((kind) => ({ id: `${seat}-${kind}`, name: `${seat}_${kind}`, kind })));
const HEIGHT_OPPONENT = "ace"; // takes the place of a policy that does not fly with height

function fillTypes() {
  for (const { id, kind } of TYPE_CHOICES) {
    element(id).replaceChildren(...Object.keys(tables.types[kind].types).map((name) => new Option(name)));
  }
}

/** Returns the chosen parameters of the game with height; none in the plane. */
function heightChosen() {
  const isHigh = element("height").checked;
  element("types").hidden = !isHigh;
  if (!isHigh) return {};
  const sensing = element("sensing").checked ? "radar" : "full";
  for (const seat of SEATS) {
    const player = element(`${seat}-player`);
    const policy = policies[player.value];
    if (policy && (policy.dimensions !== 3 || policy.sensing !== sensing)) player.value = HEIGHT_OPPONENT;
  }
  return {
    dimensions: 3,
    ...Object.fromEntries(TYPE_CHOICES.map(({ id, name }) => [name, element(id).value])),
  };
}
