"""Films of replays: .gif by pillow, .mp4 by ffmpeg."""

import contextlib
import importlib.util
import io
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from midrange_puffer.envs.rendering import require_pygame
from midrange_puffer.errors import UsageError
from midrange_puffer.files import write_whole
from midrange_puffer.game.parameters import RADAR, callsigns, sizes_of, suggest
from midrange_puffer.game.paths import Paths
from midrange_puffer.replays.replay import Replay
from midrange_puffer.show.view import PLANE, theme

# What each format needs besides pygame: module, and the package it is in.
FORMATS = {".gif": ("PIL", "pillow"), ".mp4": ("imageio_ffmpeg", "imageio-ffmpeg")}
SIZE = (854, 480)
SMALLEST = (320, 180)  # there is room for the instruments and for some of the plane below
FPS = 20
SPEED = 4.0
LAST = 3.0  # s that the end is shown
TRUTH, ALL = "truth", "all"
# Whose picture of a fight with sensors is shown: the seats, or None for the truth, side by side.
PICTURES = {TRUTH: (None,), "red": (0,), "blue": (1,), ALL: (None, 0, 1)}
FOLLOWED = 4  # views side by side, at most
MOST = 10_000  # pictures, as those of a .gif are all in memory
SHADES = 6  # of each colour in a .gif


def require_film(path: str | Path) -> None:
    """Raise UsageError where what writes a film of that name is not installed."""
    require_pygame()
    module, package = FORMATS[Path(path).suffix]
    if importlib.util.find_spec(module) is None:
        hint = "pip install 'midrange_puffer[view]'"
        raise UsageError(f"{Path(path).suffix} films need {package}: {hint}")


def check_size(size: tuple[int, int]) -> None:
    """Raise ValueError where no film can have a width and height [px]."""
    if any(length % 2 or length < least for length, least in zip(size, SMALLEST, strict=True)):
        raise ValueError("must be even numbers from {}x{} on".format(*SMALLEST))


def write_film(
    replay: Replay,
    path: str | Path,
    size: tuple[int, int] = SIZE,
    fps: int = FPS,
    speed: float = SPEED,
    mode: str = PLANE,
    picture: str = TRUTH,
    follow: str = ALL,
    progress: Callable[[int], None] = lambda count: None,
) -> None:
    """Write a film of a replay, whole, in the format that the file's name ends in.

    Args:
        size: Width and height [px], even numbers, SMALLEST at least.
        fps: Pictures a second; at most 50, which is all that a .gif can do.
        speed: Seconds of the engagement in one of the film.
        mode: "plane" or "spacetime".
        picture: One of PICTURES: the truth, what a side of a game with sensors knows, or all of
            these side by side.
        follow: Whom the view follows: the name of a fighter, as red_0, or "all"; several, separated
            by commas, are side by side.
        progress: Called with the number of decisions shown since.

    Raises:
        UsageError: Something is not installed, or an argument out of range.
        ReplayError: The replay does not go as it went.
        WriteError: The file could not be written.
    """
    require_film(path)
    try:
        check_size(size)
    except ValueError as error:
        raise UsageError(f"size = {size[0]}x{size[1]}: {error}") from None
    if not 1 <= fps <= 50:
        raise UsageError(f"fps = {fps}: must be from 1 to 50")
    if not 0.01 <= speed <= 100:
        raise UsageError(f"speed = {speed:g}: must be from 0.01 to 100")
    if picture not in PICTURES:
        raise UsageError(f"picture = {picture}: must be one of {', '.join(PICTURES)}")
    if picture != TRUTH and replay.parameters["sensing"] != RADAR:
        raise UsageError(f"picture = {picture}: in this fight both sides know everything")
    _check_length(replay, fps, speed)
    views = [(side, one) for side in PICTURES[picture] for one in _followed(replay, follow)]
    if len(views) > FOLLOWED:
        raise UsageError(f"follow = {follow}: at most {FOLLOWED} views are side by side")
    frames = _frames(replay, size, speed / fps, round(LAST * fps), mode, views, progress)
    encode = _gif if Path(path).suffix == ".gif" else _mp4
    write_whole(Path(path), encode(frames, size, fps))


