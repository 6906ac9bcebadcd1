"""`puffer serve midrange`: seats over HTTP, for people and programs elsewhere on the machine."""

import ipaddress
import re
import secrets
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midrange_puffer.commands import option
from midrange_puffer.commands.models import find_champions, find_player, load_players
from midrange_puffer.errors import UsageError
from midrange_puffer.files import open_folder
from midrange_puffer.game.parameters import ESCORT, LADDER, SEATS, fighter_names, sizes_of
from midrange_puffer.names import shown
from midrange_puffer.policies.mix import MODEL, file_of, kind_of, title
from midrange_puffer.policies.models import CHAMPION
from midrange_puffer.replays.replay import AGENT
from midrange_puffer.replays.telemetry import LOOPBACK, MOST_PORT

if TYPE_CHECKING:
    from midrange_puffer.replays.session import Session

STANDS = "stands"
LINGER = 2.0  # s after the last fight, in which clients get their answers
TOKEN = re.compile(r"[\w.~+/=-]{8,200}", re.ASCII)
PLAYERS = (
    f"{AGENT} (a client flies it); a pilot: {', '.join(LADDER)}; a model such as {CHAMPION}; a "
    "run; or a function of your own (module:name or file.py:name)"
)
DESCRIPTION = (
    "Offer seats over HTTP, as JSON: what a seat knows in words and numbers, its controls back. A "
    "person, a language model or another simulator can fly. GET / describes the resources. "
    "examples/http_pilot.py is a client. Ctrl-C ends it."
)


def _checked_tokens(text: str) -> list[str]:
    """Returns the tokens in a value of --token."""
    tokens = text.split(",")
    if not all(map(TOKEN.fullmatch, tokens)):
        raise ValueError("must have 8 to 200 letters, digits or any of . _ ~ + / = -")
    return tokens


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode.

    `red` and `blue` are as given; `sides` has the contestants of each, as `load_players` takes
    them, and `models` the files of those that are models.
    """

    red: str = option.value(
        f"who flies red: {PLAYERS}. In teams also a list with one for each fighter: {AGENT},evader",
        AGENT,
    )
    blue: str = option.value("who flies blue, as --red", LADDER[-2])
    port: int = option.value("TCP port; 0 = any free one", 0, 0, MOST_PORT)
    host: str = option.value(
        "IP address to listen at; others than the default let programs of other machines connect",
        LOOPBACK,
    )
    token: str | None = option.value(
        "what clients must give; if clients fly both sides that of red, a comma and that of blue. "
        "By default the command makes it and prints it",
        None,
        check=_checked_tokens,
        hides_default=True,
    )
    clock: float | str = option.value(
        f"{STANDS} = time stands still until all seats have controls; or the seconds of the fight "
        "per second, which run once all seats have had controls",
        STANDS,
        0.01,
        1000,
        words=(STANDS,),
    )
    fights: int | None = option.value(
        "fights after which it ends; without it Ctrl-C does", None, 1, 10**6, hides_default=True
    )
    record: str | None = option.value(
        "folder for a replay of every fight", None, hides_default=True
    )
    data_dir: str = option.data_dir()
    policy_name: str | None = option.policy_name()
    seed: int = option.seed("seed of the starts and the policies' actions")
    greedy: bool = option.greedy()
    game: dict[str, int | float] = option.game()
    sides: tuple[tuple[str, ...], ...] = option.settled()
    models: dict[str, Path] = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer serve midrange`.

    Raises:
        UserError: An option or a file is wrong.
    """
    options = option.Parser("serve", DESCRIPTION, Options).read(argv)
    sides = tuple(
        tuple(find_player(word, options.data_dir, AGENT, PLAYERS) for word in text.split(","))
        for text in (options.red, options.blue)
    )
    flown = [AGENT in side for side in sides]
    if not any(flown):
        raise UsageError(f"command line: --red, --blue: one must be {AGENT}: clients fly nothing")
    if options.token is not None:
        given, needed = len(options.token.split(",")), sum(flown)
        if given != needed:
            raise UsageError(f"command line: --token: {given} tokens; clients fly {needed} sides")
    if options.record:
        open_folder(Path(options.record))
    texts = [text for side in sides for text in side]
    found = iter(find_champions(texts, options.game, options.policy_name))
    sides = tuple(tuple(next(found) for _ in side) for side in sides)
    models = {text: file_of(text) for side in sides for text in side if kind_of(text) == MODEL}
    return replace(options, sides=sides, models=models)


