"""EM over rows that are spread among owners (vcz2006 section 7.2.1, Algorithm 2).

Every owner finds the memberships of its own records under the parameters of the last iteration,
and adds up memberships, records and squares. The totals are opened, and everybody computes the
next parameters. Iterations are those of scikit-learn's GaussianMixture from the same start.

  discloses, to all who take part: how many records there are; in every iteration the total of
    memberships, of records and of squares of every cluster (that is, the parameters); one bit,
    whether something is too small to be opened (`guards`), before anything is opened; and with
    stop="disclosed" one bit, whether the log-likelihood still gains. With stop="padded" there are
    always `max_iter` iterations. The log-likelihood itself stays on shares.
    What is opened grows with every iteration: k (1 + n + n (n + 1) / 2) numbers of each.
  refuses: two owners, because each would take off its own part and have the other's sums (unless
    both agree, `two_agreed`); clusters of fewer than `least` members, and changes by fewer than
    `moved`, with and without any one owner's; small="stop" ends there with what was opened before.
    The book holds that two moved points are safe; they are recovered exactly.
  improves on the book: several dimensions, diagonal or full covariance; all clusters in one round;
    the E-step once an iteration (it stands inside the loop over clusters in print); (7.9) is the
    square of sigma.
  safe against: as products and comparisons in the mode; totals against all owners but two.
  error: sums are rounded to `fraction` bits; parameters differ from those of pooled rows by about
    2^-30 of half the range after some iterations, and more where EM itself is ill-conditioned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import DataError, explain
from unspoken.joint.joint_errors import RefusedError
from unspoken.joint.mpc.checkpoints import recalled, remember
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.ops.less_than import less_than
from unspoken.joint.mpc.ops.products import multiply
from unspoken.joint.mpc.ops.shared_bits import to_numbers
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import Shared, concatenate
from unspoken.joint.session.run import run_local
from unspoken.joint.tasks.mixture.em_steps import MOST_LOG, expected, maximised
from unspoken.joint.tasks.mixture.params import MixtureParams, Space, Start
from unspoken.joint.tasks.mixture.small_cluster_guards import SMALL, measured, too_small
from unspoken.joint.wire.ledger import Ledger
from unspoken.models.mixture import Mixture

COUNT = "how many records there are in all"
SUMS = "the sums of memberships, records and squares of every cluster, in every iteration"
GAIN = "whether the log-likelihood still gains, in every iteration"
LIKELIHOOD_BITS = 20


def disclosures(rules: MixtureParams) -> tuple[Disclosure, ...]:
    """Return everything that EM over rows discloses."""
    always = (Disclosure(COUNT), Disclosure(SUMS), Disclosure(SMALL))
    return (*always, Disclosure(GAIN)) if rules.stop == "disclosed" else always


class MixtureOverRows:
    """The program: every owner gives its rows in units of z."""

    def __init__(self, space: Space, start: Start, rules: MixtureParams | None = None) -> None:
        self.space, self.rules = space, rules or MixtureParams()
        self.start = space.to_z(start)
        self.disclosures = disclosures(self.rules)

    async def __call__(self, party: Party, data: Floats | None) -> Mixture:
        """Iterate, and return the mixture to everybody."""
        self._refuse_two(party)
        climbing = Climbing(party, self.space, self.rules, self._own(party, data), self.start)
        await climbing.begin()
        for _ in range(self.rules.max_iter):
            if not await climbing.step():
                break
        return climbing.finished()

    def _refuse_two(self, party: Party) -> None:
        if len(party.roles.owners) < 3 and not self.rules.two_agreed:
            raise RefusedError("EM needs three owners or more. Of two, each would take its own "
                               "part off the opened sums and have the other's. Find a third, or "
                               "let both agree to that (two_agreed).")

    def _own(self, party: Party, data: Floats | None) -> Floats:
        """Check an owner's rows before anything is sent; who owns none has no rows."""
        width = len(self.space.columns)
        if data is None or party.name not in party.roles.owners:
            return np.zeros((0, width))
        if data.ndim != 2 or data.shape[1] != width:
            raise DataError(explain(f"The rows of '{party.name}'", f"a table of {width} columns",
                                    data.shape))
        if data.shape[0] and not np.abs(data).max() <= 1:
            raise DataError("Rows must lie in the agreed ranges. Some do not.")
        if data.shape[0] > self.rules.most // len(party.roles.owners):
            raise RefusedError(f"An owner must have at most {self.rules.most:,} records over the "
                               "number of owners. This one has more. Agree on a greater 'most'.")
        return data


