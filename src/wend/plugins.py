"""Code by name: planners, measures and jobs that are no part of Wend, and which of them a spec may run.

Such code is named `module:name`; the module is on Python's path or in the current folder. On the command line and in a
program the name is the user's own word, and the code runs. A spec may come from a stranger, so what it names runs only
if an installed package has registered it as an entry point of the right group, or if the user says `--allow-code`.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from wend.errors import ParameterError, UnknownNameError


class Kind(NamedTuple):
    """A kind of code that can be named."""

    word: str       # what people call it
    group: str      # of the entry points under which packages register it
    form: str       # of its name
    built_in: tuple[str, ...] = ()      # names of another form, which Wend itself knows


PLANNER = Kind("planner", "wend.planners", "module:Class")
MEASURE = Kind("measure", "wend.measures", "module:function")
JOB = Kind("job", "wend.jobs", "module:function", ("run",))

_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")
_WEND = __name__.partition(".")[0]


def is_code(name: str) -> bool:
    """Whether a name has the form `module:name`."""
    return _NAME.fullmatch(name) is not None


@cache
def registered(kind: Kind) -> dict[str, str]:
    """What installed packages have registered: `module:name` by the name of the entry point. Imports none of it."""
    from importlib.metadata import entry_points  # takes a while to load, and most commands do without

    return {entry.name: entry.value for entry in entry_points(group=kind.group)}


def require_permission(name: str, kind: Kind, *, allow_code: bool) -> None:
    """Refuse code that a spec names, unless a package has registered it or the user allows it. Imports none of it."""
    if not allow_code and name not in registered(kind).values():
        reason = f"no installed package has registered it under {kind.group!r}"
        raise ParameterError(
            f"the spec names the {kind.word} {name!r}, and {reason}: run it with --allow-code if you trust it"
        )


def load(name: str, kind: Kind) -> Any:
    """What a name stands for. Importing the module runs its code, so a spec needs permission first."""
    if not is_code(name):
        known = [*kind.built_in, *registered(kind).values()]
        raise UnknownNameError(kind.word, name, known, hint=f"Your own is named '{kind.form}'.")
    module_name, _, attribute = name.partition(":")
    module = sys.modules.get(module_name) or _imported(module_name, f"the {kind.word} {name!r}")
    if not hasattr(module, attribute):
        own = [n for n, value in vars(module).items() if getattr(value, "__module__", None) == module_name]
        place = getattr(module, "__file__", None) or f"the module {module_name!r}"
        raise UnknownNameError(kind.word, name, [f"{module_name}:{n}" for n in own], hint=f"This is in {place}.")
    return getattr(module, attribute)


def _imported(name: str, what: str) -> ModuleType:
    """A module that is on the path, or else in the current folder, which is on the path from then on."""
    importlib.invalidate_caches()
    try:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if not _is_about(error, name) or str(Path.cwd()) in sys.path:
                raise
            sys.path.append(str(Path.cwd()))
            return importlib.import_module(name)
    except Exception as error:      # foreign code may raise anything
        if isinstance(error, ModuleNotFoundError) and _is_about(error, name):
            close = get_close_matches(name, [path.stem for path in sorted(Path.cwd().glob("*.py"))], n=1)
            guess = f" Did you mean {close[0]!r}?" if close else ""
            raise ParameterError(f"{what}: no module {name!r} on the path or in the current folder.{guess}") from None
        at = traceback.extract_tb(error.__traceback__)[-1]
        place = "" if isinstance(error, SyntaxError) else f" ({at.filename}, line {at.lineno})"
        raise ParameterError(f"{what} cannot be loaded: {type(error).__name__}: {error}{place}") from error


def _is_about(error: ModuleNotFoundError, name: str) -> bool:
    """Whether it is the module itself that is missing, or a package that it is in, and not one that it imports."""
    return error.name is not None and f"{name}.".startswith(f"{error.name}.")


# --- the source of a class or a function -----------------------------------------------------------------------------


@lru_cache(maxsize=256)     # the source as it was when first asked for: the class stays as it was loaded, too
def source_digest(found: Any) -> str:
    """A hash of the files that a class or a function comes from.

    These are its module, and the modules of the same package that it imports, directly or through others; for a module
    that is in no package and not installed, the modules beside it.
    """
    module = sys.modules[found.__module__]
    file = getattr(module, "__file__", None)
    if file is None:
        raise ParameterError(
            f"{found.__qualname__} has no source file: put it into a module, so that its code is known"
        )
    path, package = Path(file).resolve(), module.__package__ or ""
    root = path.parents[len(package.split("."))] if package else path.parent
    digest = hashlib.blake2b(digest_size=8)
    for each in sorted(_sources(path, package, root)):
        digest.update(f"{each.relative_to(root).as_posix()}\0".encode() + each.read_bytes() + b"\0")
    return digest.hexdigest()


def _sources(path: Path, package: str, root: Path) -> set[Path]:
    """The files of a module and of those that it imports and that belong with it; `root` is where its package is."""
    home = package.partition(".")[0]
    is_alone = not home and str(root) in {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}
    files: set[Path] = set()
    open_files = [(path, package)]
    while open_files:
        path, package = open_files.pop()
        if path in files or not path.is_file():
            continue
        files.add(path)
        for name in filter(None, [package, *_imports(path, package)]):
            parts = name.split(".")
            if is_alone or parts[0] == _WEND or (home and parts[0] != home):
                continue
            for depth in range(1, len(parts) + 1):
                place = root.joinpath(*parts[:depth])
                open_files.append((place / "__init__.py", ".".join(parts[:depth])))
                open_files.append((place.with_suffix(".py"), ".".join(parts[: depth - 1])))
    return files


def _imports(path: Path, package: str) -> Iterator[str]:
    """The full names of all modules that a source file may import, wherever in the file an import stands."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):       # not Python, such as a compiled module
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = [*above, *(node.module or "").split(".")]
            yield from (".".join(filter(None, [*base, alias.name])) for alias in node.names)
