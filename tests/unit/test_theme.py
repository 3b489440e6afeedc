"""Colours are named in one file, and everything that uses one uses one that is there."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable

import pytest

from wend.theme import curve_colours, stylesheet

OWN = {"progress", "thumb"}     # variables of the replay page that are no colours
PAGES = files("wend.experiments").joinpath("page.html"), *files("wend.viewer").joinpath("static").iterdir()


def test_every_curve_has_a_colour_of_its_own() -> None:
    assert len(curve_colours()) == len(set(curve_colours())) == stylesheet().count("--curve-") == 8


def test_the_dark_scheme_has_all_colours_but_those_of_curves() -> None:
    light, dark = (re.findall(r"--([\w-]+):", part) for part in stylesheet().split("@media"))
    assert dark == [name for name in light if not name.startswith("curve-")]
    assert len(set(light)) == len(light)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_pages_name_no_colour_but_the_themes(page: Traversable) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"#[0-9a-f]{3,8}\b(?![\w-])", text, re.I)
    used = set(re.findall(r"var\(--([\w-]+)\)|colour\(\"([\w-]+)\"\)", text))
    names = {name for pair in used for name in pair if name}
    assert names - OWN <= set(re.findall(r"--([\w-]+):", stylesheet()))