class Climbing:
    """The state of EM at one party: parameters that all know, and its own memberships."""

    def __init__(self, party: Party, space: Space, rules: MixtureParams, rows: Floats,
                 start: Start) -> None:
        self.party, self.space, self.rules, self.rows, self.now = party, space, rules, rows, start
        self.extra = rules.reg_covar / space.halves**2
        self.members: Floats | None = None
        self.likelihood: Shared | None = None
        self.records = self.iterations = 0
        self.ended = "max_iter"

    async def begin(self) -> None:
        """Open the number of records."""
        total = await share_sum(self.party, np.array([self.rows.shape[0]]), (1,), 0,
                                self.rules.most)
        self.records = int((await reveal(self.party, total, because=COUNT))[0])

    async def step(self) -> bool:
        """Make one iteration; return whether another should follow."""
        local = expected(self.rows, self.now, self.rules)
        known = recalled(self.party, "an iteration")
        if known is not None:
            return await self._again(local.members, known[0], local.likelihood)
        first = self.members is None
        if await too_small(self.party, measured(local.members, self.members), self.rules, first):
            return self._small(first)
        sums = await self._opened(local.sums)
        self.now = maximised(self.now, sums, self.rules, self.extra)
        self.members, self.iterations = local.members, self.iterations + 1
        going = await self._gains(local.likelihood)
        if going:
            await remember(self.party, "an iteration", sums)
        return going

    async def _again(self, members: Floats, sums: Floats, likelihood: float) -> bool:
        """Take up an iteration of an earlier attempt, after which another followed."""
        self.now = maximised(self.now, sums, self.rules, self.extra)
        self.members, self.iterations = members, self.iterations + 1
        if self.rules.stop != "padded":
            self.likelihood = await self._total(likelihood)
        return True

    def _small(self, first: bool) -> bool:
        if first or self.rules.small == "refuse":
            raise RefusedError(
                f"Every cluster must have at least {self.rules.least} members, with and without "
                f"any one owner's, and a change must be one of at least {self.rules.moved}. Some "
                f"has fewer after {self.iterations} iterations; nothing of the next was opened. "
                "Use fewer clusters, a greater 'tol', or small='stop'.")
        self.ended = "small"
        return False

    async def _opened(self, sums: Floats) -> Floats:
        """Open the totals of all owners; only one half of a symmetric matrix."""
        k, n = self.now.means.shape
        kept = np.arange(sums.shape[1])
        if self.rules.covariance == "full":
            upper = np.array([1 + n + i * n + j for i in range(n) for j in range(i, n)])
            kept = np.concatenate([np.arange(1 + n), upper])
        scale = fraction(self.rules, len(self.party.roles.owners))
        bound = 4 * self.rules.most << scale
        total = await share_sum(self.party, sums[:, kept], (k, kept.size), -bound, bound, scale)
        opened = np.zeros_like(sums)
        opened[:, kept] = await reveal(self.party, total, because=SUMS)
        if self.rules.covariance == "full":
            whole = opened[:, 1 + n:].reshape(k, n, n)
            lower = np.tril_indices(n, -1)
            whole[:, lower[0], lower[1]] = whole[:, lower[1], lower[0]]
        return opened

    async def _gains(self, own: float) -> bool:
        """Open whether the mean log-likelihood moved by `tol` or more."""
        if self.rules.stop == "padded":
            return True
        total = await self._total(own)
        before, self.likelihood = self.likelihood, total
        if before is None:
            return True
        limit = round(self.rules.tol * self.records * 2**LIKELIHOOD_BITS)
        change = total - before
        gaps = concatenate([change - limit, -change - limit])
        below = await to_numbers(self.party, await less_than(self.party, gaps, 0))
        both = await multiply(self.party, below[:1], below[1:])
        self.ended = "tol" if int((await reveal(self.party, both, because=GAIN))[0]) else "max_iter"
        return self.ended != "tol"

    async def _total(self, own: float) -> Shared:
        """Return the log-likelihood of all owners' rows as shares."""
        bound = int(self.rules.most * MOST_LOG) << LIKELIHOOD_BITS
        return await share_sum(self.party, np.array([own]), (1,), -bound, bound, LIKELIHOOD_BITS)

    def finished(self) -> Mixture:
        """Return the pattern, with how it ended."""
        facts = {"method": "joint EM", "covariance": self.rules.covariance,
                 "iterations": self.iterations, "ended": self.ended}
        return self.space.from_z(self.now, self.records, facts)


def fraction(rules: MixtureParams, owners: int) -> int:
    """Return the fractional bits of opened sums."""
    return min(44, 60 - (4 * rules.most * owners).bit_length())


def mine_mixture_rows(parts: Sequence[Mapping[str, Any]], space: Space, start: Start,
                            rules: MixtureParams | None = None, mode: str = "dealer", *,
                            names: Sequence[str] | None = None,
                            **how: Any) -> tuple[Mixture, list[Ledger]]:
    """Fit a mixture to the rows of all owners; return it and each party's ledger.

    Parameters
    ----------
    parts : sequence of mapping
        Each owner's columns by name.
    space : Space
        The columns and their agreed ranges.
    start : Start
        Weights, means and covariances to begin with; all public.
    rules : MixtureParams, optional
        What everybody agreed on. Default: `MixtureParams()`.
    mode : str, default 'dealer'
        Who holds shares and who deals, as in `run_local`.
    names : sequence of str, optional
        The owners' names. Default: p0, p1, and so on.
    **how : Any
        Passed on to `run_local`, such as processes=True.

    Returns
    -------
    tuple of (Mixture, list of Ledger)
        The mixture, and each party's ledger, in the order of owners.

    Examples
    --------
    >>> mixture, ledgers = mine_mixture_rows([a, b, c], space, start)  # doctest: +SKIP
    """
    rows = [space.rows(part) for part in parts]
    outputs = run_local(MixtureOverRows(space, start, rules), rows, mode, names=names, **how)
    return outputs[0][0], [ledger for _, ledger in outputs]
