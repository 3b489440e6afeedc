from __future__ import annotations

import pytest

POCKET = "type octile\nheight 5\nwidth 6\nmap\n......\n.@@@@.\n....@.\n.@@@@.\n......\n"


@pytest.fixture
def pocket(tmp_path) -> str:
    (tmp_path / "pocket.map").write_text(POCKET)
    return "pocket.map"


def test_a_walk_as_json(wend, pocket) -> None:
    answer = wend("rths", pocket, "--start", "0,2", "--goal", "5,2", "--expendable", "--json")
    assert answer.code == 0
    ratio = answer.json.pop("suboptimality")
    assert ratio == pytest.approx(15 / 9)
    told = {"name": "pruning LRTA*", "travelled": 15, "optimal": 9, "moves": 15, "pruned": 3, "reached": True}
    assert answer.json | told == answer.json


def test_a_walk_in_words(wend, pocket) -> None:
    answer = wend("rths", pocket, "--start", "0,2", "--goal", "5,2", "--w", "2", "--b", "0.5", "--lop", "avg")
    assert answer.code == 0
    assert "weighted lateral LRTA* reached its goal after 15 moves" in answer.out
    assert "1.66667 times" in answer.out
