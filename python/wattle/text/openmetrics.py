"""Writes metrics as text in the OpenMetrics format.

The text is also valid for the textfile collector of Prometheus' node_exporter. An unavailable figure is left out,
because a metric has no word for it. Labels name provenance, source and scope.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wattle.base import files
from wattle.base.errors import WattleError
from wattle.text import console
from wattle.text.provenance import Joules

Labels = dict[str, str]
Sample = tuple[Labels, float]


@dataclass(frozen=True)
class Metric:
    """A gauge. Its full name is `wattle_NAME_UNIT`."""

    name: str
    unit: str  # of OpenMetrics: seconds, joules, grams; empty for a plain number
    about: str
    samples: list[Sample]


def check(path: Path | None) -> None:
    """Raises WattleError before anything runs if the file cannot be written later because its folder is missing."""
    if path is not None and not files.absolute(path).parent.is_dir():
        raise WattleError(f"--metrics {path}: the folder does not exist")


def keep(path: Path, metrics: Iterable[Metric]) -> None:
    """Replaces the file at once. A failure is only reported, because the program has run already."""
    try:
        files.write_atomically(path, text(metrics))
    except OSError as error:
        console.error(f"--metrics {path}: {error.strerror}")
    except WattleError as error:
        console.error(str(error))


def text(metrics: Iterable[Metric]) -> str:
    """The text. Metrics without a sample are left out."""
    lines: list[str] = []
    for metric in metrics:
        if not metric.samples:
            continue
        full = f"wattle_{metric.name}" + (f"_{metric.unit}" if metric.unit else "")
        lines += [f"# HELP {full} {metric.about}", f"# TYPE {full} gauge"]
        lines += [f"# UNIT {full} {metric.unit}"] if metric.unit else []
        lines += [f"{full}{_labels(labels)} {number!r}" for labels, number in metric.samples]
    return "\n".join([*lines, "# EOF", ""])


def labels_of(figure: Joules) -> Labels:
    """The labels that every figure in joules has."""
    return {
        "domain": figure.domain,
        "provenance": str(figure.provenance),
        "source": figure.source,
        "scope": figure.scope,
    }


def value(labels: Labels, number: float | None) -> list[Sample]:
    """A sample; none where the number is not known."""
    return [] if number is None else [(labels, float(number))]


def _labels(labels: Labels) -> str:
    return "{" + ",".join(f'{name}="{_escaped(text_)}"' for name, text_ in labels.items()) + "}"


def _escaped(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
