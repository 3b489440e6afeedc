"""MovingAI's two formats: what is read, what is written, and what every kind of bad file is told."""

from __future__ import annotations

import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from wend.errors import FormatError, MapError, ParameterError, ProblemError
from wend.maps import movingai
from wend.maps.movingai import (
    Scenario,
    ScenarioRow,
    parse_map,
    parse_scen,
    read_map,
    read_scen,
    write_map,
    write_scen,
)

MAP = b"type octile\nheight 2\nwidth 7\nmap\n.GS@OTW\n@......\n"
ROWS = [[1, 1, 1, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1, 1]]
SCEN = b"version 1\n0\ta b.map\t7\t2\t0\t0\t2\t1\t2.41421\n3\ta b.map\t7\t2\t6\t1\t6\t1\t0\n"
FIRST = ScenarioRow(0, "a b.map", 7, 2, (0, 0), (2, 1), 2.41421)


def test_letters_become_terrain() -> None:
    passable = parse_map(MAP, "a.map")
    assert passable.dtype == np.bool_
    assert passable.flags.c_contiguous
    assert passable.tolist() == np.array(ROWS, dtype=bool).tolist()


@pytest.mark.parametrize(
    "data",
    [
        MAP.replace(b"\n", b"\r\n"),
        MAP.rstrip(b"\n"),
        MAP + b"\n\r\n\n",
        MAP.replace(b"height 2\nwidth 7\n", b"width 7\nheight 2\n"),
        MAP.replace(b"type octile\n", b"").replace(b"map\n", b"type\toctile \nmap \n"),
        MAP.replace(b"height 2", b"height 0000000000002"),
    ],
    ids=["crlf", "no final newline", "trailing blank lines", "width first", "blanks in the header", "leading zeros"],
)
def test_harmless_variants_read_alike(data: bytes) -> None:
    assert parse_map(data, "a.map").tolist() == parse_map(MAP, "a.map").tolist()


BAD_MAPS = {
    "empty": (b"", None, "empty"),
    "only blanks": (b" \r\n\n", None, "empty"),
    "unknown letter": (MAP.replace(b"@......", b"@..x..."), 6, "column 4 holds 'x'"),
    "wall of a drawing": (MAP.replace(b"W", b"#"), 5, "column 7 holds '#'"),
    "NUL": (MAP.replace(b"W", b"\0"), 5, "column 7 holds a NUL byte"),
    "not ASCII": (MAP.replace(b"G", b"\xff"), 5, "column 2 holds the byte 0xff, which is not ASCII"),
    "lone carriage return": (MAP.replace(b"G", b"\r"), 5, r"column 2 holds '\\r'"),
    "byte order mark": (b"\xef\xbb\xbf" + MAP, 1, r"not '\\\\xef"),
    "truncated after a row": (MAP[:41], 5, "truncated: 1 rows, the header says height 2"),
    "truncated in a row": (MAP[:-3], 6, "the row has 5 cells, the header says width 7"),
    "no rows": (MAP[:33], 4, "truncated: 0 rows"),
    "too many rows": (MAP + b".......\n", 7, "more rows than the 2"),
    "long row": (MAP.replace(b"W\n", b"WW\n"), 5, "the row has 8 cells"),
    "right length, wrong breaks": (MAP.replace(b"W\n@", b"\nW@"), 5, "the row has 6 cells"),
    "blank between rows": (MAP.replace(b"W\n", b"W\n\n"), 6, "the row has 0 cells"),
    "header cut off": (MAP[:20], 2, "ends inside the header"),
    "no width": (MAP.replace(b"width 7\n", b""), 3, "lacks width"),
    "no header": (b"map\n..\n", 1, "lacks type and height and width"),
    "two widths": (MAP.replace(b"map\n", b"width 7\nmap\n"), 4, "says width twice"),
    "unknown key": (MAP.replace(b"map\n", b"depth 7\nmap\n"), 4, "not 'depth 7'"),
    "unknown type": (MAP.replace(b"octile", b"hex"), 1, "unknown map type 'hex'"),
    "zero": (MAP.replace(b"height 2", b"height 0"), 2, "height is '0'; it must be a whole number from 1"),
    "negative": (MAP.replace(b"height 2", b"height -2"), 2, "height is '-2'"),
    "fraction": (MAP.replace(b"width 7", b"width 7.0"), 3, "width is '7.0'"),
    "underscore": (MAP.replace(b"width 7", b"width 0_7"), 3, "width is '0_7'"),
    "no number": (MAP.replace(b"width 7", b"width x"), 3, "width is 'x'"),
    "thousands of digits": (MAP.replace(b"width 7", b"width " + b"7" * 9000), 3, r"width is '7{40}'\.\.\.; it must"),
}


