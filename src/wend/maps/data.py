"""The data folder: benchmark maps and scenarios, as the MovingAI site serves them.

The folder holds the site's zips as they are (`bg512-map.zip`, `mapf-scen-random.zip`) and folders of `.map` and `.scen`
files (`mine/`). A zip belongs to the set that its name begins with, a folder is a set of its own name, and a map or a
scenario is addressed as `set/name`. Zips are read in place and never extracted.

Whatever is added is checked first, written aside, and renamed into place. So the folder never holds half a file, and
when something fails, the old files stay. `docs/data.md` is the user's side of this.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from wend.errors import DataError, FormatError, UnknownNameError
from wend.files import opened_zip, replacing
from wend.maps.download import Progress, download
from wend.maps.movingai import MAX_ZIP_BYTES, parse_map, parse_scen, read_map, read_scen, read_zipped

MOVINGAI_URL = "https://movingai.com/benchmarks"

# The site's two-dimensional sets, and the zips that `fetch` takes of each.
KNOWN_SETS = {
    name: (f"{name}-map.zip",)
    for name in ("bg512", "bgmaps", "da2", "dao", "maze", "random", "room", "sc1", "street", "wc3maps512")
} | {"mapf": ("mapf-map.zip", "mapf-scen-random.zip")}

MAX_UNPACKED_BYTES = 2 * 2**30      # of the entries of one zip together

# What a name may leave out or carry: `lak506d` also stands for `lak506d.map.scen`.
_NAME_ENDS = {".map": r"\.map$", ".scen": r"(\.map)?(\.scen)?$"}

_HINT = (
    "Data is added with 'wend data add ZIP', 'wend data add FOLDER' or 'wend data fetch SET'; "
    "'wend data list' shows what is there."
)


@dataclass(frozen=True)
class DataSet:
    """What the data folder holds of one set."""

    name: str
    maps: int
    scens: int
    files: tuple[Path, ...]     # its zips and its folder


def data_folder() -> Path:
    """$WEND_DATA, or `wend` in the user's data folder. It need not exist."""
    named = os.environ.get("WEND_DATA")
    if named:
        return Path(named).expanduser()
    return Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "wend"


# --- looking ---------------------------------------------------------------------------------------------------------


def list_sets() -> list[DataSet]:
    """All sets of the data folder, by name."""
    return [_describe(name, files) for name, files in _files_by_set().items()]


def find_map(name: str) -> str:
    """Where the map called `set/name` lies, as a source for `wend.maps.movingai.read_map`."""
    return _find(name, ".map", "map")


def find_scen(name: str) -> str:
    """Where the scenario called `set/name` lies, as a source for `wend.maps.movingai.read_scen`."""
    return _find(name, ".scen", "scenario")


