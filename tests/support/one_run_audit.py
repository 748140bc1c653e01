"""Auditing privacy with one run (Steinke, Nasr and Jagielski 2023).

Many canaries say one of two things each, by a fair coin. The mechanism runs once, and its output is
used to guess the coins; guesses may be withheld. With epsilon, correct guesses are at most binomial
with probability exp(epsilon) / (1 + exp(epsilon)), apart from what delta allows.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom


def proven_in_one_run(scores, coins, guesses, delta=0.0, confidence=0.999):
    """Return the epsilon that one run proves: the sign of a score guesses a coin of -1 or 1."""
    scores, coins = np.asarray(scores, float), np.asarray(coins)
    sure = np.argsort(-np.abs(scores), kind="stable")[:guesses]
    correct = int((np.sign(scores[sure]) == coins[sure]).sum())
    slack = 1 - confidence - 2 * coins.size * delta
    assert slack > 0
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        chance = binom.sf(correct - 1, guesses, 1 / (1 + math.exp(-middle)))
        low, high = (middle, high) if chance < slack else (low, middle)
    return low
