"""Judges published figures by their judges alone: without contradictions, machines and good directions, which turn a
figure that is not the same into one that is better, or excuse it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from wattle.study import published
from wattle.study.papers import Published
from wattle.study.published import Row


def judge(rows: Iterable[Published], analysis: Any) -> list[Row]:
    return published.judge([replace(row, against=(), rests=(), good="") for row in rows], analysis)
