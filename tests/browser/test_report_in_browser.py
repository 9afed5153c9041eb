"""Reports as a reader sees them: figures are drawn, the console is silent, nothing is asked of the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import am_studies
import benches
import fakes
import made_paths
import mini_apps
import pytest
import studies
from chromium import Browser, start
from wattle.report.cli import write
from wattle.study.place import Place

pytestmark = pytest.mark.browser

DRAWN = """return [...document.querySelectorAll('.plot')].every(p => p.querySelector('.main-svg'))"""
EMPTY = """return [...document.querySelectorAll('.plot')].filter(
  p => !p.querySelector('.scatterlayer .trace path, .barlayer .trace path, .boxlayer .trace path')).map(p => p.id)"""
LINKS_TO_NOTHING = """return [...document.querySelectorAll('nav a')].map(a => a.hash).filter(
  h => !document.querySelector(h))"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    yield from start(tmp_path_factory.mktemp("chromium"))


MADE: dict[str, Callable[[Path], Path]] = {
    "study": lambda folder: studies.make_study(folder, studies.frame(noise=0.03)),
    "am": lambda folder: am_studies.make_study(folder, am_studies.frame(noise=0.03)),
    "run": fakes.make_run,
    "nodes": lambda folder: fakes.make_run(folder, fakes.on_nodes(3, boot_id="same")),
    "paths": lambda folder: fakes.make_run(folder, [made_paths.phases(0), made_paths.phases(1)]),
    "many": lambda folder: fakes.make_run(folder, [made_paths.many(0, 5000), made_paths.many(1, 5000)]),
    "bench": lambda folder: benches.make(folder.with_suffix(".json")),
    "across": lambda folder: studies.make_study(folder, studies.frame(noise=0.03), Place("two-nodes", "1gbit")),
    "versions": mini_apps.make_study,
}


