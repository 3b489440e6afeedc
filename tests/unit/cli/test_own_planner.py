"""A planner in the current folder: on the command line, and in a spec, which needs permission to run code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from wend.experiments.store import Store

RIGHT = '''
from dataclasses import dataclass
import wend

@dataclass
class Right(wend.Planner):
    """Each agent goes to the right while it can."""

    every: int = wend.parameter(1, "ticks from one step to the next", minimum=1)

    def plan(self, proposal, budget):
        grid, agents = self.state.grid, self.state.agents
        for agent, cell in enumerate(agents.cell.tolist()):
            x, y = grid.xy(cell)
            if (x + 1, y) in grid.neighbours((x, y)) and cell + 1 not in proposal.next_cell:
                proposal.next_cell[agent] = cell + 1
'''

SPEC = """
title = "A test"
{job}
metrics = ["completion_rate", "ticks", "distance"]
[limits]
max_ticks = 8
[scales.quick]
maps = ["open:width=8,height=8"]
agents = [2]
instances = 2
[[algorithms]]
name = "{name}"
[[algorithms]]
name = "lra"
[[tables]]
id = "t"
title = "T"
rows = "label"
values = ["distance"]
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """A folder with a planner; what is imported from it is forgotten afterwards."""
    (tmp_path / "right.py").write_text(RIGHT)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    forget(tmp_path)


def forget(folder: Path) -> None:
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


def write_spec(folder: Path, name: str = "right:Right", job: str = "") -> None:
    (folder / "a.toml").write_text(SPEC.format(name=name, job=job))


def test_a_planner_in_the_current_folder_is_solved_with(wend) -> None:
    words = ("solve", "open:width=8,height=8", "--agents", 2, "--max-ticks", 8, "--json")
    answer = wend(*words, "--algorithm", "right:Right", "--every", 2)
    assert answer.code == 0
    assert (answer.json["algorithm"], answer.json["parameters"], answer.json["violations"]) == (
        "right:Right", {"every": 2}, 0
    )  # fmt: skip
    assert "every is a whole number from 1" in wend(*words, "--algorithm", "right:Right", "--every", 0).err
    assert "unknown parameter of right:Right 'evry'" in wend(*words, "--algorithm", "right:Right", "--evry", 1).err


def test_a_planner_in_the_current_folder_is_described(wend) -> None:
    answer = wend("algorithms", "right:Right", "--json")
    (entry,) = answer.json["algorithms"]
    assert (entry["key"], entry["title"], entry["online"]) == ("right:Right", "Right", None)
    assert entry["summary"] == "Each agent goes to the right while it can."
    assert [parameter["name"] for parameter in entry["parameters"]] == ["every"]
    assert "--every" in wend("algorithms", "right:Right").out


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("weeve", "unknown algorithm 'weeve'. Did you mean 'weave'?"),
        ("wright:Right", "no module 'wright' on the path or in the current folder. Did you mean 'right'?"),
        ("right:Rite", "Did you mean 'right:Right'?"),
    ],
)
def test_an_unknown_name_is_an_error_everywhere(wend, tmp_path, name, reason) -> None:
    write_spec(tmp_path, name)
    for words in (("solve", "open:", "--algorithm", name), ("algorithms", name), ("bench", "a.toml", "--allow-code")):
        answer = wend(*words)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert reason in answer.err
    assert not (tmp_path / "results").exists()


def test_a_planner_of_a_spec_needs_permission(wend, tmp_path) -> None:
    write_spec(tmp_path)
    refused = wend("bench", "a.toml")
    assert (refused.code, refused.out) == (2, "")
    assert "the spec names the planner 'right:Right', and no installed package has registered it" in refused.err
    assert "--allow-code" in refused.err
    assert "right" not in sys.modules
    assert not (tmp_path / "results").exists()
    allowed = wend("bench", "a.toml", "--allow-code", "--json")
    assert allowed.code == 0
    assert "4 jobs run, 0 of them failed" in allowed.err
    assert " Right " in wend("report", "a.toml").out


def test_a_registered_job_does_not_let_a_planner_in(wend, tmp_path) -> None:
    write_spec(tmp_path, job='job = "wend.experiments.papers.mapp:run"')
    refused = wend("bench", "a.toml")
    assert refused.code == 2
    assert "the spec names the planner 'right:Right'" in refused.err
    assert "right" not in sys.modules


