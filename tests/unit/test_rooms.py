"""The order of the rooms, held against the real imports: of every module, wherever in the file an import stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import wend
from wend.kernel import folders

# A file imports only from its own room and from rooms before it. This is the one place that says so.
ROOMS = (
    "errors", "arguments", "journal", "files", "plugins", "kernel", "maps", "rules", "search", "problems", "planners",
    "groups", "world", "metrics", "theme", "viewer", "run", "conformance", "interchange", "selection", "experiments",
    "play", "cli", "freezing",
)  # fmt: skip

SOURCE = Path(wend.__file__).parent
CONTRIBUTING = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
FACE = ("wend", "wend.__main__")        # the public names, and the command line's entry: they stand before all rooms


def name_of(path: Path) -> str:
    return ".".join(("wend", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {name_of(path): path for path in sorted(SOURCE.rglob("*.py"))}
INSIDE = [module for module in MODULES if module not in FACE]
EXISTING = {module.split(".")[1] for module in INSIDE}


def imported(module: str) -> Iterator[tuple[int, str]]:
    """Line and module of each import of Wend's own modules; in functions and for the type checker too."""
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name.partition(".")[0] == "wend")
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}, line {node.lineno}: imports are absolute here"
            if (node.module or "").partition(".")[0] == "wend":
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    if inner != "wend.__version__":
                        yield node.lineno, inner if inner in MODULES else str(node.module)


@cache
def graph() -> dict[str, list[tuple[int, str]]]:
    return {module: list(imported(module)) for module in INSIDE}


def test_every_room_has_its_place_in_the_order() -> None:
    assert set(ROOMS) >= EXISTING
    assert len(ROOMS) == len(set(ROOMS))


@pytest.mark.parametrize("room", [room for room in ROOMS if room in EXISTING])
def test_imports_point_to_rooms_before(room: str) -> None:
    allowed = ROOMS[: ROOMS.index(room) + 1]
    wrong = [
        f"{module}, line {line}: imports {target}"
        for module, targets in graph().items()
        for line, target in targets
        if module.split(".")[1] == room and (target == "wend" or target.split(".")[1] not in allowed)
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter({module: {target for _, target in found} for module, found in graph().items()}).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]), pytrace=False)


def test_whatever_a_kernel_may_depend_on_is_in_the_name_of_its_folder() -> None:
    """Kernels stand in the rooms that the name covers, and these import from no others but files at the top."""
    with_kernels = [path.relative_to(SOURCE) for path in MODULES.values() if "@jit" in path.read_text(encoding="utf-8")]
    assert {path.parts[0] for path in with_kernels if len(path.parts) > 1} == set(folders.COVERED) - {"problems"}
    last = max(ROOMS.index(room) for room in folders.COVERED)
    assert {room for room in ROOMS[:last] if (SOURCE / room).is_dir()} <= set(folders.COVERED)


def test_the_graph_sees_imports_in_functions_and_for_the_type_checker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(
        "from typing import TYPE_CHECKING\n"
        "from wend import __version__, errors, Problem\n"
        "if TYPE_CHECKING:\n"
        "    from wend.maps.grid import Grid\n"
        "def late():\n"
        "    import wend.rules\n"
        "    from wend.maps import drawing\n"
    )
    monkeypatch.setitem(MODULES, "wend.sample", sample)
    assert sorted(imported("wend.sample")) == [
        (2, "wend"),            # what the public face loads when it is asked for has a home, and is imported from there
        (2, "wend.errors"),
        (4, "wend.maps.grid"),
        (6, "wend.rules"),
        (7, "wend.maps.drawing"),
    ]


def test_the_tree_in_contributing_is_the_real_one() -> None:
    """It names each room and each module at the top, in the order of the rooms."""
    tree = CONTRIBUTING.read_text(encoding="utf-8").split("    src/wend/\n")[1].split("\n\n")[0]
    heads = re.findall(r"^ {6}((?:\w+(?:\.py|/) +)+)", tree, flags=re.M)
    rooms = [f"{room}/" if (SOURCE / room).is_dir() else f"{room}.py" for room in ROOMS if room in EXISTING]
    assert " ".join(heads).split() == ["__init__.py", "__main__.py", *rooms]


def test_a_public_class_has_a_name_of_its_own() -> None:
    where: dict[str, list[str]] = {}
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(module)
    assert {name: modules for name, modules in where.items() if len(modules) > 1} == {}
