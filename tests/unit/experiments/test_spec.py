from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from wend import ALGORITHMS, plugins
from wend.errors import FormatError, UnknownNameError
from wend.experiments.spec import JobLimits, Spec, expand, load_spec

SPEC = """
title = "A test"
metrics = ["completion_rate", "ticks"]
[problem]
kind = "random"
connectivity = 4
[limits]
max_ticks = 50
[scales.quick]
maps = ["open:width=8,height=8", "random:seed={0..1}"]
agents = [1, 2]
instances = 2
[[algorithms]]
name = "lra"
[[algorithms]]
name = "lra"
label = "noisy"
parameters = { noise = 4 }
limits = { max_ticks = 9 }
[[figures]]
id = "f"
title = "Everybody"
y = "completion_rate"
"""


def spec_of(folder: Path, text: str = SPEC) -> Spec:
    path = folder / "a.toml"
    path.write_text(text)
    return load_spec(str(path))


def test_jobs_are_every_combination(tmp_path) -> None:
    spec = spec_of(tmp_path)
    jobs = spec.jobs("quick")
    assert len(jobs) == 3 * 2 * 2 * 2
    assert len({job["id"] for job in jobs}) == len(jobs)
    assert {job["map"] for job in jobs} == {"open:width=8,height=8", "random:seed=0", "random:seed=1"}
    assert {(job["label"], job["limits"]["max_ticks"]) for job in jobs} == {("LRA*", 50), ("noisy", 9)}
    assert spec.limits == JobLimits(max_ticks=50)


def test_ids_depend_on_what_is_done_and_on_nothing_else(tmp_path) -> None:
    ids = [job["id"] for job in spec_of(tmp_path).jobs("quick")]
    renamed = SPEC.replace("A test", "Another title").replace('"noisy"', '"loud"')
    assert [job["id"] for job in spec_of(tmp_path, renamed).jobs("quick")] == ids
    for change in (("max_ticks = 50", "max_ticks = 51"), ("ivity = 4", "ivity = 8"), ("noise = 4", "noise = 5")):
        changed = [job["id"] for job in spec_of(tmp_path, SPEC.replace(*change)).jobs("quick")]
        assert changed != ids
    larger = SPEC + "[scales.full]\nmaps = ['random:seed={0..9}']\nagents = [1, 2, 3]\ninstances = 3\n"
    assert len({job["id"] for job in spec_of(tmp_path, larger).jobs("full")} & set(ids)) == 2 * 2 * 2 * 2


def test_the_id_of_a_job_never_changes(tmp_path) -> None:
    assert spec_of(tmp_path).jobs("quick")[0]["id"] == "c38a4a6d42047239b3ce"


def test_every_planner_and_the_maps_own_problem(tmp_path) -> None:
    text = SPEC.replace('name = "lra"\n[', 'name = "every"\n[')
    text = text.replace('kind = "random"', 'kind = "own"').replace('"open:width=8,height=8", ', '"door:width=2", ')
    spec = spec_of(tmp_path, text)
    assert [a.label for a in spec.contenders()] == [
        *(entry.title for key, entry in ALGORITHMS.items() if key != "auto"), "noisy"
    ]  # fmt: skip
    assert {job["problem"] for job in spec.jobs("quick")} == {"door", "random"}


def test_scenarios_are_named_by_map_and_instance(tmp_path) -> None:
    text = SPEC.replace('kind = "random"', 'scen = "mapf/{map}-random-{instance}"').replace(
        '"open:width=8,height=8", "random:seed={0..1}"', '"mapf/den312d"'
    )
    assert {job["scen"] for job in spec_of(tmp_path, text).jobs("quick")} == {
        "mapf/den312d-random-1", "mapf/den312d-random-2"
    }  # fmt: skip


