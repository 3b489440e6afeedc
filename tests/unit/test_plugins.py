"""Code by name: what is loaded, what is refused and with which words, and when its source counts as another one."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from wend import plugins
from wend.errors import ParameterError, UnknownNameError


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    """An empty current folder; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    forget_modules(tmp_path)


def forget_modules(folder: Path) -> None:
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


def test_a_module_in_the_current_folder_is_found(tmp_path) -> None:
    (tmp_path / "grouse.py").write_text("def flock(trace): return 1\n")
    assert plugins.load("grouse:flock", plugins.MEASURE)(None) == 1
    (tmp_path / "waders").mkdir()
    (tmp_path / "waders" / "snipe.py").write_text("size = 3\n")
    assert plugins.load("waders.snipe:size", plugins.MEASURE) == 3


def test_the_path_goes_before_the_current_folder(tmp_path) -> None:
    (tmp_path / "colorsys.py").write_text("hls_to_rgb = 'mine'\n")
    assert plugins.load("colorsys:hls_to_rgb", plugins.JOB) != "mine"


@pytest.mark.parametrize(
    ("name", "source", "reason"),
    [
        ("grous:flock", "", "the job 'grous:flock': no module 'grous' on .* folder. Did you mean 'grouse'?"),
        ("birds.grouse:flock", "", "no module 'birds.grouse' on the path"),
        (
            "grouse:flok", "from math import floor as flow\ndef flock(): pass",
            r"unknown job 'grouse:flok'\. Did you mean 'grouse:flock'\? Known: grouse:flock\. This is in .*grouse\.py",
        ),
        ("grouse:flock", "import nix", r"cannot be loaded: ModuleNotFoundError: .*'nix' \(.*grouse.py, line 1\)"),
        ("grouse:flock", "\n1 / 0", r"cannot be loaded: ZeroDivisionError: division by zero \(.*grouse\.py, line 2\)"),
        ("grouse:flock", "def flock(:", r"cannot be loaded: SyntaxError: invalid syntax \(grouse\.py, line 1\)"),
    ],
)  # fmt: skip
def test_what_cannot_be_loaded_is_told_in_one_line(tmp_path, name, source, reason) -> None:
    (tmp_path / "grouse.py").write_text(source)
    with pytest.raises((ParameterError, UnknownNameError), match=reason) as caught:
        plugins.load(name, plugins.JOB)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "os", "os.path", ":x", "os:", "a b:c", "..:x", "/etc:x", "os:path.join", "a:b:c"])
def test_only_a_module_and_a_name_is_code(name) -> None:
    assert not plugins.is_code(name)
    with pytest.raises(UnknownNameError, match=r"unknown measure .* Your own is named 'module:function'\."):
        plugins.load(name, plugins.MEASURE)


@pytest.mark.parametrize("kind", [plugins.PLANNER, plugins.MEASURE, plugins.JOB])
def test_a_spec_may_name_what_a_package_has_registered_and_nothing_else(kind, monkeypatch) -> None:
    plugins.registered.cache_clear()
    entries = EntryPoints([EntryPoint("some", "package.module:thing", kind.group)])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries.select(group=group))
    assert plugins.registered(kind) == {"some": "package.module:thing"}
    plugins.require_permission("package.module:thing", kind, allow_code=False)
    plugins.require_permission("package.module:other", kind, allow_code=True)
    with pytest.raises(ParameterError) as caught:
        plugins.require_permission("package.module:other", kind, allow_code=False)
    assert str(caught.value) == (
        f"the spec names the {kind.word} 'package.module:other', and no installed package has registered it under "
        f"'wend.{kind.word}s': run it with --allow-code if you trust it"
    )
    assert "package" not in sys.modules
    plugins.registered.cache_clear()


FILES = {
    "grouse.py": "import late\nimport numpy\nfrom wend import Grid\nclass Grouse: pass\n",
    "late.py": "def late():\n    from birds import snipe\n",
    "birds/__init__.py": "",
    "birds/snipe.py": "from . import nest\nfrom .nest import egg\nclass Snipe: pass\n",
    "birds/nest/__init__.py": "from .egg import Egg\n",
    "birds/nest/egg.py": "class Egg: pass\n",
    "other.py": "class Other: pass\n",
}


def digest_of(name: str) -> str:
    """As a new process would have it."""
    forget_modules(Path.cwd())
    return plugins.source_digest(plugins.load(name, plugins.PLANNER))


def test_a_digest_is_of_the_module_and_of_what_it_imports_of_its_own(tmp_path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text)
    grouse, snipe = digest_of("grouse:Grouse"), digest_of("birds.snipe:Snipe")
    assert (digest_of("grouse:Grouse"), digest_of("birds.snipe:Snipe")) == (grouse, snipe)
    concerned = {}
    for name, text in FILES.items():
        (tmp_path / name).write_text(f"{text}# changed\n")
        concerned[name] = digest_of("grouse:Grouse") != grouse, digest_of("birds.snipe:Snipe") != snipe
        (tmp_path / name).write_text(text)
    assert concerned == {
        "grouse.py": (True, False),
        "late.py": (True, False),
        "birds/__init__.py": (True, True),
        "birds/snipe.py": (True, True),
        "birds/nest/__init__.py": (True, True),
        "birds/nest/egg.py": (True, True),
        "other.py": (False, False),
    }


def test_a_class_that_is_loaded_keeps_its_digest(tmp_path) -> None:
    (tmp_path / "grouse.py").write_text("class Grouse: pass\n")
    grouse = plugins.load("grouse:Grouse", plugins.PLANNER)
    before = plugins.source_digest(grouse)
    (tmp_path / "grouse.py").write_text("class Grouse: size = 1\n")
    assert plugins.source_digest(grouse) == before


def test_an_installed_module_is_alone(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    (tmp_path / "grouse.py").write_text("import late\nclass Grouse: pass\n")
    (tmp_path / "late.py").write_text("")
    before = digest_of("grouse:Grouse")
    (tmp_path / "late.py").write_text("x = 1\n")
    assert digest_of("grouse:Grouse") == before
