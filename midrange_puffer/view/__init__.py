"""Pictures that move: engagements drawn with pygame, in a window, an array or a film."""

import importlib.util

from midrange_puffer.errors import UsageError

MODES = PLANE, SPACETIME = "plane", "spacetime"  # what of an engagement is drawn


def require_pygame() -> None:
    """Raise UsageError where it is not installed; before anything else of this package."""
    if importlib.util.find_spec("pygame") is None:
        raise UsageError("the viewer needs pygame-ce: pip install 'midrange_puffer[view]'")
