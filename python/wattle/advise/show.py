"""Shows advice on the terminal, in lines of its width. Lines of code are never wrapped."""

from __future__ import annotations

import textwrap

from wattle.advise import words
from wattle.advise.given import Given
from wattle.text import units
from wattle.text.console import Console, plain, styled

INDENT = "   "


def show(given: Given, console: Console) -> None:
    console.print()
    wrapped(console, f"{given.run.directory}: {units.seconds(given.evidence.wall_s)}, {given.whole}")
    for sentence in (*given.missing, *words.notes(given)):
        wrapped(console, sentence, "partly")
    if not given.findings:
        wrapped(console, words.NONE)
        return
    for number, finding in enumerate(given.findings, 1):
        console.print()
        wrapped(console, f"{number}. {words.headline(finding)}", "title", hanging=INDENT)
        for line in (*words.places(finding), *finding.advice.seen):
            wrapped(console, INDENT + line, hanging=INDENT + "  ")
        for line in finding.advice.change.splitlines():
            console.print(styled("     [good]{}[/good]", line), soft_wrap=True)
        wrapped(console, INDENT + words.basis(finding), "faint", hanging=INDENT)


def wrapped(console: Console, text: str, style: str = "", hanging: str = "") -> None:
    """Prints a sentence in lines of the console's width. `hanging` starts all lines but the first. Paths stay whole."""
    wrap = textwrap.TextWrapper(
        console.width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False
    )
    for line in wrap.wrap(text):
        console.print(plain(line, style), soft_wrap=True)