@pytest.mark.parametrize(("data", "line", "reason"), BAD_MAPS.values(), ids=BAD_MAPS.keys())
def test_bad_map_is_told_what_and_where(data: bytes, line: int | None, reason: str) -> None:
    with pytest.raises(FormatError, match=reason) as caught:
        parse_map(data, "maps/a.map")
    assert caught.value.line == line
    assert str(caught.value).startswith("maps/a.map")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("size", [b"1000000000", b"999999999"])
def test_huge_header_allocates_nothing(size: bytes) -> None:
    data = MAP.replace(b"height 2", b"height " + size).replace(b"width 7", b"width " + size)
    tracemalloc.start()
    try:
        with pytest.raises(FormatError):
            parse_map(data, "a.map")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**20


def test_map_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "a.map"
    write_map(ROWS, path)
    assert path.read_bytes() == b"type octile\nheight 2\nwidth 7\nmap\n...@@@@\n@......\n"
    assert read_map(path).tolist() == np.array(ROWS, dtype=bool).tolist()
    assert read_map(str(path)).shape == (2, 7)


@pytest.mark.parametrize("passable", [[True], [[]], [[[True]]]])
def test_what_is_no_map_is_not_written(passable: object, tmp_path: Path) -> None:
    with pytest.raises(MapError, match="2-D"):
        write_map(passable, tmp_path / "a.map")     # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"nope\.map: there is no such file"):
        read_map(tmp_path / "nope.map")
    with pytest.raises(FormatError, match="is a folder"):
        read_map(tmp_path)
    with pytest.raises(FormatError, match="cannot be read"):
        read_scen("a\0.scen")
    with pytest.raises(FormatError, match="cannot be read"):
        read_scen("a" * 5000)


# --- scenarios -----------------------------------------------------------------------------------------------------


def test_scenario_is_read() -> None:
    scenario = parse_scen(SCEN, "some/where/a b.map.scen")
    assert scenario.name == "a b"
    assert scenario.rows == (FIRST, ScenarioRow(3, "a b.map", 7, 2, (6, 1), (6, 1), 0.0))


@pytest.mark.parametrize(
    "data",
    [
        SCEN.replace(b"version 1", b"version 1.0"),
        SCEN.replace(b"\n", b"\r\n"),
        SCEN.rstrip(b"\n"),
        SCEN + b"\n \n",
        SCEN.replace(b"\n0\t", b"\n0 \t "),
    ],
    ids=["1.0", "crlf", "no final newline", "trailing blank lines", "blanks beside a tab"],
)
def test_harmless_scenario_variants_read_alike(data: bytes) -> None:
    assert parse_scen(data, "a.scen").rows == parse_scen(SCEN, "a.scen").rows


def test_fields_may_be_separated_by_blanks() -> None:
    assert parse_scen(b"version 1\n0  a.map 7 2 0 0 2 1 2.5\t", "a").rows == (
        ScenarioRow(0, "a.map", 7, 2, (0, 0), (2, 1), 2.5),
    )


def test_without_version_rows_have_no_map_size() -> None:
    assert parse_scen(b"0\ta.map\t0\t0\t2000\t1\t2.5e3\n", "a").rows == (
        ScenarioRow(0, "a.map", None, None, (0, 0), (2000, 1), 2500.0),
    )


def _row(field: int, value: bytes) -> bytes:
    fields = [b"0", b"a.map", b"7", b"2", b"0", b"0", b"2", b"1", b"2.5"]
    fields[field] = value
    return b"version 1\n0 a.map 7 2 0 0 2 1 2.5\n" + b"\t".join(fields)


