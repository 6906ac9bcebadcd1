"""Pictures that move: engagements drawn with pygame, in a window, an array or a film."""

import importlib.util
from typing import TYPE_CHECKING

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import suggest

if TYPE_CHECKING:
    from midrange_puffer._core import Core
    from midrange_puffer.show.view.env_view import EnvView

MODES = PLANE, SPACETIME = "plane", "spacetime"  # what of an engagement is drawn
RENDER_MODES = HUMAN, RGB_ARRAY = "human", "rgb_array"  # what an environment's `render` does


def require_pygame() -> None:
    """Raise UsageError where it is not installed; before anything else of this package."""
    if importlib.util.find_spec("pygame") is None:
        raise UsageError("the viewer needs pygame-ce: pip install 'midrange_puffer[view]'")


def checked_render_mode(render_mode: str | None) -> str | None:
    """The mode.

    Raises:
        ValueError: It is neither None nor one of `RENDER_MODES`.
        UsageError: It needs pygame, which is not installed.
    """
    if render_mode is None:
        return None
    if render_mode not in RENDER_MODES:
        hint = suggest(str(render_mode), RENDER_MODES)
        raise ValueError(
            f"render_mode = {render_mode!r}: must be None or {', '.join(RENDER_MODES)}{hint}"
        )
    require_pygame()
    return render_mode


def make_env_view(core: "Core", seed: int, render_mode: str | None) -> "EnvView | None":
    """What an environment with this core renders by; none without a mode.

    Raises:
        UsageError: There is no display for "human".
    """
    if render_mode is None:
        return None
    # Here, so that only who looks on imports pygame.
    from midrange_puffer.show.view.env_view import EnvView

    return EnvView(core, seed, render_mode == HUMAN)