class Pages(dict[str, Path]):
    """Each page is written when a test asks for it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __missing__(self, name: str) -> Path:
        self[name] = write(MADE[name](self.root / name))
        return self[name]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    return Pages(tmp_path_factory.mktemp("pages"))


def long(*values: object) -> object:
    """For `make soak`: a page of the same parts is in `make test`."""
    return pytest.param(*values, marks=pytest.mark.soak)


FIGURES = [("study", 22), ("am", 9), ("run", 3), ("nodes", 4), ("paths", 3), ("bench", 3), ("versions", 10)]


@pytest.mark.parametrize(("name", "figures"), [*FIGURES, long("across", 22)])
def test_all_is_there_and_the_console_is_silent(browser: Browser, pages, name, figures):
    browser.shape(1280, "light")
    browser.open(pages[name])
    browser.until(DRAWN)
    assert browser.run("return document.querySelectorAll('.js-plotly-plot').length") == figures
    assert browser.run(EMPTY) == []
    assert browser.run(LINKS_TO_NOTHING) == []
    assert browser.run("return document.documentElement.scrollWidth") <= 1280
    assert browser.complaints() == []
    assert browser.requests() == []


@pytest.mark.parametrize(
    ("name", "figure"), [("study", "plot-metric-latency"), ("run", "plot-time"), long("nodes", "plot-joules-by-node")]
)
def test_hovering_over_a_point_shows_its_value(browser: Browser, pages, name, figure):
    browser.shape(1280, "light")
    browser.open(pages[name])
    browser.until(DRAWN)
    browser.run("document.getElementById(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", figure)
    point = "document.getElementById(arguments[0]).querySelector('.scatterlayer .points path, .barlayer .point path')"
    place = browser.run(
        f"const r = {point}.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]", figure
    )
    for _ in range(2):  # the first move enters the figure, the second is over the point
        move = {"type": "mouseMoved", "x": place[0], "y": place[1]}
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", move)
    box = f"document.querySelector('#{figure} .hoverlayer .hovertext')"
    text = browser.until(f"const t = {box}; return t && t.textContent")
    assert "n:" in text or "repeats:" in text
    assert browser.complaints() == []


SIDEWAYS = [(360, name) for name in ("study", "run", "nodes", "paths", "many", "versions")] + [(1600, "many")]
SIDEWAYS += [long(360, "am"), long(360, "across"), long(800, "study"), long(800, "run"), long(1600, "run")]


@pytest.mark.parametrize(("width", "name"), SIDEWAYS)
def test_the_page_never_scrolls_sideways(browser: Browser, pages, name, width):
    browser.shape(width, "light")
    browser.open(pages[name])
    browser.until(DRAWN)
    assert browser.run("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", ["study", "run"])
def test_dark_is_followed_and_can_be_switched(browser: Browser, pages, name):
    browser.shape(1280, "dark")
    browser.open(pages[name])
    browser.until(DRAWN)
    colours = "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
    text = "return getComputedStyle(document.querySelector('.xtick text')).fill"
    dark = (*browser.run(colours), browser.run(text))
    browser.run("document.getElementById('theme').click()")
    light = (*browser.run(colours), browser.run(text))
    assert all(a != b for a, b in zip(dark, light, strict=True))
    assert browser.complaints() == []


def test_the_toolbar_lies_above_a_heat_map(browser: Browser, tmp_path: Path) -> None:
    partners = {"pe": [0, 1], "calls": [5, 7], "bytes": [100, 200], "wait_s": [0.1, 0.2]}
    made = [fakes.pe_profile(pe, 2, partners=partners) for pe in range(2)]
    browser.shape(1280, "light")
    browser.open(write(fakes.make_run(tmp_path / "run", made)))
    browser.until(DRAWN)
    corners = """return [...document.querySelectorAll('[id^="plot-pairs-"]')].map(plot => [
      plot.querySelector('.modebar').getBoundingClientRect().bottom,
      plot.querySelector('.heatmaplayer').getBoundingClientRect().top])"""
    found = browser.run(corners)
    assert len(found) == 3 and all(toolbar <= cells for toolbar, cells in found), found


def test_narrow_tables_of_balance_need_no_scrolling(browser: Browser, tmp_path: Path) -> None:
    browser.shape(400, "light")
    browser.open(write(fakes.make_run(tmp_path / "run")))
    wide = "const s = document.querySelector('#balance .scroll'); return [s.scrollWidth, s.clientWidth]"
    needed, there = browser.run(wide)
    assert 0 < needed <= there


FOCUSED = "return document.activeElement.textContent"
TOLD = "return document.querySelector('#flame .told').textContent"
SHOWN = "return [...document.querySelectorAll('#flame .frames > div')].filter(b => !b.hidden).map(b => b.textContent)"


def press(browser: Browser, *keys: str) -> None:
    for key in keys:
        for kind in ("keyDown", "keyUp"):
            browser.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key})


def open_flame(browser: Browser, page: Path, width: int = 1280) -> None:
    browser.shape(width, "light")
    browser.open(page)
    browser.until("return document.querySelector('#flame .frames > div')")


def test_the_flame_graph_answers_to_the_keyboard(browser: Browser, pages):
    open_flame(browser, pages["paths"])
    assert browser.run("return document.querySelectorAll('#flame [tabindex=\"0\"]').length") == 1
    browser.run("document.querySelector('#flame [tabindex=\"0\"]').focus()")
    press(browser, "ArrowDown")
    assert browser.run(FOCUSED) == "halo+0x10"
    assert browser.run(TOLD).startswith("halo+0x10: 600 ms, 50")
    press(browser, "ArrowRight", "Enter")
    assert browser.run(SHOWN) == ["all PEs", "halo+0x11", "halo+0x30", "halo+0x90", "MPI_Recv"]
    press(browser, "ArrowRight")  # a frame that was hidden is shown again
    assert browser.run(FOCUSED) == "halo+0x12" and len(browser.run(SHOWN)) == 14
    press(browser, "ArrowDown", "Enter", "Escape")
    assert browser.run(FOCUSED) == "halo+0x40" and len(browser.run(SHOWN)) == 14
    assert browser.complaints() == []


def test_the_flame_graph_tells_the_frame_under_the_pointer_and_widens_it(browser: Browser, pages):
    open_flame(browser, pages["paths"], 400)
    box = "[...document.querySelectorAll('#flame .frames > div')].find(b => b.textContent === 'halo+0x40')"
    browser.run(f"{box}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    x, y = browser.run(f"const r = {box}.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]")
    browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
    assert browser.run(TOLD).startswith("halo+0x40: 200 ms, 16")
    narrow = browser.run(f"return {box}.getBoundingClientRect().width")
    for kind in ("mousePressed", "mouseReleased"):
        event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
        browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)
    wide = browser.run(f"return {box}.getBoundingClientRect().width")
    board = browser.run("return document.querySelector('#flame .frames').getBoundingClientRect().width")
    assert wide > 5 * narrow and wide == pytest.approx(board, abs=1)


def test_the_flame_graph_changes_its_weight(browser: Browser, pages):
    open_flame(browser, pages["paths"])
    found = []
    for weight in ("waiting", "time", "joules"):
        browser.run(
            "const s = document.querySelector('#flame select'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('change'))",
            weight,
        )
        found.append(browser.run(TOLD))
    assert found[:2] == ["all PEs: 1.20 s, 100 %", "all PEs: 2.40 s, 100 %"]
    assert found[2].startswith("all PEs: 6.00 ± 1.5 J modelled")
    assert "model sandybridge" in browser.run("return document.querySelector('#flame .note').textContent")