BAD_SCENS = {
    "empty": (b"", None, "empty"),
    "unknown version": (b"version 2\n", 1, "'version 2': only 'version 1' is known"),
    "no version number": (b"version\n", 1, "only 'version 1' is known"),
    "eight fields": (SCEN.replace(b"\t0\n", b"\n"), 3, "8 fields; a row of version 1 has 9: bucket, map, width"),
    "nine without version": (b"0 a.map 7 2 0 0 2 1 2.5", 1, "9 fields; .* without the line 'version 1' has 7"),
    "blank line between": (SCEN.replace(b"1\n0", b"1\n\n0"), 2, "0 fields"),
    "NUL": (SCEN.replace(b"a b", b"a\0b", 1), 2, "column 4 holds a NUL byte"),
    "not ASCII": (SCEN.replace(b"a b", "ä".encode(), 1), 2, "column 3 holds the byte 0xc3, which is not ASCII"),
    "bucket": (_row(0, b"x"), 3, "bucket is 'x'"),
    "width zero": (_row(2, b"0"), 3, "width is '0'; it must be a whole number from 1"),
    "height fraction": (_row(3, b"2.0"), 3, "height is '2.0'"),
    "negative start": (_row(4, b"-1"), 3, "start x is '-1'"),
    "start off the map": (_row(4, b"7"), 3, r"the start \(7, 0\) is off the map, which is 7 x 2"),
    "goal off the map": (_row(7, b"2"), 3, r"the goal \(2, 2\) is off the map"),
    "thousands of digits": (_row(6, b"1" * 9000), 3, r"goal x is '1{40}'\.\.\."),
    "optimal nan": (_row(8, b"nan"), 3, "optimal is 'nan'; it must be a finite number"),
    "optimal inf": (_row(8, b"inf"), 3, "optimal is 'inf'"),
    "optimal overflows": (_row(8, b"1e999"), 3, "optimal is '1e999'"),
    "optimal negative": (_row(8, b"-0.5"), 3, "optimal is '-0.5'"),
    "optimal underscore": (_row(8, b"1_0"), 3, "optimal is '1_0'"),
}


@pytest.mark.parametrize(("data", "line", "reason"), BAD_SCENS.values(), ids=BAD_SCENS.keys())
def test_bad_scenario_is_told_what_and_where(data: bytes, line: int | None, reason: str) -> None:
    with pytest.raises(FormatError, match=reason) as caught:
        parse_scen(data, "scens/a.scen")
    assert caught.value.line == line
    assert str(caught.value).startswith("scens/a.scen")


def test_first_rows() -> None:
    scenario = parse_scen(SCEN, "a.scen")
    assert scenario.first(1) == Scenario("a", (FIRST,))
    assert scenario.first(2) == scenario
    assert scenario.first(0).rows == ()
    with pytest.raises(ProblemError, match="a has 2 rows, too few for the first 3"):
        scenario.first(3)
    with pytest.raises(ParameterError, match="negative"):
        scenario.first(-1)


def test_scenario_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "a.scen"
    rows = (FIRST, ScenarioRow(7, "maps/b.map", 9, 9, (np.int64(8), 8), (0, 0), 8 * np.sqrt(2)))     # type: ignore[arg-type]
    write_scen(Scenario("a", rows), path)
    lines = path.read_bytes().split(b"\n")
    assert lines[:2] == [b"version 1", b"0\ta b.map\t7\t2\t0\t0\t2\t1\t2.41421"]
    assert read_scen(path) == Scenario("a", rows)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"width": None}, "line 2: version 1 needs the map's width and height"),
        ({"map": " a.map"}, "would not read back"),
        ({"map": "a.map\t1\t1\t0\t0\t0\t0\t0\n0\tb.map"}, "would not read back"),
        ({"map": "ä.map"}, "not ASCII"),
        ({"map": ""}, "8 fields"),
        ({"start": (7, 0)}, "off the map"),
        ({"start": (0.5, 0)}, "start x is '0.5'"),
        ({"optimal": float("nan")}, "optimal is 'nan'"),
    ],
)
def test_what_would_not_read_back_is_not_written(change: dict[str, object], reason: str, tmp_path: Path) -> None:
    fields = {name: getattr(FIRST, name) for name in ScenarioRow.__slots__} | change
    path = tmp_path / "a.scen"
    path.write_bytes(SCEN)
    with pytest.raises(FormatError, match=reason):
        write_scen(Scenario("a", (ScenarioRow(**fields),)), path)
    assert path.read_bytes() == SCEN


