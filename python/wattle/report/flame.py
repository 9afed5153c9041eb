"""The flame graph of a run's call paths: for each weight a tree of frames, whose number is bounded."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

from wattle.figures import call_paths
from wattle.figures.sites import CUT_WORDS, MergedSite
from wattle.html.figures import LONGEST
from wattle.text import units
from wattle.text.provenance import Joules, in_joules, total
from wattle.text.visible import visible

LEAST = 1e-3  # of the whole; a frame below it is folded
MOST = 800  # frames of a weight, folded ones not counted
DEEPEST = 48  # frames of a path; beyond it the outermost ones are cut
WORDS = {"waiting": "time waiting", "time": "time in calls", "joules": "joules"}

Frame = tuple[int, str, str, float, float, str]  # parent, name, kind, start and width from 0 to 1, amount
Stack = tuple[tuple[str, ...], float]


@dataclass
class _Node:
    name: str
    value: float = 0.0
    doubt: float = 0.0  # the uncertainty of joules
    below: dict[str, _Node] = field(default_factory=dict)


def weights(sites: Sequence[MergedSite], program: str, noun: str) -> list[dict[str, object]]:
    """For each weight with a known amount: `id`, `words`, `note` and `frames` (`Frame`), each after its parent. The
    first frame is the whole. Empty where no call path is known.
    """
    if not any(site.path or site.path_end or site.region for site in sites):
        return []
    own = {frame.name for site in sites for frame in site.frames if call_paths.is_own(frame, program)}
    own |= {name for site in sites for name in site.region}
    found: list[dict[str, object]] = []
    for of, words in WORDS.items():
        amounts = [call_paths.weight(site, of) for site in sites]
        root = _Node(f"all {noun}s")
        _add(root, call_paths.added(zip(sites, amounts, strict=True)))
        if not root.value:  # nothing is known, or nothing waited
            continue
        figure = _known_joules(sites, root) if of == "joules" else None
        notes = [f"{figure.source}; scope: {figure.scope}"] if figure else []
        unknown = sum(amount is None for amount in amounts)
        notes += [f"{units.several(unknown, 'call site')} of unknown amount left out"] if unknown else []
        found.append({"id": of, "words": words, "note": "; ".join(notes), "frames": _frames(root, own, figure)})
    return found


def _known_joules(sites: Sequence[MergedSite], root: _Node) -> Joules:
    """The sum of the sites' known joules. Adds their uncertainties to the nodes."""
    figures = [(site, total(site.joules)) for site in sites]
    _add(root, call_paths.added((site, f.uncertainty) for site, f in figures if f.known), is_doubt=True)
    return total(f for _, f in figures if f.known)


def _add(root: _Node, stacks: Iterable[Stack], is_doubt: bool = False) -> None:
    """Adds the numbers of stacks to the nodes along them, as values or as uncertainties."""
    for names, number in stacks:
        path = names if len(names) <= DEEPEST else (CUT_WORDS, *names[-DEEPEST + 1 :])
        nodes = [root]
        for name in path:
            nodes.append(nodes[-1].below.setdefault(name, _Node(name)))
        for node in nodes:
            if is_doubt:
                node.doubt += number
            else:
                node.value += number


def _frames(root: _Node, own: set[str], joules: Joules | None) -> list[Frame]:
    """The frames to draw: a frame after its parent, the widest below it first. Frames that are not drawn are one frame
    below their parent, so that the frames below a frame add up to it.
    """
    kept = _largest(root)
    found: list[Frame] = []
    waiting: list[tuple[int, _Node, float, str]] = [(-1, root, 0.0, "whole")]
    while waiting:
        parent, node, start, kind = waiting.pop()
        at, share = len(found), node.value / root.value
        words = f"{_amount(node, joules)}, {units.share(share)}"
        found.append((parent, _short(node.name), kind, round(start, 6), round(share, 6), words))
        below: list[tuple[int, _Node, float, str]] = []
        for child, its_kind in _below(node, kept, own):
            below.append((at, child, start, its_kind))
            start += child.value / root.value
        waiting += reversed(below)
    return found


def _below(node: _Node, kept: set[int], own: set[str]) -> list[tuple[_Node, str]]:
    """The frames to draw below a frame, the largest first, each with its kind. The last one stands for the others."""
    drawn = sorted((n for n in node.below.values() if id(n) in kept), key=lambda n: (-n.value, n.name))
    small = [n for n in node.below.values() if id(n) not in kept]
    found = [(n, "call" if not n.below else "own" if n.name in own else "other") for n in drawn]
    if sum(n.value for n in small):
        words = f"({units.several(len(small), 'smaller frame')})"
        found.append((_Node(words, sum(n.value for n in small), sum(n.doubt for n in small)), "folded"))
    return found


def _largest(root: _Node) -> set[int]:
    """The identities of the nodes to draw: the largest ones. A node is never larger than its parent."""
    order = count()
    kept: set[int] = set()
    heap = [(-root.value, next(order), root)]
    while heap and len(kept) <= MOST:
        value, _, node = heapq.heappop(heap)
        if -value < LEAST * root.value:
            break
        kept.add(id(node))
        for child in node.below.values():
            heapq.heappush(heap, (-child.value, next(order), child))
    return kept


def _amount(node: _Node, joules: Joules | None) -> str:
    """The amount of a frame in words. `joules`: the whole; its uncertainty says whether all uncertainties are known."""
    if joules is None:
        return units.seconds(node.value)
    return f"{in_joules(node.value, None if joules.uncertainty is None else node.doubt)} {joules.provenance}"


def _short(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}…"
