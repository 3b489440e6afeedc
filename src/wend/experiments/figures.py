"""A report's figures: as SVG that stands inside a page, and as files for a paper.

Each curve has a colour, a marker and error bars, and stands a little to the side of its neighbours, so that the bars of
five samples can be read. Where curves lie on one another, the line between them is made of dashes in turn. In a page,
text stays text, in the page's own font, and everything that is not data takes the page's text colour, so that one
drawing is right on a light and on a dark page. The same numbers give the same bytes.
"""

from __future__ import annotations

import base64
import html
import io
import itertools
import re
import textwrap
import warnings
from typing import IO, TYPE_CHECKING, Any

import matplotlib
import matplotlib.image
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from wend.errors import WendError
from wend.experiments.sheets import metric_name
from wend.maps.grid import Grid
from wend.problems.scenarios import make_problem
from wend.selection.pictures import problem_picture, resized
from wend.theme import curve_colours

if TYPE_CHECKING:
    from wend.experiments.estimates import Mean
    from wend.experiments.findings import Exhibit, Sheet
    from wend.experiments.spec import Picture

Floats = NDArray[np.float64]

FORMATS = ("svg", "pdf", "png")

_PAGE_COLOUR = "#010203"    # replaced by the page's text colour in the finished drawing
_COLOURS = curve_colours()
_MARKERS = "osD^vPX*"
_LINES = ("-", ":", "-.")   # once all colours are used
_MOST_TICKS = 12            # up to so many x values are all named on the axis
_LONG_TICKS = 60            # letters; names that are longer together are written aslant
_LOGARITHMIC_FROM = 50.0    # a curve that is so many times another one would hide it on a linear axis
_MOST_PANELS = 3            # beside each other

_LINE_WIDTH = 1.6           # points, like all widths below
_WIDTHS = 380.0, 160.0      # of the axes, about: of one panel, of one among several
_ASIDE, _MOST_ASIDE = 4.0, 28.0     # from a curve to the next, and from the first to the last
_HEAT = "viridis"           # from dark to light
_DASH = 4.0                 # in line widths
_APART, _MOST_APART = 0.9, 6.0      # the same for the curves of a cactus plot, upwards
_LETTERS = 14               # of a label to the inch
_NAME = 35.0                # that the name of a tick needs
_SAME = 0.008               # share of the height within which two curves lie on one another

_STYLE: dict[Any, Any] = {
    "text.parse_math": False,   # a $ in a label is a $
    "font.size": 9.5,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "grid.alpha": 0.15,
    "legend.frameon": False,
    "pdf.fonttype": 42,         # text in a PDF can be searched
}
_COLOURED = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color")
_ON_PAGE: dict[Any, Any] = {
    "svg.fonttype": "none",
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(_COLOURED, _PAGE_COLOUR),
}
_METADATA = {       # without dates
    "svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
    "pdf": dict.fromkeys(("Creator", "Producer", "CreationDate")),
    "png": {"Software": None},
}


def draw_for_page(exhibit: Exhibit) -> str:
    """An SVG element."""
    file = io.BytesIO()
    _draw(exhibit, file, "svg", _ON_PAGE)
    drawing = file.getvalue().decode()
    drawing = drawing[drawing.index("<svg ") :].replace(_PAGE_COLOUR, "currentColor")
    drawing = re.sub(r'<g id="[^"]*"', "<g", drawing)       # two drawings of one page would share these names
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{html.escape(exhibit.title)}" ', 1)


def draw_to_file(exhibit: Exhibit, file: IO[bytes], format: str) -> None:
    """The same as a picture of its own, dark on white, in one of FORMATS."""
    _draw(exhibit, file, format, {})


def draw_problem(picture: Picture) -> str:
    """The picture of a problem as an HTML element; where its map is not on this machine, a sentence that says so."""
    try:
        problem = make_problem(picture.problem, Grid.load(picture.map), agents=picture.agents, seed=picture.seed)
    except WendError as error:
        return f"<p>{html.escape(str(error))}</p>"
    file = io.BytesIO()
    matplotlib.image.imsave(file, resized(problem_picture(problem)), format="png")
    data = base64.b64encode(file.getvalue()).decode()
    return f'<img width="340" height="340" alt="{html.escape(picture.title)}" src="data:image/png;base64,{data}">'


def file_names(exhibits: list[Exhibit]) -> list[str]:
    """A name for the file of each, without ending: its id as far as a file may be called that."""
    names: list[str] = []
    for exhibit in exhibits:
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", exhibit.id).strip("-") or "figure"
        taken = itertools.chain([name], (f"{name}-{k}" for k in itertools.count(2)))
        names.append(next(each for each in taken if each.lower() not in map(str.lower, names)))
    return names


