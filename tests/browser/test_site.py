"""The documentation site: built without a network, its links lead somewhere, and its pages open without an error."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from chromium import Browser, start

pytestmark = pytest.mark.soak

pytest.importorskip("material", reason="mkdocs-material is not installed (requirements-docs.txt)")

ROOT = Path(__file__).resolve().parents[2]
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


@dataclass
class Links(HTMLParser):
    """The anchors of a page, where it leads, and what a browser loads with it."""

    anchors: set[str] = field(default_factory=set)
    leads_to: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif (tag, name) == ("a", "href"):
                self.leads_to.append(value or "")
            elif (tag, name) in LOADED:
                self.loads.append(value or "")


def without_network() -> list[str]:
    """A prefix that starts a command in a namespace without a network, where this user may make one."""
    prefix = ["unshare", "--net"]
    return prefix if subprocess.run([*prefix, "true"], capture_output=True).returncode == 0 else []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [*without_network(), sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=350)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "", "mkdocs has warnings"
    return folder


def links_of(site: Path) -> dict[Path, Links]:
    found = {}
    for path in sorted(site.rglob("*.html")):
        found[path] = Links()
        found[path].feed(path.read_text(encoding="utf-8"))
    return found


def broken_links(site: Path, pages: dict[Path, Links]) -> list[str]:
    """Links to a file that does not exist, or to an anchor that its page does not have."""
    broken = []
    for path, links in pages.items():
        for link in links.leads_to + links.loads:
            url = urlsplit(link)
            if url.scheme or (path.name == "404.html" and link.startswith("/")):
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            exists = target.is_file() and target.is_relative_to(site)
            if not exists or (url.fragment and target in pages and unquote(url.fragment) not in pages[target].anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    return broken


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Links]:
    return links_of(site)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from start(tmp_path_factory.mktemp("chromium"))


def test_every_link_leads_to_a_page_and_an_anchor_of_the_site(site: Path, pages: dict[Path, Links]):
    assert broken_links(site, pages) == []


def test_a_broken_link_is_found(tmp_path: Path):
    (tmp_path / "a.html").write_text("<p id='x'><a href='#x'>1</a><a href='#y'>2</a><a href='b.html'>3</a></p>")
    assert broken_links(tmp_path, links_of(tmp_path)) == ["a.html: #y", "a.html: b.html"]


def test_no_page_loads_anything_from_another_host(pages: dict[Path, Links]):
    assert [(path.name, url) for path, links in pages.items() for url in links.loads if urlsplit(url).netloc] == []


def test_every_page_can_be_reached_from_the_first(site: Path, pages: dict[Path, Links]):
    reached, to_do = set(), [site / "index.html"]
    while to_do:
        path = to_do.pop()
        if path in reached or path not in pages:
            continue
        reached.add(path)
        paths = [urlsplit(link).path for link in pages[path].leads_to if not urlsplit(link).scheme]
        to_do += [(path.parent / unquote(link)).resolve() for link in paths if link]
    assert set(pages) - reached == {site / "404.html"}


@pytest.mark.browser
def test_every_page_opens_without_an_error_and_fits_a_narrow_window(
    site: Path, pages: dict[Path, Links], browser: Browser
):
    browser.shape(400, "light")
    wrong = []
    for path in pages:
        if path.name == "404.html":  # its addresses are those of a server
            continue
        browser.open(path)
        browser.until("return document.readyState === 'complete'")
        found = browser.complaints() + browser.requests()
        if browser.run("return document.documentElement.scrollWidth") > 400:
            found.append("it scrolls sideways")
        wrong += [f"{path.relative_to(site)}: {text}" for text in found]
    assert wrong == []


@pytest.mark.browser
def test_the_search_finds_a_routine_and_a_page(site: Path, browser: Browser):
    browser.shape(1280, "light")
    for words, expected in (("shmem_team_split_2d", "teams.html"), ("doorbell", "html")):
        browser.open(site / "index.html")
        browser.run("document.querySelector('.md-search__input').focus()")
        # All at once: a slow machine would search for the first letter alone, which the library reports as no query.
        entered = f"const input = document.querySelector('.md-search__input'); input.value = '{words}'; "
        browser.run(entered + "input.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}))")
        results = "[...document.querySelectorAll('.md-search-result__link')].map(a => a.href)"
        found = browser.until(f"const found = {results}; return found.length ? found : null")
        assert expected in found[0], found
        assert browser.complaints() == []
