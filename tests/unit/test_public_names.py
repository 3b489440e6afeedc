from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import wend


def test_the_public_names_are_complete_and_sorted() -> None:
    assert wend.__all__ == sorted(wend.__all__)
    assert set(wend.__all__) == set(wend._HOME) | set(wend._MODULES)
    assert dir(wend) == sorted([*wend.__all__, "__version__"])
    for name in wend.__all__:
        assert getattr(wend, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = wend.Nonsense


def test_importing_wend_loads_nothing_heavy() -> None:
    code = "import sys, wend, wend.cli; print(sorted({'numba', 'numpy', 'yaml', 'rich'} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "numba" not in loaded
    assert "numpy" not in loaded


def test_the_version_is_said_once_in_two_places() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    assert project["version"] == wend.__version__


# The rooms of the package, in the order of imports.
ROOMS = (
    "errors", "files", "kernel", "maps", "rules", "search", "problems", "planners", "groups", "world", "metrics", "run",
    "conformance", "interchange", "experiments", "viewer", "cli",
)  # fmt: skip


def imports() -> dict[str, set[str]]:
    """The modules of the package that each of them imports, at any time, also for types only."""
    source = Path(wend.__file__).parent
    paths = {
        ".".join(("wend", *path.relative_to(source).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in source.rglob("*.py")
    }
    graph: dict[str, set[str]] = {}
    for module, path in paths.items():
        named: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{module}: imports are absolute"
                whole = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= {name if name in paths else str(node.module) for name in whole}
        graph[module] = {name for name in named if name in paths and name != "wend"}
    return {module: found for module, found in graph.items() if module not in ("wend", "wend.__main__")}


def room(module: str) -> int:
    return ROOMS.index(module.split(".")[1])


def test_imports_point_to_earlier_rooms_and_never_in_a_circle() -> None:
    graph = imports()
    assert {module.split(".")[1] for module in graph} == set(ROOMS)
    wrong = [(module, other) for module, found in graph.items() for other in found if room(other) > room(module)]
    assert wrong == []
    assert list(TopologicalSorter(graph).static_order())        # raises on a circle


def test_the_referees_rules_know_nothing_of_the_tables_that_planners_use() -> None:
    assert "tables" not in (Path(wend.__file__).parent / "rules.py").read_text()