def test_agents_of_mapf_scenarios_move_in_four_directions(tmp_path) -> None:
    text = SPEC.replace('kind = "random"', 'scen = "mapf/{map}-random-{instance}"').replace("connectivity = 4\n", "")
    spec = spec_of(tmp_path, text)
    assert {job["connectivity"] for job in spec.jobs("quick")} == {4}
    assert not spec.diagonal_mapf()
    drawn = spec_of(tmp_path, SPEC.replace("connectivity = 4\n", ""))
    assert {job["connectivity"] for job in drawn.jobs("quick")} == {8}
    assert not drawn.diagonal_mapf()
    against = spec_of(tmp_path, text.replace("[limits]", "connectivity = 8\n[limits]"))
    assert {job["connectivity"] for job in against.jobs("quick")} == {8}
    assert against.diagonal_mapf()


def test_a_map_may_have_numbers_of_agents_of_its_own(tmp_path) -> None:
    text = SPEC + '[scales.quick.agents_of]\n"random:seed={1..2}" = [7]\n"door:" = [3, 4]\n'
    sizes = {(job["map"], job["agents"]) for job in spec_of(tmp_path, text).jobs("quick")}
    assert sizes == {
        ("open:width=8,height=8", 1), ("open:width=8,height=8", 2), ("random:seed=0", 1), ("random:seed=0", 2),
        ("random:seed=1", 7), ("random:seed=2", 7), ("door:", 3), ("door:", 4),
    }  # fmt: skip
    alone = text.replace('maps = ["open:width=8,height=8", "random:seed={0..1}"]\nagents = [1, 2]\n', "")
    assert {job["map"] for job in spec_of(tmp_path, alone).jobs("quick")} == {"random:seed=1", "random:seed=2", "door:"}
    with pytest.raises(FormatError, match=r"scales\.quick\.agents: numbers of at least 1 are needed, not \[0\]"):
        spec_of(tmp_path, text.replace("[3, 4]", "[0]"))


OWN_MEASURE = '[measures.joy]\nhelp = "what it feels like"\nof = "feelings:joy"\n'


def test_a_spec_may_name_functions_of_the_trace_as_measures(tmp_path) -> None:
    plain = spec_of(tmp_path)
    spec = spec_of(tmp_path, SPEC.replace('"ticks"]', '"ticks", "joy"]') + OWN_MEASURE)
    assert spec.own_measures() == {"joy": "feelings:joy"}
    assert {job["measures"]["joy"] for job in spec.jobs("quick")} == {"feelings:joy"}
    assert "measures" not in plain.jobs("quick")[0]
    for old, new, reason in (
        ("feelings:joy", "feelings.joy", r'measures\.joy\.of: "module:function" is needed'),
        ("measures.joy", "measures.ticks", "Wend has a measure of that name"),
        ("[measures", 'job = "own_jobs:fine"\n[measures', "computes it without"),
    ):
        text = SPEC.replace('"ticks"]', '"ticks", "joy"]') + OWN_MEASURE
        text = text.replace(old, new) if "job" not in new else 'job = "own_jobs:fine"\n' + text
        with pytest.raises(FormatError, match=reason):
            spec_of(tmp_path, text)


VIEWS = """
[views.work]
title = "little work"
agents = [2]
limits = { expansions = 500 }
limits_of = { lra = { expansions = 700, max_ticks = 7 } }
[views.ticks]
title = "many ticks"
limits = { max_ticks = 10000 }
"""


def test_views_limit_the_same_runs_in_several_ways(tmp_path) -> None:
    jobs = spec_of(tmp_path, SPEC + VIEWS).jobs("quick")
    work, ticks = ([job for job in jobs if job["view"] == name] for name in ("work", "ticks"))
    assert (len(work), len(ticks), len({job["id"] for job in jobs})) == (12, 24, 36)
    assert {job["agents"] for job in work} == {2}
    assert {(job["limits"]["expansions"], job["limits"]["max_ticks"]) for job in work} == {(700, 7)}
    assert {(job["limits"]["expansions"], job["limits"]["max_ticks"]) for job in ticks} == {(None, 10000)}
    renamed = spec_of(tmp_path, SPEC + VIEWS.replace("views.work", "views.toil")).jobs("quick")
    assert [job["id"] for job in renamed] == [job["id"] for job in jobs]


