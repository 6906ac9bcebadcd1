"""The radar's switch and the chaff of a human: their keys, and their state in words."""

from midrange_puffer.game.parameters import OFF, Parameters, has_systems
from midrange_puffer.replays.session import Session

# Red's keys, blue's keys and their meaning.
RADAR_KEYS = ("Y", "Home", "radar silent, or on again (gamepad: fifth button)")
CHAFF_KEYS = ("C", "Delete", "drop chaff (gamepad: sixth button)")


def has_emission_control(parameters: Parameters) -> bool:
    """True if radars can be silent."""
    return parameters["emission_control"] != OFF


def has_chaff(parameters: Parameters) -> bool:
    """True if fighters begin with cartridges of chaff."""
    return parameters["chaff"] > 0


def systems_keys(parameters: Parameters) -> list[tuple[str, str, str]]:
    """Returns the keys of the systems that a game has."""
    shown = {RADAR_KEYS: has_emission_control(parameters), CHAFF_KEYS: has_chaff(parameters)}
    return [keys for keys, is_shown in shown.items() if is_shown]


def systems_words(session: Session, fighter: int) -> str:
    """Returns the state of a fighter's systems; "" if it is dead or the game has no systems."""
    sim, words = session.sim, []
    if not has_systems(sim.parameters) or not sim.fighters["alive"][0, fighter]:
        return ""
    own = {name: values[0, fighter].item() for name, values in sim.systems.items()}
    if has_emission_control(sim.parameters):
        words.append("radar silent" if own["silent"] else "radar emits")
    if has_chaff(sim.parameters):
        plural = "" if own["chaff"] == 1 else "s"
        words.append(f"{own['chaff']} cartridge{plural} of chaff left")
    if own["cloud"]:
        words.append(f"cloud for {own['cloud'] * sim.parameters['physics_dt']:.1f} s")
    return ", ".join(words)
