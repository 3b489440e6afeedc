"""The reader's kit and the writer's kit: what is refused, what is bounded, and that nothing is lost or half written."""

from __future__ import annotations

import contextlib
import io
import json
import os
import socket
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from wend.errors import FormatError, ParameterError
from wend.files import (
    MAX_DEPTH,
    check_writable,
    opened_zip,
    parse_json,
    printable,
    read_bytes,
    read_entry,
    replacing,
    to_json,
)


def write_half(path) -> None:
    with replacing(path) as file:
        file.write(b"half of the n")
        raise OSError(28, "No space left on device")


def test_the_old_file_stays_when_writing_fails(tmp_path) -> None:
    path = tmp_path / "a" / "file"
    with replacing(path) as file:
        file.write(b"old")
    with pytest.raises(OSError, match="No space left"):
        write_half(path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in path.parent.iterdir()] == ["file"]


def test_the_new_file_takes_its_place(tmp_path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o077 == (tmp_path / "file").stat().st_mode & 0o077


def test_a_disk_that_takes_no_more_leaves_the_old_file(tmp_path) -> None:
    """The limit on a file's size stands in for the full disk: the system refuses the write in the same way."""
    path = tmp_path / "run.wend"
    path.write_bytes(b"old")
    code = f"""
import resource, sys
import numpy as np
from wend import Grid, World
trace = World(Grid(np.random.default_rng(0).random((200, 200)) < 0.5), "lra").trace()
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    trace.save({str(path)!r})
except OSError as error:
    sys.exit(f"refused: {{error.strerror}}")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stderr.strip() == "refused: File too large"
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["run.wend"]


def test_unwritable_places_are_known_beforehand(tmp_path) -> None:
    check_writable(tmp_path / "new" / "file")
    assert not (tmp_path / "new" / "file").exists()
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match="file"):
        check_writable(tmp_path / "file" / "below")


@contextlib.contextmanager
def special_files(folder: Path):
    """A pipe that nothing writes to, a socket, and a device that never ends."""
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        before = Path.cwd()
        os.chdir(folder)        # the name of a socket is short
        try:
            server.bind("socket")
        finally:
            os.chdir(before)
        yield [folder / "pipe", folder / "socket", Path("/dev/zero")]


def test_only_regular_files_are_read_and_nothing_waits(tmp_path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with special_files(tmp_path) as special:
        for path in (*special, tmp_path, tmp_path / "none", tmp_path / "loop", "a\0b", "x" * 300):
            for read in (read_bytes, lambda path, at_most: opened_zip(path, at_most=at_most).__enter__()):
                with pytest.raises(FormatError):
                    read(path, at_most=2**40)


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(3 * 2**30)
    tracemalloc.start()
    with pytest.raises(FormatError, match="has 3,221,225,472 bytes, over the limit of 1,000"):
        read_bytes(path, at_most=1000)
    with pytest.raises(FormatError, match="not a readable zip"), opened_zip(path, at_most=2**40):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def zipped(path: Path, data: bytes, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("entry", data)
    return path


def test_bombs_are_refused(tmp_path) -> None:
    bomb = zipped(tmp_path / "bomb", b"\0" * (40 * 2**20))
    with opened_zip(bomb, at_most=2**20) as archive, pytest.raises(FormatError, match="unpacks to 41,943,040 bytes"):
        read_entry(archive, archive.infolist()[0], at_most=2**40)
    large = zipped(tmp_path / "large", b"\0" * (40 * 2**20), zipfile.ZIP_STORED)
    with opened_zip(large, at_most=2**30) as archive:       # as large as it looks, so no bomb
        assert len(read_entry(archive, archive.infolist()[0], at_most=2**40)) == 40 * 2**20
    packed = zipped(tmp_path / "lzma", b"x" * 1000, zipfile.ZIP_LZMA)
    with opened_zip(packed, at_most=2**20) as archive, pytest.raises(FormatError, match="other than deflate"):
        read_entry(archive, archive.infolist()[0], at_most=2**20)


def test_a_zip_with_an_endless_list_of_entries_is_refused(tmp_path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for k in range(100):
            archive.writestr(zipfile.ZipInfo(f"{k}" + "x" * 60_000), b"")
    (tmp_path / "long.zip").write_bytes(buffer.getvalue())
    with pytest.raises(FormatError, match="list of entries"), opened_zip(tmp_path / "long.zip", at_most=2**30):
        pass


@pytest.mark.parametrize(
    "text",
    [
        b"NaN", b"[Infinity]", b"-Infinity", b"1e999", b"[1, 2", b"\xff", b"", b"9" * 30, b"-" + b"9" * 5000,
        b"[" * 100_000, b'{"a":' * 100_000, b"[" * (MAX_DEPTH + 2) + b"]" * (MAX_DEPTH + 2),
    ],
)  # fmt: skip
def test_json_is_finite_shallow_and_standard(text) -> None:
    with pytest.raises(FormatError, match=r"^a\.json, line 3: "):
        parse_json(text, "a.json", line=3)


def test_json_is_read_and_written() -> None:
    value = {"a": [1, 2.5, None, True, "ü"], "b": {"c": [[0, 1]] * 100}, "n": 2**63 - 1}
    assert parse_json(to_json(value), "a.json") == value
    assert parse_json(rb'"\ud800 \ud83d\ude00"', "a.json") == "\\ud800 \N{GRINNING FACE}"
    odd = {"a": float("inf"), "b": (float("-inf"), float("nan"))}
    assert json.loads(to_json(odd)) == {"a": "inf", "b": ["-inf", None]}


def test_nothing_that_steers_a_terminal_is_shown() -> None:
    assert printable("a\x1b[31m\n\udcff\u202eb") == r"a\x1b[31m\n\udcff\u202eb"
    assert printable("Grüße, 你好") == "Grüße, 你好"


def test_a_name_as_long_as_the_system_allows_can_be_written(tmp_path) -> None:
    path = tmp_path / ("x" * 255)
    check_writable(path)
    with replacing(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    with pytest.raises(OSError, match="too long"):
        check_writable(tmp_path / ("x" * 256))


def test_special_files_are_never_replaced(tmp_path) -> None:
    with special_files(tmp_path) as special:
        for path in special:
            with pytest.raises(OSError, match="only files are written"), replacing(path):
                pass
            with pytest.raises(OSError, match="only files are written"):
                check_writable(path)
            assert path.exists()
            assert not path.is_file()


def test_links_are_written_through_and_modes_are_kept(tmp_path) -> None:
    (tmp_path / "there").mkdir()
    target, link, dangling = tmp_path / "there" / "file", tmp_path / "link", tmp_path / "dangling"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    dangling.symlink_to(tmp_path / "there" / "new")
    for path in (link, dangling):
        with replacing(path) as file:
            file.write(b"new")
        assert path.is_symlink()
        assert path.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in target.parent.iterdir()) == ["file", "new"]


def test_an_input_is_not_overwritten(tmp_path) -> None:
    (tmp_path / "run").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    assert check_writable(tmp_path / "run") is True
    assert check_writable(tmp_path / "new", inputs=[tmp_path / "run"]) is False
    for path in ("run", "link"):
        with pytest.raises(ParameterError, match="overwrite what it is made from"):
            check_writable(tmp_path / path, inputs=[tmp_path / "none", tmp_path / "run"])
