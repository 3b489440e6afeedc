"""Results and plans of other solvers: what is read, what is refused, and that they stand beside ours in one table."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from wend.errors import FormatError
from wend.experiments.foreign import NEEDED, OPTIONAL, rows_of
from wend.experiments.report import make_report
from wend.experiments.results import Results
from wend.experiments.runner import run_experiment
from wend.experiments.spec import Spec, load_spec
from wend.experiments.store import Store

MAP = "type octile\nheight 2\nwidth 4\nmap\n....\n....\n"
# Two agents, three moves each
SCEN = "version 1\n0\tarena.map\t4\t2\t0\t0\t3\t0\t3\n0\tarena.map\t4\t2\t3\t1\t0\t1\t3\n"

SPEC = """
title = "Beside others"
metrics = ["all_home", "sum_of_costs", "soc_ratio", "makespan_ratio", "first_solution_seconds", "distance"]
[problem]
scen = "duel/{map}-random-{instance}"
[scales.quick]
maps = ["duel/arena"]
agents = [2]
[[algorithms]]
name = "lra"
[[tables]]
id = "t"
title = "T"
rows = "label"
"""

HEAD = "map,scen,agents,solver,solved,sum_of_costs,makespan,seconds,cpu\n"
SOLVED = "maps\\arena.map,x/arena-random-1.scen,2,LaCAM,true,9,4,0.5,an old one\n"


@pytest.fixture
def spec(tmp_path, monkeypatch) -> Spec:
    monkeypatch.setenv("WEND_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "duel").mkdir(parents=True)
    (tmp_path / "data" / "duel" / "arena.map").write_text(MAP)
    (tmp_path / "data" / "duel" / "arena-random-1.scen").write_text(SCEN)
    (tmp_path / "beside.toml").write_text(SPEC)
    return load_spec(str(tmp_path / "beside.toml"))


def read(spec: Spec, folder: Path, text: str) -> tuple[list[dict], int]:
    (folder / "theirs").write_text(text)
    return rows_of(folder / "theirs", spec)


def test_a_row_is_about_one_of_our_problems_and_has_our_metrics(spec, tmp_path) -> None:
    ((row,), others) = read(spec, tmp_path, HEAD + SOLVED + SOLVED.replace(",2,", ",1,"))
    assert others == 1
    told = ("map", "problem", "agents", "instance", "label", "cpu", "violations")
    assert [row[name] for name in told] == ["duel/arena", "duel/arena-random-1", 2, 0, "LaCAM", "an old one", None]
    assert [row[name] for name in spec.metrics] == [1.0, 9, 9 / 6, 4 / 3, 0.5, None]
    found = [{"map": "arena", "scen": "arena-random-1", "agents": 2, "solver": "LaCAM", "solved": True, "distance": 7}]
    ((row,), others) = read(spec, tmp_path, json.dumps(found))
    assert ([row[name] for name in spec.metrics], others) == ([1.0, None, None, None, None, 7], 0)


def test_what_is_not_solved_has_no_cost(spec, tmp_path) -> None:
    ((row,), _) = read(spec, tmp_path, HEAD + SOLVED.replace("true", "False"))
    assert [row[name] for name in spec.metrics] == [0.0, None, None, None, None, None]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD.replace("cpu", "cpus") + SOLVED, r"line 2: unknown column 'cpus'\. Did you mean 'cpu'\?"),
        (HEAD + SOLVED.replace("LaCAM", ""), "line 2: the column 'solver' is missing or empty"),
        (HEAD + SOLVED.replace("true", ""), "line 2: either `solved` or `plan` is needed"),
        (HEAD + SOLVED.replace("true", "perhaps"), "line 2: solved is true or false, not 'perhaps'"),
        (HEAD + SOLVED.replace(",9,", ",nine,"), "sum_of_costs is a number of at least 0, not 'nine'"),
        (HEAD + SOLVED.replace(",9,", ",nan,"), "sum_of_costs is a number"),
        (HEAD + SOLVED.replace(",2,", ",2.5,"), "agents is a number"),
        (HEAD + SOLVED.replace(",9,", ",5,"), r"line 2: sum_of_costs: 5 is below the lower bound of 6 \(moves in 4"),
        (HEAD + SOLVED + SOLVED, "line 3: LaCAM has two rows on this problem"),
        (HEAD + SOLVED.replace(",2,", ",8,"), "none of its 1 rows is about a problem of beside: .*with 2 agents"),
        (HEAD + SOLVED.strip() + ",more\n", "unknown column 'too many columns'"),
        ("", "none of its 0 rows"),
        ('{"map": 3}', "a list of objects is needed"),
        ("[1]", "a list of objects is needed"),
        ("[{", "not valid JSON"),
    ],
)
def test_mistakes_are_found_and_named(spec, tmp_path, text, reason) -> None:
    with pytest.raises(FormatError, match=reason) as caught:
        read(spec, tmp_path, text)
    assert "theirs" in str(caught.value)


PLAN = "Agent 0: (0,0)->(0,1)->(0,2)->(0,3)->\nAgent 1: (1,3)->(1,3)->(1,2)->(1,1)->(1,0)->\n"


def test_a_plan_is_judged_and_measured(spec, tmp_path) -> None:
    (tmp_path / "plan.txt").write_text(PLAN)
    row_of_plan = "map,scen,agents,solver,plan,seconds\narena,arena-random-1,2,EECBS,plan.txt,0.25\n"
    ((row,), _) = read(spec, tmp_path, row_of_plan)
    assert row["violations"] == 0
    assert [row[name] for name in spec.metrics] == [1.0, 7.0, 7 / 6, 4 / 3, 0.25, 3.0]
    swap = PLAN.replace("(1,3)->(1,3)", "(1,3)->(0,1)").replace("(0,1)->(0,2)", "(1,3)->(0,2)")
    for wrong in (swap, PLAN.replace("(1,0)", "(0,0)"), PLAN.replace("(0,1)", "(9,9)")):
        (tmp_path / "plan.txt").write_text(wrong)
        ((row,), _) = read(spec, tmp_path, row_of_plan)
        assert row["violations"] > 0
        assert [row[name] for name in spec.metrics] == [0.0, None, None, None, None, None]
    (tmp_path / "plan.txt").write_text(PLAN.splitlines()[0])
    with pytest.raises(FormatError, match="moves 1 agents, and the problem has 2"):
        read(spec, tmp_path, row_of_plan)
    with pytest.raises(FormatError, match=r"line 2: .*none\.txt: there is no such file"):
        read(spec, tmp_path, row_of_plan.replace("plan.txt", "none.txt"))


def test_ours_and_theirs_stand_in_one_table(spec, tmp_path) -> None:
    run_experiment(spec, "quick", out=tmp_path / "r")
    store = Store(tmp_path / "r")
    store.put_foreign(read(spec, tmp_path, HEAD + SOLVED)[0])
    store.put_foreign(read(spec, tmp_path, HEAD + SOLVED.replace("LaCAM", "PIBT").replace(",9,", ",12,"))[0])
    store.put_foreign(read(spec, tmp_path, HEAD + SOLVED.replace(",9,", ",8,"))[0])      # again: it takes its place
    report = make_report(spec, store)
    assert (report.jobs, report.done, report.failed, report.others) == (1, 1, 0, {"LaCAM": 1, "PIBT": 1})
    assert "an old one" not in report.cpus
    (sheet,) = report.tables[0].sheets
    assert sheet.rows == ["LRA*", "LaCAM", "PIBT"]
    costs = [line[sheet.metrics.index("sum_of_costs")].mean for line in sheet.entries]
    assert [mean.value for mean in costs[1:]] == [8, 12]
    lines = Results(spec, store, spec.jobs("quick")).to_csv().splitlines()
    assert [line.split(",")[lines[0].split(",").index("label")] for line in lines] == ["label", "LRA*", "LaCAM", "PIBT"]


def test_the_docs_list_every_column() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "formats" / "results.md").read_text()
    assert set(re.findall(r"^\| `(\w+)` \|", page, flags=re.M)) == {*NEEDED, *OPTIONAL}


def test_damaged_results_of_others_are_named(spec, tmp_path) -> None:
    store = Store.create(tmp_path / "r", "beside")
    (tmp_path / "r" / "foreign.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(FormatError, match=r"foreign\.parquet: damaged: remove it"):
        make_report(spec, store)
