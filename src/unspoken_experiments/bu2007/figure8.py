"""Figure 8: statistics of the attributes."""

from __future__ import annotations

import numpy as np

from unspoken_experiments.bu2007.result import Result
from unspoken_experiments.bu2007.setting import Data, load

Row = tuple[int, int, int, int, float]
PUBLISHED: dict[int, Row] = {
    1: (2000, 1978, 9, 163, 74.2), 2: (361, 361, 0, 0, 0.0), 3: (67, 67, 1, 15, 22.4),
    4: (1398, 551, 22, 10, 40.0), 5: (775, 700, 14, 24, 48.0), 6: (7118, 5785, 202, 18, 62.9),
    7: (255, 207, 2, 41, 39.6), 8: (255, 185, 8, 6, 25.9), 9: (255, 255, 3, 8, 9.4),
    10: (7174, 5827, 229, 17, 66.8),
}


def mono_share(data: Data, number: int) -> float:
    """Return the share of monochromatic values as the paper computes it.

    It multiplies the number of pieces by the rounded average length.
    """
    facts = data[number].facts
    return float(facts.pieces * np.floor(facts.average_length + 0.5) / facts.distinct)


def statistics(data: Data) -> dict[int, Row]:
    """Return range width, distinct values, pieces, average length and percentage."""
    out = {}
    for attribute in data.attributes:
        facts = attribute.facts
        out[attribute.number] = (
            int(facts.width), facts.distinct, facts.pieces,
            int(np.floor(facts.average_length + 0.5)),
            float(np.floor(1000 * mono_share(data, attribute.number) + 0.5) / 10),
        )
    return out


def run(data: Data) -> Result:
    """Return the figure, and how many of its fifty numbers agree."""
    ours = statistics(data)
    same = sum(a == b for n, row in ours.items() for a, b in zip(row, PUBLISHED[n], strict=True))
    rows = tuple((f"#{n} {data[n].name}", *(f"{a:g} ({b:g})" for a, b in
                                          zip(row, PUBLISHED[n], strict=True)))
                 for n, row in ours.items())
    columns = ("attribute", "range width", "distinct values", "monochromatic pieces",
               "average length", "% of values in pieces")
    notes = (
        f"{same} of {5 * len(ours)} numbers agree; nothing here is random. The one that does not "
        "is a rounding in print: 22 x 10 / 551 is 39.9%, published as 40.0%.",
        "The class is Cover_Type = 5 (Aspen) against the rest, not the seven cover types; pieces "
        "are runs of at least 2 consecutive distinct values, and numeric gaps do not break a run.",
        "The paper's percentage is pieces x rounded average length / distinct values. "
        + _true_shares(data),
    )
    return Result("Figure 8: statistics of the attributes", columns, rows, notes,
                  "Ours (published).")


def _true_shares(data: Data) -> str:
    off = [f"#{a.number} {100 * a.facts.mono_share:.1f}%" for a in data.attributes
           if abs(a.facts.mono_share - mono_share(data, a.number)) >= 0.005]
    return "Without the rounding it differs by half a point or more for: " + ", ".join(off) + "."


if __name__ == "__main__":
    print(run(load()).markdown())
