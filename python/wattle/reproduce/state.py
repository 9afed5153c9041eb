"""reproduce.json: the options of a reproduction and the result of each step, so that it can be continued."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from wattle.base import files
from wattle.base.checked import read_json, require_schema
from wattle.record import manifest
from wattle.reproduce.plan import Step
from wattle.text import console

SCHEMA = 1
FILE = "reproduce.json"
DONE, FAILED = "done", "failed"


@dataclass
class Result:
    """The result of a step. `state`: done or failed. `why`: the reason of a failure. `seconds`: its duration."""

    study: str
    on: str
    state: str
    seconds: float
    why: str = ""


@dataclass
class State:
    """A reproduction in a directory. `on`: its places, hosts as `hosts:A,B`."""

    directory: Path
    quick: bool
    on: list[str]
    studies: list[str]
    author: str
    started: str = field(default_factory=manifest.now)
    host: dict[str, Any] = field(default_factory=manifest.host_info)
    versions: dict[str, str] = field(default_factory=manifest.versions)
    results: list[Result] = field(default_factory=list)

    def of(self, step: Step) -> Result | None:
        return next((r for r in self.results if (r.study, r.on) == (step.study, step.on)), None)

    def add(self, result: Result) -> None:
        """Adds a step's result, in place of an earlier one, and writes the file."""
        self.results = [r for r in self.results if (r.study, r.on) != (result.study, result.on)] + [result]
        self.write()

    def folder(self, step: Step) -> Path:
        return self.directory / "studies" / step.name

    def as_dict(self) -> dict[str, Any]:
        kept = {key: getattr(self, key) for key in ("quick", "on", "studies", "author", "started", "host", "versions")}
        return {"schema": SCHEMA, "kind": "reproduction", **kept, "results": [asdict(r) for r in self.results]}

    def write(self) -> None:
        files.write(self.directory / FILE, console.json_text(self.as_dict(), indent=1))


def read(directory: Path) -> State | None:
    """The reproduction that was begun in a directory; None where there is none."""
    if not (directory / FILE).exists():
        return None
    document = read_json(directory / FILE)
    require_schema(document, SCHEMA)
    state = State(
        directory,
        document.flag("quick"),
        document.texts("on"),
        document.texts("studies"),
        document.text("author"),
        document.text("started"),
        manifest.read_host(document),
        manifest.read_texts(document.get("versions")),
    )
    for entry in document.items("results"):
        study, on, how = entry.text("study"), entry.text("on"), entry.choice("state", (DONE, FAILED))
        state.results.append(Result(study, on, how, entry.known("seconds"), entry.text("why")))
    return state
