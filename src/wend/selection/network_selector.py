"""The selector that is a network: looks at the picture of a problem and says which algorithm to run.

It is kept as ONNX, which is data and no code, with a label in JSON among its notes. Reading it needs onnxruntime, which
checks the model; that is in the extra `train`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wend.errors import FormatError, ParameterError, VersionError
from wend.files import parse_json, read_bytes, replacing, to_json
from wend.problems.problem import Problem
from wend.selection.networks import INPUT, SIDE, Network, to_onnx
from wend.selection.pictures import problem_picture, resized
from wend.selection.selector import Choice, Selector

FORMAT, VERSION = "wend-network", 1
_FILE_BYTES = 2**29
_NOTE = "wend"
_SURENESS = "sureness of the network that it is the best"


@dataclass(frozen=True)
class NetworkSelector:
    """Chooses between algorithms by the picture of a problem."""

    algorithms: tuple[str, ...]
    about: dict[str, Any]       # how it was trained
    session: Any                # of onnxruntime

    def choose(self, problem: Problem) -> Choice:
        """Which algorithm to run."""
        picture = resized(problem_picture(problem)).transpose(2, 0, 1)[None]
        (told,) = self.session.run(None, {INPUT: picture.astype(np.float32) / 127.5 - 1})[0]
        expected = dict(zip(self.algorithms, np.asarray(told, np.float64).tolist(), strict=True))
        return Choice(max(expected, key=expected.__getitem__), expected, (), _SURENESS)

    @classmethod
    def load(cls, path: str | Path) -> NetworkSelector:
        """Read a network from a file; anything else is a FormatError that names the file."""
        data = read_bytes(path, at_most=_FILE_BYTES)
        session = _session(data, path)
        note = session.get_modelmeta().custom_metadata_map.get(_NOTE)
        label = None if note is None else parse_json(note, path)
        if not isinstance(label, dict) or label.get("format") != FORMAT:
            raise FormatError(path, "a network, but no selector of Wend; `wend train selector` makes one")
        if label.get("version") != VERSION:
            raise VersionError(path, f"a network of version {label.get('version')!r}, and this Wend reads {VERSION}")
        algorithms, about = label.get("algorithms"), label.get("about")
        if not isinstance(algorithms, list) or not all(isinstance(name, str) for name in algorithms):
            raise FormatError(path, "a damaged network: `algorithms` is no list of names")
        if not isinstance(about, dict):
            raise FormatError(path, "a damaged network: `about` is no object")
        takes = [(each.name, each.shape, each.type) for each in session.get_inputs()]
        gives = [(each.shape, each.type) for each in session.get_outputs()]
        wanted = [(INPUT, [1, 3, SIDE, SIDE], "tensor(float)")], [([1, len(algorithms)], "tensor(float)")]
        if (takes, gives) != wanted:
            raise FormatError(path, "a damaged network: it takes or gives something else than its label says")
        return cls(tuple(algorithms), about, session)


def save_network(network: Network, algorithms: tuple[str, ...], about: dict[str, Any], path: str | Path) -> None:
    """Write a trained network to a file that `NetworkSelector.load` reads."""
    label = {"format": FORMAT, "version": VERSION, "algorithms": list(algorithms), "about": about}
    model = to_onnx(network, {_NOTE: to_json(label)})
    with replacing(path) as file:
        file.write(model)


def load_selector(path: str | Path) -> Selector | NetworkSelector:
    """Read a selector of either kind; its name tells which: a network's ends in .onnx."""
    if not Path(path).exists():
        raise FormatError(path, "there is no such file; `wend train selector` makes one")
    return NetworkSelector.load(path) if Path(path).suffix == ".onnx" else Selector.load(path)


def _session(data: bytes, path: str | Path) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise ParameterError(f"{path} is a network, which needs onnxruntime: pip install 'wend[train]'") from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4      # what is wrong is told by the error
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:          # there is one class for each of its codes
        told = str(error).strip().splitlines()
        raise FormatError(path, f"not a network that can be read ({told[0] if told else 'no reason'})") from None
