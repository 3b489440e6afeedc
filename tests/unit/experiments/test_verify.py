"""Results folders say what they were made with, and what they hold can be held against another run."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

import wend.experiments.verify
from wend.errors import DataError, FormatError, ParameterError
from wend.experiments.runner import run_experiment
from wend.experiments.spec import Spec, load_spec
from wend.experiments.store import Store
from wend.experiments.verify import verify
from wend.maps.sources import digest_of_map

SPEC = """
title = "To be verified"
metrics = ["completion_rate", "ticks", "detour_ratio", "plan_seconds"]
[limits]
max_ticks = 40
[scales.quick]
maps = ["hall.map", "random:seed=1,width=12,height=12"]
agents = [4]
instances = 3
[[algorithms]]
name = "lra"
"""
HALL = "type octile\nheight 2\nwidth 6\nmap\n......\n......\n"


@pytest.fixture
def spec(tmp_path, monkeypatch) -> Spec:
    monkeypatch.chdir(tmp_path)
    Path("hall.map").write_text(HALL)
    Path("a.toml").write_text(SPEC)
    return load_spec("a.toml")


@pytest.fixture
def folder(spec, tmp_path) -> Path:
    run_experiment(spec, "quick", out="r")
    return tmp_path / "r"


def test_a_map_that_is_not_there_is_missing_and_not_a_difference(folder) -> None:
    Path("hall.map").unlink()
    with pytest.raises(DataError, match=r"without what it was made with: map hall\.map cannot be found"):
        verify(folder)


def test_a_folder_says_what_its_results_were_made_with(spec, folder) -> None:
    assert (folder / "spec.toml").read_text() == SPEC
    inputs = json.loads((folder / "inputs.json").read_text())
    assert inputs == {
        "map hall.map": hashlib.sha256(HALL.encode()).hexdigest(),
        "map random:seed=1,width=12,height=12": digest_of_map("random:seed=1,width=12,height=12"),
    }
    (told,) = json.loads((folder / "environments.json").read_text())
    assert {"date", "system", "cpu", "cores", "python", "numpy", "numba", "wend", "commit", "spec_hash"} <= told.keys()
    assert (told["spec_hash"], told["scale"], told["workers"]) == (spec.hash, "quick", 1)
    run_experiment(spec, "quick", out="r")      # nothing to do: nothing to tell
    assert len(json.loads((folder / "environments.json").read_text())) == 1


def test_another_map_of_the_same_name_is_refused(spec, folder) -> None:
    Store(folder).forget([spec.jobs("quick")[0]["id"]])
    Path("hall.map").write_text(HALL.replace("......\n......", "......\n.@...."))
    with pytest.raises(FormatError, match=r"the results here were made with another map hall\.map"):
        run_experiment(spec, "quick", out="r")


def test_what_is_run_again_is_the_same(folder) -> None:
    found = verify(folder)
    assert (found.holds, found.rows, found.ran, found.by_clock, found.differences) == (True, 6, 6, 0, [])
    seen: list[int] = []
    found = verify(folder, sample=2, workers=2, progress=lambda each: seen.append(each.ran))
    assert (found.holds, found.ran, found.wanted, seen) == (True, 2, 2, [0, 1, 2])
    assert verify(folder, sample=100).ran == 6


def test_a_folder_stands_alone(folder, tmp_path, monkeypatch) -> None:
    """It can be verified where there is nothing but the folder and the maps."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.copytree(folder, elsewhere / "theirs")
    shutil.copy("hall.map", elsewhere)
    monkeypatch.chdir(elsewhere)
    assert verify(Path("theirs")).holds


def test_what_differs_is_named(spec, folder) -> None:
    job = next(job for job in spec.jobs("quick") if job["map"] == "hall.map")
    row = Store(folder).rows()[job["id"]]
    Store(folder).put({**row, "ticks": row["ticks"] + 1, "state_hash": "0" * 32, "plan_seconds": 99.0})
    Path("hall.map").write_text(HALL + "\n")        # the same terrain in another file
    found = verify(folder)
    assert not found.holds
    told = [str(difference) for difference in found.differences]
    assert told[0].startswith("map hall.map: its digest was ")
    assert told[1] == f"LRA* on hall.map, 4 agents, instance 0: state_hash was {'0' * 32}, is {row['state_hash']}"
    assert told[2] == f"LRA* on hall.map, 4 agents, instance 0: ticks was {row['ticks'] + 1:g}, is {row['ticks']:g}"
    assert len(told) == 3       # a time is no difference


def test_runs_that_a_clock_ended_are_not_compared(spec, folder) -> None:
    job = spec.jobs("quick")[0]
    row = Store(folder).rows()[job["id"]]
    Store(folder).put({**row, "stopped_by": "time-limit", "ticks": 3.0, "state_hash": "0"})
    found = verify(folder)
    assert (found.holds, found.ran, found.timed, found.by_clock) == (True, 5, 1, 0)
    Store(folder).forget(other["id"] for other in spec.jobs("quick")[1:])
    assert not verify(folder).holds         # nothing was compared


def test_runs_of_a_planner_that_looks_at_a_clock_are_not_compared(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hall.map").write_text(HALL)
    Path("b.toml").write_text(SPEC + '[[algorithms]]\nname = "lacam"\nparameters = { anytime_ms = 5 }\n')
    run_experiment(load_spec("b.toml"), "quick", out="b")
    found = verify(tmp_path / "b")
    assert (found.rows, found.wanted, found.timed, found.differences) == (12, 6, 6, [])


def test_a_slower_machine_is_no_difference(folder, monkeypatch) -> None:
    def slow(jobs, about, workers):
        return ({**row, "stopped_by": "time-limit", "ticks": 1.0} for row in on_cores(jobs, about, workers))

    on_cores = wend.experiments.verify.on_cores
    monkeypatch.setattr("wend.experiments.verify.on_cores", slow)
    found = verify(folder)
    assert (found.holds, found.ran, found.by_clock, found.differences) == (False, 6, 6, [])


def test_what_cannot_be_verified_is_told(spec, folder, tmp_path) -> None:
    with pytest.raises(ParameterError, match="--sample is at least 1"):
        verify(folder, sample=0)
    with pytest.raises(FormatError, match="there are no results here"):
        verify(tmp_path / "none")
    Store(folder).put({**Store(folder).rows()[spec.jobs("quick")[0]["id"]], "id": "of-another-spec"})
    assert verify(folder, sample=1).unknown == 1
    (folder / "spec.toml").write_text(SPEC.replace('title = "To', 'job = "os:getcwd"\ntitle = "To'))
    with pytest.raises(ParameterError, match="--allow-code"):
        verify(folder)
    (folder / "spec.toml").write_text(SPEC.replace("max_ticks = 40", "max_ticks = 41"))
    with pytest.raises(FormatError, match="it holds no result of its spec"):
        verify(folder)
    (folder / "spec.toml").unlink()
    with pytest.raises(FormatError, match=r"it holds no spec\.toml"):
        verify(folder)
    for name, text in (("inputs.json", "[1]"), ("environments.json", "{}")):
        (folder / name).write_text(text)
    (folder / "spec.toml").write_text(SPEC)
    with pytest.raises(FormatError, match=r"environments\.json: damaged"):
        verify(folder)