def test_a_report_needs_no_permission_and_runs_no_code(wend, tmp_path) -> None:
    write_spec(tmp_path)
    assert wend("bench", "a.toml", "--allow-code").code == 0
    forget(tmp_path)
    (tmp_path / "right.py").write_text("raise SystemExit('it ran')")
    answer = wend("report", "a.toml")
    assert answer.code == 0
    assert " Right " in answer.out
    assert "right" not in sys.modules


def test_results_of_another_source_count_as_missing(wend, tmp_path) -> None:
    write_spec(tmp_path)
    assert "another source" not in wend("bench", "a.toml", "--allow-code").err
    assert "0 jobs run, 0 of them failed, 4 were done before" in wend("bench", "a.toml", "--allow-code").err
    forget(tmp_path)
    (tmp_path / "right.py").write_text(RIGHT.replace("cell + 1 not in", "cell + 1  not in"))
    changed = wend("bench", "a.toml", "--allow-code")
    assert changed.code == 0
    told = "2 results were made with another source of right:Right: they count as missing, and are made again"
    assert told in changed.err.splitlines()
    assert "2 jobs run, 0 of them failed, 2 were done before" in changed.err
    assert "0 jobs run" in wend("bench", "a.toml", "--allow-code").err


def test_a_failed_result_of_another_source_is_made_again(wend, tmp_path) -> None:
    (tmp_path / "right.py").write_text(RIGHT.replace("proposal.next_cell[agent] = cell + 1", "1 / 0"))
    write_spec(tmp_path)
    assert wend("bench", "a.toml", "--allow-code").code == 1
    assert "0 jobs run" in wend("bench", "a.toml", "--allow-code").err
    forget(tmp_path)
    (tmp_path / "right.py").write_text(RIGHT)
    mended = wend("bench", "a.toml", "--allow-code")
    assert mended.code == 0
    assert "2 jobs run, 0 of them failed, 2 were done before" in mended.err


PROGRAM = """
import sys
import wend
{planner}
from wend.experiments.runner import run_experiment
from wend.experiments.spec import load_spec

if __name__ == "__main__":
    wend.register("right", Right, title="To the right")
    tally = run_experiment(load_spec("a.toml"), "quick", out="r", workers=int(sys.argv[1]))
    print(tally.ran, tally.failed, tally.kept)
"""


def run_program(folder: Path, planner: str, workers: int) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(PROGRAM.format(planner=planner))
    command = [sys.executable, "program.py", str(workers)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_a_program_runs_what_it_has_registered_without_permission(tmp_path) -> None:
    write_spec(tmp_path, "right")
    imported = "from right import Right"
    assert run_program(tmp_path, imported, 2).stdout == "4 0 0\n"
    assert run_program(tmp_path, imported, 1).stdout == "0 0 4\n"
    labels = Store(tmp_path / "r").results(Store(tmp_path / "r").done()).execute("SELECT DISTINCT label FROM results")
    assert {label for (label,) in labels.fetchall()} == {"To the right", "LRA*"}


def test_a_planner_in_the_script_itself_is_for_one_process(tmp_path) -> None:
    write_spec(tmp_path, "right")
    assert run_program(tmp_path, RIGHT, 1).stdout == "4 0 0\n"
    refused = run_program(tmp_path, RIGHT, 2)
    assert refused.returncode == 1
    assert "workers do not find the planner right in the script itself: put it into a module" in refused.stderr


def test_a_package_needs_no_permission(tmp_path) -> None:
    installed = tmp_path / "site" / "rightly-1.0.dist-info"
    installed.mkdir(parents=True)
    (tmp_path / "right.py").rename(tmp_path / "site" / "right.py")
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: rightly\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[wend.planners]\nto-the-right = right:Right\n")
    paths = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "wend", *words]
        environment = {**os.environ, "PYTHONPATH": paths}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)

    listed = json.loads(call("algorithms", "--json").stdout)["algorithms"]
    assert (listed[-1]["key"], listed[-1]["title"], listed[-1]["paper"]) == ("to-the-right", "Right", "right:Right")
    for name in ("to-the-right", "right:Right"):
        write_spec(tmp_path, name)
        ran = call("bench", "a.toml", "--out", name)
        assert ran.returncode == 0, ran.stderr
        assert "4 jobs run, 0 of them failed" in ran.stderr
    assert "Did you mean 'to-the-right'?" in call("solve", "open:", "--algorithm", "to-the-left").stderr


def test_workers_find_the_planner_too(wend, tmp_path) -> None:
    write_spec(tmp_path)
    answer = wend("bench", "a.toml", "--allow-code", "--jobs", 2)
    assert answer.code == 0
    assert "4 jobs run, 0 of them failed" in answer.err
    assert "0 jobs run" in wend("bench", "a.toml", "--allow-code").err
