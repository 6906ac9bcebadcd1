"""The stubs of the Cython modules, *.pyi, have the names and arguments of the modules."""

import ast
import inspect
from types import ModuleType

import places
import pytest

from midrange_puffer import _core, _learner, _threads


def arguments(function: ast.FunctionDef) -> list[str]:
    given = function.args
    assert not any((given.kwonlyargs, given.vararg, given.kwarg))
    names = [argument.arg for argument in given.args]
    return names[1:] if names[:1] == ["self"] else names


def stubs(body: list[ast.stmt]) -> dict[str, object]:
    """Public name -> arguments of a function, names of a class, or None of anything else."""
    names: dict[str, object] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names[node.name] = None if node.decorator_list else arguments(node)
        elif isinstance(node, ast.ClassDef):
            names[node.name] = stubs(node.body)
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = None
    return {name: stub for name, stub in names.items() if not name.startswith("_")}


def contents(holder: ModuleType | type, home: str) -> dict[str, object]:
    """Returns the same of a module or class itself, without what it imports from elsewhere."""
    names: dict[str, object] = {}
    for name, value in vars(holder).items():
        if name.startswith("_") or getattr(value, "__module__", home) != home:
            continue
        if isinstance(value, type):
            names[name] = contents(value, home)
        elif callable(value):
            given = list(inspect.signature(value).parameters)
            names[name] = given[1:] if given[:1] == ["self"] else given
        elif not isinstance(value, ModuleType):
            names[name] = None
    return names


@pytest.mark.parametrize("module", [_core, _learner, _threads], ids=lambda module: module.__name__)
def test_a_stub_has_the_names_and_arguments_of_its_module(module):
    path = places.ROOT / f"{module.__name__.replace('.', '/')}.pyi"
    assert stubs(ast.parse(path.read_text()).body) == contents(module, module.__name__)
