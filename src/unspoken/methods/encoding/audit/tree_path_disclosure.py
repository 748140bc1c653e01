"""Pattern disclosure (bu2007 Definition 3): how many paths of a mined tree are recovered.

A path is recovered when the thresholds of all tests on it are guessed within their radii. The
paper counts 1,707 paths by length; its lengths cannot be leaf depths and are those of inner nodes,
so both are offered. "All paths protected" (section 6.4) holds at the median only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats, Ints
from unspoken.errors import InputError, explain
from unspoken.methods.encoding.audit.open_paths import counts_by_length, open_paths, pack
from unspoken.models.tree import Tree

GuessAt = Callable[[int, Floats], Floats]
"""(number of a feature, thresholds) -> guesses (trials, thresholds)."""


@dataclass(frozen=True)
class PathDisclosure:
    """Paths by length, and how many of each length are recovered in each trial.

    Attributes
    ----------
    paths : array of int
        The number of paths of each length, from 0.
    recovered : array of shape (lengths, trials)
        How many of them are recovered.
    """

    paths: Ints
    recovered: Ints

    @property
    def trials(self) -> int:
        """Return the number of trials."""
        return int(self.recovered.shape[1])

    @property
    def share(self) -> Floats:
        """Return the share of all paths that are recovered in each trial."""
        return np.asarray(self.recovered.sum(axis=0) / max(int(self.paths.sum()), 1))

    def by_length(self, longest: int = 6) -> list[dict[str, float | str]]:
        """Return the table of section 6.4: lengths up to `longest`, then all longer ones."""
        rows = [self._row(str(n), slice(n, n + 1)) for n in range(1, longest + 1)]
        return [*rows, self._row(f"> {longest}", slice(longest + 1, None))]

    def shares_by_length(self, longest: int = 6) -> list[tuple[str, Floats]]:
        """Return the share of the paths of each length that are recovered, by trial."""
        ranges = [(f"length {n}", slice(n, n + 1)) for n in range(1, longest + 1)]
        ranges.append((f"length > {longest}", slice(longest + 1, None)))
        return [(name, self.recovered[some].sum(axis=0) / int(self.paths[some].sum()))
                for name, some in ranges if self.paths[some].sum() > 0]

    def _row(self, name: str, lengths: slice) -> dict[str, float | str]:
        recovered = self.recovered[lengths].sum(axis=0)
        return {"length": name, "paths": int(self.paths[lengths].sum()),
                "median": float(np.median(recovered)), "mean": float(recovered.mean()),
                "largest": int(recovered.max(initial=0))}


def path_disclosure(encoded: Tree, decoded: Tree, guess_at: GuessAt,
                    radii: Mapping[int, float], ends: str = "leaves") -> PathDisclosure:
    """Count the recovered paths of a tree mined on codes (bu2007 Definition 3).

    Parameters
    ----------
    encoded : Tree
        The tree mined on codes.
    decoded : Tree
        The same tree with the original thresholds, which are the truth.
    guess_at : callable
        (number of a feature, thresholds) -> guesses of shape (trials, thresholds).
    radii : mapping from feature number to float
        How close a guess must be.
    ends : {"leaves", "nodes"}, default "leaves"
        Paths from the root to a leaf, or to an inner node other than the root, as the paper's
        table counts.

    Returns
    -------
    PathDisclosure

    Examples
    --------
    >>> path_disclosure(mined, original, guess_at, {0: 0.5}).share  # doctest: +SKIP
    """
    if ends not in ("leaves", "nodes"):
        raise InputError(explain("'ends'", "'leaves' or 'nodes'", ends))
    if not np.array_equal(encoded.left, decoded.left):
        raise InputError("The decoded tree does not have the shape of the encoded one: "
                         f"{decoded.nodes} and {encoded.nodes} nodes.")
    tests, trials = _tests(encoded, decoded, guess_at, radii)
    ending = encoded.shape.leaves if ends == "leaves" else ~encoded.shape.leaves
    chosen = np.flatnonzero(ending & (encoded.shape.depth > 0))
    length = encoded.shape.depth[chosen]
    recovered = counts_by_length(open_paths(encoded.shape, tests)[chosen], length, trials)
    return PathDisclosure(np.bincount(length, minlength=recovered.shape[0]), recovered)


def _tests(encoded: Tree, decoded: Tree, guess_at: GuessAt,
           radii: Mapping[int, float]) -> tuple[npt.NDArray[np.uint8], int]:
    """Return for every node, packed by trial, whether its threshold is recovered."""
    hits: list[tuple[Ints, Ints, npt.NDArray[np.bool_]]] = []
    for feature in np.unique(encoded.feature[~encoded.shape.leaves]).tolist():
        nodes = np.flatnonzero((encoded.feature == feature) & ~encoded.shape.leaves)
        pairs = np.column_stack([encoded.threshold[nodes], decoded.threshold[nodes]])
        distinct, inverse = np.unique(pairs, axis=0, return_inverse=True)
        guesses = guess_at(feature, distinct[:, 0])
        hit = np.abs(guesses - distinct[:, 1]) <= radii[feature]
        hits.append((nodes, inverse.reshape(-1), hit))
    trials = max((hit.shape[0] for _, _, hit in hits), default=1)
    out = np.zeros((encoded.nodes, -(-trials // 64) * 8), np.uint8)
    for nodes, inverse, hit in hits:
        # One trial stands for all: an attack that draws nothing.
        every = np.broadcast_to(hit, (trials, hit.shape[1]))
        out[nodes] = pack(np.ascontiguousarray(every.T))[inverse]
    return out, trials
