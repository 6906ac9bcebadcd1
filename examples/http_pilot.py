"""A client of `puffer serve midrange`: it flies a seat by the rules of the pilot `ace`, simplified.

    puffer serve midrange --blue shooter --fights 40 --port 8000 --token an-example-token
    python examples/http_pilot.py http://127.0.0.1:8000 an-example-token --fights 40

With --orders it commands instead: the fighter flies by orders such as "crank free".

It needs only Python. If it is killed and started again, it goes on where the fight is.
"""

import argparse
import json
import math
import urllib.request


def decide(state: dict) -> dict:
    """Returns controls: crank after a shot, run from near missiles, else fly at the enemy."""
    own, in_air = state["own"], len(state["own_missiles"])
    course, fire = 0, False  # direction to fly in, from the nose, positive to the left
    if state["enemies"]:
        enemy = state["enemies"][0]
        course = enemy["bearing_deg"]
        if in_air:  # crank: 100 degrees off the enemy, to the side on which the nose is
            course += -100 if course > 0 else 100
        elif not own["missiles"]:
            course += 180
        probe = enemy["range_m"] < 0.55 * (enemy["r_max_m"] or 0) and own["missiles"] > 2
        kill = enemy["range_m"] < 0.9 * (enemy["r_nez_m"] or 0)
        fire = abs(enemy["bearing_deg"]) < 15 and in_air < 2 and (probe or kill)
    for missile in state["inbound"][:1]:
        guard = 10_000 * (1 + math.cos(math.radians(missile["bearing_deg"]))) / 2
        if (missile["time_to_go_s"] or 99) < 7.5 and missile["chase_margin_m"] + guard > 0:
            course = missile["bearing_deg"] + 180  # straight away from it
    course = (course + 180) % 360 - 180
    return {"rudder": max(-1, min(course / 15, 1)), "throttle": 1, "fire": fire}


def command(state: dict) -> dict:
    """Returns an order by the same rules."""
    near = any((missile["time_to_go_s"] or 99) < 7.5 for missile in state["inbound"])
    if near or not state["own"]["missiles"]:
        return {"order": "cold hold"}
    return {"order": "crank free" if state["own_missiles"] else "commit free"}


def main() -> None:
    """Flies fights to their ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("token")
    parser.add_argument("--seat", default="red_0")
    parser.add_argument("--fights", type=int, default=1)
    parser.add_argument("--orders", action="store_true")
    options = parser.parse_args()

    def ask(path: str, body: dict | None = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {options.token}"}
        request = urllib.request.Request(options.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    choose = command if options.orders else decide
    state = ask(f"/seats/{options.seat}")
    for fight in range(state["fight"], options.fights):
        ask("/fights", {"fight": fight})
        state = ask(f"/seats/{options.seat}")
        while state["result"] is None:
            body = {"decision": state["decision"], **choose(state)}
            state = ask(f"/seats/{options.seat}/controls", body)
        print(f"fight {fight}: {state['result']}. {state['words']}")


if __name__ == "__main__":
    main()
