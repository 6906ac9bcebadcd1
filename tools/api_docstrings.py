"""A griffe extension: docstrings of classes that `arena.documented` completes at import.

mkdocstrings reads docstrings without importing, and would miss their arguments.
"""

import inspect
from importlib import import_module

import griffe


class CompletedDocstrings(griffe.Extension):
    """Replaces the docstrings of decorated classes by those that Python has."""

    def on_class(self, *, cls: griffe.Class, **_: object) -> None:
        """Imports a class with the decorator, and takes its docstring."""
        if any(str(decorator.value).startswith("documented(") for decorator in cls.decorators):
            env_class = getattr(import_module(cls.module.path), cls.name)
            cls.docstring = griffe.Docstring(
                inspect.cleandoc(env_class.__doc__),
                parent=cls,
                parser=cls.docstring.parser,
                parser_options=cls.docstring.parser_options,
            )
