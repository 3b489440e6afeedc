"""The code in the README and in the docs is code: it runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import wend

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


PYTHON = [pytest.param(code, id=f"{page.name}-{k}") for page in PAGES for k, code in enumerate(blocks(page, "python"))]


@pytest.mark.parametrize("code", PYTHON)
def test_python_examples_run(code: str, tmp_path) -> None:
    script = tmp_path / "example.py"
    script.write_text(code)
    wend.World(wend.mapgen.open_map(), "lra").trace().save(tmp_path / "run.wend")      # what some examples start from
    ran = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_the_readme_prints_what_it_should(tmp_path) -> None:
    (code,) = blocks(ROOT / "README.md", "python")
    assert 15 <= len(code.splitlines()) <= 25
    (tmp_path / "example.py").write_text(code)
    ran = subprocess.run([sys.executable, tmp_path / "example.py"], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["7.414213562373095", "(9, 0) arrived", "1.0"]


def test_the_readmes_commands_run(tmp_path) -> None:
    (commands,) = [block for block in blocks(ROOT / "README.md", "sh") if "wend solve" in block]
    lines = [line.partition("#")[0].split() for line in commands.splitlines()]
    assert len(lines) == 6
    for _, *words in lines:
        ran = subprocess.run([sys.executable, "-m", "wend", *words], capture_output=True, text=True, cwd=tmp_path)
        assert ran.returncode == 0, (words, ran.stderr)


MODULES = [module.name for module in pkgutil.walk_packages(wend.__path__, "wend.") if module.name != "wend.__main__"]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_right(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_readme_lists_every_algorithm() -> None:
    readme = (ROOT / "README.md").read_text()
    for key, entry in wend.ALGORITHMS.items():
        assert f"| `{key}` | {entry.title.replace('*', chr(92) + '*')} |" in readme
