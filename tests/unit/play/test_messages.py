"""What a client may say, and how it is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wend.errors import WendError
from wend.play.messages import MESSAGES, PlayLimits, read_message, type_of

pytestmark = pytest.mark.small

GOOD: dict[str, dict[str, Any]] = {
    "hello": {"version": 1},
    "ack": {"frame": 3},
    "full": {},
    "new": {"map": "arena:seed=3", "agents": 5, "versus": None, "parameters": {"noise": 1}},
    "algorithm": {"pane": 0, "name": "lra"},
    "budget": {"value": None},
    "order": {"agents": [3, 1, 3], "to": [4, 5], "how": "attack"},
    "follow": {"agents": [1], "other": 2},
    "hold": {"agents": [1]},
    "paint": {"cells": [[1, 2]], "as": "wall"},
    "add": {"cells": [[1, 2]]},
    "remove": {"agents": [1]},
    "pause": {},
    "resume": {},
    "step": {},
    "speed": {"ticks_per_second": 7.5},
    "why": {"pane": 1, "agent": 3},
    "overlay": {"pane": 0, "name": None},
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_every_message_is_read(kind: str) -> None:
    message = read_message(json.dumps({"type": kind, **GOOD[kind]}), PlayLimits())
    assert message.type == kind
    assert set(message.given) == set(MESSAGES[kind])


def test_agents_are_named_once_and_in_order() -> None:
    message = read_message(json.dumps({"type": "order", **GOOD["order"]}), PlayLimits())
    assert message.given == {"agents": [1, 3], "to": (4, 5), "how": "attack"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("[]", "a JSON object"),
        ("{}", "unknown type of message 'None'"),
        ('{"type": ["order"]}', "unknown type of message"),
        ('{"type": "oder"}', "Did you mean 'order'?"),
        ("[" * 5000, "nested more than 50 deep"),
        ('{"type": "ack"}', "ack needs a field `frame`"),
        ('{"type": "ack", "frame": -1}', "frame is a whole number from 0"),
        ('{"type": "ack", "frame": 1.5}', "frame is a whole number"),
        ('{"type": "ack", "frame": true}', "frame is a whole number"),
        ('{"type": "ack", "frame": 1e999}', "not valid JSON"),
        ('{"type": "ack", "frame": NaN}', "not valid JSON"),
        ('{"type": "ack", "frame": 1, "more": 2}', "unknown field of ack 'more'"),
        ('{"type": "order", "agents": "12", "to": [1, 2]}', "agents is a list"),
        ('{"type": "order", "agents": {"1": 2}, "to": [1, 2]}', "agents is a list"),
        ('{"type": "order", "agents": [[1]], "to": [1, 2]}', "agents[0] is a whole number"),
        ('{"type": "order", "agents": [1], "to": [1]}', "to is a point"),
        ('{"type": "order", "agents": [1], "to": [1, 2], "how": "run"}', "unknown value of how 'run'"),
        ('{"type": "paint", "cells": [[1, 2, 3]], "as": "wall"}', "cells[0] is a point"),
        ('{"type": "paint", "cells": [], "as": "../../etc/passwd"}', "unknown value of as"),
        ('{"type": "speed", "ticks_per_second": 0}', "ticks_per_second is a number from 0.1 up to 120"),
        ('{"type": "new", "map": "' + "x" * 201 + '"}', "map is a text of at most 200 letters"),
        ('{"type": "new", "map": "open", "parameters": {"a": []}}', "parameters is an object"),
        ('{"type": "overlay", "pane": 2, "name": null}', "pane is a whole number from 0 up to 1"),
        ('{"type": "order", "agents": [' + "1," * 200_000 + "1], " + '"to": [1, 2]}', "at most 262144 bytes"),
    ],
)
def test_what_is_wrong_is_said(text: str, says: str) -> None:
    with pytest.raises(WendError) as refused:
        read_message(text, PlayLimits())
    assert says in str(refused.value)


def test_the_type_of_a_bad_message_is_known_if_it_can_be() -> None:
    assert type_of('{"type": "ack"}') == "ack"
    assert [type_of(text) for text in ("{", "[]", '{"type": 3}', '{"type": "no"}')] == [None] * 4
