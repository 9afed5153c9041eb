"""The consoles and styled text of `wattle.text.console`, which imports this module with the first text.

All other modules take these names from `wattle.text.console`, whose rules apply.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console as RichConsole
from rich.segment import Segment
from rich.text import Span, Text
from rich.theme import Theme

from wattle.text.visible import visible

THEME = Theme(
    {
        "good": "green",
        "partly": "yellow",
        "bad": "red",
        "title": "bold",
        "faint": "dim",
        "number": "default",
        "measured": "green",
        "modelled": "yellow",
        "unavailable": "red",
    }
)

_PLACE = "\ue000"  # placeholder for a value while the markup of a template is parsed
LONGEST = 4096  # longest plain text that is shown, in characters; no path is longer


def plain(text: object, style: str = "") -> Text:
    """Plain text in a style, for a cell or a line."""
    return Text(_cut(visible(str(text))), style=style)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def styled(template: str, *values: object) -> Text:
    """Rich's markup with values in place of each `{}`, in order, as in `styled("[bad]{}[/bad]: {}", name, why)`. A
    value is plain text, or a result of `styled` or `plain`. The template must be a literal in the source: text from
    outside would be read as markup.
    """
    frame = Text.from_markup(template.replace("{}", _PLACE), emoji=False)
    parts = frame.plain.split(_PLACE)
    if len(parts) != len(values) + 1:
        raise ValueError(f"{template!r}: has {len(parts) - 1} places for {len(values)} values")
    fills = [value if isinstance(value, Text) else plain(value) for value in values]
    grown = [0]  # the shift of each character of the template
    for part, fill in zip(parts, [*fills, Text()], strict=True):
        grown += [grown[-1]] * len(part) + [grown[-1] + len(fill.plain) - 1]
    made = Text("".join(part + fill.plain for part, fill in zip(parts, [*fills, Text()], strict=True)))
    for span in frame.spans:
        made.stylize(span.style, span.start + grown[span.start], span.end + grown[span.end])
    for k, fill in enumerate(fills):
        at = sum(map(len, parts[: k + 1])) + sum(len(f.plain) for f in fills[:k])
        made.stylize(fill.style, at, at + len(fill.plain))
        made.spans += [Span(span.start + at, span.end + at, span.style) for span in fill.spans]
    return made


class Console(RichConsole):
    """A Rich console that takes each `str` for plain text and writes out control characters in all output."""

    def __init__(self, **options: Any) -> None:
        super().__init__(theme=THEME, highlight=False, emoji=False, markup=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        layout = {key: options[key] for key in ("justify", "overflow") if key in options}
        return Text(_cut(visible(text)), style=options.get("style", ""), **layout)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text, lines=True), segment.style)


out = Console()
err = Console(stderr=True)
