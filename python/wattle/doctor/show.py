"""Shows the doctor's report on a terminal."""

from __future__ import annotations

from typing import Any

from wattle.doctor.finding import Finding, Section, State
from wattle.machine.info import Info
from wattle.text import units
from wattle.text.console import Console, Text, plain, styled
from wattle.text.tables import Table, grid, table

MARKS = {State.YES: ("✓", "good"), State.PARTLY: ("~", "partly"), State.NO: ("✗", "bad"), State.INFO: ("·", "faint")}
NAME_WIDTH = 19


def show(sections: list[Section], info: Info, console: Console) -> None:
    for section in sections:
        console.rule(styled("[title]{}[/title]", section.title), align="left", style="faint")
        for finding in section.findings:
            _show_finding(finding, console)
        console.print()
    console.rule(styled("[title]Settings[/title]"), align="left", style="faint")
    changed = Info({"settings": [row for row in info.settings if _is_changed(row)]})
    if changed.settings:
        console.print(settings_table(changed))
    n = len(info.settings) - len(changed.settings)
    others = "1 setting has its default" if n == 1 else f"{n} settings have their defaults"
    console.print(styled("[faint]{}; `wattle doctor --settings` lists all.[/faint]", others))
    console.print(styled("[faint]✓ yes  ~ with limits  ✗ no  · for information[/faint]"))


def _show_finding(finding: Finding, console: Console) -> None:
    mark, style = MARKS[finding.state]
    row = grid()
    row.add_column(width=1)
    row.add_column(width=NAME_WIDTH, overflow="fold")
    row.add_column(ratio=1, overflow="fold")
    row.add_row(plain(mark, style), finding.name, _text(finding))
    console.print(row)
    if finding.grant:
        console.print("    grant:")
    for line in finding.grant:  # never wrapped, so that it can be copied
        console.print(f"      {line}", soft_wrap=True)


def _text(finding: Finding) -> Text:
    text = plain(finding.says)
    if finding.why:
        text = styled("{}\n[faint]why: {}[/faint]", text, finding.why)
    if finding.risk:
        text = styled("{}\n[partly]risk: {}[/partly]", text, finding.risk)
    return text


def settings_table(info: Info) -> Table:
    """A table of settings: name, value in force and purpose. `*` marks those that this environment sets."""
    result = table()
    result.add_column("setting", no_wrap=True)
    result.add_column("value", overflow="fold", max_width=14)
    result.add_column("what for", ratio=1)
    for row in info.settings:
        value, changed = str(row.get("value", "")), _is_changed(row)
        shown = plain((value or '""') + (" *" if changed else ""), "bold" if changed else "")
        result.add_row(str(row.get("name", "?")), shown, _what_for(row))
    return result


def _is_changed(row: dict[str, Any]) -> bool:
    return str(row.get("value", "")) != str(row.get("default", ""))


def _what_for(row: dict[str, Any]) -> Text:
    text = str(row.get("help", ""))
    choices = row.get("choices")
    allowed = " | ".join(choices) if isinstance(choices, list) else str(choices or "").replace("|", " | ")
    if allowed:
        return styled("{}[faint] {}[/faint]", text, f"[{allowed}]")
    if row.get("lo") is not None and row.get("hi") is not None:
        return styled("{}[faint] {}[/faint]", text, f"[{_bound(row, 'lo')} to {_bound(row, 'hi')}]")
    return plain(text)


def _bound(row: dict[str, Any], end: str) -> str:
    form = {"size": units.size, "seconds": units.seconds}.get(str(row.get("kind")))
    return form(row[end]) if form else f"{row[end]} {row.get('unit', '')}".rstrip()