def test_an_algorithm_may_have_its_own_kind_of_neighbours(tmp_path) -> None:
    jobs = spec_of(tmp_path, SPEC.replace('label = "noisy"', 'label = "noisy"\nconnectivity = 8')).jobs("quick")
    assert {(job["label"], job["connectivity"]) for job in jobs} == {("LRA*", 4), ("noisy", 8)}


def test_a_spec_may_look_at_the_runs_of_another(tmp_path) -> None:
    runs = spec_of(tmp_path)
    look = 'title = "Only a look"\nruns = "RUNS"\n[[tables]]\nid = "t"\ntitle = "T"\nrows = "map"\nvalues = ["ticks"]\n'
    path = tmp_path / "look.toml"
    path.write_text(look.replace("RUNS", str(tmp_path / "a.toml")))
    spec = load_spec(str(path))
    assert spec.jobs("quick") == runs.jobs("quick")
    assert (spec.hash, len(spec.tables), len(spec.figures)) == (runs.hash, 1, 0)
    assert (spec.name, spec.store, runs.store) == ("look", "a", "a")
    path.write_text(look.replace("RUNS", str(tmp_path / "a.toml")) + "[limits]\nmax_ticks = 3\n")
    with pytest.raises(FormatError, match=r"limits: that is for .*a\.toml to say"):
        load_spec(str(path))
    path.write_text(look.replace("RUNS", "no/such"))
    with pytest.raises(FormatError, match="unknown experiment 'no/such'"):
        load_spec(str(path))


def test_a_job_of_ones_own_has_measures_of_its_own(tmp_path) -> None:
    own = 'job = "own_jobs:fine"\n' + SPEC.replace('"ticks"]', '"ticks", "joy"]')
    spec = spec_of(tmp_path, own + '[measures.joy]\nhelp = "what it feels like"\npercent = true\n')
    assert (spec.measure("joy").help, spec.measure("joy").percent) == ("what it feels like", True)
    assert spec.measure("ticks").help == "ticks made"
    with pytest.raises(FormatError, match="a run needs `of"):
        spec_of(tmp_path, SPEC + '[measures.joy]\nhelp = "what it feels like"\n')
    with pytest.raises(FormatError, match="unknown metric 'joy'"):
        spec_of(tmp_path, own)


