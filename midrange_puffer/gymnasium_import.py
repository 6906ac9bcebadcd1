"""Import of gymnasium without the output of its plugins."""

import contextlib
import io
import warnings

# Shimmy, if installed, imports OpenAI's gym, which prints a warning on stderr that it is outdated.
with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gymnasium

__all__ = ["gymnasium"]
