"""Sites that have columns of one table, and the records to classify, for naive Bayes."""

from __future__ import annotations

import numpy as np

from support.bayes_data import CLASSES
from unspoken.joint.tasks.naive_bayes.site_parts import BayesShape, BayesSite, Part, coding_of

NUMBERS = ("h", "w")
NAMES = ["north", "south", "east", "west", "mid"]


def sites_of(columns, split, known=False, class_site="north", rows=slice(None)):
    """Return the sites of columns that `split` spreads, and what is public about them."""
    sites, parts = {}, []
    for name, names in zip(NAMES, split, strict=False):
        own = {n: columns[n][rows] for n in names}
        coding = coding_of(own, [n for n in names if n in NUMBERS])
        labels = columns["class"][rows] if known or name == class_site else None
        sites[name] = BayesSite(coding, own, labels)
        parts.append(Part(name, coding.sizes, len(coding.numeric)))
    return sites, BayesShape(tuple(parts), CLASSES, class_site, class_known=known)


def records_of(columns, split):
    return {name: {n: columns[n] for n in names} for name, names in zip(NAMES, split, strict=False)}


def agree(found, scores):
    """Say whether classes are the best ones, where the best is better by more than the error."""
    ordered = np.sort(scores, axis=1)
    sure = ordered[:, -1] - ordered[:, -2] > 1e-3
    best = np.array(CLASSES, object)[scores.argmax(axis=1)]
    return sure.mean() > 0.3 and (found == best)[sure].all()
