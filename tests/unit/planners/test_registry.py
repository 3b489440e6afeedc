"""Planners that are no part of Wend, by name: `module:Class`, `register`, and entry points of packages."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints

import pytest

import wend
from wend import Planner, World, plugins
from wend.errors import ParameterError, UnknownNameError
from wend.planners import registry

HERE = f"{__name__}:Still"


@dataclass
class Still(Planner):
    """Nobody moves.

    Not ever.
    """

    depth: int = wend.parameter(3, "how deep", minimum=1)

    def plan(self, proposal, budget) -> None:
        pass


@dataclass
class Wordless(Planner):
    def plan(self, proposal, budget) -> None:
        pass


class Abstract(Planner):
    pass


class NoDataclass(Planner):
    depth: int = wend.parameter(3, "how deep")

    def plan(self, proposal, budget) -> None:
        pass


@dataclass
class Undeclared(Wordless):
    depth: int = 3


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    monkeypatch.setattr(registry, "ALGORITHMS", dict(registry.ALGORITHMS))
    yield
    plugins.registered.cache_clear()


def install_package(monkeypatch) -> None:
    """Have an installed package that has registered a planner."""
    entries = EntryPoints([EntryPoint("still", HERE, "wend.planners")])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries.select(group=group))
    plugins.registered.cache_clear()


def test_a_class_is_known_by_where_it_is() -> None:
    entry = registry.find(HERE)
    assert (entry.key, entry.title, entry.summary, entry.paper) == (HERE, "Still", "Nobody moves.", HERE)
    assert (entry.online, entry.is_foreign) == (None, True)
    assert registry.create(HERE, depth=5) == Still(depth=5)
    assert [p.name for p in entry.parameters()] == ["depth"]
    assert World(wend.mapgen.open_map(), HERE).planner == Still()
    with pytest.raises(UnknownNameError, match=r"unknown parameter of .*:Still 'deep'\. Did you mean 'depth'"):
        registry.create(HERE, deep=3)
    with pytest.raises(ParameterError, match="depth is a whole number from 1"):
        registry.create(HERE, depth=0)
    assert registry.find(f"{__name__}:Wordless").summary == ""


def test_a_registered_class_has_a_short_name() -> None:
    wend.register("still", Still)
    assert registry.create("still", depth=7) == Still(depth=7)
    assert "still" in registry.names()
    entry = registry.find("still")
    assert (entry.title, entry.where, entry.online) == ("Still", HERE, None)
    wend.register("still", Still, title="St.", summary="None moves.", paper="none", online=True)
    entry = registry.find("still")
    assert (entry.title, entry.summary, entry.paper, entry.online) == ("St.", "None moves.", "none", True)


def test_a_package_registers_planners(monkeypatch) -> None:
    install_package(monkeypatch)
    assert registry.names()[-1] == "still"
    assert registry.create("still") == Still()
    assert registry.find("still").where == HERE
    with pytest.raises(UnknownNameError, match=r"unknown algorithm 'stil'\. Did you mean 'still'\?"):
        registry.find("stil")


def test_only_foreign_planners_have_a_source() -> None:
    assert registry.find("lra").source() is None
    source = registry.find(HERE).source()
    wend.register("still", Still)
    assert source is not None
    assert registry.find("still").source() == source


@pytest.mark.parametrize(
    ("key", "planner", "reason"),
    [
        ("weave", Still, "key is a name that no algorithm of Wend has, and 'weave' is Weave"),
        ("", Still, "key is a short name"),
        ("a:b", Still, "key is a short name"),
        ("a b", Still, "key is a short name"),
        (3, Still, "key is a short name such as 'greedy', not 3"),
        ("x", Still(), "planner: a class that derives from wend.Planner is needed, not Still"),
        ("x", int, "a class that derives from wend.Planner is needed"),
        ("x", Abstract, "planner: Abstract has no method `plan`"),
        ("x", NoDataclass, "planner: NoDataclass declares parameters, so it needs @dataclass"),
        ("x", Undeclared, r"planner: declare 'depth' with wend\.parameter\(default, help\)"),
    ],
)
def test_what_cannot_be_registered_is_refused(key, planner, reason) -> None:
    with pytest.raises(ParameterError, match=reason):
        wend.register(key, planner)
    assert "x" not in registry.ALGORITHMS


def test_a_class_inside_a_function_is_refused() -> None:
    class Inside(Still):
        pass

    with pytest.raises(ParameterError, match="Inside must stand at the top level of a module"):
        wend.register("inside", Inside)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (f"{__name__}:Abstract", ":Abstract: Abstract has no method `plan`"),
        (f"{__name__}:pytest", "a class that derives from wend.Planner is needed, not <module"),
        (f"{__name__}:Stil", r"unknown planner '.*:Stil'\. Did you mean '.*test_registry:Still'\?"),
        ("no_such_module:Greedy", "the planner 'no_such_module:Greedy': no module 'no_such_module'"),
    ],
)
def test_a_name_without_a_planner_is_refused(name, reason) -> None:
    with pytest.raises((ParameterError, UnknownNameError), match=reason):
        registry.find(name)


def test_looking_for_wends_own_changes_no_path() -> None:
    before = list(sys.path)
    for key in registry.names():
        registry.find(key).planner_class()
    assert sys.path == before
