"""Networks that look at pictures and say which label fits: AlexNet as in the thesis, and a smaller one.

Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks (2012), which the thesis
takes with the weights that ImageNet gave it. Those cannot be had here: all networks are trained from scratch, on the
few hundred pictures that there are, each of them turned and mirrored at random. A part of what a network may learn from
is kept aside; once it has not got better on that for a while, training ends, and the best state so far is taken.

    alexnet   as published: five convolutions in two groups, three full layers, 57 million weights
    small     four convolutions and one full layer, 63 thousand weights; minds how much is at stake in a picture

*Lessons* are pictures and, for each network to be trained, which of them to learn from and to answer. They can be
kept in a file and learned on another machine. This module imports nothing but NumPy and torch, and torch where it is
needed, so that it runs as a file of its own where nothing else of Wend is installed:

    python networks.py LESSONS.npz ANSWERS.npz --shape alexnet
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHAPES = ("alexnet", "small")
SIDE, INPUT = 227, "pictures"   # of what a network takes: one picture [1, 3, SIDE, SIDE], from -1 to 1
SKIP, TRAIN, TEST = 0, 1, 2     # what a picture is to a lesson

_BATCH = 32
_EPOCHS, _PATIENCE = 120, 20    # at most so many, and so many without getting better
_ASIDE = 0.15                   # of what a network may learn from, to see when to stop
_RATES = {"alexnet": 1e-4, "small": 2e-3}
_DECAY = 1e-3

Network = Any                   # a torch module; torch has no place in the types of those who do without


@dataclass(frozen=True)
class Lessons:
    """Pictures, and what networks are to learn from them."""

    pictures: NDArray[np.uint8]     # [pictures, side, side, 3]
    names: list[str]                # of the lessons
    parts: NDArray[np.int8]         # [lessons, pictures] TRAIN, TEST or SKIP
    labels: NDArray[np.int16]       # [lessons, pictures]; those of TRAIN are known
    stakes: NDArray[np.float32]     # [lessons, pictures] how much a wrong label costs
    owners: NDArray[np.int32]       # [lessons, pictures] those of one owner are kept aside together, or not at all

    def save(self, path: str | Path) -> None:
        """Write them to a file."""
        arrays = {name: value for name, value in vars(self).items() if name != "names"}
        np.savez_compressed(path, names=np.array(self.names), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Lessons:
        """Read them from a file that `save` has written."""
        with np.load(path, allow_pickle=False) as file:
            return cls(**{**{name: file[name] for name in file.files}, "names": file["names"].tolist()})


@dataclass
class TrainingRecord:
    """How a network was trained."""

    lesson: str
    shape: str
    seed: int
    pictures: int                   # to learn from, those kept aside included
    kept_aside: int
    epochs: int = 0
    best_epoch: int = 0
    seconds: float = 0.0
    device: str = ""
    torch: str = ""
    learned: list[float] = field(default_factory=list)      # loss after each epoch, on what it learned from ...
    unseen: list[float] = field(default_factory=list)       # ... and on what was kept aside


def build(shape: str, outputs: int) -> Network:
    """An untrained network for pictures of 227 x 227."""
    from torch import nn

    if shape == "alexnet":
        return nn.Sequential(
            nn.Conv2d(3, 96, 11, stride=4), nn.ReLU(), nn.LocalResponseNorm(5), nn.MaxPool2d(3, 2),
            nn.Conv2d(96, 256, 5, padding=2, groups=2), nn.ReLU(), nn.LocalResponseNorm(5), nn.MaxPool2d(3, 2),
            nn.Conv2d(256, 384, 3, padding=1), nn.ReLU(),
            nn.Conv2d(384, 384, 3, padding=1, groups=2), nn.ReLU(),
            nn.Conv2d(384, 256, 3, padding=1, groups=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Flatten(),
            nn.Linear(9216, 4096), nn.ReLU(), nn.Dropout(),
            nn.Linear(4096, 4096), nn.ReLU(), nn.Dropout(),
            nn.Linear(4096, outputs),
        )  # fmt: skip
    widths = (3, 16, 32, 64, 64)
    layers: list[Any] = []
    for k, (before, after) in enumerate(itertools.pairwise(widths)):
        size, stride = (7, 4) if k == 0 else (3, 1)
        layers += [nn.Conv2d(before, after, size, stride, size // 2), nn.BatchNorm2d(after), nn.ReLU()]
        layers += [nn.MaxPool2d(2)] if k < len(widths) - 2 else []
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.3), nn.Linear(64, outputs))


def learn(
    lessons: Lessons, k: int, shape: str, seed: int, *, epochs: int = _EPOCHS, device: str | None = None
) -> tuple[Network, TrainingRecord]:
    """Train a network in lesson k."""
    import torch

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    rng = np.random.default_rng(seed)
    rows, aside = _kept_aside(np.flatnonzero(lessons.parts[k] == TRAIN), lessons.owners[k], rng)
    record = TrainingRecord(lessons.names[k], shape, seed, rows.size + aside.size, aside.size, device=device)
    record.torch = torch.__version__
    stakes = lessons.stakes[k] if shape == "small" else np.ones(len(lessons.pictures), np.float32)
    stakes = stakes / max(float(stakes[rows].mean()), 1e-9)
    pictures = torch.from_numpy(lessons.pictures).to(device)
    label = torch.from_numpy(lessons.labels[k].astype(np.int64)).to(device)
    stake = torch.from_numpy(stakes.astype(np.float32)).to(device)
    network = build(shape, int(lessons.labels[k][lessons.parts[k] == TRAIN].max()) + 1).to(device)
    steps = torch.optim.AdamW(network.parameters(), lr=_RATES[shape], weight_decay=_DECAY)
    losses_of = torch.nn.functional.cross_entropy
    best: dict[str, Any] = {}
    began = time.perf_counter()
    while record.epochs < epochs and record.epochs - record.best_epoch < _PATIENCE:
        network.train()
        total = 0.0
        for some in np.array_split(rng.permutation(rows), -(-rows.size // _BATCH)):
            seen = _turned(_prepared(pictures[some]), rng)
            loss = (losses_of(network(seen), label[some], reduction="none") * stake[some]).mean()
            steps.zero_grad()
            loss.backward()
            steps.step()
            total += float(loss.detach()) * some.size
        network.eval()
        with torch.no_grad():
            told = torch.cat([network(_prepared(pictures[some])) for some in _batches(aside)])
            losses = losses_of(told, label[aside], reduction="none") * stake[aside]
        record.epochs += 1
        record.learned.append(round(total / rows.size, 5))
        record.unseen.append(round(float(losses.mean()), 5))
        if not best or record.unseen[-1] < record.unseen[record.best_epoch - 1]:
            record.best_epoch = record.epochs
            best = {name: value.detach().clone() for name, value in network.state_dict().items()}
    network.load_state_dict(best)
    record.seconds = round(time.perf_counter() - began, 2)
    return network, record


def answer(network: Network, pictures: NDArray[np.uint8], device: str = "cpu") -> NDArray[np.float32]:
    """[pictures, labels] how sure a network is of each label."""
    import torch

    network.eval()
    given = torch.from_numpy(pictures).to(device)
    with torch.no_grad():
        told = [network(_prepared(given[some])) for some in _batches(np.arange(len(pictures)))]
        return np.asarray(torch.cat(told).softmax(dim=1).cpu().numpy(), np.float32)


def answer_all(
    lessons: Lessons, shape: str, *, seed: int = 0, told: Callable[[str], None] = print
) -> tuple[NDArray[np.float32], list[TrainingRecord]]:
    """Train a network in each lesson: [lessons, pictures, labels] answers for what is to be tested, NaN elsewhere."""
    outputs = int(lessons.labels.max()) + 1
    answers = np.full((*lessons.parts.shape, outputs), np.nan, np.float32)
    records = []
    for k in range(len(lessons.names)):
        network, record = learn(lessons, k, shape, seed)
        test = np.flatnonzero(lessons.parts[k] == TEST)
        sure = answer(network, lessons.pictures[test], record.device)
        answers[k, test] = 0
        answers[k, test, : sure.shape[1]] = sure
        records.append(record)
        told(f"{record.lesson}: {record.epochs} epochs, {record.seconds} s")
    return answers, records


def save_answers(
    path: str | Path, lessons: Lessons, answers: NDArray[np.float32], records: list[TrainingRecord]
) -> None:
    """Write answers to a file, and how each network was trained to another one beside it."""
    path = Path(path)
    np.savez_compressed(path, names=np.frombuffer(json.dumps(lessons.names).encode(), np.uint8), answers=answers)
    path.with_suffix(".json").write_text(json.dumps([asdict(record) for record in records], indent=1) + "\n")


def to_onnx(network: Network, notes: dict[str, str]) -> bytes:
    """The network as an ONNX model that takes one picture and says how sure it is of each label, with notes in it."""
    import onnx
    import torch

    whole = torch.nn.Sequential(network, torch.nn.Softmax(dim=1)).cpu().eval()
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")         # of torch, about its own ways to export
        torch.onnx.export(
            whole, (torch.zeros(1, 3, SIDE, SIDE),), file, input_names=[INPUT], output_names=["sureness"],
            dynamo=False,
        )  # fmt: skip
    model = onnx.load_from_string(file.getvalue())
    for name, text in notes.items():
        note = model.metadata_props.add()
        note.key, note.value = name, text
    return bytes(model.SerializeToString())


def _kept_aside(
    rows: NDArray[np.intp], owners: NDArray[np.int32], rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows to learn from, and rows of other owners to see when to stop; one of each at least."""
    names = rng.permutation(np.unique(owners[rows]))
    is_aside = np.isin(owners[rows], names[: max(round(_ASIDE * names.size), 1)])
    return (rows[~is_aside], rows[is_aside]) if not is_aside.all() else (rows, rows)


def _batches(rows: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return np.array_split(rows, -(-rows.size // 128))


def _prepared(pictures: Any) -> Any:
    """Pictures as a network takes them: [pictures, 3, side, side], from -1 to 1."""
    return pictures.permute(0, 3, 1, 2).float() / 127.5 - 1


def _turned(pictures: Any, rng: np.random.Generator) -> Any:
    """The pictures, each turned by quarters and mirrored at random: no algorithm minds."""
    import torch

    ways = rng.integers(0, 8, len(pictures))
    turned = torch.empty_like(pictures)
    for way in range(8):
        rows = np.flatnonzero(ways == way)
        each = torch.rot90(pictures[rows], way % 4, (2, 3))
        turned[rows] = each.flip(3) if way > 3 else each
    return turned


def main() -> None:
    """Learn the lessons of a file."""
    parser = argparse.ArgumentParser(description="Train a network for each lesson of a file, and write its answers.")
    parser.add_argument("lessons")
    parser.add_argument("answers")
    parser.add_argument("--shape", choices=SHAPES, default="small")
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    lessons = Lessons.load(wanted.lessons)
    save_answers(wanted.answers, lessons, *answer_all(lessons, wanted.shape, seed=wanted.seed))


if __name__ == "__main__":
    main()
