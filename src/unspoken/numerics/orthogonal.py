"""Random orthogonal matrices, and how likely a random one recovers a record (liu2006).

Section 3.1 of the paper gives the breach probability as (2/pi) arcsin(s), which holds only where
two dimensions are unknown (`paper_breach`). The share of a sphere in q dimensions within a chord
of s diameters is the regularised incomplete beta function I_{s^2}((q-1)/2, (q-1)/2).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unspoken.arrays import Floats
from unspoken.errors import InputError, explain

GUESSES = ("uniform", "shrunken")


def haar(size: int, rng: np.random.Generator, proper: bool = False) -> Floats:
    """Draw an orthogonal matrix uniformly (Haar); `proper` ones rotate and never mirror.

    The Q of a Gaussian matrix is uniform only once the signs of R's diagonal are taken out.
    """
    drawn = rng.standard_normal((size, size))
    q, r = np.linalg.qr(drawn)
    q = q * np.where(np.diag(r) < 0, -1.0, 1.0)
    if proper and np.linalg.det(q) < 0:
        q[:, 0] = -q[:, 0]
    return polished(q)


def polished(matrix: Floats) -> Floats:
    """Return the nearest orthogonal matrix by one Newton step: rounding is taken out."""
    return np.asarray(matrix @ (1.5 * np.eye(matrix.shape[1]) - 0.5 * matrix.T @ matrix))


def orthogonality(matrix: Floats) -> float:
    """Return the largest entry of |M'M - I|."""
    return float(np.abs(matrix.T @ matrix - np.eye(matrix.shape[1])).max(initial=0.0))


def breach_probability(s: npt.ArrayLike, q: int, guess: str = "uniform") -> Floats:
    """Return the probability that a guess lands within ||x|| eps of the record (liu2006 3.1).

    Parameters
    ----------
    s : array of float
        ||x|| eps / (2 d), with d the distance of the record from the span of the known ones.
    q : int
        Number of unknown dimensions: n - k, or n - k + 1 for a rigid motion with unknown
        translation.
    guess : "uniform" or "shrunken", default "uniform"
        "uniform" is the attacker of the paper, who draws a matrix; "shrunken" puts the guess at
        radius sqrt(d^2 - (||x|| eps)^2), which is never worse, and is certain from s = 1/2 on.

    Returns
    -------
    array of float
        The probability for every entry of `s`.

    Examples
    --------
    >>> float(breach_probability(0.5, 3))
    0.25
    """
    if guess not in GUESSES:
        raise InputError(explain("'guess'", " or ".join(GUESSES), guess))
    if q < 0 or int(q) != q:
        raise InputError(explain("'q'", "a whole number >= 0", q))
    ratio = np.asarray(s, np.float64)
    if np.any(~(ratio >= 0)):
        raise InputError(explain("'s'", "numbers >= 0", "a negative or missing one"))
    if q == 0:
        return np.ones_like(ratio)
    return _uniform(ratio, int(q)) if guess == "uniform" else _shrunken(ratio, int(q))


def _uniform(s: Floats, q: int) -> Floats:
    if q == 1:
        return np.where(s < 1.0, 0.5, 1.0)
    half = (q - 1) / 2
    return np.asarray(_beta(half, half, np.minimum(s, 1.0) ** 2))


def _shrunken(s: Floats, q: int) -> Floats:
    """Half the share of the sphere within the angle arcsin(2 s); all of it from s = 1/2 on."""
    if q == 1:
        return np.where(s < 0.5, 0.5, 1.0)
    cap = 0.5 * _beta((q - 1) / 2, 0.5, np.minimum(2 * s, 1.0) ** 2)
    return np.asarray(np.where(s < 0.5, cap, 1.0))


def _beta(a: float, b: float, x: Floats) -> Floats:
    from scipy.special import betainc

    return np.asarray(betainc(a, b, x), np.float64)


def paper_breach(s: npt.ArrayLike) -> Floats:
    """Return formula (2) of liu2006, (2/pi) arcsin(s): correct for q = 2 and for no other q.

    Parameters
    ----------
    s : array of float
        As for `breach_probability`, which is correct for every q.

    Returns
    -------
    array of float

    Examples
    --------
    >>> float(paper_breach(1.0))
    1.0
    """
    return np.asarray(2.0 / np.pi * np.arcsin(np.minimum(np.asarray(s, np.float64), 1.0)))


def shrunken_radius(distance: Floats, reach: Floats) -> Floats:
    """Return the radius sqrt(d^2 - e^2) at which a guess within `reach` is likeliest."""
    return np.sqrt(np.maximum(distance**2 - reach**2, 0.0))


def completed(basis: Floats) -> Floats:
    """Return an orthonormal basis of what a basis (columns) leaves out."""
    full, _ = np.linalg.qr(basis, mode="complete")
    return np.asarray(full[:, basis.shape[1]:])


def trilaterate(known: Floats, distances: Floats) -> Floats:
    """Find points from their distances to n + 1 known points (vcz2006 section 7.1.1).

    Differences of squared distances are linear in the point; distances: (points, known).
    """
    if np.linalg.matrix_rank(known[1:] - known[0]) < known.shape[1]:
        raise InputError(f"{known.shape[1] + 1} or more known points are needed, not all in "
                         f"one plane. These {known.shape[0]} leave a direction open.")
    squares = (known**2).sum(axis=1)
    right = (squares[1:] - squares[0]) - (distances[:, 1:] ** 2 - distances[:, :1] ** 2)
    solution = np.linalg.lstsq(2 * (known[1:] - known[0]), right.T, rcond=None)[0]
    return np.asarray(solution.T)