def _draw(exhibit: Exhibit, file: IO[bytes], format: str, style: dict[Any, Any]) -> None:
    """A panel for each sheet, with a curve for each column over the rows, or a square for each row and column."""
    panels = [sheet for sheet in exhibit.sheets if not sheet.is_empty]
    is_heat = panels[0].is_heat
    across = min(len(panels), _MOST_PANELS)
    down = -(-len(panels) // across)
    size = (7.2, 3.7) if len(panels) == 1 else (2.6 * across + 2.2, 2.4 * down + 0.6)
    # A label in a script that the fonts do not have is the browser's to show; the warning would be nobody's.
    with warnings.catch_warnings(), matplotlib.rc_context({**_STYLE, **style, "svg.hashsalt": exhibit.id}):
        warnings.simplefilter("ignore")
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.subplots(down, across, squeeze=False)
        for k, axes in enumerate(grid.ravel()):
            if k >= len(panels):
                axes.set_axis_off()
                continue
            draw = _draw_heat if is_heat else _draw_curves if panels[k].steps is None else _draw_steps
            draw(axes, panels[k], _WIDTHS[len(panels) > 1])
            axes.set_title(panels[k].title)
            axes.grid(not is_heat)
            if k + across >= len(panels):
                axes.set_xlabel(metric_name(panels[k].row_column))
        if is_heat:
            figure.suptitle(_height_label(panels[0], size[0]), fontsize=9.5)
        else:
            _share_height(grid.ravel()[: len(panels)])
            figure.supylabel(_height_label(panels[0], size[1]), fontsize=9.5)
            _legend(figure, panels)
        figure.savefig(file, format=format, metadata=_METADATA[format], dpi=200)


def _share_height(panels: Any) -> None:
    """Give all panels the scale and the range that holds all of them."""
    logarithmic = any(axes.get_yscale() == "log" for axes in panels)
    for axes in panels:
        if logarithmic:
            axes.set_yscale("log")
    limits = np.array([axes.get_ylim() for axes in panels])
    for axes in panels:
        axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
        if logarithmic:
            _name_round_numbers(axes.yaxis, 200.0)


def _height_label(sheet: Sheet, inches: float) -> str:
    """What is shown, in lines that are not longer than a side of the figure."""
    if sheet.steps is not None:
        return "problems solved"
    measure = sheet.measures[0]
    return "\n".join(textwrap.wrap(measure.help + (" (%)" if _factor(sheet) == 100 else ""), int(inches * _LETTERS)))


def _legend(figure: Figure, panels: list[Sheet]) -> None:
    first = panels[0]
    lines = first.lines if len(panels) == 1 and first.lines else [None] * len(first.columns)
    slopes = [f", slope {line.slope:.2f}" if line else "" for line in lines]
    names = [f"{name}{slope}" for name, slope in zip(first.columns, slopes, strict=True)]
    signs = [_sign(k, is_line=first.lines is None) for k in range(len(names))]
    if any(sheet.printed for sheet in panels):
        signs.append(Line2D([], [], color="grey", marker="o", markerfacecolor="none", linestyle=":", lw=1.2))
        names.append("the paper")
    title = None if first.column_column == "label" else metric_name(first.column_column)
    figure.legend(signs, names, title=title, alignment="left", loc="outside right upper")


def _sign(k: int, *, is_line: bool) -> Line2D:
    colour, marker, line = _look(k)
    sign = Line2D([], [], color=colour, marker=marker, markersize=4, lw=_LINE_WIDTH)
    sign.set_linestyle(line if is_line else "none")
    return sign


def _look(k: int) -> tuple[str, str, Any]:
    """Colour, marker and line of a curve: once all colours are used, the same colour has another marker and line."""
    again = k // len(_COLOURS)
    return _COLOURS[k % len(_COLOURS)], _MARKERS[(k + again) % len(_MARKERS)], _LINES[again % len(_LINES)]


def _factor(sheet: Sheet) -> float:
    return 100.0 if sheet.measures[0].percent or sheet.measures[0].yes_no else 1.0


# --- curves ----------------------------------------------------------------------------------------------------------


def _draw_curves(axes: Axes, sheet: Sheet, width: float) -> None:
    points = np.array([[_point(entry.mean) for entry in line] for line in sheet.entries]) * _factor(sheet)
    means, lows, highs = points[..., 0], points[..., 1], points[..., 2]
    numeric = not sheet.is_even and all(isinstance(x, (int, float)) for x in sheet.rows)
    xs = np.array(sheet.rows if numeric else range(len(sheet.rows)), dtype=float)
    aside = _offsets(len(sheet.columns), _ASIDE, min(_MOST_ASIDE, 0.4 * width / max(xs.size, 1)))
    for k in range(len(sheet.columns)):
        colour, marker, _ = _look(k)
        bars = np.abs(np.stack([means[:, k] - lows[:, k], highs[:, k] - means[:, k]]))
        axes.errorbar(
            xs, means[:, k], np.nan_to_num(bars), fmt=marker, color=colour, markersize=4, elinewidth=0.8, capsize=2.5,
            capthick=0.8, alpha=0.85, transform=axes.transData + _aside(axes, aside[k], 0),
        )  # fmt: skip
    if sheet.lines is not None:
        axes.set_xscale("log")
        axes.set_xlim(xs.min() / 1.2, xs.max() * 1.2)
        _name_round_numbers(axes.xaxis, width)
    else:
        beside = (0.04 + 1.2 * aside.max() / width) * np.ptp(xs) or 0.5
        axes.set_xlim(xs.min() - beside, xs.max() + beside)
    if sheet.lines is None and (xs.size <= _MOST_TICKS or not numeric):
        names = [f"{x:g}" if isinstance(x, float) else str(x) for x in sheet.rows]
        aslant = sum(map(len, names)) > _LONG_TICKS
        axes.set_xticks(xs, names, rotation=30 if aslant else 0, ha="right" if aslant else "center")
    _set_height(axes, sheet, means, lows, highs)
    if sheet.lines is None:
        _join(axes, xs, means, aside)
    for k, fit in enumerate(sheet.lines or []):
        if fit is not None:     # the line whose slope is told
            there = xs[~np.isnan(means[:, k])]
            heights = _factor(sheet) * np.exp(fit.intercept) * there**fit.slope
            axes.plot(there, heights, _look(k)[2], color=_look(k)[0], lw=1.2)
    for name, curve in sheet.printed.items():
        colour = _look(sheet.columns.index(name))[0] if name in sheet.columns else "grey"
        at, heights = np.array(sorted(curve)).T
        axes.plot(at, heights * _factor(sheet), "o:", color=colour, lw=1.2, markersize=7, mfc="none", zorder=3)


def _point(mean: Mean | None) -> tuple[float, float, float]:
    """A mean and the ends of its interval, NaN where there is none."""
    if mean is None:
        return np.nan, np.nan, np.nan
    return mean.value, np.nan if mean.low is None else mean.low, np.nan if mean.high is None else mean.high


def _offsets(curves: int, apart: float, at_most: float) -> Floats:
    """How far each curve stands from its place, in points."""
    whole = min(apart * (curves - 1), at_most)
    return np.linspace(-whole / 2, whole / 2, curves) if curves > 1 else np.zeros(1)


def _aside(axes: Axes, right: float, up: float) -> ScaledTranslation:
    figure = axes.get_figure()
    assert figure is not None
    return ScaledTranslation(right / 72, up / 72, figure.dpi_scale_trans)


def _set_height(axes: Axes, sheet: Sheet, means: Floats, lows: Floats, highs: Floats) -> None:
    """Choose the vertical axis, which holds the bars and the paper's curves."""
    known = means[~np.isnan(means)]
    lowest, highest = np.nanmin(np.append(known, lows)), np.nanmax(np.append(known, highs))
    rows = ~np.isnan(means).all(axis=1)
    spread = np.nanmax(means[rows], axis=1) / np.maximum(np.nanmin(means[rows], axis=1), 1e-300)
    if sheet.lines is not None or (known.min() > 0 and (spread > _LOGARITHMIC_FROM).any()):
        axes.set_yscale("log")
        above = max(lowest, known[known > 0].min() / 3) if (known > 0).any() else 0.1
        axes.set_ylim(above / 1.2, highest * 1.2)
    elif _factor(sheet) == 100:
        axes.set_ylim(max(lowest - 4, -4) if lowest > 40 else -4, 104)
    elif lowest >= 0 or known.min() >= 0:
        axes.set_ylim(0, highest * 1.05 or 1)
    else:
        axes.set_ylim(lowest - 0.05 * (highest - lowest), highest + 0.05 * (highest - lowest))


def _join(axes: Axes, xs: Floats, means: Floats, aside: Floats) -> None:
    """Draw the lines between the points. Where several lie on one another, each has its share of the dashes."""
    curves = means.shape[1]
    for left in range(xs.size - 1):
        ends = np.stack([_heights(axes, xs[k], means[k]) for k in (left, left + 1)])
        for group in _lying_together([k for k in range(curves) if not np.isnan(ends[:, k]).any()], ends):
            for rank, k in enumerate(group):
                colour, _, line = _look(k)
                style: Any = line
                if len(group) > 1:
                    phase = (aside[k] - aside[group[0]]) / _LINE_WIDTH - rank * _DASH
                    style = (phase % (len(group) * _DASH), (_DASH, (len(group) - 1) * _DASH))
                axes.plot(
                    xs[left : left + 2], means[left : left + 2, k], color=colour, linestyle=style, lw=_LINE_WIDTH,
                    dash_capstyle="butt", transform=axes.transData + _aside(axes, aside[k], 0),
                )  # fmt: skip


def _heights(axes: Axes, x: float, heights: Floats) -> Floats:
    """Heights as shares of the height of the axes."""
    places = np.column_stack([np.full(heights.size, x), heights])
    return np.asarray(axes.transAxes.inverted().transform(axes.transData.transform(places))[:, 1])


def _lying_together(curves: list[int], ends: Floats) -> list[list[int]]:
    """The curves in groups whose ends are in the same places."""
    groups: list[list[int]] = []
    for k in curves:
        near = (group for group in groups if (np.abs(ends[:, k] - ends[:, group[0]]) < _SAME).all())
        found = next(near, None)
        if found is None:
            groups.append([k])
        else:
            found.append(k)
    return groups


# --- squares ---------------------------------------------------------------------------------------------------------


def _draw_heat(axes: Axes, sheet: Sheet, _width: float) -> None:
    """A square for each row and column with its mean as colour and in figures."""
    means = np.array([[_point(entry.mean)[0] for entry in line] for line in sheet.entries]).T * _factor(sheet)
    low, high = float(np.nanmin(means)), float(np.nanmax(means))
    axes.pcolormesh(means, cmap=_HEAT, vmin=low, vmax=high if high > low else low + 1)
    axes.set_xticks(np.arange(len(sheet.rows)) + 0.5, [str(row) for row in sheet.rows])
    axes.set_yticks(np.arange(len(sheet.columns)) + 0.5, [str(column) for column in sheet.columns])
    axes.tick_params(length=0)
    for (y, x), mean in np.ndenumerate(means):
        if not np.isnan(mean):
            ink = "white" if mean < (low + high) / 2 else "black"
            axes.text(x + 0.5, y + 0.5, f"{mean:.3g}", ha="center", va="center", color=ink, fontsize=8)


# --- cactus plots ----------------------------------------------------------------------------------------------------


def _draw_steps(axes: Axes, sheet: Sheet, width: float) -> None:
    """The number of problems that each column has solved, over what they took. Equal curves lie beside each other."""
    assert sheet.steps is not None
    took = np.concatenate([np.asarray(steps, dtype=float) for steps in sheet.steps])
    problems = max(entry.mean.problems for line in sheet.entries for entry in line if entry.mean)
    axes.set_ylim(-0.03 * problems, problems * 1.05)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    if took.size == 0:          # nothing is solved here, but in another panel
        axes.set_xticks([])
        return
    logarithmic = bool(took.min() > 0 and took.max() > _LOGARITHMIC_FROM * took.min())
    if logarithmic:
        axes.set_xscale("log")
    begin = took.min() / 1.3 if logarithmic else 0.0
    end = took.max() * (1.3 if logarithmic else 1.05)
    apart = _offsets(len(sheet.columns), _APART, _MOST_APART)
    for k, steps in enumerate(sheet.steps):
        colour, marker, line = _look(k)
        if not steps:
            continue
        xs, counts = np.array([steps[0], *steps, end]), np.array([*range(len(steps) + 1), len(steps)])
        axes.step(
            xs, counts, where="post", color=colour, linestyle=line, lw=1.3, marker=marker, markersize=4,
            markevery=[len(counts) - 1], transform=axes.transData + _aside(axes, 0, apart[k]),
        )  # fmt: skip
    axes.set_xlim(begin, end * (1.1 if logarithmic else 1.03))
    if logarithmic:
        _name_round_numbers(axes.xaxis, width)


def _name_round_numbers(axis: Axis, length: float) -> None:
    """Ticks of a logarithmic axis at 1, 2, 5, 10 and so on; at more if it spans little, at fewer if it spans much."""
    low, high = axis.get_view_interval()
    ladders = ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,))
    room = length / _NAME / max(np.log10(high / low), 0.1)      # names in each power of ten
    axis.set_major_locator(LogLocator(subs=next((ladder for ladder in ladders if len(ladder) <= room), (1,))))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())
