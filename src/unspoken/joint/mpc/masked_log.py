"""ln of a masked mantissa: polynomials in what is public, whose coefficients hide the mask.

A mantissa m in [0.75, 1.5) is u = (m - 0.75) 2^top, a whole number. The holders open
c = u + r modulo 2^(top + 1). Its top bit chooses one of two windows, and within a window u is c's
rest plus a number that depends on r alone: ln m is a polynomial in the public rest with
coefficients that the dealer, who knows r, can share for both windows beforehand. A window never
holds both ends of the range of m, because the range is shorter than half of the ring. So ln takes
one opening and no product.
"""

from __future__ import annotations

import numpy as np

from unspoken.arrays import Floats, Words

# In units of 2^-31: the polynomial nearest to ln(1 + t) on [-0.25, 0.5] (Remez), degree 8.
LN = (24, 2147485142, -1073750470, 715675894, -536209956, 432930029, -375435927, 299941096,
      -135137827)
TERMS = len(LN)
# Fractional bits of coefficients, of powers, and of what comes out.
FINE, POWER = 30, 33
SCALE = FINE + POWER
# A mantissa of fewer bits has no whole quarter; one of more does not fit into 32 bits.
TOPS = range(2, 32)
# Values at a time, so that what is computed on stays near the processor.
BLOCK = 1 << 14



def quarter(top: int) -> int:
    """Return the least mantissa."""
    return 3 << (top - 2)


def coefficients(r: Words, top: int) -> Words:
    """Return (windows, terms, values): what has to be shared for masks below 2^(top + 1)."""
    half, ring = 1 << top, 2 << top
    out = np.empty((2, TERMS, r.size), np.uint64)
    for start in range(0, r.size, BLOCK):
        signed = (r[start:start + BLOCK] & np.uint64(ring - 1)).astype(np.int64)
        for window in range(2):
            place = ((window * half - signed + half - 1) & (ring - 1)) - (half - 1)
            for k, row in enumerate(_about(np.ldexp(place.astype(np.float64), -top) + 0.25)):
                out[window, k, start:start + BLOCK] = _whole(row, FINE)
    return out


def _about(centre: Floats) -> Floats:
    """Return the polynomial's coefficients in powers of t - centre, by repeated division."""
    rows = np.empty((TERMS, centre.size))
    rows[:] = np.array(LN)[:, None] * 2.0**-31
    for done in range(TERMS - 1):
        for k in range(TERMS - 2, done - 1, -1):
            rows[k] += centre * rows[k + 1]
    return rows


def _whole(values: Floats, bits: int) -> Words:
    return np.rint(values * 2.0**bits).astype(np.int64).view(np.uint64)


def evaluated(opened: Words, table: Words, top: int) -> Words:
    """Return a share of ln m with SCALE fractional bits; `table` as `coefficients` gives it."""
    out = np.zeros(opened.size, np.uint64)
    for start in range(0, opened.size, BLOCK):
        part = slice(start, start + BLOCK)
        second = opened[part] >> np.uint64(top) > 0
        rest = (opened[part] & np.uint64((1 << top) - 1)) * 2.0**-top - 0.5
        power = np.ones(rest.size)
        for k in range(TERMS):
            chosen = np.where(second, table[1, k, part], table[0, k, part])
            out[part] += chosen * _whole(power, POWER)
            power *= rest
    return out
