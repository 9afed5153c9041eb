"""Shows advice on the terminal."""

from __future__ import annotations

from wattle import units
from wattle.advise import words
from wattle.advise.given import Given
from wattle.console import Console, plain, styled


def show(given: Given, console: Console) -> None:
    console.print()
    console.print(
        styled("{}: {}, {}", given.run.directory, units.seconds(given.evidence.wall_s), given.whole), soft_wrap=True
    )
    for sentence in given.missing:
        console.print(plain(sentence, "partly"), soft_wrap=True)
    if not given.findings:
        console.print(words.NONE)
        return
    for number, finding in enumerate(given.findings, 1):
        console.print()
        console.print(styled("[title]{}. {}[/title]", number, words.headline(finding)), soft_wrap=True)
        for line in (*words.places(finding), *finding.advice.seen):
            console.print(styled("   {}", line), soft_wrap=True)
        for line in finding.advice.change.splitlines():
            console.print(styled("     [good]{}[/good]", line), soft_wrap=True)
        effort = f"Effort: {finding.advice.effort}. Sure: {finding.advice.sure}. {finding.advice.rests_on}"
        console.print(styled("   [faint]{}[/faint]", effort), soft_wrap=True)
