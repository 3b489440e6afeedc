"""The data folder: adding, listing, finding and fetching, and that a failure leaves it as it was."""

from __future__ import annotations

import errno
import io
import os
import socket
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from wend.errors import DataError, FormatError, UnknownNameError
from wend.maps import data
from wend.maps.data import DataSet, add, data_folder, fetch, find_map, find_scen, list_sets
from wend.maps.movingai import read_map, read_scen

MAP = b"type octile\nheight 1\nwidth 3\nmap\n..@\n"
SCEN = b"version 1\n0\ta.map\t3\t1\t0\t0\t1\t0\t1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that does not exist yet."""
    monkeypatch.setenv("WEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("WEND_DATA_URL", raising=False)
    return tmp_path / "data"


def zipped(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def make_zip(path: Path, *names: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zipped({name: MAP if name.endswith(".map") else SCEN for name in names}))
    return path


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files under a folder, hidden ones included."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- where it is -----------------------------------------------------------------------------------------------------


def test_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert data_folder() == tmp_path / "data"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("WEND_DATA", "~/maps")
    assert data_folder() == tmp_path / "home" / "maps"
    monkeypatch.delenv("WEND_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_folder() == tmp_path / "xdg" / "wend"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert data_folder() == tmp_path / "home" / ".local" / "share" / "wend"


def test_data_folder_that_is_a_file(folder: Path) -> None:
    folder.write_text("")
    with pytest.raises(DataError, match="cannot be read"):
        list_sets()


# --- adding ----------------------------------------------------------------------------------------------------------


def test_zips_join_the_set_of_their_name(tmp_path: Path, folder: Path) -> None:
    names = {"bg512-map.zip": "bg512", "mapf-scen-random.zip": "mapf", "dao-scen-lak506d.zip": "dao", "foo.zip": "foo"}
    for file, name in names.items():
        assert add(make_zip(tmp_path / file, "a.map", "b/c.scen")) == DataSet(name, 1, 1, (folder / file,))
    assert [s.name for s in list_sets()] == ["bg512", "dao", "foo", "mapf"]
    assert (folder / "foo.zip").read_bytes() == (tmp_path / "foo.zip").read_bytes()


def test_one_set_of_several_files(tmp_path: Path, folder: Path) -> None:
    add(make_zip(tmp_path / "mapf-map.zip", "a.map", "b.map", "readme.txt", "__MACOSX/._a.map", ".hidden.map"))
    add(str(make_zip(tmp_path / "mapf-scen-random.zip", "scen-random/a-random-1.scen")))
    (tmp_path / "mapf" / "deep").mkdir(parents=True)
    (tmp_path / "mapf" / "a.map").write_bytes(MAP)
    (tmp_path / "mapf" / "deep" / "c.map").write_bytes(MAP)
    (tmp_path / "mapf" / "notes.txt").write_bytes(b"not copied")
    add(tmp_path / "mapf")
    files = ("mapf", "mapf-map.zip", "mapf-scen-random.zip")
    assert list_sets() == [DataSet("mapf", 3, 1, tuple(folder / name for name in files))]
    assert sorted(snapshot(folder / "mapf")) == ["a.map", "deep/c.map"]


def test_empty_data_folder_lists_nothing() -> None:
    assert list_sets() == []


def test_folder_replaces_its_old_self(tmp_path: Path, folder: Path) -> None:
    source = tmp_path / "mine"
    source.mkdir()
    (source / "old.map").write_bytes(MAP)
    add(source)
    (source / "old.map").rename(source / "new.map")
    assert add(source).maps == 1
    assert snapshot(folder) == {"mine/new.map": MAP}
    assert add(folder / "mine").maps == 1       # onto itself
    assert snapshot(folder) == {"mine/new.map": MAP}


def test_other_files_of_a_set_stay(tmp_path: Path, folder: Path) -> None:
    for path in (tmp_path / "mine", folder / "mine"):
        path.mkdir(parents=True)
        (path / "a.map").write_bytes(MAP)
    (folder / "mine" / "old.map").write_bytes(MAP)
    (folder / "mine" / "NOTES.txt").write_bytes(b"precious")
    (folder / "mine" / "deep").mkdir()
    (folder / "mine" / "deep" / "more.txt").write_bytes(b"too")
    before = snapshot(folder)
    add(folder / "mine")        # onto itself
    assert snapshot(folder) == before
    add(tmp_path / "mine")
    assert snapshot(folder / "mine") == {"a.map": MAP, "NOTES.txt": b"precious", "deep/more.txt": b"too"}


def test_links_and_bad_files_in_a_folder_are_refused(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "secret").write_bytes(MAP)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "b.map").write_bytes(MAP)
    for name, make in {
        "file": lambda path: (path / "a.map").symlink_to(tmp_path / "secret"),
        "folder": lambda path: (path / "sub").symlink_to(tmp_path / "elsewhere"),
        "map": lambda path: (path / "a.map").write_bytes(MAP[:-3]),
        "scen": lambda path: (path / "a.scen").write_bytes(SCEN + b"x"),
    }.items():
        path = tmp_path / f"bad {name}"
        path.mkdir()
        make(path)
        with pytest.raises(DataError, match=r"symbolic link|cannot be added: .*line|holds no \.map"):
            add(path)
    assert not folder.exists()


def test_bad_maps_in_a_zip_are_refused(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"a.map": MAP, "b.map": MAP + b"...\n"}))
    with pytest.raises(DataError, match=r"a\.zip/b\.map, line 6: more rows"):
        add(tmp_path / "a.zip")
    assert not folder.exists()


