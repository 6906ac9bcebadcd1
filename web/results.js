// Results: the box at the end of a fight, the score of this visit, and the ladder.

/** Notes the result of a fight that a human has flown from its start. */
function count() {
  const [human, ...others] = session.humans;
  const { outcome: [outcome] } = session.sim.read("engagement");
  const side = human === undefined ? 0 : session.sim.sideOf(human);
  const result = outcome === 3 ? 1 : outcome - 1 === side ? 0 : 2;
  const isCounted = human !== undefined && !others.length && !session.record.length && !lessons.isFlown;
  counted = { result, opponent: isCounted ? session.players[1 - side] : null };
  note(1);
  showOutcome(result);
}

function note(times) {
  const { result, opponent } = counted;
  if (!opponent) return;
  score[result] += times;
  if (!session.sim.isTeam) ladder.note(opponent, result, times);
  showLadder();
}

/** Fills the box about the end of a fight: result, debriefing, and the neighbours on the ladder. */
function showOutcome(result) {
  const { fight, sim, humans: [human, ...others], players } = session;
  const isAlone = human !== undefined && !others.length;
  const left = sim.isTeam ? fight.outcome.replace(/^\w+ wins/, "") : ""; // such as ", 2 of 4 left"
  const words = isAlone ? [`You win${left}`, fight.outcome, `You lose${left}`][result] : fight.outcome;
  setText(element("outcome-words"), words);
  const lines = isAlone ? debrief(fight, human, lookout.checks, tables) : [];
  const opponent = isAlone ? players[1 - sim.sideOf(human)] : undefined;
  if (opponent === "champion" && result === 0) lines.push("You have beaten the champion: the end of the ladder.");
  showLines(element("debrief"), lines.map((line) => [["", line]]));
  if (daily) daily.words = dailyResult(daily.day, daily.tries, session, result);
  element("copy-result").hidden = !daily;
  const [easier, harder] = isAlone ? ladder.around(opponent) : [null, null];
  const fitting = (name) => (policies[name] && sim.isTeam ? null : name); // the ladder's champion flies alone
  showRung("easier", "Easier", fitting(easier));
  showRung("harder", "Harder", fitting(harder));
}

function showRung(id, words, name) {
  element(id).hidden = !name;
  setText(element(id), `${words}: ${name}`);
  element(id).value = name;
}

/** Lists the opponents with the results against each. */
function showLadder() {
  element("ladder").replaceChildren(...ladder.rungs.map((name) => {
    const [won, drawn, lost] = ladder.of(name);
    const button = Object.assign(document.createElement("button"), { type: "button", value: name });
    const mark = Object.assign(document.createElement("span"), {
      textContent: won + drawn + lost ? `${won}–${drawn}–${lost}` : "", title: "won–drawn–lost",
    });
    button.append(Object.assign(document.createElement("span"), {
      textContent: `${ladder.isBeaten(name) ? "✓ " : ""}${name}`, className: ladder.isBeaten(name) ? "beaten" : "",
    }), mark);
    if (session.players.includes(name)) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => meetOpponent(name));
    const row = document.createElement("li");
    row.append(button);
    return row;
  }));
}
