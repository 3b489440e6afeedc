"""The code in the README and in the docs is code: it runs."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import wend

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
OWN_PLANNER = ROOT / "docs" / "own-planner.md"


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), flags=re.DOTALL)


PYTHON = [pytest.param(code, id=f"{page.name}-{k}") for page in PAGES for k, code in enumerate(blocks(page, "python"))]


@pytest.mark.parametrize("code", PYTHON)
def test_python_examples_run(code: str, tmp_path) -> None:
    script = tmp_path / "example.py"
    script.write_text(code)
    wend.World(wend.mapgen.open_map(), "lra").trace().save(tmp_path / "run.wend")      # what some examples start from
    (tmp_path / "greedy.py").write_text(blocks(OWN_PLANNER, "python")[0])
    ran = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr


def test_a_planner_of_your_own_works_as_its_page_says(tmp_path) -> None:
    planner, check, _ = blocks(OWN_PLANNER, "python")
    (tmp_path / "greedy.py").write_text(planner)
    (tmp_path / "check.py").write_text(check)
    (tmp_path / "mine.toml").write_text(blocks(OWN_PLANNER, "toml")[0])
    ran = subprocess.run([sys.executable, "check.py"], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert [ran.stdout] == blocks(OWN_PLANNER, "text")
    commands = [line.split() for block in blocks(OWN_PLANNER, "sh") for line in block.splitlines()]
    assert [words[:2] for words in commands] == [["wend", "algorithms"], ["wend", "solve"], ["wend", "bench"]]
    for _, *words in commands:
        ran = subprocess.run([sys.executable, "-m", "wend", *words], capture_output=True, text=True, cwd=tmp_path)
        assert ran.returncode == 0, (words, ran.stderr)
    assert all(f" {label} " in ran.stdout for label in ("LRA*", "Greedy", "Greedy (noise 0.5)"))


def test_the_first_example_of_a_planner_is_legal_and_not_good(tmp_path) -> None:
    planner = blocks(ROOT / "docs" / "planners.md", "python")[0]
    check = "report = wend.check_planner(Conga, online=False)\nprint(report)\nprint(report.is_legal, report.is_good)\n"
    (tmp_path / "conga.py").write_text(planner + check)
    ran = subprocess.run([sys.executable, "conga.py"], capture_output=True, text=True, cwd=tmp_path)
    assert ran.stdout.splitlines()[-1] == "True False", ran.stderr
    assert "only 0 of 24 agents ever got home" in ran.stdout


def test_the_readme_prints_what_it_should(tmp_path) -> None:
    (code,) = blocks(ROOT / "README.md", "python")
    assert 15 <= len(code.splitlines()) <= 25
    (tmp_path / "example.py").write_text(code)
    ran = subprocess.run([sys.executable, tmp_path / "example.py"], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["7.414213562373095", "(9, 0) arrived", "1.0"]


def test_the_readmes_commands_run(tmp_path) -> None:
    (commands,) = [block for block in blocks(ROOT / "README.md", "sh") if "wend solve" in block]
    lines = [line.partition("#")[0].split() for line in commands.splitlines()]
    assert len(lines) == 10
    no_browser = {**os.environ, "BROWSER": "true"}      # the program `true` is one that opens nothing
    for _, *words in lines:
        ran = subprocess.run(
            [sys.executable, "-m", "wend", *words], capture_output=True, text=True, cwd=tmp_path, env=no_browser
        )
        assert ran.returncode == 0, (words, ran.stderr)


MODULES = [module.name for module in pkgutil.walk_packages(wend.__path__, "wend.") if module.name != "wend.__main__"]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_are_right(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_readme_lists_every_algorithm() -> None:
    readme = (ROOT / "README.md").read_text()
    for key, entry in wend.ALGORITHMS.items():
        assert f"| `{key}` | {entry.title.replace('*', chr(92) + '*')} |" in readme
