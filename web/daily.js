// The start of the day: the same for all, by the date in UTC.

const DAY = "day="; // begins the fragment of an address
const DAY_SECONDS = 86_400;
const DAILY_OPPONENTS = ["shooter", "crank", "snake", "turn_back", "evader", "ace", "champion"];
const DAILY_RANGE = 40_000; // m
const TRIES = "tries"; // name of the kept number of tries: [day, count]

const dateOf = (day) => new Date(1000 * DAY_SECONDS * day).toISOString().slice(0, 10);
const today = () => Math.floor(Date.now() / 1000 / DAY_SECONDS);

/** Returns the fight of a day, a number of days since 1970, for a `Session`. */
function dailyFight(day) {
  return {
    players: [HUMAN, DAILY_OPPONENTS[day % DAILY_OPPONENTS.length]],
    engagement: day,
    parameters: { start_range_min: DAILY_RANGE, start_range_max: DAILY_RANGE },
  };
}

/** Returns the day of a fragment; null if it has none; an Error if there is no such day. */
function readDay(fragment) {
  if (!fragment.startsWith(`#${DAY}`)) return null;
  const text = fragment.slice(1 + DAY.length);
  const day = Date.parse(`${text}T00:00:00Z`) / 1000 / DAY_SECONDS;
  if (!Number.isInteger(day) || day < 0 || dateOf(day) !== text) throw new Error(`There is no day ${text}.`);
  return day;
}

/** Counts a try of a day; returns its number. */
function countTry(day) {
  const [last, count] = recall(TRIES, [day, 0]);
  const tries = last === day && Number.isInteger(count) ? count + 1 : 1;
  keep(TRIES, [day, tries]);
  return tries;
}

/** Returns the result of a day's fight in words to pass on, with the page's address if it has one. */
function dailyResult(day, tries, session, result) {
  const { fight, players } = session;
  const shots = fight.missiles.filter(({ owner }) => owner === session.humans[0]).length;
  const how = ["won", "a draw", "lost"][result];
  const fired = shots === 1 ? "1 missile" : `${shots} missiles`;
  const attempt = tries === 1 ? "at the first try" : `at try ${tries}`;
  const address = location.protocol.startsWith("http") ? ` ${location.href.split("#")[0]}#${DAY}${dateOf(day)}` : "";
  return `Mid-range air combat, ${dateOf(day)}, against ${players[1]}: ${how} ${attempt}, ` +
    `after ${formatTime(fight.length)}, with ${fired}.${address}`;
}
