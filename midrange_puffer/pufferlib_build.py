"""Works around two bugs of PufferLib 3.0.0's `setup.py` during the one pip call that builds it.

Python imports a `sitecustomize` found on PYTHONPATH at start-up, so it reaches the build process
without a patched copy of PufferLib. `install.py` copies this file there and sets `NO_OCEAN=1`.
"""

import builtins
import shutil

# With NO_OCEAN=1 (no download of raylib and Box2D, none of PufferLib's own games) `setup.py` still
# reads this list, which it binds only in the other branch: NameError without it.
builtins.c_extension_paths = []  # pyright: ignore[reportAttributeAccessIssue] - made here

_which = shutil.which


def _which_usable(cmd: str, *args, **kwargs) -> str | None:
    """Hides `nvcc` where there is no GPU: `setup.py` would compile for CUDA, and fail."""
    if cmd == "nvcc":
        import torch

        if not torch.cuda.is_available():
            return None
    return _which(cmd, *args, **kwargs)


shutil.which = _which_usable
