"""Networks learn what a picture shows, are the same after saving, and files that are none are refused by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from wend import Grid, make_problem
from wend.errors import FormatError, ParameterError, VersionError
from wend.selection import networks
from wend.selection.evaluation import Portfolio, judge, lesson_name, parts_of, standings
from wend.selection.features import FEATURES
from wend.selection.granularity import label_task
from wend.selection.lessons import portfolio_lessons, read_answers, task_lessons, whole_lesson
from wend.selection.network_selector import NetworkSelector, load_selector, save_network
from wend.selection.networks import TEST, TRAIN, Lessons

COUNT = 24


def squares() -> tuple[np.ndarray, np.ndarray]:
    """Pictures of a large or a small white square, and which."""
    rng = np.random.default_rng(0)
    pictures, large = np.zeros((COUNT, 227, 227, 3), np.uint8), np.arange(COUNT) % 2
    for picture, is_large in zip(pictures, large, strict=True):
        x, y = rng.integers(20, 120, 2)
        side = 90 if is_large else 15
        picture[y : y + side, x : x + side] = 255
    return pictures, large


def drawn() -> Portfolio:
    """Problems of which the first algorithm suits every second one."""
    _, large = squares()
    completion = np.stack([np.where(large, 0.9, 0.3), np.where(large, 0.4, 0.8)], axis=1)
    quality = np.stack([completion, np.ones((COUNT, 2)), np.ones((COUNT, 2))], axis=2)
    names = tuple(f"problem {k}" for k in range(COUNT))
    maps = tuple(f"map {k // 4}" for k in range(COUNT))
    features = np.random.default_rng(1).random((COUNT, len(FEATURES)))
    return Portfolio(("a", "b"), names, maps, ("random",) * COUNT, features, quality)


# --- lessons and answers, without torch ------------------------------------------------------------------------------


def test_lessons_are_the_splits_on_which_selectors_are_judged(tmp_path) -> None:
    data, (pictures, large) = drawn(), squares()
    lessons = portfolio_lessons(data, pictures, {"random": 2, "by-map": 2}, (1.0, 0.5))
    assert len(lessons.names) == 8
    for kind, trial, share in (("random", 1, 1.0), ("by-map", 0, 0.5)):
        k = lessons.names.index(lesson_name(kind, trial, share))
        train, test = parts_of(data, kind, trial, share)
        assert np.flatnonzero(lessons.parts[k] == TRAIN).tolist() == sorted(train.tolist())
        assert np.flatnonzero(lessons.parts[k] == TEST).tolist() == test.tolist()
        assert len(np.unique(lessons.owners[k])) == (6 if kind == "by-map" else COUNT)
    assert (lessons.labels == 1 - large).all()
    assert lessons.stakes[0, :2] == pytest.approx([0.5, 0.5])
    lessons.save(tmp_path / "lessons.npz")
    again = Lessons.load(tmp_path / "lessons.npz")
    assert again.names == lessons.names
    assert (again.pictures == pictures).all()
    assert (again.parts == lessons.parts).all()
    assert (whole_lesson(data, pictures).parts == TRAIN).all()


def test_tasks_are_lessons_too() -> None:
    walked = 1 + np.random.default_rng(0).random((5, COUNT))
    labels = ["x" if k % 3 else "y" for k in range(COUNT)]
    task = label_task(walked, labels, 0)
    lessons = task_lessons({"genre random 0": task}, squares()[0])
    assert (lessons.labels[0] == [0 if label == "x" else 1 for label in labels]).all()
    assert np.flatnonzero(lessons.parts[0] == TEST).tolist() == task.test.tolist()


def test_answers_are_read_and_judged(tmp_path) -> None:
    data, (pictures, large) = drawn(), squares()
    lessons = portfolio_lessons(data, pictures, {"random": 1, "by-map": 1}, (1.0,))
    told = np.stack([1.0 - large, large], axis=1).astype(np.float32)[:, ::-1]
    answers = np.where((lessons.parts == TEST)[..., None], told, np.float32(np.nan))
    networks.save_answers(tmp_path / "answers.npz", lessons, answers, [])
    known = Portfolio(**{**vars(data), "answers": {"small": read_answers(tmp_path / "answers.npz")}})
    assert judge(known, "small", "random", 0)[0].accuracy == 1
    assert judge(known, "both", "by-map", 0)[0].regret == pytest.approx(0, abs=0.5)
    assert {"small", "both"} < {each.selector for each in standings_of(known)}
    with pytest.raises(ParameterError, match="wend train networks"):
        judge(known, "small", "random", 1)
    with pytest.raises(ParameterError, match="wend train networks"):
        judge(data, "alexnet", "random", 0)


def standings_of(data: Portfolio) -> list:
    """The standings on the one split that has answers."""
    return [each for each in standings(data, 1) if each.training == 1]


def test_what_are_no_answers_is_refused_by_name(tmp_path) -> None:
    np.savez(tmp_path / "a.npz", names=np.zeros(3, np.uint8))
    with pytest.raises(FormatError, match=r"a\.npz.*no answers"):
        read_answers(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", names=np.frombuffer(b"[1]", np.uint8), answers=np.zeros((2, 3, 2), np.float32))
    with pytest.raises(FormatError, match="not one answer for each lesson"):
        read_answers(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", names=np.frombuffer(b"[1]", np.uint8), answers=np.array([{}], object))
    with pytest.raises(FormatError, match=r"a\.npz"):
        read_answers(tmp_path / "a.npz")


def test_a_network_without_onnxruntime_says_what_to_install(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    (tmp_path / "n.onnx").write_bytes(b"nothing")
    with pytest.raises(ParameterError, match=r"wend\[train\]"):
        load_selector(tmp_path / "n.onnx")
    with pytest.raises(FormatError, match="wend train selector"):
        load_selector(tmp_path / "missing.onnx")


# --- with torch ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="the extra `train` is not installed")


@pytest.mark.usefixtures("torch")
def test_a_toy_network_learns_and_the_same_seed_gives_the_same_network() -> None:
    pictures, large = squares()
    lessons = portfolio_lessons(drawn(), pictures, {"random": 1}, (1.0,))
    network, record = networks.learn(lessons, 0, "small", 3, epochs=25, device="cpu")
    assert record.epochs <= 25
    assert record.learned[-1] < 0.6 * record.learned[0]
    told = networks.answer(network, pictures)
    assert told.sum(axis=1) == pytest.approx(np.ones(COUNT), abs=1e-5)
    assert (told.argmax(axis=1) == 1 - large).mean() > 0.8
    again = networks.learn(lessons, 0, "small", 3, epochs=2, device="cpu")[1]
    assert again.unseen == record.unseen[:2]


def test_both_networks_take_what_pictures_are(torch) -> None:
    for shape in networks.SHAPES:
        network = networks.build(shape, 5).eval()
        with torch.no_grad():
            assert tuple(network(torch.zeros(2, 3, 227, 227)).shape) == (2, 5)


@pytest.mark.usefixtures("torch")
def test_lessons_of_a_file_are_learned_without_wend(tmp_path) -> None:
    lessons = portfolio_lessons(drawn(), squares()[0], {"random": 1}, (1.0,))
    lessons.save(tmp_path / "lessons.npz")
    short = f"import sys; sys.path.insert(0, {str(Path(networks.__file__).parent)!r}); import networks; "
    short += "networks.learn.__kwdefaults__['epochs'] = 1; networks.main()"
    words = [sys.executable, "-c", short, tmp_path / "lessons.npz", tmp_path / "a.npz", "--shape", "small"]
    subprocess.run(words, check=True, cwd=tmp_path)
    told = read_answers(tmp_path / "a.npz")["random 0 1"]
    assert (np.isnan(told).all(axis=1) == (lessons.parts[0] != TEST)).all()
    (record,) = json.loads((tmp_path / "a.json").read_text())
    assert (record["lesson"], record["shape"], record["epochs"]) == ("random 0 1", "small", 1)


@pytest.fixture(scope="module")
def model(torch, tmp_path_factory) -> Path:
    pytest.importorskip("onnxruntime", reason="the extra `train` is not installed")
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("networks") / "n.onnx"
    save_network(networks.build("small", 3), ("whca", "far", "bmaa"), {"note": "untrained"}, path)
    return path


def test_a_network_chooses_as_it_did_before_saving(torch, model) -> None:
    from wend.selection.pictures import problem_picture, resized

    selector = load_selector(model)
    problem = make_problem("random", Grid.load("arena:seed=1"), agents=50, seed=1)
    choice = selector.choose(problem)
    torch.manual_seed(0)
    told = networks.answer(networks.build("small", 3), resized(problem_picture(problem))[None])[0]
    assert list(choice.expected.values()) == pytest.approx(told.tolist(), abs=1e-4)
    assert choice.algorithm == ("whca", "far", "bmaa")[told.argmax()]
    assert selector.about == {"note": "untrained"}


def test_damaged_and_foreign_networks_are_refused_by_name(model, tmp_path) -> None:
    import onnx

    path = tmp_path / "m.onnx"
    whole = model.read_bytes()
    for damaged in (b"", b"hello", whole[: len(whole) // 2], b"PK\x03\x04" + whole):
        path.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"m\.onnx"):
            NetworkSelector.load(path)
    label = {"format": "wend-network", "version": 1, "algorithms": ["a", "b", "c"], "about": {}}
    for wrong, error, reason in (
        (None, FormatError, "no selector of Wend"),
        ({"format": "other"}, FormatError, "no selector of Wend"),
        (label | {"version": 2}, VersionError, "version 2"),
        (label | {"algorithms": ["a"]}, FormatError, "something else than its label says"),
        (label | {"algorithms": "abc"}, FormatError, "no list of names"),
        (label | {"about": 3}, FormatError, "no object"),
    ):
        foreign = onnx.load_from_string(whole)
        del foreign.metadata_props[:]
        if wrong is not None:
            note = foreign.metadata_props.add()
            note.key, note.value = "wend", json.dumps(wrong)
        path.write_bytes(foreign.SerializeToString())
        with pytest.raises(error, match=reason):
            NetworkSelector.load(path)
