"""The sentences of a debriefing, for the window of `puffer play` and the page in the browser."""

INSIDE, BETWEEN, BEYOND, TOO_NEAR = (
    "inside R_NEZ",
    "between R_NEZ and R_aero",
    "beyond R_aero",
    "nearer than R_min",
)
_FIRED = "Your missile of {time} {hit}. It was fired from {range}, {zone}"
# By name, with places for values.
DEBRIEF = {
    "kill_inside": f"{_FIRED}: no turn could have saved the enemy.",
    "kill_late": f"{_FIRED}: the enemy could have got away, and turned too late.",
    "kill_straight": f"{_FIRED}: the enemy could have got away, and did not turn away.",
    "kill_other": f"{_FIRED}: the enemy flew into it.",
    "kill_lock": "Your missile of {time} hit.",
    "death": "You were hit by a missile fired at {time} from {range}, {zone}.",
    "death_lock": "You were hit by a missile fired at {time}.",
    "lock": "Its own seeker had a lock from {time} on.",
    "no_lock": "Its fighter guided it to the end: its own seeker never had a lock.",
    "chance": "Until {time} {how} and running away would have saved you.",
    "inside": "No turn could save you then. Turn before the enemy's R_NEZ reaches you{shown}.",
    "closed": "From the launch on neither escape was open: you had too far to turn.",
    "no_hit": "No fighter was hit.",
    "no_hit_team": "You hit no enemy and were not hit.",
    "flown": "You flew {name}.",
    "shots": "Your shots: {shots}.",
    "no_shots": "You fired no missile.",
    "at_last": "{name} at last: {done}.",
}
LAST = 3  # manoeuvres of a fighter that a debriefing tells
TOO_LATE = "too late to get away: fire at the enemy"  # advice when no escape is open
