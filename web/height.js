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
  element("sensing").checked = false;
  for (const seat of SEATS) {
    const player = element(`${seat}-player`);
    const isPilot = player.value === HUMAN || Object.hasOwn(tables.controllers, player.value);
    if (isPilot ? tables.sensorPilots.includes(player.value) : policies[player.value].dimensions !== 3) {
      player.value = HEIGHT_OPPONENT;
    }
  }
  return {
    dimensions: 3, sensing: "full",
    ...Object.fromEntries(TYPE_CHOICES.map(({ id, name }) => [name, element(id).value])),
  };
}
