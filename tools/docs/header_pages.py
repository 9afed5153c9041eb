"""Makes the site's pages of the C headers from their comments, which Doxygen reads."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from pathlib import Path
from xml.etree import ElementTree as ET

# Each header and the use of its page. The routines of shmem.h have pages of their own: routine_pages.py.
HEADERS = {
    "wattle.h": "measure the joules of any C or C++ program",
    "shmemx.h": "use the types and names beyond the OpenSHMEM standard",
    "armci.h": "call ARMCI: global memory, puts, gets, accumulates, groups and mutexes",
    "armcix.h": "use the extensions of ARMCI-MPI",
    "message.h": "exchange messages and call collectives in an ARMCI program",
    "wattle_sim.h": "describe the work of a program to the simulation",
}
DOXYFILE = """\
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
EXTRACT_ALL = YES
OPTIMIZE_OUTPUT_FOR_C = YES
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
"""


def pages(home: Path) -> dict[str, str]:
    """Each header's page by its file name."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = " ".join(str(home / "include" / name) for name in HEADERS)
        doxyfile = f"{DOXYFILE}INPUT = {inputs}\nOUTPUT_DIRECTORY = {folder}\nSTRIP_FROM_PATH = {home / 'include'}\n"
        subprocess.run(["doxygen", "-"], input=doxyfile, text=True, check=True, capture_output=True)
        xml = Path(folder) / "xml"
        routines = {routine["name"] for routine in json.loads((home / "generated/api.json").read_text())}
        return {f"{Path(name).stem}.md": page(name, home / "include" / name, xml, routines) for name in HEADERS}


def page(name: str, header: Path, xml: Path, routines: set[str]) -> str:
    root = ET.parse(xml / f"{name.replace('_', '__').replace('.', '_8')}.xml").getroot()
    lines = [f"# {name}", "", f"After this page you can {HEADERS[name]}.", "", introduction(root, header), ""]
    structs = [ET.parse(xml / f"{inner.get('refid')}.xml").getroot()[0] for inner in root.iter("innerclass")]
    types = [t for t in members(root, "typedef") if not names_struct(t, structs)]
    functions = [f for f in members(root, "function") if not f.findtext("name", "").startswith("PARMCI_")]
    here = [f for f in functions if f.findtext("name", "").removeprefix("p") not in routines]
    if len(here) < len(functions):
        lines += ["The functions of this header are in [Active messages](../routines/active-messages.md).", ""]
    for title, found in (
        ("Structures", map(structure, structs)),
        ("Types", map(typedef, types)),
        ("Constants", map(enumeration, members(root, "enum"))),
        ("Macros", macros([m for m in members(root, "define") if not is_hidden(m)])),
        ("Functions", map(function, groups(here))),
    ):
        if body := [line for part in found for line in part]:
            lines += [f"## {title}", "", *body]
    return "\n".join(lines) + "\n"


def members(root: ET.Element, kind: str) -> list[ET.Element]:
    return root.findall(f".//memberdef[@kind='{kind}']")


def groups(functions: list[ET.Element]) -> list[list[ET.Element]]:
    """Functions without a comment of their own belong to the function on the line above them."""
    found: list[list[ET.Element]] = []
    for function in functions:
        if found and not described(function) and line_of(function) - line_of(found[-1][-1]) <= 2:
            found[-1].append(function)
        else:
            found.append([function])
    return found


def line_of(member: ET.Element) -> int:
    location = member.find("location")
    return int(location.get("line", 0)) if location is not None else 0


def introduction(root: ET.Element, header: Path) -> str:
    """The comment at the beginning of the header."""
    if text := described(root[0]):
        return text
    comment = re.search(r"/\*(.*?)\*/", header.read_text(encoding="utf-8"), re.S)
    body = re.sub(r"^\s*\* ?", "", comment[1], flags=re.M) if comment else ""
    text = body.strip().removeprefix(f"{header.name} - ")
    text = re.sub(r"^   *(\S.*)$", r"    \1", text, flags=re.M)
    return "\n".join(
        line if line.startswith("    ") else escaped(line) for line in (text[:1].upper() + text[1:]).split("\n")
    )


def described(element: ET.Element) -> str:
    """The brief and the detailed description of an element."""
    parts = [text_of(element.find(tag)) for tag in ("briefdescription", "detaileddescription")]
    return "\n\n".join(part for part in parts if part)


def text_of(element: ET.Element | None) -> str:
    if element is None:
        return ""
    return re.sub(r"\n{3,}", "\n\n", "".join(blocks(element))).strip()


def blocks(element: ET.Element) -> list[str]:
    """Markdown of a description: paragraphs, lists, code, parameters."""
    parts = [escaped(element.text)]
    for child in element:
        parts.append(block(child))
        parts.append(escaped(child.tail))
    return parts


def block(child: ET.Element) -> str:
    inner = "".join(blocks(child)) if child.tag not in ("programlisting", "verbatim", "computeroutput") else ""
    match child.tag:
        case "para":
            return f"{inner.strip()}\n\n"
        case "computeroutput" | "ref" | "emphasis" if "".join(child.itertext()).strip():
            return f"`{''.join(child.itertext())}`"
        case "verbatim":
            return f"\n\n```c\n{(child.text or '').strip(chr(10))}\n```\n\n"
        case "programlisting":
            return f"\n\n```c\n{listing(child)}\n```\n\n"
        case "itemizedlist" | "orderedlist":
            return "\n\n" + "".join(f"- {text_of(item)}\n" for item in child) + "\n"
        case "parameterlist":
            return "\n\n" + "".join(parameter(item) for item in child) + "\n"
        case "simplesect":
            kind = {
                "return": "Returns",
                "see": "See also",
                "since": "Since",
                "note": "Note",
                "warning": "Warning",
                "par": "",
            }
            title = child.findtext("title") or kind.get(child.get("kind", ""), "")
            body = "".join(block(c) for c in child if c.tag != "title").strip()
            return f"\n\n**{title}:** {body}\n\n" if title else f"\n\n{body}\n\n"
        case "linebreak":
            return "  \n"
        case "bold":
            return f"**{inner}**"
        case "ndash" | "mdash":
            return "-"
        case _:
            return inner


