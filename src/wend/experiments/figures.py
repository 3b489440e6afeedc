"""A report's figures, drawn as SVG that stands inside a page.

Text stays text, in the page's own font, and everything that is neither curve nor band takes the page's text colour, so
that one drawing is right on a light and on a dark page. The same points give the same bytes.
"""

from __future__ import annotations

import html
import io
import re
import textwrap
import warnings
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from wend.theme import curve_colours

if TYPE_CHECKING:
    from wend.experiments.findings import Sheet
    from wend.experiments.results import Mean

_PAGE_COLOUR = "#010203"    # replaced by the page's text colour in the finished drawing
_COLOURS = curve_colours()
_MARKERS = "osD^vPX*"
_LINES = ("-", "--", ":")   # once all colours are used
_MOST_TICKS = 12            # up to so many x values are all named on the axis
_LOGARITHMIC_FROM = 50.0    # a curve that is so many times another one would hide it on a linear axis

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,   # a $ in a label is a $
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "grid.alpha": 0.15,
    "legend.frameon": False,
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(
        ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "grid.color"), _PAGE_COLOUR
    ),
}


def draw(sheet: Sheet, x_label: str) -> str:
    """An SVG element with a curve for each column of the sheet over its rows, and a band for each interval.

    A column that has a line is drawn as points and that line, on logarithmic axes.
    """
    file = io.StringIO()
    # A label in a script that the fonts do not have is the browser's to show; the warning would be nobody's.
    with warnings.catch_warnings(), matplotlib.rc_context({**_STYLE, "svg.hashsalt": sheet.id}):
        warnings.simplefilter("ignore")
        figure = Figure(figsize=(7.2, 3.7), layout="constrained")
        axes = figure.add_subplot()
        _draw_curves(axes, sheet)
        axes.set_xlabel(x_label)
        axes.grid(True)
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    drawing = file.getvalue()
    drawing = drawing[drawing.index("<svg ") :].replace(_PAGE_COLOUR, "currentColor")
    drawing = re.sub(r'<g id="[^"]*"', "<g", drawing)       # two drawings of one page would share these names
    return drawing.replace("<svg ", f'<svg role="img" aria-label="{html.escape(sheet.title)}" ', 1)


def _draw_curves(axes: Axes, sheet: Sheet) -> None:
    measure = sheet.measures[0]
    factor = 100.0 if measure.percent else 1.0
    points = np.array([[_point(entry.mean) for entry in line] for line in sheet.entries]) * factor
    means, widths = points[..., 0], points[..., 1]
    numeric = all(isinstance(x, (int, float)) for x in sheet.rows)
    xs = np.array(sheet.rows if numeric else range(len(sheet.rows)), dtype=float)
    fits = sheet.lines or [None] * len(sheet.columns)
    curves = []
    for k, fit in enumerate(fits):
        again = k // len(_COLOURS)
        colour, line = _COLOURS[k % len(_COLOURS)], _LINES[again % len(_LINES)]
        marker = _MARKERS[(k + again) % len(_MARKERS)]      # the same colour, another marker
        curves += axes.plot(xs, means[:, k], line, color=colour, marker=marker, markersize=4, lw=1.6)
        if fit is not None:     # points without curve and band, and the line whose slope is told
            curves[-1].set_linestyle("none")
            there = xs[~np.isnan(means[:, k])]
            axes.plot(there, factor * np.exp(fit.intercept) * there**fit.slope, line, color=colour, lw=1.2)
            continue
        low, high = means[:, k] - widths[:, k], means[:, k] + widths[:, k]
        if measure.percent:
            low, high = np.clip(low, 0, 100), np.clip(high, 0, 100)
        axes.fill_between(xs, low, high, color=colour, alpha=0.16, lw=0)
    if sheet.lines is not None:
        axes.set_xscale("log")
        _name_round_numbers(axes.xaxis)
    elif xs.size <= _MOST_TICKS or not numeric:
        axes.set_xticks(xs, [str(x) for x in sheet.rows])
    lowest, highest = np.nanmin(means, axis=1), np.nanmax(means, axis=1)
    if sheet.lines is not None or (np.nanmin(means) > 0 and np.any(highest > _LOGARITHMIC_FROM * lowest)):
        axes.set_yscale("log")
        _name_round_numbers(axes.yaxis)
    elif np.nanmin(means) >= 0 and not measure.percent:
        axes.set_ylim(bottom=0)
    axes.set_ylabel("\n".join(textwrap.wrap(measure.help + (" (%)" if measure.percent else ""), 44)))
    slopes = [f", slope {fit.slope:.2f}" if fit else "" for fit in fits]
    names = [f"{name}{slope}" for name, slope in zip(sheet.columns, slopes, strict=True)]
    title = None if sheet.series == "label" else sheet.series
    axes.legend(curves, names, title=title, alignment="left", loc="upper left", bbox_to_anchor=(1, 1))


def _name_round_numbers(axis: Axis) -> None:
    """Ticks of a logarithmic axis at 1, 2, 5, 10 and so on, and at more where it is short."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high > 10 * low else (1, 1.5, 2, 3, 4, 5, 7)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def _point(mean: Mean | None) -> tuple[float, float]:
    """A mean and half the width of its interval, NaN where there is none."""
    if mean is None:
        return np.nan, np.nan
    return mean.value, np.nan if mean.half_width is None else mean.half_width
