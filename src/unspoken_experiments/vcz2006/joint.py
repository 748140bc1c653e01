"""vcz2006 figures 7.1 to 7.3 and 7.6: why owners cluster and look for outliers together.

    python -m unspoken_experiments.vcz2006.joint FOLDER

draws joint-clusters.png and joint-outliers.png, and prints the numbers of
docs/experiments/joint.md. The book has no data for its figures; these
points follow its words. Everything joint runs through unspoken's protocols, in memory.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from unspoken.arrays import Floats, Ints
from unspoken.joint.museum.distance_attack import anchored, baseline, place, seen_distances
from unspoken.joint.museum.outliers_third_party import ACCEPT, ThirdPartyOutliers
from unspoken.joint.session.recorded_run import run_recorded
from unspoken.joint.tasks.kmeans.params import KMeansParams
from unspoken.joint.tasks.kmeans.pooled import pooled
from unspoken.joint.tasks.kmeans.program_columns import kmeans_columns
from unspoken.joint.tasks.outliers.params import OutlierParams as OutlierRules
from unspoken.joint.tasks.outliers.pooled import pooled as pooled_outliers
from unspoken.joint.tasks.outliers.program_rows import outliers_rows
from unspoken.report.drawing import AMBER, BLUE, GREY, INK, PAPER, plain, sketch

TONES = (BLUE, AMBER, GREY)
SHAPES = ("o", "^", "s")
RULE = OutlierRules(0.9, 0.2, most=1.0, scale=10)


def three_clusters(seed: int = 1) -> tuple[Floats, Ints]:
    """Return points whose first column shows two groups, both with a mean of 3 in the second."""
    rng = np.random.default_rng(seed)
    middle, spread = [(1.5, 3.0), (5.0, 4.6), (5.0, 1.4)], [(0.35, 1.0), (0.5, 0.4), (0.5, 0.4)]
    points = [rng.normal(m, s, (60, 2)) for m, s in zip(middle, spread, strict=True)]
    return np.clip(np.concatenate(points), 0.0, 6.9), np.repeat(np.arange(3), 60)


def agreement(found: Ints, truth: Ints) -> float:
    """Return the share of pairs on which two groupings agree, corrected for chance."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(truth, found))


def groupings(points: Floats) -> dict[str, Ints]:
    """Return the clusters that are found jointly and by each owner alone."""
    rules, start = KMeansParams(3, 50), points[[0, 60, 120]]
    found, _ = kmeans_columns([points[:, :1], points[:, 1:]], rules, start=start)
    assert found[0] is not None
    assert found[0].assigned is not None
    alone = [pooled([points[:, i:i + 1]], rules, start[:, i:i + 1])[1] for i in (0, 1)]
    return {"both owners together": found[0].assigned, "the owner of x alone": alone[0],
            "the owner of y alone": alone[1]}


def draw_clusters(points: Floats, truth: Ints) -> tuple[Any, dict[str, float]]:
    """Return figures 7.1 to 7.3 side by side, and how well each grouping agrees."""
    figure, scores = sketch(9.5, 3.2), {}
    for index, (name, found) in enumerate(groupings(points).items()):
        axes = figure.add_subplot(1, 3, index + 1)
        plain(axes)
        for group, (tone, shape) in enumerate(zip(TONES, SHAPES, strict=True)):
            rows = points[found == group]
            axes.scatter(rows[:, 0], rows[:, 1], s=16, marker=shape, facecolor=tone,
                         edgecolor=INK, linewidth=0.3)
        scores[name] = agreement(found, truth)
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("x", fontsize=9)
        axes.set_ylabel("y", fontsize=9)
    return figure, scores


def two_sites(seed: int = 4) -> tuple[Floats, Floats]:
    """Return the diamonds' and the rectangles' points, the two circled ones last."""
    rng = np.random.default_rng(seed)
    mine = [rng.normal((0.35, 0.35), 0.07, (40, 2)), np.array([(0.1, 0.9), (0.81, 0.85)])]
    others = [rng.normal((0.35, 0.35), 0.07, (15, 2)), rng.normal((0.82, 0.82), 0.04, (25, 2))]
    return np.concatenate(mine), np.concatenate(others)


def draw_outliers(diamonds: Floats, squares: Floats) -> tuple[Any, dict[str, list[int]]]:
    """Return figure 7.6 twice: what the diamonds' site finds alone, and what both find."""
    alone = pooled_outliers(diamonds, RULE).flags
    joint, _ = outliers_rows([diamonds, squares], RULE)
    assert joint[0] is not None
    figure = sketch(8.0, 3.6)
    pictures = {"the diamonds' site alone": alone, "both sites together": joint[0].flags}
    for index, (name, flags) in enumerate(pictures.items()):
        axes = figure.add_subplot(1, 2, index + 1)
        plain(axes)
        if index:
            axes.scatter(squares[:, 0], squares[:, 1], s=18, marker="s", facecolor=AMBER,
                         edgecolor=INK, linewidth=0.3, label="rectangles")
        axes.scatter(diamonds[:, 0], diamonds[:, 1], s=20, marker="D", facecolor=BLUE,
                     edgecolor=INK, linewidth=0.3, label="diamonds")
        axes.scatter(diamonds[flags, 0], diamonds[flags, 1], s=220, marker="o",
                     facecolor="none", edgecolor=INK, linewidth=1.2, label="outlier")
        axes.set(xlim=(0, 1), ylim=(0, 1.02), aspect="equal")
        axes.set_title(name, fontsize=10)
        axes.legend(fontsize=8, loc="lower right", frameon=True, facecolor=PAPER)
    return figure, {name: np.flatnonzero(flags).tolist() for name, flags in pictures.items()}


def attacked(seed: int = 2) -> dict[str, float]:
    """Return what the third party of section 7.3.7 finds out about 300 records of 3 owners."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(0, 1, (300, 4)) @ rng.normal(0, 1, (4, 4))
    data = np.clip(np.rint(mixed * 256) / 256, -7.9, 7.9)
    rules = OutlierRules(0.95, 3.0)
    program = ThirdPartyOutliers(rules, 4, ["p0", "p1", "p2"], "p3", accept=ACCEPT)
    _, views = run_recorded(program, [*np.split(data, 3), None])
    found = place(seen_distances(views["p3"], rules.scale), 4)
    known = [0, 50, 120, 190, 290]
    return {"up to a motion": found.success(data),
            "with five known records": anchored(found, known, data[known]).success(data),
            "best guess": baseline(data)}


def main() -> int:
    """Draw both pictures and print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    figure, scores = draw_clusters(*three_clusters())
    figure.savefig(folder / "joint-clusters.png", dpi=110)
    for name, score in scores.items():
        print(f"clusters of {name}: adjusted Rand index {score:.2f}")
    diamonds, squares = two_sites()
    figure, flagged = draw_outliers(diamonds, squares)
    figure.savefig(folder / "joint-outliers.png", dpi=110)
    for name, places in flagged.items():
        shown = ", ".join(f"({diamonds[i, 0]:.2f}, {diamonds[i, 1]:.2f})" for i in places)
        print(f"outliers among the diamonds, {name}: {shown}")
    for name, share in attacked().items():
        print(f"values the third party has right, {name}: {share:.1%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
