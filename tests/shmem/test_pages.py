"""The pages of the routines: each says all of what a reader looks for, and leads nowhere that is not there."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from tree import HOME

MAN, HTML = HOME / "pages/man/man3", HOME / "pages/html"
ROUTINES = json.loads((HOME / "generated/api.json").read_text())
TITLES = ["NAME", "SYNOPSIS", "DESCRIPTION", "RETURN VALUE", "ERRORS", "STANDARD", "NOTES"]


def page_of(name: str) -> str:
    """The text of a man page, by way of the one that leads there."""
    text = (MAN / f"{name}.3").read_text()
    return page_of(leads.group(1)) if (leads := re.fullmatch(r"\.so man3/(\w+)\.3\n", text)) else text


def test_a_routine_s_page_has_its_prototype_its_arguments_its_value_and_its_mistakes() -> None:
    for r in ROUTINES:
        text = page_of(r["name"])
        plain = re.sub(r"\\f[IP]|\\(?=-)", "", text)
        assert set(TITLES) <= set(re.findall(r"^\.SH (.*)$", text, re.M)), r["name"]
        assert re.sub(r"\s+", " ", r["pattern"]) in re.sub(r"\s+", " ", plain), r["name"]
        assert r["type"] in plain, r["name"]
        assert all(f".I {argument}\n" in text for argument in r["arguments"]), r["name"]
        assert (r["value"] or "None.").replace("`", "") in plain, r["name"]
        assert all(mistake.replace("`", "") in plain for mistake in r["mistakes"]), r["name"]


def test_each_argument_and_each_value_is_explained() -> None:
    for r in ROUTINES:
        named = set(re.findall(r"(\w+)(?=[,)])", r["prototype"])) - {"void"}
        assert named == set(r["arguments"]), r["name"]
        returns_nothing = r["prototype"].startswith("void ") and not r["prototype"].startswith("void *")
        assert bool(r["value"]) != returns_nothing, r["name"]


def test_a_page_states_the_first_version_of_the_form_with_a_context() -> None:
    assert "In the standard since 1.0, with a context since 1.4.\n" in page_of("shmem_ctx_int_put")
    assert "In the standard since 1.5.\n" in page_of("shmem_ctx_int_put_signal")


def test_a_synopsis_fits_a_terminal() -> None:
    functions = [page for page in MAN.glob("*.3") if not page.name.endswith(".h.3")]  # not the page of a whole header
    assert functions
    for page in functions:
        for block in re.findall(r"^\.nf\n(.*?)^\.fi$", page.read_text(), re.M | re.S):
            assert all(len(line.replace("\\-", "-")) <= 73 for line in block.splitlines()), page


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def test_no_link_of_a_page_is_dead() -> None:
    for page in HTML.glob("*.html"):
        links = Links()
        links.feed(page.read_text())
        assert links.found and all((HTML / link).exists() for link in links.found), page
    for page in MAN.glob("*.3"):
        text = page.read_text()
        named = re.findall(r"(\w+)\(3\)", text.split(".SH SEE ALSO")[1]) if ".SH SEE ALSO" in text else []
        assert all((MAN / f"{name}.3").exists() for name in named), page
