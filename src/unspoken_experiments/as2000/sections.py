"""as2000 as findings: the widths of section 2, and Figures 5 and 6 with all their curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from unspoken.methods.distortion.noise_laws import for_width
from unspoken.report.drawing import AMBER, BLUE, GREY, INK, MARKERS, plain, sketch
from unspoken_experiments.as2000.run import FAMILIES, FUNCTIONS, LEVELS, Study, densities
from unspoken_experiments.findings import Finding, Section, Setting

NEAR, FAR = 5.0, 15.0
ALLOWED = {1: NEAR, 2: FAR, 3: FAR, 4: NEAR, 5: NEAR}
SHOWN = ("byclass", "local", "refined", "global", "randomized")
CURVES = ("original", "byclass", "refined", "randomized")
Part = tuple[str, Any]
Accuracies = dict[tuple[str, str, int, float], float]


def parts(setting: Setting) -> list[Part]:
    """Return the parts of the paper, by name."""
    study = Study(setting.scaled(100_000, 10_000))
    levels = (0.25, 1.0, 2.0) if setting.quick else LEVELS
    functions = (1, 2, 4) if setting.quick else FUNCTIONS
    privacy = (1.0,) if setting.quick else (0.25, 1.0)
    return [("section 2", widths), ("Figure 5", lambda: figure_5(study, functions, privacy)),
            ("Figure 6", lambda: figure_6(study, functions, levels)),
            ("section 3", lambda: reconstruction(setting))]


def widths() -> Iterator[Section]:
    """The width of the interval that holds a value with 95%, and with 99.9%, confidence."""
    uniform, normal = for_width("uniform", 1.0), for_width("gaussian", 1.0)
    found = (
        Finding("uniform, 95%, in units of 2a", "0.95", uniform.width(0.95) / (2 * uniform.scale)),
        Finding("Gaussian, 95%, in sigmas", "3.92", normal.width(0.95) / normal.scale),
        Finding("Gaussian, 99.9%, in sigmas", "6.58", normal.width(0.999) / normal.scale),
        Finding("uniform, 99.9%, in units of 2a", "0.999",
                uniform.width(0.999) / (2 * uniform.scale)))
    yield Section("as2000", "Section 2", "privacy as the width of an interval", found, (
        "The summary at hand gives no numbers; these are the known answers for the definition. "
        "At the same width for 95% Gaussian noise hides more at 99.9%, as the text says.",),
        digits=3)


def figure_5(study: Study, functions: tuple[int, ...],
             privacy: tuple[float, ...]) -> Iterator[Section]:
    """Points below the tree of the original; the text says within 5, or 15 for F2 and F3."""
    original = {f: study.accuracy(f, "original", "uniform", 1.0) for f in functions}
    found = []
    for family, level, function, strategy in product(FAMILIES, privacy, functions, SHOWN):
        below = 100 * (original[function] - study.accuracy(function, strategy, family, level))
        stated = f"<{ALLOWED[function]:g}" if strategy in ("byclass", "local") else ""
        found.append(Finding(f"{family}, {level:.0%}, F{function}, {strategy}", stated, below))
    yield Section("as2000", "Figure 5", "accuracy by strategy", tuple(found), (
        f"{study.rows:,} people to learn from, 5,000 undistorted ones to test on, one draw. The "
        "text states that Local and ByClass stay within 5 points of the original for F1, F4 and "
        "F5, and within 15 for F2 and F3.",
        "\"refined\" goes on from ByClass and places records by all of their reports together."),
        "Points below the tree grown from the original.", 2.5)


def figure_6(study: Study, functions: tuple[int, ...],
             levels: tuple[float, ...]) -> Iterator[Section]:
    """All curves: original, ByClass, refined, randomised, both noises, by the privacy level."""
    shares: Accuracies = {
        (family, strategy, function, level): 100 * study.accuracy(function, strategy, family, level)
        for family, strategy, function, level in product(FAMILIES, CURVES, functions, levels)}
    last = 1.0
    gap = {s: float(np.mean([abs(shares["uniform", s, f, last] - shares["gaussian", s, f, last])
                             for f in functions])) for s in ("byclass", "randomized")}
    found = (Finding("uniform and Gaussian apart, no reconstruction, points", "",
                     gap["randomized"]),
             Finding("uniform and Gaussian apart, ByClass, points", "", gap["byclass"]),
             Finding("the second as a share of the first", "<1",
                     gap["byclass"] / gap["randomized"]))
    yield Section("as2000", "Figure 6", "accuracy against privacy", found, (
        "The text prints no numbers. It says that without reconstruction uniform noise does worse "
        "than Gaussian, and that with it both come close to each other: the share must be below "
        "1.",), "At 100% privacy, mean over functions.",
        figure=partial(_curves, shares, functions, levels),
        caption="Per cent of undistorted people classified correctly, by privacy level.")


def _curves(shares: Mapping[tuple[str, str, int, float], float], functions: tuple[int, ...],
            levels: tuple[float, ...]) -> Any:
    figure = sketch(9.4, 2.3 * len(FAMILIES))
    for row, family in enumerate(FAMILIES):
        for column, function in enumerate(functions):
            axes = figure.add_subplot(len(FAMILIES), len(functions),
                                      row * len(functions) + column + 1)
            plain(axes, "y")
            for place, (name, tone) in enumerate(zip(CURVES, (INK, BLUE, AMBER, GREY),
                                                     strict=True)):
                axes.plot([100 * level for level in levels],
                          [shares[family, name, function, level] for level in levels],
                          color=tone, marker=MARKERS[place], markersize=3, linewidth=1.1,
                          label=name)
            axes.set_ylim(45, 101)
            axes.set_title(f"F{function}, {family}", fontsize=8)
            if row == 0 and column == 0:
                axes.legend(fontsize=6, frameon=False, loc="lower left")
    return figure


def reconstruction(setting: Setting) -> Iterator[Section]:
    """How far the reconstructed density is from the truth, by stopping rule."""
    rows = setting.scaled(100_000, 10_000)
    head, _, *lines = densities(rows, range(setting.scaled(5, 2)))
    rules = [cell.strip() for cell in head.strip("|").split("|")][2:]
    found = []
    for line in lines:
        family, shape, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        found += [Finding(f"{family}, {shape}, {rule}", "", float(cell))
                  for rule, cell in zip(rules, cells, strict=True)]
    yield Section("as2000", "Section 3", "reconstructed densities", tuple(found), (
        "L1 distance from the truth at 100% privacy, 50 intervals. The text warns that a small "
        "change between two steps does not mean that the density is near: 'steps 10000' over-fits "
        "under uniform noise, and 'change' stops too early for Gaussian triangles. Equation (1) "
        "is misprinted: w_1 is w_i, and z in the numerator is a.",), digits=3)
