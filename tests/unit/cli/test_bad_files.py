"""Whatever a file is, each command that reads one answers with one line, at once, and in little memory."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from wend import Trace
from wend.errors import FormatError

READERS = {
    "map": ("solve", "FILE", "--agents", 1),
    "scen": ("solve", "open:", "--scen", "FILE"),
    "check": ("check", "FILE"),
    "export": ("export", "FILE", "--format", "lacam", "--out", "out"),
    "replay": ("replay", "FILE", "--html", "out"),
    "view": ("view", "FILE"),
    "bench": ("bench", "FILE.toml"),
    "report": ("report", "FILE.toml"),
    "add": ("data", "add", "FILE.zip"),
}


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * 2**30)


def make_link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def make_noise(path: Path) -> None:
    path.write_bytes(b"\x1b]0;evil\x07\xff\xfe\0" * 1000)


def make_nesting(path: Path) -> None:
    path.write_bytes(b"a = " + b"[" * 100_000)


def make_newlines(path: Path) -> None:
    path.write_bytes(b"type octile\nheight 5\nwidth 5\nmap" + b"\n" * (20 * 2**20))


@pytest.mark.parametrize("make", [make_pipe, make_sparse, make_link_to_device, make_noise, make_nesting, make_newlines])
@pytest.mark.parametrize("reader", READERS)
def test_one_clear_line(wend, tmp_path, reader, make) -> None:
    words = [str(word).replace("FILE", "bad") for word in READERS[reader]]
    make(tmp_path / next(word for word in words if word.startswith("bad")))
    answer = wend(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert answer.err.startswith("wend: ")
    assert answer.err.count("\n") == 1
    assert answer.err.strip().isprintable()


@pytest.fixture
def run(wend, tmp_path) -> Path:
    wend("solve", "open:width=9,height=9", "--agents", 2, "--algorithm", "lra", "--out", "run.wend")
    return tmp_path / "run.wend"


def rewritten(run: Path, entry: str, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> Path:
    bad = run.with_name("bad.wend")
    with zipfile.ZipFile(run) as old, zipfile.ZipFile(bad, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, data if name == entry else old.read(name))
    return bad


def with_meta(run: Path, meta: str) -> Path:
    with zipfile.ZipFile(run) as archive:
        header = json.loads(archive.read("header.json"))
    return rewritten(run, "header.json", json.dumps({**header, "meta": "META"}).replace('"META"', meta).encode())


@pytest.mark.parametrize("meta", ['{"a": Infinity}', '{"a": 1e999}', "[" * 100_000, '{"a": ' + "9" * 5000 + "}", "3"])
def test_traces_that_hold_what_json_does_not(wend, run, meta) -> None:
    bad = with_meta(run, meta)
    for words in (("check",), ("export", "--format", "lacam", "--out", "x"), ("replay", "--html", "x")):
        answer = wend(words[0], bad, *words[1:])
        assert (answer.code, answer.err.count("\n")) == (2, 1)
        assert "bad.wend" in answer.err


def test_half_a_character_in_a_trace_does_no_harm(wend, run, tmp_path) -> None:
    bad = with_meta(run, r'{"map": "a\ud800", "algorithm": "\udfff"}')
    for format in ("lacam", "eecbs", "yaml"):
        assert wend("export", bad, "--format", format, "--out", f"x.{format}").code == 0
    assert wend("replay", bad, "--html", "x.html").code == 0
    assert r"\udfff" in (tmp_path / "x.lacam").read_text()


def test_a_trace_that_unpacks_to_far_more_than_it_is(wend, run) -> None:
    with zipfile.ZipFile(run) as archive:
        header = {**json.loads(archive.read("header.json")), "width": 17_320, "height": 17_320}
    bomb = rewritten(rewritten(run, "header.json", json.dumps(header).encode()).rename(run.with_name("b")),
                     "map.txt", (b"." * 17_320 + b"\n") * 17_320)  # fmt: skip
    assert bomb.stat().st_size < 10**6
    answer = wend("check", bomb)
    assert answer.code == 2
    assert "map.txt: unpacks to 299,999,720 bytes, over the limit" in answer.err


def test_damaged_and_unknown_packing_in_a_trace(wend, run) -> None:
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        assert "other than deflate" in wend("check", rewritten(run, "map.txt", b"....", method)).err


def test_a_large_run_that_packs_well_can_be_read_again(monkeypatch, run) -> None:
    """What would look like a bomb is stored as it is."""
    trace = Trace.load(run)
    for name, limit in {"UNPACKED_BYTES": 50, "UNPACKED_RATIO": 2, "JSON_BYTES": 50, "JSON_RATIO": 1}.items():
        monkeypatch.setattr(f"wend.files.{name}", limit)
    with pytest.raises(FormatError, match="unpacks to"):
        Trace.load(run)
    trace.save(run)
    assert Trace.load(run).ticks == trace.ticks


def test_a_map_that_this_machine_cannot_hold_is_refused_with_the_numbers(wend, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("wend.maps.memory.free_bytes", lambda: 8_000_000_000)
    (tmp_path / "huge.map").write_bytes(b"type octile\nheight 30000\nwidth 30000\nmap\n")
    answer = wend("solve", "huge.map")
    assert answer.code == 2
    assert "30,000 x 30,000 cells is too large: it takes about 10.8 GB, and this machine has 8.0 GB free" in answer.err
    (tmp_path / "endless.map").write_bytes(b"type octile\nheight 999999\nwidth 999999\nmap\n")
    assert "more than the 2,147,483,647" in wend("solve", "endless.map").err
    monkeypatch.setattr("wend.maps.memory.free_bytes", lambda: 20_000)
    answer = wend("solve", "open:width=32,height=32", "--agents", 1)
    assert (answer.code, "a world on it takes about" in answer.err) == (2, True)


def test_a_large_map_is_told_of_beforehand(wend, monkeypatch) -> None:
    monkeypatch.setattr("wend.cli.solve._LARGE_GB", 1e-6)
    answer = wend("solve", "open:width=12,height=10", "--agents", 1, "--algorithm", "lra")
    assert answer.err == "a map of 12 x 10 cells: a world on it takes about 0.0 GB\n"


