"""PyInstaller finds Wend's hook, and a frozen game starts with kernels that it came with."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from wend.freezing import hook_folders

ROOT = Path(__file__).resolve().parents[3]

GAME = """
import wend
from wend.kernel.compiling import compiling_told

compiled = []
with compiling_told(lambda: compiled.append(1)):
    world = wend.World(wend.mapgen.open_map(width=16, height=16), "bmaa")
    world.order_group([world.add((x, 0)) for x in range(4)], (12, 12))
    world.run(max_ticks=100)
print(len(compiled), world.all_home(), world.state_hash())
"""
SPEC = """
a = Analysis(["game.py"], hooksconfig={"wend": {"planners": ["bmaa"]}})
exe = EXE(PYZ(a.pure), a.scripts, [], exclude_binaries=True, name="game")
COLLECT(exe, a.binaries, a.datas, name="game")
"""


def test_the_entry_point_leads_to_the_hook() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["entry-points"]["pyinstaller40"]["hook-dirs"].partition(":")
    assert getattr(import_module(module), function) is hook_folders
    (folder,) = hook_folders()
    assert Path(folder, "hook-wend.py").is_file()


def test_what_is_left_out_is_there_to_be_left_out() -> None:
    hook = import_module("wend.freezing.hook-wend")
    for name in hook._LEFT_OUT:
        assert importlib.util.find_spec(name) is not None


@pytest.mark.skipif(importlib.util.find_spec("PyInstaller") is None, reason="needs PyInstaller, and takes minutes")
def test_a_frozen_game_compiles_nothing(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text(GAME)
    (tmp_path / "game.spec").write_text(SPEC)
    subprocess.run([sys.executable, "-m", "PyInstaller", "game.spec"], cwd=tmp_path, check=True)
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    frozen = subprocess.run([tmp_path / "dist" / "game" / "game"], capture_output=True, text=True, env=home)
    plain = subprocess.run([sys.executable, "game.py"], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert frozen.returncode == 0, frozen.stderr
    compiled, *rest = frozen.stdout.split()
    assert compiled == "0"
    assert rest == plain.stdout.split()[1:]
    assert not (tmp_path / ".cache").exists()
