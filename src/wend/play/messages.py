"""What a client may say: every message with its fields, read and checked before anything is done with it.

A message is a JSON object with a `type`. What does not fit is a WendError whose text goes back to the client. Nothing
in a message is ever a path or code. docs/formats/live.md describes the protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from wend import arguments
from wend.errors import FormatError, ParameterError, UnknownNameError
from wend.files import parse_json
from wend.maps.parameters import MAX_SEED

VERSION = 1

MOST_TICKS_PER_SECOND = 120.0
HOW = {"move": "move", "attack": "attack_move"}     # of an order, and the mode of a group order that it becomes
PAINTS = {"free": 0, "wall": 1}                     # what cells may be painted as, and their class in a map frame
_LONGEST_NAME = 200


@dataclass(frozen=True)
class PlayLimits:
    """What one server puts up with."""

    cells: int = 2**20                  # of a map
    units: int = 20_000
    message_bytes: int = 256 * 2**10    # longer ones are refused; of more than four times as many the socket is closed
    messages_per_second: int = 200      # on average, and twice as many at once; a client that sends more is slowed down
    unacknowledged: int = 4             # frames on their way to a client; then it gets the newest state, never a queue
    clients: int = 32
    waiting: int = 256                  # messages that wait for the next tick


class Message(NamedTuple):
    """What a client said."""

    type: str
    given: dict[str, Any]


class _Field(NamedTuple):
    """One field of a message: how it is read, and what it is if it is not there."""

    read: Callable[[Any, str], Any]
    default: Any = ...      # ... : it has to be there


def _whole(low: int, high: int = arguments.WHOLE_MAX) -> Callable[[Any, str], int]:
    return lambda value, name: arguments.whole(value, name, low=low, high=high)


def _name(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_NAME:
        raise ParameterError(f"{name} is a text of at most {_LONGEST_NAME} letters")
    return value


def _or_null(read: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    return lambda value, name: None if value is None else read(value, name)


def _one_of(known: Mapping[str, Any]) -> Callable[[Any, str], str]:
    def read(value: Any, name: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise UnknownNameError(f"value of {name}", str(value)[:_LONGEST_NAME], known)
        return value

    return read


def _agents(value: Any, name: str) -> list[int]:
    """Agents, each of them once, in ascending order."""
    return sorted({arguments.whole(item, f"{name}[{k}]", low=0) for k, item in enumerate(_list(value, name))})


def _points(value: Any, name: str) -> list[tuple[int, int]]:
    return [arguments.point(item, f"{name}[{k}]") for k, item in enumerate(_list(value, name))]


def _list(value: Any, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise ParameterError(f"{name} is a list")
    return value


def _parameters(value: Any, name: str) -> dict[str, Any]:
    """Values by name; which names and values an algorithm knows is checked where it is known."""
    if not isinstance(value, dict) or not all(isinstance(item, (str, int, float, bool)) for item in value.values()):
        raise ParameterError(f"{name} is an object with a text, a number, true or false for each parameter")
    return value


def _rate(value: Any, name: str) -> float:
    return arguments.number(value, name, low=0.1, high=MOST_TICKS_PER_SECOND)


_PANE = _Field(_whole(0, 1))
_BUDGET = _or_null(_whole(1, 2**31 - 1))

# Every message that a client may send, and its fields.
MESSAGES: dict[str, dict[str, _Field]] = {
    "hello": {"version": _Field(_whole(1))},
    "ack": {"frame": _Field(_whole(0, 2**32 - 1))},
    "full": {},
    "new": {
        "map": _Field(_name),
        "problem": _Field(_name, "random"),
        "agents": _Field(_whole(0, 2**31 - 1), 100),
        "seed": _Field(_whole(0, MAX_SEED), 0),
        "algorithm": _Field(_name, "weave"),
        "parameters": _Field(_parameters, {}),
        "versus": _Field(_or_null(_name), None),
        "versus_parameters": _Field(_parameters, {}),
        "budget": _Field(_BUDGET, None),
    },
    "algorithm": {"pane": _PANE, "name": _Field(_name), "parameters": _Field(_parameters, {})},
    "budget": {"value": _Field(_BUDGET)},
    "order": {"agents": _Field(_agents), "to": _Field(arguments.point), "how": _Field(_one_of(HOW), "move")},
    "follow": {"agents": _Field(_agents), "other": _Field(_whole(0))},
    "hold": {"agents": _Field(_agents)},
    "paint": {"cells": _Field(_points), "as": _Field(_one_of(PAINTS))},
    "add": {"cells": _Field(_points)},
    "remove": {"agents": _Field(_agents)},
    "pause": {},
    "resume": {},
    "step": {},
    "speed": {"ticks_per_second": _Field(_rate)},
    "why": {"pane": _PANE, "agent": _Field(_whole(0))},
    "overlay": {"pane": _PANE, "name": _Field(_or_null(_name)), "agent": _Field(_or_null(_whole(0)), None)},
}


def type_of(text: str) -> str | None:
    """The type that a message claims to have, whatever else is wrong with it."""
    try:
        value = parse_json(text, "message")
    except FormatError:
        return None
    said = value.get("type") if isinstance(value, dict) else None
    return said if isinstance(said, str) and said in MESSAGES else None


def read_message(text: str, limits: PlayLimits) -> Message:
    """The message that a text is; a WendError that says why it is none."""
    if len(text.encode(errors="replace")) > limits.message_bytes:
        raise ParameterError(f"a message has at most {limits.message_bytes} bytes")
    value = parse_json(text, "message")
    if not isinstance(value, dict):
        raise ParameterError("a message is a JSON object with a `type`")
    said = value.pop("type", None)
    if not isinstance(said, str) or said not in MESSAGES:
        raise UnknownNameError("type of message", str(said)[:_LONGEST_NAME], MESSAGES)
    fields = MESSAGES[said]
    for name in value:
        if name not in fields:
            raise UnknownNameError(f"field of {said}", name[:_LONGEST_NAME], fields)
    for name, field in fields.items():
        if name not in value and field.default is ...:
            raise ParameterError(f"{said} needs a field `{name}`")
    given = {name: field.read(value[name], name) if name in value else field.default for name, field in fields.items()}
    return Message(said, given)
