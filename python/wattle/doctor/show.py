"""The doctor's report on a terminal."""

from __future__ import annotations

from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from wattle import units
from wattle.doctor.finding import Finding, Section, State
from wattle.info import Info
from wattle.tables import table

MARKS = {State.YES: ("✓", "good"), State.PARTLY: ("~", "partly"), State.NO: ("✗", "bad"), State.INFO: ("·", "faint")}
NAME_WIDTH = 19


def show(sections: list[Section], info: Info, console: Console) -> None:
    for section in sections:
        console.rule(f"[title]{escape(section.title)}[/title]", align="left", style="faint")
        for finding in section.findings:
            _show_finding(finding, console)
        console.print()
    console.rule("[title]Settings in force[/title]", align="left", style="faint")
    console.print(settings_table(info))
    console.print("[faint]* set in this environment. ✓ yes  ~ with limits  ✗ no  · for information[/faint]")


def _show_finding(finding: Finding, console: Console) -> None:
    mark, style = MARKS[finding.state]
    row = Table.grid(padding=(0, 1, 0, 0), expand=True)
    row.add_column(width=1)
    row.add_column(width=NAME_WIDTH, overflow="fold")
    row.add_column(ratio=1, overflow="fold")
    row.add_row(Text(mark, style=style), finding.name, _text(finding))
    console.print(row)
    if finding.grant:
        console.print("    grant:")
    for line in finding.grant:  # never wrapped: to be copied
        console.print(f"      {escape(line)}", soft_wrap=True)


def _text(finding: Finding) -> Group:
    lines = [Text(finding.says)]
    if finding.why:
        lines.append(Text(f"why: {finding.why}", style="faint"))
    if finding.risk:
        lines.append(Text(f"risk: {finding.risk}", style="partly"))
    return Group(*lines)


def settings_table(info: Info) -> Table:
    """Every setting: name, value in force, and what it is for."""
    result = table()
    result.add_column("setting", no_wrap=True)
    result.add_column("value", overflow="fold", max_width=14)
    result.add_column("what for", ratio=1)
    for row in info.settings:
        value, default = str(row.get("value", "")), str(row.get("default", ""))
        changed = value != default
        shown = Text((value or '""') + (" *" if changed else ""), style="bold" if changed else "")
        result.add_row(str(row.get("name", "?")), shown, _what_for(row))
    return result


def _what_for(row: dict) -> Text:
    text = Text(str(row.get("help", "")))
    choices = row.get("choices")
    allowed = " | ".join(choices) if isinstance(choices, list) else str(choices or "").replace("|", " | ")
    if allowed:
        text.append(f" [{allowed}]", style="faint")
    elif row.get("lo") is not None and row.get("hi") is not None:
        text.append(f" [{_bound(row, 'lo')} to {_bound(row, 'hi')}]", style="faint")
    return text


def _bound(row: dict, end: str) -> str:
    form = {"size": units.size, "seconds": units.seconds}.get(str(row.get("kind")))
    return form(row[end]) if form else f"{row[end]} {row.get('unit', '')}".rstrip()
