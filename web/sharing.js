// What leaves the page and what comes into it: replays, policies, links, and results of the day.

/** Writes the replay of the fight, and says so. */
async function save() {
  const bytes = await writeReplay(session);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = `midrange-${session.engagement}.replay`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  say(`Saved ${link.download}, ${formatTime(session.fight.now)} of the fight, to your downloads.`);
}

/** Opens a file: a replay, or a policy to fly against. */
async function open(file) {
  try {
    const bytes = new Uint8Array(await file.arrayBuffer());
    if (file.name.endsWith(".onnx")) meet(file.name, await readOnnx(bytes, tables));
    else again(await readReplay(bytes, tables));
  } catch (error) {
    say(error.message);
  }
}

/** Flies a recorded fight again. */
function again(recorded) {
  take(new Session(core, { ...recorded, policies }));
  showPlayers(recorded);
  say("A recorded fight: it flies as it went. Red or Blue of “Take over” lets you change it.");
}

/** Shows the players of a fight in the sidebar. */
function showPlayers({ players, wingmen }) {
  SEATS.forEach((seat, index) => { element(`${seat}-player`).value = players[index]; });
  const human = players.indexOf(HUMAN);
  if (wingmen) element("wingmen").value = wingmen[Math.max(human, 0)];
  showWingmen();
}

/** Flies against a policy of the player. */
function meet(name, network) {
  policies[name] = new Network(core, network);
  for (const id of ["red-player", "blue-player"]) element(id).add(new Option(name));
  element("blue-player").value = name;
  adoptGame(name);
  startFight();
  if (session.players[1] === name) say(`You fly against ${name}. The file was read here and sent nowhere.`);
}

/** Copies text, and says so; where the browser forbids it, says `otherwise`. */
async function copy(text, words, otherwise) {
  try {
    await navigator.clipboard.writeText(text);
    say(words);
  } catch {
    say(otherwise);
  }
}

/** Puts the fight into the address and, if the browser allows it, into the clipboard. */
async function share() {
  try {
    const [fragment, isWhole] = linkOf(session);
    history.replaceState(null, "", fragment);
    const part = isWhole ? "this fight" : "the start and the players only, since the whole fight is too long for a link";
    await copy(location.href, `A link to ${part} is in the clipboard, and in the address.`, `The address is now a link to ${part}.`);
  } catch (error) {
    say(error.message);
  }
}

/** Flies the fight of a day, the same for all. */
function startDaily(day) {
  const { players, engagement, parameters } = dailyFight(day);
  showPlayers({ players });
  element("start-range").value = parameters.start_range_min / 1000;
  document.body.classList.remove("with-sidebar");
  take(new Session(core, { players, policies, engagement, parameters }));
  daily = { day, tries: countTry(day) };
  say(`The start of ${dateOf(day)}, the same for all: against ${players[1]}, try ${daily.tries}.`);
}

/** Flies the fight that the address names, if it names one. */
function readAddress() {
  try {
    const [day, linked] = [readDay(location.hash), readLink(location.hash, tables)];
    if (day !== null) startDaily(day);
    else if (linked?.record.length) again(linked);
    else if (linked) {
      take(new Session(core, { ...linked, policies }));
      showPlayers(linked);
      say("A linked start: fly it.");
    }
  } catch (error) {
    say(error.message);
  }
}

/** Says so if the fight of a link, now flown again, went otherwise than where the link was made. */
function checkLinked() {
  const { record, controls, sim } = session;
  if (record.mark === undefined || controls.length !== record.length) return;
  if (Number(sim.fightHash % 256n) !== record.mark) say("The link is of another version of the page: the fight went otherwise there.");
  delete record.mark;
}
