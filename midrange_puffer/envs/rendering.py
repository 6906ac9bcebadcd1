"""Pictures of an environment, drawn by the viewer, which is imported by its name."""

import importlib
import importlib.util
from typing import TYPE_CHECKING, Protocol

from midrange_puffer.errors import UsageError
from midrange_puffer.game.parameters import suggest

if TYPE_CHECKING:
    import numpy as np

    from midrange_puffer.envs.groups import Group

RENDER_MODES = HUMAN, RGB_ARRAY = "human", "rgb_array"
VIEWER = "midrange_puffer.show.view.env_view"


class View(Protocol):
    """Shows the first engagement of a group."""

    def reset(self, seed: int, engagement: int = 0) -> None:
        """Follows the group, just reset, whose first engagement is this one of the seed."""

    def follow(self, controls: "np.ndarray") -> None:
        """Repeats a decision of the group, with the controls float32 [fighters, 3]."""

    def rgb(self) -> "np.ndarray":
        """Returns the present picture, uint8 [height, width, 3]."""
        ...

    def show(self) -> None:
        """Shows the time since the last call in the window, as long as it lasted."""

    def close(self) -> None:
        """Closes the window."""


def require_pygame() -> None:
    """Raises UsageError if pygame is not installed; called before imports that need it."""
    if importlib.util.find_spec("pygame") is None:
        raise UsageError("the viewer needs pygame-ce: pip install 'midrange_puffer[view]'")


def checked_render_mode(render_mode: str | None) -> str | None:
    """Returns the mode.

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


def make_env_view(group: "Group", seed: int, render_mode: str | None) -> "View | None":
    """Returns the view by which an environment with this group renders; None without a mode.

    Raises:
        UsageError: There is no display for "human".
    """
    if render_mode is None:
        return None
    # By name, so that only rendering imports pygame, and environments depend on no viewer.
    viewer = importlib.import_module(VIEWER)
    return viewer.EnvView(group, seed, render_mode == HUMAN)
