"""The figure of a run's watts over time, by its own meter and by an external one."""

from __future__ import annotations

from wattle.html.figures import Figure, hover_text, value_axis
from wattle.record.power_trace import PowerTrace
from wattle.text.provenance import significant

POINTS = 2000  # of a line
LOOKS = (("--first", "solid"), ("--second", "dash"), ("--third", "dot"), ("--fourth", "dashdot"))


def figures(powers: list[PowerTrace], zero_s: float | None) -> list[Figure]:
    """One figure with a line for each meter. `zero_s`: the moment of the start of the job; None: the first reading."""
    shown = [power.thinned(POINTS) for power in powers if power.at_s]
    if not shown:
        return []
    zero = min(power.at_s[0] for power in shown) if zero_s is None else zero_s
    traces = []
    for k, power in enumerate(shown):
        colour, dash = LOOKS[k % len(LOOKS)]
        x = [round(at - zero, 6) for at in power.at_s]
        lines = zip(x, power.watts, strict=True)
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": f"{power.scope}, {power.source}",
                "x": x,
                "y": power.watts,
                "line": {"color": colour, "width": 1.4, "dash": dash},
                "customdata": [
                    hover_text(f"{at:.6g} s", [(power.scope, f"{significant(w, 3)} W"), ("source", power.source)])
                    for at, w in lines
                ],
                "hovertemplate": "%{customdata}<extra></extra>",
            }
        )
    return [
        Figure(
            id="power",
            title="Power over time",
            label="Lines of watts against seconds since the start of the job, one a meter",
            traces=traces,
            layout={
                "xaxis": {"title": {"text": "s since the job began"}},
                "yaxis": value_axis("W", False),
                "showlegend": True,
            },
            height=360,
            note="measured; a point is a reading, or the mean of several",
        )
    ]
