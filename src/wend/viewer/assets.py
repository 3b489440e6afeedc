"""The files under `static/` that pages are made of, and how script modules become one script.

A page is one file, and browsers refuse to import modules from disk; so the modules are joined when a page is written.
Each becomes a function that runs once and returns what the module exports, so that private names of two modules
never clash:

    import { b } from "./two.js";               const $one = (() => {
    export const a = b + 1;             ->      const { b } = $two;
                                                const a = b + 1;
                                                return { a };
                                                })();

Modules use only these forms, each at the start of a line; anything else is an error that names file and line:

    import { a, b } from "./name.js";           on one line or several
    export const a = ...                        also function, async function and class

Modules that import each other in a circle are an error too, and so are names that their module does not export.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

from wend.errors import FormatError

_NAME = r"[A-Za-z_]\w*"
_IMPORT = re.compile(rf'^import \{{(\s*{_NAME}(?:,\s*{_NAME})*,?\s*)\}} from "\./([a-z_]+)\.js";$', re.M)
_EXPORT = re.compile(rf"^export (?=(?:const|class|function|async function) ({_NAME})\b)", re.M)
_BEGIN = r"(?:^|[;}])\s*"       # of a statement
_REFUSED = (
    (rf"{_BEGIN}import\b|\bimport\s*[(.]", 'only `import { a, b } from "./name.js";` is understood'),
    (rf"{_BEGIN}export\b", "only `export` before const, function, async function or class is understood"),
    (r"</script|<!--", "this would end the page's script"),
)


class _Module(NamedTuple):
    name: str
    imports: dict[str, list[str]]       # module -> the names taken from it
    exports: list[str]
    body: str                           # without the words import and export


def static(name: str) -> str:
    """The text of a file such as `replay.css` or the module `camera.js`."""
    return files("wend.viewer").joinpath("static", name).read_text(encoding="utf-8")


def join(entry: str, read: Callable[[str], str] = static) -> str:
    """One script that does what the module `entry` and all that it imports do; `read` gives the text of a file."""
    done: dict[str, _Module] = {}
    _visit(entry, read, done, ())
    return "\n\n".join(_wrapped(module) for module in done.values()) + "\n"


def _visit(name: str, read: Callable[[str], str], done: dict[str, _Module], importers: tuple[str, ...]) -> None:
    """Add a module to those done, after all that it imports."""
    if name in importers:
        raise FormatError(f"{name}.js", f"imports itself, by way of {' -> '.join((*importers, name))}")
    if name in done:
        return
    module = _parsed(name, read(f"{name}.js"))
    for other, names in module.imports.items():
        _visit(other, read, done, (*importers, name))
        unknown = sorted(set(names) - set(done[other].exports))
        if unknown:
            raise FormatError(f"{name}.js", f"imports {', '.join(unknown)}, which {other}.js does not export")
    done[name] = module


def _parsed(name: str, text: str) -> _Module:
    imports: dict[str, list[str]] = {}
    for names, other in _IMPORT.findall(text):
        if other in imports:
            raise FormatError(f"{name}.js", f"imports from {other}.js twice")
        imports[other] = re.findall(_NAME, names)
    exports = _EXPORT.findall(text)
    # Imports leave their line breaks behind, so that an error names the right line.
    body = _EXPORT.sub("", _IMPORT.sub(lambda match: "\n" * match[0].count("\n"), text))
    for pattern, reason in _REFUSED:
        if found := re.search(pattern, body, re.M | re.I):
            raise FormatError(f"{name}.js", reason, line=body.count("\n", 0, found.end()) + 1)
    return _Module(name, imports, exports, body)


def _wrapped(module: _Module) -> str:
    imports = [f"const {{ {', '.join(names)} }} = ${other};" for other, names in module.imports.items()]
    lines = [
        f"const ${module.name} = (() => {{",
        *imports,
        module.body.strip("\n"),
        f"return {{ {', '.join(module.exports)} }};",
        "})();",
    ]
    return "\n".join(lines)
