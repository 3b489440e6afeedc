"""Snapshots: the dynamic state of a world and its planner, to go back to, to keep, or to send.

    before = world.snapshot()
    world.tick()
    world.restore(before)               # as if that tick had never been

A snapshot holds what `kernel/capture.py` finds in the world: numbers, one block of bytes with most arrays, and large
arrays in pieces that it shares with the world's other snapshots. As bytes it has all arrays in one block, and this
form: `WENDSNAP`, the number of the format and the length of the header (uint32 each), the header as JSON, zeros up to a
multiple of 8, the block, and a BLAKE2b hash of everything before it (16 bytes).

It belongs to worlds that were set up with the same map, seed, planner and parameters, of the same version of Wend, and
says which planner moved the agents then. To read one runs no code. The trace is no part of its bytes: see
`World.restore`.
"""

from __future__ import annotations

import hashlib
import json
import struct
import sys
from typing import Any, cast

import numpy as np

from wend import __version__, arguments, plugins
from wend.errors import FormatError, ParameterError, SnapshotError, VersionError
from wend.files import parse_json
from wend.kernel.capture import Captured, check, in_one_block
from wend.kernel.storing import Stored
from wend.planners import registry
from wend.planners.base import Planner
from wend.world.recorder import Record

FORMAT = 1
_MAGIC = b"WENDSNAP"
_HEAD = struct.Struct("<8sII")
_DIGEST_BYTES = 16
_SOURCE = "snapshot"

MOVER = "mover"     # how a snapshot calls the planner that moved the agents

# What the worlds that a snapshot belongs to have in common, and how an error calls it.
_IDENTITY = {
    "wend": "version of Wend", "planner": "planner", "parameters": "parameters of the planner", "seed": "seed",
    "map": "map", "byteorder": "order of bytes in a number",
}  # fmt: skip


def identity(planner: Planner, seed: int, map_digest: str) -> dict[str, Any]:
    """What a world must have in common with a snapshot to be restored from it."""
    return {
        "wend": __version__,
        **described(planner),
        "seed": seed,
        "map": map_digest,
        "byteorder": sys.byteorder,
    }


def described(planner: Planner) -> dict[str, Any]:
    """The class of a planner and its parameters, as texts from which another one like it can be made."""
    parameters = {p.name: str(getattr(planner, p.name)) for p in planner.parameters()}
    return {"planner": name_of(planner), "parameters": parameters}


def name_of(planner: Planner) -> str:
    """The class of a planner, as `module:Class`."""
    return f"{type(planner).__module__}:{type(planner).__qualname__}"


class Snapshot:
    """The dynamic state of a world and its planner after some tick. It never changes, and belongs to no one world."""

    def __init__(self, about: dict[str, Any], tick: int, hash_then: str, captured: Captured, record: Record | None):
        self.tick = tick                # ticks that the world had made
        self.state_hash = hash_then     # the world's
        self.about = about              # the world: see `identity`; and the planner that moved its agents
        self._captured = captured
        self._record = record

    def of(self, about: dict[str, Any]) -> tuple[Captured, Record | None]:
        """What it holds, for a world of that identity; an error that says what differs for any other."""
        for name, what in _IDENTITY.items():
            if (mine := self.about.get(name)) != (theirs := about[name]):
                raise SnapshotError(f"the snapshot is of another {what}: {mine!r}, and not {theirs!r}")
        return self._captured, self._record

    def mover(self) -> Planner:
        """A planner like the one that moved the agents; its class is one of Wend's, or one that is loaded."""
        try:
            return _planner_class(self.about[MOVER]["planner"])(**self.about[MOVER]["parameters"])
        except (KeyError, TypeError, ParameterError) as error:
            raise SnapshotError(f"the snapshot is damaged: its planner cannot be made ({error})") from None

    def __bytes__(self) -> bytes:
        """All of it but the trace, for a file or for another machine."""
        tree, arrays, block, _ = in_one_block(self._captured)
        header = {"about": self.about, "tick": self.tick, "hash": self.state_hash, "arrays": arrays, "tree": tree}
        text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
        padding = bytes(-(_HEAD.size + len(text)) % 8)
        whole = b"".join((_HEAD.pack(_MAGIC, FORMAT, len(text)), text, padding, block.tobytes()))
        return whole + _digest(whole)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Snapshot:
        """The snapshot that `bytes` made these bytes of."""
        arguments.instance(data, "data", (bytes, bytearray, memoryview), "the bytes of a snapshot")
        whole = bytes(data)
        if len(whole) < _HEAD.size + _DIGEST_BYTES or not whole.startswith(_MAGIC):
            raise FormatError(_SOURCE, "these bytes are no snapshot of Wend")
        _, version, length = _HEAD.unpack_from(whole)
        if version > FORMAT:
            raise VersionError(_SOURCE, f"its format is {version}, and this Wend reads formats up to {FORMAT}")
        if whole[-_DIGEST_BYTES:] != _digest(whole[:-_DIGEST_BYTES]):
            raise FormatError(_SOURCE, "it is damaged: its hash is not the one that was written")
        begin = _HEAD.size + length
        header = parse_json(whole[_HEAD.size : begin], _SOURCE)
        try:
            block = np.frombuffer(bytearray(whole[begin + -begin % 8 : -_DIGEST_BYTES]), np.uint64)
            arrays = [Stored(dtype, tuple(shape), *where) for dtype, shape, *where in header["arrays"]]
            captured = Captured(header["tree"], arrays, block)
            check(captured)
            return cls(dict(header["about"]), int(header["tick"]), str(header["hash"]), captured, None)
        except (LookupError, TypeError, ValueError) as error:
            raise FormatError(_SOURCE, f"it is damaged: its header is incomplete ({error})") from None

    @property
    def nbytes(self) -> int:
        """How much memory its arrays take, what it shares with other snapshots of the same world included."""
        return self._captured.nbytes

    def __repr__(self) -> str:
        return f"<Snapshot at tick {self.tick}, {self.nbytes:,} bytes>"

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Snapshot.from_bytes, (bytes(self),)

    def __copy__(self) -> Snapshot:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Snapshot:
        return self


def _planner_class(name: str) -> type[Planner]:
    """A class of planners by its name. It is one of Wend's, or the program has loaded it."""
    if any(name == algorithm.where for algorithm in registry.ALGORITHMS.values()):
        return cast("type[Planner]", plugins.load(name, plugins.PLANNER))
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for attribute in path.split("."):
        found = getattr(found, attribute, None)
    if not isinstance(found, type) or not issubclass(found, Planner):
        raise SnapshotError(f"the snapshot is of a world that {name} moved, which this program has not loaded")
    return found


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