def parameter(item: ET.Element) -> str:
    names = item.findall("parameternamelist/parametername")
    direction = next((n.get("direction") for n in names if n.get("direction")), "")
    label = ", ".join(f"`{n.text}`" for n in names) + (f" ({direction})" if direction else "")
    text = text_of(item.find("parameterdescription")).replace("\n", "\n  ")
    return f"- {label}: {text}\n"


def listing(element: ET.Element) -> str:
    lines = []
    for line in element.iter("codeline"):
        text = "".join(
            (e.text or "") + (" " if e.tag == "sp" else "") + (e.tail or "" if e is not line else "")
            for e in line.iter()
        )
        lines.append(text)
    return "\n".join(lines)


def escaped(text: str | None) -> str:
    """Text of a comment as Markdown. Identifiers become code, and other marks of Markdown lose their meaning."""
    parts = re.split(r"(`[^`]+`|\*?\b\w+_\w+\b(?:\(\)|\[\w+\]|=\w+)?)", text or "")
    return "".join(as_code(p) if i % 2 else re.sub(r"([*_<\[\]])", r"\\\1", p) for i, p in enumerate(parts))


def as_code(text: str) -> str:
    return text if text.startswith("`") else f"`{text}`"


def flat(element: ET.Element | None) -> str:
    return "".join(element.itertext()).strip() if element is not None else ""


def is_hidden(macro: ET.Element) -> bool:
    """Include guards, and macros that only say that a name exists."""
    name = macro.findtext("name", "")
    return name.endswith("_H") or name.startswith("HAVE_")


def names_struct(member: ET.Element, structs: list[ET.Element]) -> bool:
    """Whether the typedef only gives a described structure or enumeration its second name."""
    type_text = flat(member.find("type"))
    tags = {s.findtext("compoundname") for s in structs}
    return type_text.startswith("enum ") or type_text.removeprefix("struct ") in tags


def structure(element: ET.Element) -> list[str]:
    """A structure and its members, without those that belong to the library."""
    name = element.findtext("compoundname", "")
    rows = []
    for member in element.iter("memberdef"):
        type_text, member_name = flat(member.find("type")), member.findtext("name", "")
        if not member_name.startswith(("wtl_", "@")) and "::@" not in type_text:
            declaration = f"{type_text} {member_name}{member.findtext('argsstring') or ''}".replace("* ", "*")
            rows.append(f"| `{declaration}` | {cell(member)} |")
    table = ["| member | meaning |", "|---|---|", *rows, ""] if rows else []
    return [f"### `{name}` {{ #{name} }}", "", described(element), "", *table]


def cell(element: ET.Element) -> str:
    return " ".join(described(element).split()).replace("|", "\\|")


def enumeration(element: ET.Element) -> list[str]:
    name = element.findtext("name", "")
    lines = ["", described(element), "", "| constant | meaning |", "|---|---|"]
    if not name.startswith("@"):
        lines = [f"### `{name}` {{ #{name} }}", *lines]
    for value in element.iter("enumvalue"):
        constant = f"{value.findtext('name')} {value.findtext('initializer') or ''}".strip()
        lines.append(f"| `{constant}` | {cell(value)} |")
    return [*lines, ""]


def typedef(element: ET.Element) -> list[str]:
    name = element.findtext("name", "")
    return [
        f"### `{name}` {{ #{name} }}",
        "",
        "```c",
        f"{element.findtext('definition')};",
        "```",
        "",
        described(element),
        "",
    ]


def macros(found: list[ET.Element]) -> list[list[str]]:
    """One table of all macros."""
    rows = []
    for element in found:
        arguments = [flat(p.find("defname")) for p in element.findall("param")]
        call = element.findtext("name", "") + (f"({', '.join(arguments)})" if any(arguments) else "")
        value = re.sub(r"/\*.*?\*/", "", " ".join(flat(element.find("initializer")).split())).strip()
        rows.append(f"| `{call}` | {f'`{value}`' if value else ''} | {cell(element)} |")
    return [["| macro | value | meaning |", "|---|---|---|", *rows, ""]] if rows else []


def function(group: list[ET.Element]) -> list[str]:
    """The prototypes of a group and their comment."""
    name = group[0].findtext("name", "")
    others = [f'<span id="{f.findtext("name")}"></span>' for f in group[1:]]
    return [
        f"### `{name}` {{ #{name} }}",
        "",
        *([" ".join(others), ""] if others else []),
        "```c",
        *(wrapped(f"{f.findtext('definition')}{f.findtext('argsstring')};".replace("* ", "*")) for f in group),
        "```",
        "",
        described(group[0]),
        "",
    ]


def wrapped(prototype: str) -> str:
    """One argument a line where the prototype is long."""
    if len(prototype) <= 100:
        return prototype
    head, _, rest = prototype.partition("(")
    return f"{head}(\n    " + re.sub(r", (?=[^()]*\)?;?$|[^()]*,)", ",\n    ", rest)