def main(options: Options) -> int:
    """Serves fights until they are over; returns the exit status."""
    from midrange_puffer.serve.fights import Fights
    from midrange_puffer.serve.server import Server

    session = make_session(options)
    clock = None if isinstance(options.clock, str) else options.clock
    folder = Path(options.record) if options.record else None
    fights = Fights(session, clock, options.fights, folder, _print)
    tokens = tokens_of(options)
    with Server(fights, tokens, options.port, options.host) as server:
        _print_access(server.url, tokens, list(fights.seats))
        try:
            fights.run()
            time.sleep(LINGER)
        finally:
            fights.close()
            _print(fights.summary)
    return 0


def make_session(options: Options) -> "Session":
    """Loads the contestants and makes the fights.

    Raises:
        UsageError: A contestant cannot be used, their number is not that of the fighters, or
            clients fly only a transport.
    """
    from midrange_puffer.replays.session import Session

    players, parameters = load_players(
        {text for side in options.sides for text in side},
        options.models,
        options.game,
        options.policy_name,
    )
    sides: list[Any] = [[players[text] for text in side] for side in options.sides]
    sides = [side if len(side) > 1 else side[0] for side in sides]
    titles = ([shown(title(text)) for text in side] for side in options.sides)
    names = [", ".join(dict.fromkeys(side)) for side in titles]
    session = Session(sides, names, options.seed, options.greedy, **parameters)
    _check_seats(session)
    return session


def _check_seats(session: "Session") -> None:
    """Raises UsageError if in some fights clients fly nothing but the transport.

    It flies itself, and such a fight would wait for controls that no seat takes.
    """
    parameters = session.sim.parameters
    if parameters["mission"] != ESCORT:
        return
    red, blue = sizes_of(parameters)
    attacker, lasts = parameters["attacker"], {"red": red - 1, "blue": red + blue - 1}
    for side, last in lasts.items():
        may_attack = attacker == side or attacker not in lasts  # drawn for each fight
        if may_attack and session.agents == [last]:
            raise UsageError(
                f"command line: --{side}: clients fly {fighter_names((red, blue))[last]} alone, "
                f"which with mission = {ESCORT} and attacker = {attacker} is the transport and "
                f"flies itself; must be {AGENT} for another fighter, too"
            )


def tokens_of(options: Options) -> dict[int, str]:
    """Returns the token of each side that clients fly, by its number."""
    sides = [number for number, side in enumerate(options.sides) if AGENT in side]
    given = options.token.split(",") if options.token else [secrets.token_hex() for _ in sides]
    return dict(zip(sides, given, strict=True))


def _print_access(url: str, tokens: dict[int, str], seats: Sequence[str]) -> None:
    """Prints how clients connect, and a warning if others than this machine's can."""
    _print(url)
    for side, token in tokens.items():
        names = [seat for seat in seats if seat.startswith(SEATS[side])]
        _print(f"{', '.join(names)}: token {token}")
        _print(f'  curl -H "Authorization: Bearer {token}" {url}/seats/{names[0]}')
    host = url.removeprefix("http://").rpartition(":")[0].strip("[]")
    if not ipaddress.ip_address(host).is_loopback:
        print(f"programs of other machines may connect to {url}", file=sys.stderr)


def _print(line: str) -> None:
    print(line, flush=True)
