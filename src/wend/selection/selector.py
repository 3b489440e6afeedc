"""The selector: looks at a problem and says which algorithm to run, what to expect of each, and why.

It is a forest and the names that belong to it, kept in one file: a zip of plain arrays (`.npz`) and a label in JSON. A
file that is read is checked to the last index, holds no code, and none is run.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError, VersionError
from wend.files import array_bytes, opened_zip, parse_array, parse_json, read_entry, replacing, to_json
from wend.problems.problem import Problem
from wend.selection.evaluation import Portfolio
from wend.selection.features import FEATURES, problem_features
from wend.selection.portfolios import utility
from wend.selection.trees import LEAF, Forest, grow_forest, predict

FORMAT, VERSION = "wend-selector", 1
_FILE_BYTES = 2**26
_LABEL = "selector.json"
_TYPES = {"root": "int32", "feature": "int32", "threshold": "float64", "left": "int32", "value": "float64"}
_REASONS = 3


@dataclass(frozen=True)
class Choice:
    """What a selector says of a problem."""

    algorithm: str
    expected: dict[str, float]      # what is expected of each algorithm, from 0 to 1 ...
    reasons: tuple[str, ...]        # what of the problem speaks for the choice most, in words
    measure: str = "share of agents that get home"      # ... and what that is


@dataclass(frozen=True)
class Selector:
    """Chooses between algorithms by the features of a problem."""

    algorithms: tuple[str, ...]
    forest: Forest
    typical: NDArray[np.float64]    # the median of each feature where it was trained
    about: dict[str, Any]           # how it was trained

    def choose(self, problem: Problem) -> Choice:
        """Which algorithm to run."""
        return self.choose_by(problem_features(problem))

    def choose_by(self, features: NDArray[np.float64]) -> Choice:
        """The same for features that are known already."""
        count = len(FEATURES)
        rows = np.tile(features, (count + 1, 1))        # the problem, and then with each feature made typical
        rows[np.arange(1, count + 1), np.arange(count)] = self.typical
        values = predict(self.forest, rows)
        best = int(values[0].argmax())
        others = np.delete(values, best, axis=1).max(axis=1) if len(self.algorithms) > 1 else values[:, 0]
        lead = values[:, best] - others
        gained = lead[0] - lead[1:]                     # what the feature, being as it is, adds to the lead
        texts = list(FEATURES.values())
        reasons = [
            f"{texts[k].format(features[k])}; typical is {self.typical[k]:.2f}"
            for k in np.argsort(-gained, kind="stable")[:_REASONS].tolist()
            if gained[k] > 0
        ]
        expected = dict(zip(self.algorithms, np.clip(values[0], 0, 1).tolist(), strict=True))
        return Choice(self.algorithms[best], expected, tuple(reasons))

    def save(self, path: str | Path) -> None:
        """Write the selector to a file."""
        label = {"format": FORMAT, "version": VERSION, "algorithms": self.algorithms, "features": list(FEATURES)}
        with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(_LABEL, to_json({**label, "typical": self.typical.tolist(), "about": self.about}))
            for name, array in self.forest._asdict().items():
                archive.writestr(f"{name}.npy", array_bytes(array))

    @classmethod
    def load(cls, path: str | Path) -> Selector:
        """Read a selector from a file; anything else is a FormatError that names the file."""
        with opened_zip(path, at_most=_FILE_BYTES) as archive:
            entries = {entry.filename: entry for entry in archive.infolist()}
            if _LABEL not in entries:
                raise FormatError(path, "not a selector: it has no selector.json; `wend train selector` makes one")
            label = _checked_label(path, parse_json(_read(archive, entries, _LABEL, path, is_json=True), path))
            arrays = {name: _array(path, name, _read(archive, entries, f"{name}.npy", path)) for name in _TYPES}
        forest = Forest(**arrays)
        _check_forest(path, forest, len(label["algorithms"]))
        return cls(tuple(label["algorithms"]), forest, np.array(label["typical"], np.float64), label["about"])


def train_selector(data: Portfolio, *, trees: int = 100, seed: int = 0, **about: Any) -> Selector:
    """Learn from all problems of the data; the selector remembers what is said `about` it."""
    forest = grow_forest(data.features, utility(data.quality), trees=trees, seed=seed)
    told = {"problems": len(data.names), "maps": sorted(set(data.maps)), "trees": trees, "seed": seed, **about}
    return Selector(data.algorithms, forest, np.median(data.features, axis=0), told)


# --- checks ----------------------------------------------------------------------------------------------------------


def _read(
    archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], name: str, path: str | Path, *, is_json: bool = False
) -> bytes:
    if name not in entries:
        raise FormatError(path, f"a damaged selector: {name} is missing")
    return read_entry(archive, entries[name], at_most=_FILE_BYTES, is_json=is_json)


def _checked_label(path: str | Path, label: Any) -> dict[str, Any]:
    """The label, if it is one and this Wend knows its features."""
    if not isinstance(label, dict) or label.get("format") != FORMAT:
        raise FormatError(path, "not a selector: its label does not say so; `wend train selector` makes one")
    if label.get("version") != VERSION:
        raise VersionError(path, f"a selector of version {label.get('version')!r}, and this Wend reads {VERSION}")
    if label.get("features") != list(FEATURES):
        raise VersionError(path, "a selector that looks at other features than this Wend: train it again")
    if not _are(label.get("algorithms"), str) or not label["algorithms"]:
        raise FormatError(path, "a damaged selector: `algorithms` is no list of names")
    if not _are(label.get("typical"), (int, float)) or len(label["typical"]) != len(FEATURES):
        raise FormatError(path, "a damaged selector: `typical` is no list of one number per feature")
    if not isinstance(label.get("about"), dict):
        raise FormatError(path, "a damaged selector: `about` is no object")
    return label


def _are(value: Any, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, list) and all(isinstance(each, kind) for each in value)


def _array(path: str | Path, name: str, data: bytes) -> NDArray[Any]:
    """One of the arrays of a forest."""
    try:
        array = parse_array(data, _TYPES[name], path)
    except FormatError as error:
        raise FormatError(path, f"a damaged selector: {name}.npy is {error.reason}") from None
    if array.ndim != (2 if name == "value" else 1) or not np.isfinite(array).all():
        raise FormatError(path, f"a damaged selector: {name}.npy does not hold the numbers that it should")
    return array


def _check_forest(path: str | Path, forest: Forest, algorithms: int) -> None:
    """Refuse a forest in which a prediction would leave the arrays or never end."""
    nodes, inside = forest.feature.size, forest.feature != LEAF
    children = forest.left[inside] if forest.left.size == nodes else forest.left
    sound = (
        forest.root.size > 0
        and forest.threshold.size == forest.left.size == nodes
        and forest.value.shape == (nodes, algorithms)
        and _within(forest.root, 0, nodes)
        and _within(forest.feature, LEAF, len(FEATURES))
        and _within(children, 0, nodes - 1)
        and bool((children > np.flatnonzero(inside)).all())
    )
    if not sound:
        raise FormatError(path, "a damaged selector: its trees lead nowhere")


def _within(numbers: NDArray[np.int32], low: int, high: int) -> bool:
    return bool(((numbers >= low) & (numbers < high)).all())