def _files_by_set() -> dict[str, list[Path]]:
    """The folder and the zips of each set; the folder first, so that it wins over a zip that holds the same map."""
    try:
        inside = sorted(path for path in data_folder().iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise DataError(f"the data folder {data_folder()} cannot be read: {error.strerror}") from error
    files: dict[str, list[Path]] = {}
    for path in [path for path in inside if path.is_dir()]:
        files.setdefault(path.name, []).append(path)
    for path in [path for path in inside if path.is_file() and path.suffix.lower() == ".zip"]:
        files.setdefault(_set_name(path), []).append(path)
    return dict(sorted(files.items()))


def _set_name(path: Path) -> str:
    """The set of a zip: `bg512-map.zip` and `bg512-scen-x.zip` are of bg512, `foo.zip` is of foo."""
    match = re.fullmatch(r"(.+?)-(map|scen(-.*)?)", path.stem)
    return match[1] if match else path.stem


def _describe(name: str, files: Iterable[Path]) -> DataSet:
    entries = {entry for file in files for entry in _entries(file)}
    maps = sum(entry.lower().endswith(".map") for entry in entries)
    return DataSet(name, maps, len(entries) - maps, tuple(files))


def _entries(file: Path) -> list[str]:
    """The maps and scenarios in a zip or a folder, sorted; paths in there with `/` between the parts."""
    if file.is_dir():
        entries = [path.relative_to(file).as_posix() for path in file.rglob("*") if path.is_file()]
    else:
        try:
            with opened_zip(file, at_most=MAX_ZIP_BYTES) as archive:
                entries = archive.namelist()
        except FormatError as error:
            raise DataError(f"{file} {error.reason}: add it again, or remove it") from error
    return sorted(filter(_is_wanted, entries))


def _is_wanted(entry: str) -> bool:
    """Whether it is a map or a scenario, and not what macOS puts beside them in its zips."""
    parts = PurePosixPath(entry).parts
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return not hidden and entry.lower().endswith((".map", ".scen"))


def _find(name: str, extension: str, kind: str) -> str:
    ends = re.compile(_NAME_ENDS[extension], re.IGNORECASE)

    def bare(entry: str) -> str:
        return ends.sub("", entry)

    def base(entry: str) -> str:
        return PurePosixPath(bare(entry)).name

    set_name, _, wanted = name.partition("/")
    files = _files_by_set()
    if set_name not in files:
        raise UnknownNameError("data set", set_name, files, hint=_HINT)
    held = [(file, entry) for file in files[set_name] for entry in _entries(file) if entry.lower().endswith(extension)]
    for key, value in ((str, wanted), (bare, bare(wanted)), (base, bare(wanted))):
        found = [(file, entry) for file, entry in held if key(entry) == value]
        if len({entry for _, entry in found}) > 1:
            listed = ", ".join(f"{set_name}/{entry}" for _, entry in found[:10])
            raise DataError(f"{name!r} may be more than one {kind}: {listed}. Say which, in full.")
        if found:
            file, entry = found[0]
            return f"{file}/{entry}"        # not file / entry: an absolute name in a zip must not lead out of it
    known = [base(entry) for _, entry in held]
    holding = [each for each in known if base(wanted) in each]
    close = (holding or difflib.get_close_matches(base(wanted), known, n=10) or known)[:10]
    remark = f"({len(close)} of {len(known)} shown.) " if len(close) < len(known) else ""
    raise UnknownNameError(kind, name, [f"{set_name}/{each}" for each in close], hint=remark + _HINT)


# --- adding ----------------------------------------------------------------------------------------------------------


def add(source: str | Path) -> DataSet:
    """Copy a zip or a folder of maps and scenarios into the data folder; return the set that it now belongs to.

    Every map and scenario is read first. A zip keeps its name, and a folder becomes the set of its name. A zip of that
    name is replaced, and so are the maps and scenarios of a folder of that name; its other files stay.
    """
    path = Path(os.path.abspath(source))        # so that `.` and `maps/..` have a name
    if path.name.startswith(".") or not path.name:
        raise DataError(f"{path} has no name that a set could have; rename it")
    try:
        if path.is_dir():
            return _add_folder(path)
        if not path.is_file() or path.suffix.lower() != ".zip":
            raise DataError(f"{path} is neither a zip nor a folder, and only those can be added")
        _check_zip(path)
        return _add_zip(path)
    except OSError as error:
        raise DataError(f"{path} could not be added to {data_folder()}: {error.strerror or error}") from error


def _check_zip(path: Path) -> None:
    """Read all of a zip once: checksums, names, sizes, and its maps and scenarios, of which there must be one."""
    try:
        with opened_zip(path, at_most=MAX_ZIP_BYTES) as archive:
            entries = archive.infolist()
            unpacked = sum(entry.file_size for entry in entries)
            if unpacked > MAX_UNPACKED_BYTES:
                raise DataError(f"{path.name} unpacks to {unpacked} bytes, over the limit of {MAX_UNPACKED_BYTES}")
            for entry in entries:
                content = read_zipped(archive, entry)
                if _is_wanted(entry.filename):
                    parse = parse_map if entry.filename.lower().endswith(".map") else parse_scen
                    parse(content, f"{path.name}/{entry.filename}")
    except FormatError as error:
        is_of_zip = error.source == str(path)       # and not of an entry
        told = f"{path.name} {error.reason}" if is_of_zip else f"the zip is damaged or unsafe: {error}"
        raise DataError(told) from error
    if not any(_is_wanted(entry.filename) for entry in entries):
        raise DataError(f"{path.name} holds no .map and no .scen file")


def _add_zip(path: Path) -> DataSet:
    target = data_folder() / path.name
    if not _is_same(path, target):
        with path.open("rb") as original, replacing(target) as copy:
            shutil.copyfileobj(original, copy)
    name = _set_name(path)
    return _describe(name, _files_by_set()[name])


def _add_folder(path: Path) -> DataSet:
    entries = _entries(path)
    if not entries:
        raise DataError(f"{path} holds no .map and no .scen file")
    _check_folder(path, entries)
    target = data_folder() / path.name
    if not _is_same(path, target):
        data_folder().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=data_folder(), prefix=".adding.") as name:
            new, old = Path(name) / "new", Path(name) / "old"
            for entry in entries:
                (new / entry).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path / entry, new / entry)
            if target.is_dir():
                for entry in _other_files(target):
                    (new / entry).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(target / entry, new / entry, follow_symlinks=False)
            try:
                if target.exists():
                    target.rename(old)
                new.rename(target)
            except BaseException:       # an interrupt too: with the temporary folder, the old files would go
                if old.exists() and not target.exists():
                    old.rename(target)
                raise
    return _describe(path.name, _files_by_set()[path.name])


def _check_folder(path: Path, entries: Iterable[str]) -> None:
    """Read all maps and scenarios of a folder. A link is refused, since it may lead to any file of this machine."""
    for entry in entries:
        if (path / entry).resolve() != path.resolve() / entry:
            raise DataError(f"{path / entry} is a symbolic link, or below one: put the file itself there")
        try:
            (read_map if entry.lower().endswith(".map") else read_scen)(path / entry)
        except FormatError as error:
            raise DataError(f"the folder cannot be added: {error}") from error


def _other_files(folder: Path) -> list[str]:
    """The files of a set's folder that are no maps and no scenarios: notes, licences."""
    files = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return [entry for entry in (path.relative_to(folder).as_posix() for path in files) if not _is_wanted(entry)]


def _is_same(path: Path, target: Path) -> bool:
    return target.exists() and path.samefile(target)


# --- fetching --------------------------------------------------------------------------------------------------------


def fetch(set_name: str, *, base_url: str | None = None, progress: Progress | None = None) -> DataSet:
    """Download a set of the MovingAI site, or of a mirror: `base_url`, or $WEND_DATA_URL.

    All zips of the set are downloaded and checked before the first of them is put into the data folder.
    """
    if set_name not in KNOWN_SETS:
        raise UnknownNameError("data set", set_name, sorted(KNOWN_SETS))
    base = (base_url or os.environ.get("WEND_DATA_URL") or MOVINGAI_URL).rstrip("/")
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{set_name}.") as aside:
            zips = [Path(aside) / name for name in KNOWN_SETS[set_name]]
            for path in zips:
                url = f"{base}/{set_name}/{path.name}"
                download(url, path, at_most=MAX_ZIP_BYTES, progress=progress)
                try:
                    _check_zip(path)
                except DataError as error:
                    raise DataError(f"what {url} sent is of no use: {error}") from error
            return [_add_zip(path) for path in zips][-1]
    except OSError as error:
        raise DataError(f"{set_name} could not be saved in {folder}: {error.strerror or error}") from error
