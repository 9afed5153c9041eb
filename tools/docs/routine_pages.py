"""Makes the site's pages of OpenSHMEM routines, one for each chapter, from the table of the build (api.json)."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
Link = Callable[[str], str]  # the Markdown of a routine's name

# Title of a chapter, its file, and the first routine of it in the order of the table.
CHAPTERS = (
    ("Start and end", "start", "shmem_init"),
    ("PEs and addresses", "pes", "shmem_my_pe"),
    ("Teams", "teams", "shmem_team_my_pe"),
    ("Contexts", "contexts", "shmem_ctx_create"),
    ("Symmetric memory", "memory", "shmem_malloc"),
    ("Put and get", "put-get", "shmem_put"),
    ("Signals", "signals", "shmem_put_signal"),
    ("Strided put and get", "strided", "shmem_iput"),
    ("Order and barriers", "order", "shmem_fence"),
    ("Atomics", "atomics", "shmem_atomic_fetch"),
    ("Waits and tests", "waits", "shmem_wait_until"),
    ("Reductions and scans", "reductions", "shmem_and_reduce"),
    ("Broadcast, collect and alltoall", "collectives", "shmem_broadcast"),
    ("Reductions of active sets", "active-sets", "shmem_short_and_to_all"),
    ("Locks", "locks", "shmem_set_lock"),
    ("Active messages", "active-messages", "shmemx_am_attach"),
    ("Old names", "old-names", "start_pes"),
)


def generator() -> ModuleType:
    """The module that makes the man pages of the same routines."""
    spec = importlib.util.spec_from_file_location("generate_pages", ROOT / "src/shmem/generate_pages.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages(home: Path) -> dict[str, str]:
    """Each chapter's text by its file name."""
    man = generator()
    families = man.families(json.loads((home / "generated/api.json").read_text()))
    starts = {first: (title, name) for title, name, first in CHAPTERS}
    chapters: list[tuple[str, str, list]] = []
    for members in families:
        if found := starts.pop(man.title(members[0]), None):
            chapters.append((*found, []))
        chapters[-1][2].append(members)
    if starts:
        raise ValueError(f"no routine of api.json begins these chapters: {', '.join(starts)}")
    page_of = man.page_of(families)
    chapter_of = {members[0]["name"]: name for _, name, group in chapters for members in group}
    anchors = anchors_of(man, families)

    def link(name: str) -> str:
        first = page_of.get(name)
        return f"[`{name}`]({chapter_of[first]}.md#{anchors[first]})" if first else f"`{name}`"

    return {f"{name}.md": chapter(man, title, group, page_of, anchors, link) for title, name, group in chapters}


def anchors_of(man: ModuleType, families: list) -> dict[str, str]:
    """The anchor of each family, by its first routine. A deprecated family may have the title of a newer one."""
    anchors: dict[str, str] = {}
    for members in families:
        title = man.title(members[0])
        anchors[members[0]["name"]] = title if title not in anchors.values() else f"{title}-old"
    return anchors


def chapter(
    man: ModuleType, title: str, group: list, page_of: dict[str, str], anchors: dict[str, str], link: Link
) -> str:
    lead = "After this page you can call these routines and avoid the mistakes that Wattle reports."
    lines = [f"# {title}", "", lead, "", "| routine | effect |", "|---|---|"]
    for members in group:
        effect = marked(man.first_sentence(members[0]["doc"]), link).replace("|", "\\|")
        lines.append(f"| [`{man.title(members[0])}`](#{anchors[members[0]['name']]}) | {effect} |")
    for members in group:
        name = man.title(members[0])
        lines += ["", f"## `{name}` {{ #{anchors[members[0]['name']]} }}", "", *routine(man, members, page_of, link)]
    return "\n".join(lines) + "\n"


def routine(man: ModuleType, members: list[dict], page_of: dict[str, str], link: Link) -> list[str]:
    """The prototypes, then all that the man page says."""
    lines = ["```c", *man.synopsis(members), "```", ""]
    sections = man.sections(members, page_of)
    lines += [marked(text, link) for text in sections[0].paragraphs]
    for section in sections[1:]:
        if section.title in ("Notes", "Standard"):
            continue
        if section.title == "See also":
            names = re.findall(r"(\w+)\(3\)", section.paragraphs[0])
            lines += ["", f"**See also:** {', '.join(map(link, names))}"]
            continue
        if section.title == "Return value" and section.paragraphs == ["None."]:
            continue
        lines += ["", f"**{section.title}**", "", *[f"{marked(text, link)}\n" for text in section.paragraphs]]
        lines += [
            f"- `{term}`: {marked(text, link)}" if term else f"- {marked(text, link)}" for term, text in section.items
        ]
        lines += [f"\n{marked(text, link)}" for text in section.after]
    if types := man.variants(members):
        lines += ["", '??? note "Types"', f"    {marked(types, link)}"]
    lines += ["", f"*{man.age(members)} `#include <{members[0]['header']}>`*"]
    return lines


def marked(text: str, link: Link) -> str:
    """Text of the table as Markdown. Routines become links and other identifiers code."""
    parts = re.split(r"(`[^`]+`|\b\w+_\w+\b(?:=\w+)?)", text)
    return "".join(code(p, link) if i % 2 else re.sub(r"([*<\[\]\\])", r"\\\1", p) for i, p in enumerate(parts))


def code(text: str, link: Link) -> str:
    return text if text.startswith("`") else link(text)
