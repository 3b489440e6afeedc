"""Lessons for networks, made from data; and their answers, read from files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wend.errors import FormatError
from wend.files import opened_zip, parse_array, parse_json, read_entry
from wend.selection.evaluation import Portfolio, lesson_name, parts_of
from wend.selection.granularity import Task
from wend.selection.networks import TEST, TRAIN, Lessons
from wend.selection.portfolios import COMPLETION, best_choices

Answers = dict[str, NDArray[np.float32]]    # by lesson: [pictures, labels] how sure the network is, NaN if not asked

_FILE_BYTES = 2**28
_LEAST_STAKE = 0.01     # where all choices are equally good, one of them is still the label


def task_lessons(tasks: Mapping[str, Task], pictures: NDArray[np.uint8]) -> Lessons:
    """A lesson for each task: to predict its labels."""
    lessons = _empty(list(tasks), pictures)
    for k, task in enumerate(tasks.values()):
        lessons.parts[k, task.train], lessons.parts[k, task.test] = TRAIN, TEST
        lessons.labels[k] = task.labels
        lessons.stakes[k] = np.maximum(np.ptp(task.costs, axis=1), _LEAST_STAKE)
    return lessons


def portfolio_lessons(
    data: Portfolio, pictures: NDArray[np.uint8], splits: Mapping[str, int], trainings: tuple[float, ...]
) -> Lessons:
    """Lessons to choose the best algorithm: on so many splits of each kind, with these shares of the training part."""
    wanted = [(kind, trial, share) for kind, count in splits.items() for trial in range(count) for share in trainings]
    lessons = _empty([lesson_name(*each) for each in wanted], pictures)
    lessons.labels[:] = best_choices(data.quality, data.names)
    lessons.stakes[:] = np.maximum(np.ptp(data.quality[..., COMPLETION], axis=1), _LEAST_STAKE)
    by_map = np.unique(data.maps, return_inverse=True)[1]
    for k, (kind, trial, share) in enumerate(wanted):
        train, test = parts_of(data, kind, trial, share)
        lessons.parts[k, train], lessons.parts[k, test] = TRAIN, TEST
        if kind == "by-map":
            lessons.owners[k] = by_map
    return lessons


def whole_lesson(data: Portfolio, pictures: NDArray[np.uint8]) -> Lessons:
    """The one lesson that learns from all of the data."""
    lessons = portfolio_lessons(data, pictures, {"random": 1}, (1.0,))
    lessons.parts[:] = TRAIN
    return lessons


def _empty(names: list[str], pictures: NDArray[np.uint8]) -> Lessons:
    shape = len(names), len(pictures)
    return Lessons(
        pictures, names, np.zeros(shape, np.int8), np.zeros(shape, np.int16), np.ones(shape, np.float32),
        np.tile(np.arange(shape[1], dtype=np.int32), (shape[0], 1)),
    )  # fmt: skip


def read_answers(path: str | Path) -> Answers:
    """What `networks.save_answers` has written; anything else is a FormatError that names the file."""
    with opened_zip(path, at_most=_FILE_BYTES) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        if set(entries) != {"names.npy", "answers.npy"}:
            raise FormatError(path, "these are no answers of networks: `wend train networks` makes them")
        names = read_entry(archive, entries["names.npy"], at_most=_FILE_BYTES)
        told = read_entry(archive, entries["answers.npy"], at_most=_FILE_BYTES)
    lessons = parse_json(parse_array(names, "uint8", path).tobytes(), path)
    answers = parse_array(told, "float32", path)
    if not isinstance(lessons, list) or answers.ndim != 3 or len(lessons) != len(answers):
        raise FormatError(path, "damaged: there is not one answer for each lesson")
    return {str(lesson): answers[k] for k, lesson in enumerate(lessons)}