# --- zips ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "set-map.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.map", MAP)
        file.writestr("scen-random/a-random-1.scen", SCEN)
        file.writestr("../up.map", MAP)
        file.writestr("bad.map", MAP[:-3])
    return path


def test_read_from_zip(archive: Path) -> None:
    assert read_map(archive / "a.map").shape == (2, 7)
    assert read_map(f"{archive}/a.map").shape == (2, 7)
    assert read_scen(archive / "scen-random" / "a-random-1.scen").name == "a-random-1"
    assert [path.name for path in archive.parent.iterdir()] == ["set-map.zip"]


def test_errors_of_an_entry_name_zip_entry_and_line(archive: Path) -> None:
    with pytest.raises(FormatError, match=r"set-map\.zip/bad\.map, line 6: the row has 5 cells"):
        read_map(archive / "bad.map")


def test_missing_entries(archive: Path) -> None:
    with pytest.raises(FormatError, match=r"no entry 'aa\.map'; it has a\.map"):
        read_map(archive / "aa.map")
    with pytest.raises(FormatError, match="no entry 'quite-another-name' among its 4"):
        read_map(archive / "quite-another-name")
    with pytest.raises(FormatError, match="name the entry too"):
        read_map(archive)


@pytest.mark.parametrize("entry", ["../up.map", "scen-random/../../x.map", "..\\x.map", "C:/x.map"])
def test_names_that_lead_out_are_refused(archive: Path, entry: str) -> None:
    with pytest.raises(FormatError, match="leads out of the zip"):
        read_map(f"{archive}/{entry}")


def test_bomb_is_refused_before_reading(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(movingai, "MAX_ENTRY_BYTES", len(MAP) - 1)
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("opened"))
    with pytest.raises(FormatError, match=f"unpacks to {len(MAP)} bytes, over the limit"):
        read_map(archive / "a.map")


def test_bomb_with_a_lying_header_stays_small(tmp_path: Path) -> None:
    """The entry declares 10 bytes and holds 32 MiB."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.map", bytes(2**25))
    honest, lie = struct.pack("<L", 2**25), struct.pack("<L", 10)
    assert path.read_bytes().count(honest) == 2
    path.write_bytes(path.read_bytes().replace(honest, lie))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match="cannot be unpacked: Bad CRC"):
            read_map(path / "a.map")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**21


def test_rare_packing_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("a.map", MAP)
    with pytest.raises(FormatError, match="other than deflate"):
        read_map(tmp_path / "a.zip" / "a.map")


def test_damaged_zips(archive: Path) -> None:
    data = archive.read_bytes()
    archive.write_bytes(data.replace(b"a.map", b"b.map", 1))
    with pytest.raises(FormatError, match="cannot be unpacked"):
        read_map(archive / "a.map")
    archive.write_bytes(data[:-30])
    with pytest.raises(FormatError, match="not a readable zip"):
        read_map(archive / "a.map")


def test_a_folder_may_be_called_zip(tmp_path: Path) -> None:
    write_map(ROWS, tmp_path / "set.zip" / "a.map")
    assert read_map(tmp_path / "set.zip" / "a.map").shape == (2, 7)


def test_benchmark_maps(movingai: Path) -> None:
    """Passable cells of Baldur's Gate maps, as MAPP's Table 1 counts them."""
    path = movingai / "bgmaps-map.zip"
    if not path.exists():
        pytest.skip("needs bgmaps-map.zip")
    cells = {name: int(read_map(path / f"{name}.map").sum()) for name in ("AR0700SR", "AR0414SR", "AR0603SR")}
    assert cells == {"AR0700SR": 51586, "AR0414SR": 22841, "AR0603SR": 13765}