def test_folder_named_by_dots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine" / "sub").mkdir(parents=True)
    (tmp_path / "mine" / "a.map").write_bytes(MAP)
    monkeypatch.chdir(tmp_path / "mine" / "sub")
    assert add("..").name == "mine"


BAD_ZIPS = {
    "not a zip": (b"garbage", "a.zip is not a readable zip"),
    "empty": (b"", "not a readable zip"),
    "half": (zipped({"a.map": MAP})[:40], "not a readable zip"),
    "nothing in it": (zipped({"a.txt": MAP}), "holds no .map and no .scen"),
    "only what macOS adds": (zipped({"__MACOSX/a.map": MAP}), "holds no .map and no .scen"),
    "leads out": (zipped({"a.map": MAP, "../b.map": MAP}), "leads out of the zip"),
    "absolute": (zipped({"/b.map": MAP}), "leads out of the zip"),
    "wrong checksum": (zipped({"a.map": MAP}).replace(zipped({"a.map": MAP})[14:18], b"\0\1\2\3"), "Bad CRC"),
}


@pytest.mark.parametrize(("content", "reason"), BAD_ZIPS.values(), ids=BAD_ZIPS.keys())
def test_bad_zip_is_refused_and_the_old_one_stays(content: bytes, reason: str, tmp_path: Path, folder: Path) -> None:
    add(make_zip(tmp_path / "a.zip", "old.map"))
    before = snapshot(folder)
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(DataError, match=reason):
        add(tmp_path / "a.zip")
    assert snapshot(folder) == before


