"""What `mkdocs.yml` needs beyond its plugins: folders in `nav`, and the examples of docstrings as code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import griffe


def on_config(config: Any) -> Any:
    """Put the pages of a folder in its place."""
    config.nav = expanded(config.nav, Path(config.docs_dir))
    return config


def expanded(entry: Any, docs: Path) -> Any:
    """An entry of `nav` without folders; the index of a folder comes first."""
    if isinstance(entry, list):
        return [expanded(each, docs) for each in entry]
    if isinstance(entry, dict):
        return {title: expanded(each, docs) for title, each in entry.items()}
    if not entry.endswith("/"):
        return entry
    pages = sorted((docs / entry).glob("*.md"), key=lambda page: (page.stem != "index", page.stem))
    return [page.relative_to(docs).as_posix() for page in pages]


class Examples(griffe.Extension):
    """Shows doctests, which are quotations in Markdown, as code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fence each example: from its first prompt to the next blank line."""
        if obj.docstring:
            obj.docstring.value = re.sub(r"(?m)^>>> (?:.+\n?)+", r"```pycon\n\g<0>\n```", obj.docstring.value)