def test_ranges_in_names() -> None:
    assert expand("a") == ["a"]
    assert expand("a{8..10}b") == ["a8b", "a9b", "a10b"]
    assert len(expand("{0..2}{0..3}")) == 12


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("max_ticks", "max_tics"), r"unknown key in limits 'max_tics'\. Did you mean 'max_ticks'"),
        (("title =", "titel ="), "unknown key 'titel'"),
        (('metrics = ["completion_rate", "ticks"]\n', ""), "the key 'metrics' is missing"),
        (('"ticks"]', '"tocks"]'), "unknown metric 'tocks'"),
        (('["completion_rate", "ticks"]', '["ticks"]'), "completion_rate is shown but not measured"),
        (('y = "completion_rate"', 'y = "completion_rate"\nx = "cycles"'), "cycles is shown but not measured"),
        (('y = "completion_rate"', 'y = "completion_rate"\nlog = 1'), r"figures\[0\]\.log: bool is needed, not 1"),
        (("[scales.quick]", "[scales.tiny]"), "unknown scale 'tiny'"),
        (("agents = [1, 2]", "agents = [1, 'two']"), r"scales\.quick\.agents\[1\]: int is needed, not 'two'"),
        (("instances = 2", "instances = true"), "int is needed, not True"),
        (("connectivity = 4", "connectivity = 4.0"), "int is needed"),
        (("noise = 4", "nois = 4"), "unknown parameter of lra 'nois'"),
        (("noise = 4", "noise = -4"), "noise is a whole number"),
        (("limits = { max_ticks = 9 }", "limits = { maxticks = 9 }"), "unknown key in limits of lra 'maxticks'"),
        (("[limits]", "[limits"), "not TOML"),
        (("max_ticks = 50", "max_ticks = -1"), "max_ticks is a whole number from 0, not -1"),
        (("max_ticks = 50", "max_ticks = 9999999999999999999999"), "numbers and truth values are needed"),
        (("max_ticks = 50", "max_ticks = 5" + "0" * 5000), "not TOML"),
        (("max_ticks = 50", "seconds = nan"), "float is needed, not nan"),
        (("max_ticks = 50", "seconds = -3"), "seconds is a finite number from 0, not -3"),
        (("max_ticks = 50", "hard_seconds = inf"), "hard_seconds is a finite number from 0, not inf"),
        (("max_ticks = 50", "expansions = 0"), "expansions is a whole number from 1, not 0"),
        (("instances = 2", "instances = -1"), r"scales\.quick\.instances: numbers of at least 1 are needed"),
        (("agents = [1, 2]", "agents = []"), r"scales\.quick\.agents: numbers of at least 1 are needed, not \[\]"),
        (("agents = [1, 2]", "agents = [0]"), r"scales\.quick\.agents: numbers of at least 1"),
        (('maps = ["open:width=8,height=8", "random:seed={0..1}"]', "maps = []"), "at least one map"),
        (("{0..1}", "{0..99999999}"), r"seed=\{0\.\.99999999\}: a pattern stands for 1 to 10,000 names"),
        (("{0..1}", "{0..99}{0..999}"), "1 to 10,000 names"),
        (("{0..1}", "{2..1}"), "1 to 10,000 names"),
        (('kind = "random"', 'scen = "{0}"'), r"problem\.scen: only \{map\} and \{instance\}"),
        (('kind = "random"', 'scen = "{"'), r"problem\.scen: only"),
        (('kind = "random"', 'scen = "{map.__class__}"'), r"problem\.scen: only"),
        (("noise = 4", "noise = 1979-05-27"), "texts, numbers and truth values are needed"),
        (("noise = 4", "noise = " + "[" * 100_000), "nested more than 50 deep|not TOML"),
        (("noise = 4", "noise = " + "[" * 60 + "]" * 60), "nested more than 50 deep"),
        (("[problem]", "problem = 3\n[other]"), "a table is needed, not 3|unknown key"),
        (
            ("[limits]", "[views.a]\ntitle = 'a'\nlimits = { tics = 3 }\n[limits]"),
            r"unknown key in views\.a\.limits 'tics'",
        ),
        (
            ("[limits]", "[views.a]\ntitle = 'a'\nlimits_of = { lar = { max_ticks = 3 } }\n[limits]"),
            r"unknown algorithm in views\.a\.limits_of 'lar'",
        ),
    ],
)
def test_mistakes_are_found_and_named(tmp_path, change, reason) -> None:
    with pytest.raises(FormatError, match=reason) as caught:
        spec_of(tmp_path, SPEC.replace(*change))
    assert "a.toml" in str(caught.value)


def test_too_many_jobs_are_refused_before_they_are_made(tmp_path) -> None:
    spec = spec_of(tmp_path, SPEC.replace("instances = 2", "instances = 1000000000"))
    with pytest.raises(FormatError, match="the scale quick has 12,000,000,000 jobs, and 200,000 are the most"):
        spec.jobs("quick")


def test_only_a_small_regular_file_is_a_spec(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(FormatError, match="is a pipe"):
        load_spec(str(tmp_path / "pipe.toml"))
    with pytest.raises(FormatError, match="over the limit"):
        spec_of(tmp_path, SPEC + "#" * 2**18)


def test_unknown_names_list_the_known(tmp_path) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown experiment 'silver/figure'\. Did you mean 'silver/figures'"):
        load_spec("silver/figure")
    with pytest.raises(UnknownNameError, match=r"unknown experiment 'mine'.* Your own go by their file, NAME\.toml\.$"):
        load_spec("mine")
    with pytest.raises(UnknownNameError, match="unknown scale of a 'full'"):
        spec_of(tmp_path).jobs("full")
    with pytest.raises(FormatError, match="no such file"):
        load_spec(str(tmp_path / "none.toml"))


def test_a_job_of_ones_own_gets_algorithms_that_nobody_registered(tmp_path) -> None:
    other = '[[algorithms]]\nname = "not-there"\nparameters = { window = 8 }\n'
    spec = spec_of(tmp_path, 'job = "tests.unit.experiments.own_jobs:fine"\n' + SPEC + other)
    assert {(job["algorithm"], job["label"]) for job in spec.jobs("quick")} == {
        ("lra", "LRA*"), ("lra", "noisy"), ("not-there", "not-there")
    }  # fmt: skip


def entries(*lines: str) -> str:
    """The spec with these algorithms."""
    return SPEC[: SPEC.index("[[algorithms]]")] + "".join(f"[[algorithms]]\n{line}\n" for line in lines)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("weeve", r"a\.toml: unknown algorithm 'weeve'\. Did you mean 'weave'\? Known: auto, .*'module:Class'\."),
        ("greedy:", "unknown algorithm 'greedy:'"),
        ("no-such", "unknown algorithm 'no-such'"),
    ],
)
def test_an_unknown_algorithm_is_an_error(tmp_path, name, reason) -> None:
    with pytest.raises(FormatError, match=reason):
        spec_of(tmp_path, entries(f'name = "{name}"'))


