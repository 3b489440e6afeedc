"""Films: a run as a GIF or a WebM, to share where a page cannot be.

PyAV (the extra `video`) encodes the pictures. It brings encoders for both formats, and takes pictures with a palette as
they are, so that a GIF has exactly the colours of the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wend import arguments
from wend.errors import ParameterError
from wend.files import replacing
from wend.viewer.pictures import Picture, Pictures
from wend.world.trace import Trace

# For each format: the encoder, its kind of pixels, and its options; VP9 at a quality that keeps edges sharp.
CODECS: dict[str, tuple[str, str, dict[str, str]]] = {
    "gif": ("gif", "pal8", {}),
    "webm": ("libvpx-vp9", "yuv420p", {"crf": "24", "b": "0", "deadline": "realtime", "cpu-used": "6", "row-mt": "1"}),
}

FRAMES_PER_SECOND = 20      # about: a whole number of them shows each tick
FASTEST = 50                # ticks per second; GIFs cannot show more pictures than that
MOST_FRAMES = 5000
LAST_SECONDS = 1            # for which the last picture stands


def write_film(
    trace: Trace, format: str, path: str | Path, *, size: int = 720, speed: int = 10, first: int = 0,
    last: int | None = None,
) -> None:  # fmt: skip
    """Write the run as a film, `gif` or `webm`: so many pixels a side, at so many ticks per second, from tick to tick.

    An older file of that name is replaced only when the new one is whole.
    """
    av = _encoders()
    last = trace.ticks if last is None else arguments.whole(last, "last")
    speed, first = arguments.whole(speed, "speed"), arguments.whole(first, "first")
    if not 0 <= first <= last <= trace.ticks:
        raise ParameterError(f"first and last are ticks of the run, 0 to {trace.ticks}, not {first} and {last}")
    if not 1 <= speed <= FASTEST:
        raise ParameterError(f"speed is 1 to {FASTEST} ticks per second, not {speed}")
    per_tick = max(round(FRAMES_PER_SECOND / speed), 1)
    if (last - first) * per_tick > MOST_FRAMES:
        raise ParameterError(
            f"the film would have {(last - first) * per_tick} pictures, over the limit of {MOST_FRAMES}: "
            "choose a part of the run by its first and last tick, or a higher speed"
        )
    pictures = Pictures(trace, size)
    codec, pixels, options = CODECS[format]
    rate = speed * per_tick
    with replacing(path) as file, av.open(file, "w", format=format) as container:
        stream = container.add_stream(codec, rate=Fraction(rate), options=options)
        stream.pix_fmt, (stream.height, stream.width) = pixels, pictures.shape
        shown = _with_end(pictures.between(first, last, per_tick), LAST_SECONDS * rate)
        for number, picture in enumerate(shown):
            frame = _frame(av, picture, pictures.palette, pixels)
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _with_end(pictures: Iterator[Picture], again: int) -> Iterator[Picture]:
    """The pictures, and the last one so many times more."""
    for picture in pictures:
        yield picture
    for _ in range(again):
        yield picture


def _frame(av: Any, picture: Picture, palette: NDArray[np.uint8], pixels: str) -> Any:
    if pixels == "pal8":
        return av.VideoFrame.from_ndarray((picture, palette), format=pixels)
    return av.VideoFrame.from_ndarray(palette[picture][..., 1:].copy(), format="rgb24").reformat(format=pixels)


def _encoders() -> Any:
    try:
        import av
    except ImportError:
        raise ParameterError("films need PyAV: pip install 'wend[video]'") from None
    return av
