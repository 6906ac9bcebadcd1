// The buttons below the view: in teams the target and the fighter of a human, and the radar and the chaff.

/** Shows the buttons that a human's fighter has; none without a human, or after the fight. */
function drawOrders(human) {
  const { sim, isOver } = session;
  element("orders").hidden = human === undefined || isOver || !(sim.isTeam || sim.hasSystems);
  for (const id of ["aim", "change"]) element(id).hidden = !sim.isTeam;
  element("radar").hidden = !sim.hasSilence;
  element("chaff").hidden = !sim.hasChaff;
  if (human === undefined) return;
  if (sim.isTeam) drawTeam(human);
  if (sim.hasSystems) drawSystems(human);
}

/** Shows the target of a human's fighter, and the fighter that the human may change to. */
function drawTeam(human) {
  const { fight: { callsigns }, sim } = session;
  const { alive } = sim.read("fighter");
  const target = session.targetOf(human);
  const next = nextAfter(sim.membersOf(sim.sideOf(human)).filter((number) => alive[number]), human);
  setText(element("aim"), target === undefined ? "No target" : `Target: ${callsigns[target]}`);
  setText(element("change"), next === undefined || next === human ? `You fly ${callsigns[human]}` : `Fly ${callsigns[next]}`);
  element("change").disabled = next === undefined || next === human;
}

/** Shows the state of a human's radar and chaff. */
function drawSystems(human) {
  const { sim } = session;
  const { silent, chaff, cloud_end: end } = mapValues(sim.read("systems"), (values) => values[human]);
  const left = (end - sim.read("engagement").time[0]) * sim.parameters.physics_dt;
  setText(element("radar"), silent ? "Radar silent" : "Radar emits");
  element("radar").setAttribute("aria-pressed", Boolean(silent));
  setText(element("chaff"), `Chaff: ${chaff}${left > 0 ? `, cloud ${left.toFixed(1)} s` : " left"}`);
  element("chaff").disabled = chaff === 0 || left > 0; // one cloud at a time
}
