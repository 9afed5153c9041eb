"""The command `wattle acceptance`."""

from __future__ import annotations

import json as jsons
import platform
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from wattle import console, info, manifest, paths, units
from wattle.acceptance import steps
from wattle.acceptance.steps import Result, Step
from wattle.acceptance.untried import untried
from wattle.doctor.finding import Roots
from wattle.errors import WattleError
from wattle.tables import table

SCHEMA = 1
LIMIT_S = 900.0
STYLES = {"passed": "good", "failed": "bad", "not tried": "partly"}


def acceptance(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The file to write (wattle-acceptance-HOST-TIME.tar.gz)."),
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="STEP,...", help="Only these steps or groups; --list names them.")
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name the steps, and do nothing.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Whole sweeps instead of quick ones: hours.")] = False,
    limit: Annotated[
        float, typer.Option("--limit", metavar="SECONDS", help="The most that a step may take.")
    ] = LIMIT_S,
) -> int:
    """Try everything on this machine, and write one file with all that was found.

    For machines unlike the one Wattle was made on: with sensors, clocks that can be set, InfiniBand, many cores,
    another processor. Sensors, transports, knobs, studies and bars are tried in turn; what cannot be tried is said.
    Nothing else should run meanwhile. The file holds host name, processor, kernel, settings and results, no more.
    """
    home = paths.find_home()
    chosen = _chosen(steps.all_steps(home, full), only)
    if list_:
        _list(chosen)
        return 0
    if not 1 <= limit <= 1e6:
        raise WattleError(f"--limit {limit}: allowed are 1 to 1000000 seconds")
    target = output or Path(f"wattle-acceptance-{platform.node()}-{time.strftime('%Y%m%d-%H%M%S')}.tar.gz")
    if target.exists():
        raise WattleError(f"{target}: is there already; give another file with -o")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "acceptance"
        folder.mkdir()
        results = _try_all(chosen, folder, limit)
        document = _document(results, folder)
        (folder / "acceptance.json").write_text(jsons.dumps(document, indent=1) + "\n", encoding="utf-8")
        _pack(folder, target)
    _show(results, document["untried"])
    console.out.print(f"\nWritten to {target}: please send it back.", soft_wrap=True)
    return 1 if any(r.state == "failed" for r in results) else 0


def _chosen(every: list[Step], only: str | None) -> list[Step]:
    if only is None:
        return every
    names = [name.strip() for name in only.split(",") if name.strip()]
    known = {s.name for s in every} | {s.group for s in every}
    if wrong := [name for name in names if name not in known]:
        raise WattleError(f"--only {wrong[0]}: is no step; there are {', '.join(sorted(known))}")
    return [s for s in every if s.name in names or s.group in names]


def _try_all(chosen: list[Step], folder: Path, limit: float) -> list[Result]:
    found = []
    with console.progress("acceptance", len(chosen)) as bar:
        for step in chosen:
            bar.advance(0, now=step.what)
            found.append(steps.run(step, folder, limit))
            bar.advance(now=step.what)
    return found


def _document(results: list[Result], folder: Path) -> dict[str, Any]:
    answer = info.ask()
    passed = {r.name for r in results if r.state == "passed"}
    missing = untried(Roots(), answer.meters, _knob(folder), "two-nodes" in passed)
    return {
        "schema": SCHEMA,
        "kind": "acceptance",
        "made": manifest.now(),
        "host": manifest.host_info() | {"machine": platform.machine()},
        "versions": manifest.versions() | {"runtime": answer.version, "pmix": answer.pmix},
        "steps": [r.as_dict() for r in results],
        "untried": [{"what": what, "why": why} for what, why in missing],
    }


def _knob(folder: Path) -> str:
    """As the governed jobs found it."""
    for path in sorted(folder.glob("clocks-*/profile/pe-00000.json")):
        try:
            return str((jsons.loads(path.read_text()).get("clocks") or {}).get("knob") or "")
        except (OSError, ValueError):
            continue
    return ""


def _pack(folder: Path, target: Path) -> None:
    """The file is whole or is not there."""
    part = target.with_name(f".{target.name}.part")
    try:
        with tarfile.open(part, "w:gz") as archive:
            archive.add(folder, folder.name)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise WattleError(f"{target}: cannot be written: {error.strerror}; give another file with -o") from None


def _list(chosen: list[Step]) -> None:
    result = table()
    for head in ("step", "group", "what"):
        result.add_column(head)
    for step in chosen:
        result.add_row(step.name, step.group, step.what)
    console.out.print(result)


def _show(results: list[Result], missing: list[dict[str, str]]) -> None:
    shown = table(title="What was tried")
    for head in ("step", "group", "", "took", "why"):
        shown.add_column(head, overflow="fold")
    for r in results:
        shown.add_row(r.name, r.group, f"[{STYLES[r.state]}]{r.state}[/]", units.seconds(r.seconds), r.why)
    console.out.print(shown)
    if missing:
        console.out.print()
        rest = table(title="What could not be tried here")
        for head in ("what", "why"):
            rest.add_column(head, overflow="fold")
        for entry in missing:
            rest.add_row(entry["what"], entry["why"])
        console.out.print(rest)
