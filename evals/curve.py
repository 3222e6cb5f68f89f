"""The curve of a run: hit rate over wrong-hit rate as the decision's score threshold goes down."""

from collections.abc import Sequence
from pathlib import Path

from qkva.contracts.errors import ConfigError
from qkva.evals.stream import Turn


def curve_points(turns: Sequence[Turn]) -> list[tuple[float, float, float]]:
    """`(threshold, wrong hits / hits, hits / questions)` for every score of a hit, from the strictest threshold on.

    The stream is not played again: a hit that a stricter threshold refuses would also have taught the cache something.
    """
    hits = sorted((turn for turn in turns if turn.hit), key=lambda turn: -turn.looked.score)
    points, wrong = [], 0
    for number, turn in enumerate(hits, 1):
        wrong += not turn.right
        last_of_its_score = number == len(hits) or hits[number].looked.score < turn.looked.score
        if last_of_its_score:
            points.append((turn.looked.score, wrong / number, number / len(turns)))
    return points


def require_matplotlib() -> None:
    """Raise ConfigError before a run whose curve could not be drawn."""
    try:
        import matplotlib  # noqa: F401, PLC0415
    except ImportError:
        raise ConfigError(
            "--report draws with matplotlib, which is not installed: install qkva with its extra `bench`."
        ) from None


def draw_curve(turns: Sequence[Turn], title: str, path: Path) -> None:
    """Write the curve as a PNG. Raises ConfigError."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    points = curve_points(turns)
    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.add_subplot(xlabel="wrong hits, % of hits", ylabel="hits, % of questions", title=title)
    axes.plot([100 * wrong for _, wrong, _ in points], [100 * hits for _, _, hits in points], marker=".")
    axes.axvline(1, linestyle=":", color="grey")
    axes.set_xlim(left=0)
    axes.set_ylim(0, 100)
    axes.grid(alpha=0.3)
    try:
        FigureCanvasAgg(figure).print_png(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.") from None
