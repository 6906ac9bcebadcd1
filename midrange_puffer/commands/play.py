"""`puffer play midrange`: hand flying against a pilot, a policy or another human, or watching."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from midrange_puffer.commands import option, telemetry
from midrange_puffer.commands.models import (
    find_champions,
    find_player,
    game_of,
    load_players,
)
from midrange_puffer.errors import UsageError, require
from midrange_puffer.files import open_folder
from midrange_puffer.game.actions import HEIGHT
from midrange_puffer.game.parameters import (
    EASY,
    HUMAN,
    LADDER,
    WINGMEN,
    is_team,
    sizes_of,
)
from midrange_puffer.names import shown
from midrange_puffer.policies.champions import has_champion
from midrange_puffer.policies.mix import (
    BEST,
    LATEST,
    MODEL,
    file_of,
    kind_of,
    title,
)
from midrange_puffer.policies.models import CHAMPION, shipped_models

if TYPE_CHECKING:
    from midrange_puffer.contest.match import Contestant
    from midrange_puffer.replays.session import Session

# Against a human an easy pilot; else the champion of the game, or the best pilot if it has none.
AUTO_BLUE = "auto"
HIGH_PILOT = "ace"  # the best of the pilots with height
PLAYERS = (
    f"{HUMAN}; from easy to hard {', '.join(LADDER)}, {', '.join(shipped_models())} (models that "
    f"come with the package), {LATEST} (the newest model of all runs), {BEST} (the best-rated one "
    f"of the newest run), RUN/{BEST}, a run or a model's file; or a function of your own "
    "(module:name or file.py:name)"
)


DESCRIPTION = (
    "Fly by hand against a pilot, a trained policy or a human at the same keyboard, or watch "
    "two of them fight. It begins with the keys, against an easy pilot; O takes harder ones. "
    "Teams fly with --env.red-size and --env.blue-size: you fly one fighter, and may change. "
    "--env.dimensions 3 is with height: two more keys climb and dive."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of this mode, and the files of the `models` that fly, by contestant."""

    red: str = option.value(f"player of red: {PLAYERS}", HUMAN)
    blue: str = option.value(
        f"player of blue, as --red; auto: {EASY} against a human, else {CHAMPION}, or if the game "
        f"has none {WINGMEN}, with height {HIGH_PILOT}",
        AUTO_BLUE,
    )
    wingmen: str = option.value(
        "player of the other fighters on a human's side, as --red; the human may take over",
        WINGMEN,
    )
    data_dir: str = option.data_dir()
    policy_name: str | None = option.policy_name()
    browser: bool = option.flag("open the game in a browser, alone or in teams; no other option")
    seed: int = option.seed("seed of the starts and the policies' actions")
    greedy: bool = option.flag("policies take the likeliest action instead of drawing one")
    save: str | None = option.value(
        "folder for a replay of every fight; without it F5 still saves one", None
    )
    tacview: int | None = telemetry.tacview()
    tacview_host: str = telemetry.tacview_host()
    tacview_password: str | None = telemetry.tacview_password()
    game: dict[str, int | float] = option.game()
    models: dict[str, Path] = option.settled()


def read(argv: Sequence[str]) -> Options:
    """Reads and checks the words after `puffer play midrange`.

    Returns:
        The options; `red`, `blue` and `wingmen` are as `load_contestant` takes them, or "human".

    Raises:
        UserError: An option or a file is wrong, or pygame is missing.
    """
    options = option.Parser("play", DESCRIPTION, Options).read(argv)
    if options.browser:
        if options != Options(browser=True):
            raise UsageError("command line: --browser: takes no other option; the page has its own")
        return options
    require("the viewer needs", "pygame")
    telemetry.check(options.tacview, options.tacview_host, options.tacview_password)
    if options.save:
        open_folder(Path(options.save))
    red, wingmen = (
        find_player(text, options.data_dir, HUMAN, PLAYERS)
        for text in (options.red, options.wingmen)
    )
    if options.blue != AUTO_BLUE:
        blue = find_player(options.blue, options.data_dir, HUMAN, PLAYERS)
    elif red == HUMAN:
        blue = EASY
    else:
        blue = _strongest(game_of([red, wingmen], options.game, options.policy_name))
    players = find_champions([red, blue, wingmen], options.game, options.policy_name)
    red, blue, wingmen = players
    if wingmen == HUMAN:
        raise UsageError(
            f"command line: --wingmen: {HUMAN}: must be a pilot, a model or a function"
        )
    models = {text: file_of(text) for text in players if kind_of(text) == MODEL}
    return replace(options, red=red, blue=blue, wingmen=wingmen, models=models)


def _strongest(game: Mapping[str, Any]) -> str:
    """Returns the champion of a game, or the best of the pilots if it has none."""
    if has_champion(game):
        return CHAMPION
    return HIGH_PILOT if game.get("dimensions") == HEIGHT.dimensions else WINGMEN


def main(options: Options) -> int:
    """Plays until the window is closed; returns the exit status."""
    if options.browser:
        from midrange_puffer.show.play.browser import play

        return play()
    from midrange_puffer.replays.session import Session

    folder = Path(options.save) if options.save else None
    with telemetry.serve(options.tacview, options.tacview_host, options.tacview_password) as server:
        contestants, names, parameters = load_contestants(options)
        session = Session(contestants, names, options.seed, options.greedy, **parameters)
        if server is not None:
            session.stream(server)
        _play(session, folder)
    return 0


def _play(session: "Session", folder: Path | None) -> None:
    """Shows a session in a window until it is closed; prints the files saved."""
    import pygame

    from midrange_puffer.show.play.loop import Game
    from midrange_puffer.show.view.renderer import Renderer
    from midrange_puffer.show.view.viewer import Window

    with Window(title="midrange: {} against {}".format(*session.names)) as window:
        pygame.joystick.init()  # from now on there are events of gamepads
        game = Game(session, Renderer(window.size, in_background=True), window.show, folder)
        try:
            game.run()
        finally:
            for path in game.saved:
                print(shown(path))


def load_contestants(
    options: Options,
) -> tuple[list["Contestant | list[Contestant]"], list[str], dict[str, Any]]:
    """Loads the players of red and blue.

    Returns:
        The contestants, as `Session` takes them; their names; and the parameters of the game that
        the policies among them were trained for, overridden by those given.

    Raises:
        UsageError: Models cannot be used, or were trained for different games.
    """
    texts = [options.red, options.blue]
    players, parameters = load_players(
        [*texts, options.wingmen], options.models, options.game, options.policy_name
    )
    contestants: list[Contestant | list[Contestant]] = [players[text] for text in texts]
    names = [shown(title(text)) for text in texts]
    if not is_team(parameters):
        if options.wingmen != WINGMEN:
            raise UsageError(
                f"command line: --wingmen: {options.wingmen}: one flies against one, there are none"
            )
        return contestants, names, parameters
    for side, size in enumerate(sizes_of(parameters)):
        if texts[side] == HUMAN and size > 1:
            contestants[side] = [HUMAN, *[players[options.wingmen]] * (size - 1)]
            names[side] = f"{HUMAN}, {shown(title(options.wingmen))}"
    return contestants, names, parameters
