"""Random words after `wend`: whatever is typed, the answer is a result or one clear error, and never a traceback.

WEND_FLAGS is the number of command lines; by hand, 10000.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from wend.cli import main

LINES = int(os.environ.get("WEND_FLAGS", "150"))

NUMBERS = ["0", "1", "2", "3", "7", "-1", "0.5", "1e3", "1e400", "inf", "-inf", "nan", "9" * 20, "9" * 5000, str(2**31)]
TEXTS = ["", " ", "x", "lra", "whca", "group", "\x1b[31m", "\udcff", "a\nb", "[bold]", "{0}", "--", "-", "../.."]
FILES = ["run.wend", "a.map", "a.scen", "a.toml", "pipe", "folder", "none", "/dev/zero", "/dev/null", "x" * 300]
MAPS = ["a.map", "open:width=6,height=5", "open:width=0", "rooms:seed=-1", "open:width=9999999", "door:", "no:", "b/c"]
WORDS = {
    "solve": ["--scen", "--problem", "--mode", "--agents", "--algorithm", "--seed", "--time-limit", "--connectivity",
              "--corner-cutting", "--out", "--explain", "--json", "--noise", "--window", "--no-such", "--max-ticks"],
    "rths": ["--start", "0,0", "--goal", "3,1", "--w", "--wc", "--b", "--lop", "--da", "--expendable", "--json"],
    "select": ["--model", "--problem", "--agents", "--seed", "--scen", "--json"],
    "train": ["selector", "--view", "--scale", "--splits", "--trees", "--out", "--json"],
    "check": ["--map", "--scen", "--connectivity", "--corner-cutting", "--json"],
    "export": ["--format", "--out", "--size", "--speed", "--first", "--last", "--json"],
    "replay": ["--html", "--map", "--scen", "--connectivity", "--corner-cutting", "--json"],
    "view": ["--map", "--scen", "--connectivity", "--corner-cutting", "--json"],
    "maps": ["generate", "open", "random", "--width", "--height", "--seed", "--blocked", "--out", "--json"],
    "algorithms": ["lra", "mapp", "--json"],
    "data": ["add", "list", "--json"],
    "bench": ["add-results", "--to", "--scale", "--jobs", "--out", "--baseline", "--retry-failed", "--json"],
    "report": ["--scale", "--out", "--baseline", "--html", "--markdown", "--csv", "--figures", "--json"],
    "verify": ["--sample", "--seed", "--jobs", "--json"],
    "version": ["--json"],
}  # fmt: skip


def line(rng: np.random.Generator) -> list[str]:
    """A command with some of its flags, and values that mostly make no sense."""
    command = sorted(WORDS)[rng.integers(len(WORDS))]
    values = [NUMBERS, TEXTS, FILES, MAPS]
    words = [command]
    if command not in ("maps", "algorithms", "data", "train", "version") and rng.random() < 0.9:
        words.append(str(rng.choice(MAPS if command in ("solve", "rths", "select") else FILES)))
    for _ in range(rng.integers(0, 5)):
        words.append(str(rng.choice(WORDS[command])))
        if rng.random() < 0.7:
            words.append(str(rng.choice(values[rng.choice(4, p=[0.4, 0.2, 0.3, 0.1])])))
    if command == "export":
        words += ["--format", "lacam", "--out", "out"][: 2 * rng.integers(3)]
    return words + (["--max-ticks", "3"] if command == "solve" and rng.random() < 0.9 else [])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEND_DATA", str(tmp_path / "data"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))      # where `view` puts its pages
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    (tmp_path / "a.map").write_text("type octile\nheight 2\nwidth 4\nmap\n....\n.@..\n")
    (tmp_path / "a.scen").write_text("version 1\n0\ta.map\t4\t2\t0\t0\t3\t0\t3\n")
    (tmp_path / "a.toml").write_text("title = 3")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def test_random_command_lines(folder: Path, monkeypatch, capsys) -> None:
    def call(words: list[str]) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["wend", *words])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException as error:
            error.add_note(f"wend {words!r}")
            raise
        said = capsys.readouterr()
        return code, said.out, said.err

    assert call(["solve", "a.map", "--agents", "2", "--algorithm", "lra", "--out", "run.wend"])[0] == 0
    whole = (folder / "run.wend").read_bytes()
    rng = np.random.default_rng(int(os.environ.get("WEND_SEED", "3")))
    codes = dict.fromkeys((0, 1, 2), 0)
    for _ in range(LINES):
        words = line(rng)
        code, out, err = call(words)
        codes[code] += 1
        assert "Traceback" not in err, words
        assert "\x1b[31m" not in out + err.replace("'\x1b[31m'", ""), words
        (folder / "run.wend").write_bytes(whole)
    print(f"{LINES} command lines, by exit code: {codes}")
    assert codes[0]
    assert codes[2]
