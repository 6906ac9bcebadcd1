"""gymnasium, imported without what its plugins print on their own."""

import contextlib
import io
import warnings

# Shimmy, where it is installed, imports OpenAI's gym, which says on stderr that it is outdated.
with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import gymnasium

__all__ = ["gymnasium"]
