"""Films of replays: .gif by pillow, .mp4 by ffmpeg."""

import contextlib
import io
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from midrange_puffer.errors import UsageError, require
from midrange_puffer.files import write_whole
from midrange_puffer.game.parameters import RADAR, callsigns, sizes_of
from midrange_puffer.game.paths import Paths
from midrange_puffer.names import suggest
from midrange_puffer.replays.replay import Replay
from midrange_puffer.show.view import PLANE

# The module that each format needs besides pygame.
FORMATS = {".gif": "PIL", ".mp4": "imageio_ffmpeg"}
SIZE = (854, 480)
SMALLEST = (320, 180)  # has room for the instruments and some of the plane below them
FPS = 20
SPEED = 4.0
LAST = 3.0  # time for which the end is shown [s]
TRUTH, ALL = "truth", "all"
# Sides whose knowledge is shown side by side, in a fight with sensors; None: the truth.
PICTURES = {TRUTH: (None,), "red": (0,), "blue": (1,), ALL: (None, 0, 1)}
MOST_VIEWS = 4  # most views side by side
MOST = 10_000  # most pictures: those of a .gif are all in memory
SHADES = 6  # shades of each colour in a .gif


def require_film(path: str | Path) -> None:
    """Raises UsageError if a module that writes this kind of film is not installed."""
    require("the viewer needs", "pygame")
    require(f"{Path(path).suffix} films need", FORMATS[Path(path).suffix])


def check_size(size: tuple[int, int]) -> None:
    """Raises ValueError if no film can have this width and height [px]."""
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
    """Writes a film of a replay, atomically, in the format of the file's suffix.

    Args:
        replay: The fight.
        path: The .gif or .mp4 file.
        size: Width and height [px], even numbers, at least SMALLEST.
        fps: Pictures a second; at most 50, the limit of a .gif.
        speed: Seconds of the engagement in one second of the film.
        mode: "plane" or "spacetime".
        picture: One of PICTURES: the truth, a side's knowledge in a game with sensors, or all of
            these side by side.
        follow: The fighter that the view follows, for example "red_0", or "all"; several views,
            separated by commas, are side by side.
        progress: Called with the number of decisions shown since the last call.

    Raises:
        UsageError: A module is not installed, or an argument is out of range.
        ReplayError: The replay gives other states than recorded.
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
    views = [(side, body) for side in PICTURES[picture] for body in _followed(replay, follow)]
    if len(views) > MOST_VIEWS:
        raise UsageError(f"follow = {follow}: at most {MOST_VIEWS} views are side by side")
    frames = _frames(replay, size, speed / fps, round(LAST * fps), mode, views, progress)
    encode = _gif if Path(path).suffix == ".gif" else _mp4
    write_whole(Path(path), encode(frames, size, fps))


def _followed(replay: Replay, follow: str) -> list[int | None]:
    """Returns the numbers of the fighters that the views follow; None for all.

    Raises:
        UsageError: No fighter has this name.
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
    """Raises UsageError if a film would have more than MOST pictures."""
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
    """Yields pictures uint8 [height, width, 3], `interval` seconds of the engagement apart.

    Args:
        replay, size, mode: As in `write_film`.
        interval: [s]
        last: Number of pictures of the end.
        views: (side whose knowledge it is, fighter that it follows) of each view.
        progress: Called with 1 after every decision.
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
    """Encodes pictures as a .gif with one palette, the shades of the viewer's colours."""
    from PIL import Image

    palette = Image.new("P", (1, 1))
    palette.putpalette([level for shade in _palette() for level in shade])
    dither = Image.Dither.NONE
    pictures = [Image.fromarray(frame).quantize(palette=palette, dither=dither) for frame in frames]
    # A .gif has durations in 1/100 s. The times are rounded, not the durations: their errors would
    # add up.
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


def _palette() -> list[tuple[int, int, int]]:
    """Returns the shades of the viewer's colours, at most 256."""
    from midrange_puffer.show.view import canvas

    colours = [canvas.TEXT, canvas.BRIGHT, *canvas.SIDE_COLOURS, canvas.STAR, canvas.FLAME]
    colours += [canvas.SAFE, canvas.LOCK]
    shades = [
        canvas.mix(colour, step / SHADES, ground)
        for ground in (canvas.BACKGROUND, canvas.BOX)
        for colour in colours
        for step in range(1, SHADES + 1)
    ]
    return [canvas.BACKGROUND, canvas.BOX, canvas.GRID, *shades]


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
