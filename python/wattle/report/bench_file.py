"""Reads and checks the file of bench/run.py. Its form is in docs/bench.md."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wattle.base.checked import Checked, read_json, require_schema
from wattle.record.manifest import Manifest, read_host, read_texts

SCHEMA = 3


@dataclass(frozen=True)
class Bar:
    """A bar and its measured value. `value` is compared with `bar`: a ratio, or CPU seconds where there is no peer.
    `low` and `high` are its quartiles or its range. `verdict` is empty where too few pairs were run. `beyond`: the
    relative amount by which the bar is missed, 0 where it is met. `no_slower`: whether the ratio is at most 1, for
    rows with an older bar of 1. `disturbed`: other work ran meanwhile.
    """

    section: str
    label: str
    other_name: str
    ours: str
    other: str
    value: float
    low: float
    high: float
    best: float | None
    bar: float
    verdict: str
    beyond: float
    no_slower: bool | None = None
    disturbed: bool = False

    @property
    def met(self) -> bool:
        return self.beyond == 0

    @property
    def close(self) -> bool:
        """Whether another run may have another verdict."""
        return "close" in self.verdict


@dataclass(frozen=True)
class Limit:
    """A limit of the machine itself: a time in seconds, or with `bytes` a bandwidth."""

    label: str
    bytes: int
    median_s: float


@dataclass(frozen=True)
class Bench:
    record: Manifest
    peer: str
    pairs: int
    quick: bool
    bars: list[Bar]
    limits: list[Limit]

    @property
    def sections(self) -> list[str]:
        """The sections of the bars, in order."""
        return list(dict.fromkeys(bar.section for bar in self.bars))


def read(path: Path) -> Bench:
    document = read_json(path)
    require_schema(document, SCHEMA)
    about = document.get("about")
    return Bench(
        record=_record(about),
        peer=about.text("peer") if about.has("peer") else "",
        pairs=about.integer("pairs", lo=1),
        quick=about.flag("quick"),
        bars=[_bar(entry) for entry in document.items("bars")],
        limits=[_limit(entry) for entry in document.items("limits")],
    )


def _record(about: Checked) -> Manifest:
    """A manifest as of a run, for the foot of the page. The jobs had different numbers of PEs."""
    return Manifest(
        kind="bench",
        command=about.texts("command"),
        n_pes=0,
        started=about.text("started"),
        host=read_host(about),
        settings=read_texts(about.get("settings")),
        versions=read_texts(about.get("versions")),
    )


def _bar(entry: Checked) -> Bar:
    return Bar(
        section=entry.name("section"),
        label=entry.text("label"),
        other_name=entry.text("other_name"),
        ours=entry.text("ours"),
        other=entry.text("other"),
        value=entry.known("value"),
        low=entry.known("low"),
        high=entry.known("high"),
        best=entry.number("best"),
        bar=entry.positive("bar"),
        verdict=entry.text("verdict"),
        beyond=entry.known("beyond"),
        no_slower=entry.flag("no_slower") if entry.has("no_slower") else None,
        disturbed=entry.flag("disturbed"),
    )


def _limit(entry: Checked) -> Limit:
    return Limit(entry.text("label"), entry.integer("bytes"), entry.positive("median_s"))
