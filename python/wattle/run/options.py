"""Options that `wattle run`, `wattle sim` and `wattle energy` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Meter = Annotated[str | None, typer.Option(metavar="METER", help="Sets WATTLE_METER.")]
MachineProfile = Annotated[str | None, typer.Option(metavar="PROFILE", help="Sets WATTLE_MACHINE.")]
Intensity = Annotated[
    str | None, typer.Option(metavar="INTENSITY", help="Also give kWh and CO2, at this intensity: 380g/kWh.")
]
MetricsFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also write the figures as OpenMetrics text, for node_exporter.")
]
StreamFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Also write the figures of each interval as JSON Lines; - is standard output."),
]
StreamEvery = Annotated[
    str, typer.Option("--stream-every", metavar="TIME", help="Interval of --stream: 1s, 500ms; at least 100ms.")
]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output; the program's goes to standard error.")
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="DIR", help="New or empty directory; default: one in wattle-runs."),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting for this run; may be repeated.")
]
PowerBudget = Annotated[
    str | None,
    typer.Option(metavar="WATTS", help="Watts of the whole job: 400W, 300W/node, or 70% of what its PEs may draw."),
]
Profile = Annotated[bool, typer.Option("--profile/--no-profile", help="Count calls, bytes and waiting.")]
