"""Errors that a user can mend: printed in a line, without a traceback."""


class UserError(Exception):
    """Something outside the program is wrong; the message says what and what is allowed.

    Of several messages, as of several files, each is an argument and a line of its own.
    """

    exit_code = 1


class UsageError(UserError, ValueError):
    """A command line, a configuration or a file named in them cannot be used."""

    exit_code = 2


class CheckpointError(UsageError):
    """A file is not a checkpoint that this version can use."""