def _followed(replay: Replay, follow: str) -> list[int | None]:
    """The fighters that the views follow, by their numbers; None for all.

    Raises:
        UsageError: There is no fighter of that name.
    """
    names = callsigns(sizes_of(replay.parameters))
    followed = []
    for name in map(str.strip, follow.split(",")):
        if name not in (ALL, *names):
            raise UsageError(
                f"follow = {name}: must be {ALL} or of {', '.join(names)}{suggest(name, names)}"
            )
        followed.append(None if name == ALL else names.index(name))
    return followed


def _check_length(replay: Replay, fps: int, speed: float) -> None:
    """Raise UsageError where a film would have more than MOST pictures."""
    pictures = math.ceil(replay.duration / speed * fps) + round(LAST * fps)
    if pictures > MOST:
        raise UsageError(
            f"speed = {speed:g} and fps = {fps}: a film of {pictures:,} pictures, at most {MOST:,} "
            "are allowed; take more speed or less fps"
        )


def _frames(
    replay: Replay,
    size: tuple[int, int],
    interval: float,
    last: int,
    mode: str,
    views: Sequence[tuple[int | None, int | None]],
    progress: Callable[[int], None],
) -> Iterator[np.ndarray]:
    """Pictures uint8 [height, width, 3], `interval` s of the engagement apart, the end repeated.

    Args:
        views: Side by side, each of the side that knows it and the fighter that it follows.
    """
    from midrange_puffer.show.view.renderer import Renderer, columns

    renderer = Renderer(size)
    sim = replay.simulation()
    paths = Paths(sim)
    shown = 0

    def picture(time: float | None) -> np.ndarray:
        for rect, (side, fighter) in zip(columns(size, len(views)), views, strict=True):
            renderer.draw(
                sim,
                paths,
                time=time,
                focus=fighter,
                mode=mode,
                rect=rect,
                names=replay.names,
                side=side,
            )
        return renderer.rgb()

    for _ in replay.play(sim):
        paths.note()
        while shown * interval < paths.time:
            yield picture(shown * interval)
            shown += 1
        progress(1)
    for _ in range(last):
        yield picture(None)


def _gif(frames: Iterator[np.ndarray], size: tuple[int, int], fps: int) -> bytes:
    """One palette for all pictures: the shades of the viewer's colours."""
    from PIL import Image

    palette = Image.new("P", (1, 1))
    palette.putpalette([level for shade in _palette() for level in shade])
    dither = Image.Dither.NONE
    pictures = [Image.fromarray(frame).quantize(palette=palette, dither=dither) for frame in frames]
    # Times are in hundredths of a second; so none of them is off by more than half of one.
    times = 10 * np.round(100 * np.arange(len(pictures) + 1) / fps).astype(int)
    film = io.BytesIO()
    pictures[0].save(
        film,
        "gif",
        save_all=True,
        append_images=pictures[1:],
        duration=np.diff(times).tolist(),
        loop=0,
    )
    return film.getvalue()


def _palette() -> list[theme.Colour]:
    """The shades of the viewer's colours, at most 256."""
    colours = [theme.TEXT, theme.BRIGHT, *theme.SEATS, theme.STAR, theme.FLAME]
    colours += [theme.SAFE, theme.LOCK]
    shades = [
        theme.mix(colour, step / SHADES, ground)
        for ground in (theme.BACKGROUND, theme.PANEL)
        for colour in colours
        for step in range(1, SHADES + 1)
    ]
    return [theme.BACKGROUND, theme.PANEL, theme.GRID, *shades]


def _mp4(frames: Iterator[np.ndarray], size: tuple[int, int], fps: int) -> bytes:
    import imageio_ffmpeg

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "film.mp4"
        writer = imageio_ffmpeg.write_frames(
            str(path),
            size,
            fps=fps,
            codec="libx264",
            macro_block_size=2,
            output_params=["-preset", "veryfast"],
        )
        with contextlib.closing(writer):
            writer.send(None)
            for frame in frames:
                writer.send(frame)
        return path.read_bytes()