def test_zip_bombs_are_refused(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_zip(tmp_path / "a.zip", "a.map", "b.map")
    monkeypatch.setattr(data, "MAX_UNPACKED_BYTES", 2 * len(MAP) - 1)
    with pytest.raises(DataError, match=f"unpacks to {2 * len(MAP)} bytes"):
        add(path)
    monkeypatch.undo()
    monkeypatch.setenv("WEND_DATA", str(folder))
    monkeypatch.setattr("wend.maps.movingai.MAX_ENTRY_BYTES", len(MAP) - 1)
    with pytest.raises(DataError, match="over the limit"):
        add(path)
    assert not folder.exists()


def test_damaged_zips_end_in_data_errors(tmp_path: Path) -> None:
    """Any one byte changed, any length cut to: added or refused, but never another exception."""
    good = make_zip(tmp_path / "a.zip", "a.map", "b.scen").read_bytes()
    rng = np.random.default_rng(5)
    refused = 0
    for trial in range(300):
        changed = bytearray(good)
        changed[rng.integers(len(good))] ^= 1 << int(rng.integers(8))
        (tmp_path / "a.zip").write_bytes(changed if trial % 3 else good[: rng.integers(len(good))])
        try:
            add(tmp_path / "a.zip")
        except DataError:
            refused += 1
    assert refused > 150


@pytest.mark.parametrize("name", ["nope.zip", "nope", "a.map", ".hidden.zip"])
def test_what_cannot_be_added(name: str, tmp_path: Path, folder: Path) -> None:
    (tmp_path / "a.map").write_bytes(MAP)
    make_zip(tmp_path / ".hidden.zip", "a.map")
    with pytest.raises(DataError, match=r"neither a zip nor a folder|no name that a set could have"):
        add(tmp_path / name)
    assert not folder.exists()


def test_folder_without_maps(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(DataError, match=r"holds no \.map"):
        add(tmp_path / "mine")


def full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_full_disk_keeps_the_old(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.map").write_bytes(MAP)
    add(tmp_path / "mine")
    add(make_zip(tmp_path / "a.zip", "a.map"))
    before = snapshot(folder)
    make_zip(tmp_path / "a.zip", "b.map")
    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(DataError, match=r"a\.zip could not be added to .*: No space left"):
        add(tmp_path / "a.zip")
    monkeypatch.setattr("shutil.copyfile", full_disk)
    with pytest.raises(DataError, match=r"mine could not be added to .*: No space left"):
        add(tmp_path / "mine")
    assert snapshot(folder) == before


@pytest.mark.parametrize(("trouble", "told"), [(OSError("disk"), DataError), (KeyboardInterrupt(), KeyboardInterrupt)])
def test_folder_comes_back_when_the_new_one_cannot_be_put_in_place(
    trouble: BaseException, told: type[BaseException], tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.map").write_bytes(MAP)
    add(tmp_path / "mine")
    rename = Path.rename

    def fails_for_new(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise trouble
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails_for_new)
    with pytest.raises(told):
        add(tmp_path / "mine")
    assert snapshot(folder) == {"mine/a.map": MAP}


# --- finding ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def filled(folder: Path) -> Path:
    make_zip(folder / "bg512-map.zip", *(f"AR04{n:02d}SR.map" for n in range(30)))
    make_zip(folder / "mapf-scen-random.zip", "scen-random/den312d-random-1.scen", "scen-random/den312d-random-10.scen")
    make_zip(folder / "dao-scen-lak506d.zip", "lak506d.map.scen")
    make_zip(folder / "twice.zip", "a/x.map", "b/x.map", "b/y.map")
    (folder / "twice").mkdir()
    (folder / "twice" / "y.map").write_bytes(MAP)
    return folder


def test_find_map(filled: Path) -> None:
    source = f"{filled}/bg512-map.zip/AR0414SR.map"
    assert find_map("bg512/AR0414SR") == find_map("bg512/AR0414SR.map") == source
    assert read_map(source).tolist() == [[True, True, False]]


def test_find_scen(filled: Path) -> None:
    random_1 = f"{filled}/mapf-scen-random.zip/scen-random/den312d-random-1.scen"
    for name in ("den312d-random-1", "den312d-random-1.scen", "scen-random/den312d-random-1"):
        assert find_scen(f"mapf/{name}") == random_1
    assert read_scen(random_1).name == "den312d-random-1"
    for name in ("lak506d", "lak506d.scen", "lak506d.map", "lak506d.map.scen"):
        assert find_scen(f"dao/{name}") == f"{filled}/dao-scen-lak506d.zip/lak506d.map.scen"


def test_same_name_in_two_folders_must_be_told_apart(filled: Path) -> None:
    with pytest.raises(DataError, match=r"'twice/x' may be more than one map: twice/a/x\.map, twice/b/x\.map"):
        find_map("twice/x")
    assert find_map("twice/b/x") == f"{filled}/twice.zip/b/x.map"


def test_a_folder_wins_over_a_zip(filled: Path) -> None:
    assert find_map("twice/y") == f"{filled}/twice/y.map"


@pytest.mark.usefixtures("filled")
def test_unknown_names_list_what_is_close_and_how_to_add() -> None:
    with pytest.raises(UnknownNameError, match=r"'bg51'.*Did you mean 'bg512'.*wend data add ZIP") as caught:
        find_map("bg51/AR0414SR")
    assert caught.value.known == ("bg512", "dao", "mapf", "twice")
    with pytest.raises(UnknownNameError, match=r"10 of 30 shown.*wend data fetch") as caught:
        find_map("bg512/AR0499SR")
    assert len(caught.value.known) == 10
    assert "bg512/AR0409SR" in caught.value.known
    with pytest.raises(UnknownNameError) as caught:
        find_map("bg512/quite-another-name")
    assert len(caught.value.known) == 10
    with pytest.raises(UnknownNameError) as caught:
        find_scen("mapf/den312d")
    assert caught.value.known == ("mapf/den312d-random-1", "mapf/den312d-random-10")
    for name in ("mapf", "mapf/", "bg512/AR0414SR", ""):
        with pytest.raises(UnknownNameError):
            find_scen(name)
    for name in ("mapf/den312d-random-1", "dao/lak506d.map.scen"):
        with pytest.raises(UnknownNameError):
            find_map(name)


def test_nothing_added_yet() -> None:
    with pytest.raises(UnknownNameError, match=r"Known: none\. Data is added with"):
        find_map("bg512/AR0414SR")


def test_broken_zip_in_the_folder_is_named(folder: Path) -> None:
    make_zip(folder / "good.zip", "a.map")
    (folder / "bad.zip").write_bytes(b"garbage")
    with pytest.raises(DataError, match=r"bad\.zip is not a readable zip .*: add it again, or remove it"):
        list_sets()
    assert find_map("good/a") == f"{folder}/good.zip/a.map"


@pytest.mark.parametrize("entry", ["{}/secret.map", "../../secret.map"])
def test_entries_of_a_zip_put_there_by_hand_cannot_lead_out(entry: str, tmp_path: Path, folder: Path) -> None:
    (tmp_path / "secret.map").write_bytes(MAP)
    make_zip(folder / "evil.zip", entry.format(tmp_path))
    with pytest.raises((FormatError, UnknownNameError)):
        read_map(find_map("evil/secret"))


# --- fetching --------------------------------------------------------------------------------------------------------


class Site(ThreadingHTTPServer):
    """A little MovingAI; what it answers, by path: status, body, Content-Length (left out if negative)."""

    answers: dict[str, tuple[int, bytes, int]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/benchmarks"

    def serve(self, path: str, body: bytes, *, status: int = 200, length: int | None = None) -> None:
        self.answers[f"/benchmarks/{path}"] = (status, body, len(body) if length is None else length)


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        status, body, length = self.server.answers.get(self.path, (404, b"", 0))
        self.send_response(status)
        if length >= 0:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("no_proxy", "*")
    with Site(("127.0.0.1", 0), _Handler) as server:
        server.answers = {}
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_fetch(site: Site, folder: Path) -> None:
    body = zipped({f"{n}.map": MAP + b"\n" * n for n in range(1000)})
    site.serve("bg512/bg512-map.zip", body)
    seen: list[tuple[int, int | None]] = []
    fetched = fetch("bg512", base_url=site.url + "/", progress=lambda *step: seen.append(step))
    assert fetched == DataSet("bg512", 1000, 0, (folder / "bg512-map.zip",))
    assert snapshot(folder) == {"bg512-map.zip": body}
    assert len(seen) > 1
    assert seen == sorted(seen)
    assert seen[-1] == (len(body), len(body))


def test_fetch_takes_the_scenarios_of_mapf_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    site.serve("mapf/mapf-map.zip", zipped({"a.map": MAP}))
    site.serve("mapf/mapf-scen-random.zip", zipped({"scen-random/a-random-1.scen": SCEN}))
    monkeypatch.setenv("WEND_DATA_URL", site.url)
    fetched = fetch("mapf")
    assert (fetched.maps, fetched.scens) == (1, 1)
    assert read_scen(find_scen("mapf/a-random-1")).rows[0].goal == (1, 0)


def test_fetch_without_a_length(site: Site) -> None:
    site.serve("sc1/sc1-map.zip", zipped({"a.map": MAP}), length=-1)
    seen: list[tuple[int, int | None]] = []
    assert fetch("sc1", base_url=site.url, progress=lambda *step: seen.append(step)).maps == 1
    assert {expected for _, expected in seen} == {None}


GOOD = zipped({"new.map": MAP})
BAD_ANSWERS = {
    "404": ({"status": 404, "body": b"no"}, "the server answered 404 Not Found"),
    "500": ({"status": 500, "body": b""}, "the server answered 500"),
    "cut off": ({"body": GOOD[:50], "length": len(GOOD)}, f"was cut off: 50 of {len(GOOD)} bytes came"),
    "cut off, length unknown": ({"body": GOOD[:50], "length": -1}, "not a readable zip"),
    "garbage": ({"body": b"<html>moved</html>"}, "of no use: bg512-map.zip is not a readable zip"),
    "no maps": ({"body": zipped({"a.txt": b""})}, "holds no .map"),
    "unsafe": ({"body": zipped({"../a.map": MAP})}, "leads out of the zip"),
}


@pytest.mark.parametrize(("answer", "reason"), BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
def test_failed_fetch_leaves_the_folder_as_it_was(
    answer: dict[str, object], reason: str, site: Site, tmp_path: Path, folder: Path
) -> None:
    add(make_zip(tmp_path / "bg512-map.zip", "old.map"))
    before = snapshot(folder)
    site.serve("bg512/bg512-map.zip", **answer)     # type: ignore[arg-type]
    with pytest.raises(DataError, match=reason) as caught:
        fetch("bg512", base_url=site.url)
    assert f"{site.url}/bg512/bg512-map.zip" in str(caught.value)
    assert snapshot(folder) == before
    assert list(folder.iterdir()) == [folder / "bg512-map.zip"]


def test_all_zips_of_a_set_or_none(site: Site, folder: Path) -> None:
    site.serve("mapf/mapf-map.zip", zipped({"a.map": MAP}))
    with pytest.raises(DataError, match=r"mapf-scen-random\.zip cannot be downloaded.*404"):
        fetch("mapf", base_url=site.url)
    assert list(folder.iterdir()) == []


def test_endless_body_is_cut(site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MAX_ZIP_BYTES", 50)
    site.serve("bg512/bg512-map.zip", GOOD, length=-1)
    with pytest.raises(DataError, match="more than the limit of 50 bytes"):
        fetch("bg512", base_url=site.url)
    assert list(folder.iterdir()) == []


def test_fetch_onto_a_full_disk(site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.serve("bg512/bg512-map.zip", GOOD)
    monkeypatch.setattr("os.fsync", full_disk)
    with pytest.raises(DataError, match=f"bg512 could not be saved in {folder}: No space left"):
        fetch("bg512", base_url=site.url)
    assert list(folder.iterdir()) == []


def test_interrupted_fetch_leaves_nothing(site: Site, folder: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    site.serve("bg512/bg512-map.zip", GOOD)
    with pytest.raises(KeyboardInterrupt):
        fetch("bg512", base_url=site.url, progress=interrupt)
    assert list(folder.iterdir()) == []


def test_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as taken:      # bound, so that nobody else can have the port, but not listening
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(DataError, match=r"cannot be downloaded: .*refused"):
            fetch("bg512", base_url=f"http://127.0.0.1:{taken.getsockname()[1]}")


def test_address_that_is_none() -> None:
    with pytest.raises(DataError, match=r"nonsense/bg512/bg512-map\.zip cannot be downloaded: unknown url type"):
        fetch("bg512", base_url="nonsense")


def test_unknown_set() -> None:
    with pytest.raises(UnknownNameError, match=r"'bg513'.*Did you mean 'bg512'.*Known: .*wc3maps512"):
        fetch("bg513")