@pytest.mark.parametrize(
    ("lines", "labels"),
    [
        (
            ['name = "whca"\nparameters = { window = 4 }', 'name = "whca"\nparameters = { window = 16 }'],
            ["WHCA* (window 4)", "WHCA* (window 16)"],
        ),
        (
            ['name = "whca"', 'name = "lra"', 'name = "whca"\nparameters = { window = 4, order = "age" }'],
            ["WHCA*", "LRA*", "WHCA* (window 4, order age)"],
        ),
        (
            [
                'name = "whca"\nparameters = { window = 4, no_follow = true }\nlimits = { max_ticks = 9 }',
                'name = "whca"\nparameters = { window = 4 }\nlimits = { max_ticks = 8 }',
                'name = "whca"\nparameters = { window = 4 }\nlimits = { max_ticks = 8 }\nrehearse = true',
            ],
            ["WHCA* (no_follow true, limits.max_ticks 9)", "WHCA* (limits.max_ticks 8)",
             "WHCA* (limits.max_ticks 8, rehearse true)"],
        ),
        (['name = "one:Greedy"', 'name = "two:Greedy"'], ["Greedy (one:Greedy)", "Greedy (two:Greedy)"]),
        (['name = "lra"\nconnectivity = 4', 'name = "lra"\nconnectivity = 8'],
         ["LRA* (connectivity 4)", "LRA* (connectivity 8)"]),
        (['name = "lra"\nlabel = "A"\nparameters = { noise = 4 }', 'name = "lra"'], ["A", "LRA*"]),
    ],
)  # fmt: skip
def test_entries_of_one_title_are_labelled_with_what_they_differ_in(tmp_path, lines, labels) -> None:
    spec = spec_of(tmp_path, entries(*lines))
    assert [algorithm.label for algorithm in spec.contenders()] == labels
    assert {job["label"] for job in spec.jobs("quick")} == set(labels)


@pytest.mark.parametrize(
    ("lines", "label"),
    [
        (['name = "lra"', 'name = "lra"'], r"LRA\*"),
        (['name = "every"', 'name = "lra"'], r"LRA\*"),
        (['name = "lra"\nlabel = "A"', 'name = "far"\nlabel = "A"'], "A"),
        (['name = "lra"', 'name = "far"\nlabel = "LRA*"'], r"LRA\*"),
    ],
)
def test_entries_that_nothing_tells_apart_are_an_error(tmp_path, lines, label) -> None:
    with pytest.raises(FormatError, match=f"algorithms: 2 entries come out with the label '{label}': give each one"):
        spec_of(tmp_path, entries(*lines))


def test_reading_a_spec_runs_none_of_the_code_that_it_names(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trap.py").write_text("raise SystemExit('it ran')\n")
    text = entries('name = "trap:Planner"\nparameters = { depth = 3 }')
    assert {job["algorithm"] for job in spec_of(tmp_path, text).jobs("quick")} == {"trap:Planner"}
    spec = spec_of(tmp_path, 'job = "trap:job"\n' + text)
    assert spec.code() == [("trap:job", plugins.JOB), ("trap:Planner", plugins.PLANNER)]
    assert "trap" not in sys.modules
