"""One clustering from the models of several sources (vcz2006 section 7.1.1, (7.4) to (7.7)).

The server fits a mixture to samples of the average of the local models, which minimises the
divergence (7.5) over mixtures. That makes sense only if one population stands behind all sources,
which the book leaves open; `alike` tests it: the weighted divergence of the local models from their
average is compared with that of models fitted to sources that all come from that average. The
test assumes that the local models have enough components: sources of three clusters that are alike
were called unlike in 2 of 60 trials with three components, and in 32 of 60 with two, because each
then merges another pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unspoken.arrays import Floats
from unspoken.errors import InputError
from unspoken.models.mixture import Mixture
from unspoken.numerics.gaussian_mixture import em
from unspoken.numerics.random import generator, seed_from
from unspoken.release.parameters import Whole, check

DRAWS = 4000
"""Records drawn from the average of the local models."""
LEVEL = 0.05


@dataclass(frozen=True)
class GlobalMixture:
    """The global model, and whether the sources are alike.

    Attributes
    ----------
    mixture : Mixture
        The global model.
    divergence : float
        Sum of nu_i K(p_i; average) over the sources, in nats.
    expected : float
        Its mean among simulated sources that are alike.
    p_value : float
        Share of simulated rounds with at least this divergence.
    rounds : int
        Number of simulated rounds.
    """

    mixture: Mixture
    divergence: float
    expected: float
    p_value: float
    rounds: int

    @property
    def alike(self) -> bool:
        """Return True if nothing speaks against one population behind all sources."""
        return self.p_value > LEVEL

    def summary(self) -> str:
        """Return the model and the verdict as text."""
        verdict = "may be alike" if self.alike else "are NOT alike: one model misleads"
        return (f"{self.mixture.summary()}\nThe sources {verdict} (divergence "
                f"{self.divergence:.4g}, expected {self.expected:.4g} if alike, p = "
                f"{self.p_value:.3g} from {self.rounds} rounds).")


def global_mixture(models: Sequence[Mixture], components: int = 3, *, rounds: int = 39,
                   random_state: Any = None) -> GlobalMixture:
    """Fit one mixture to the average of local ones, and test whether they are alike.

    vcz2006 section 7.1.1, equations (7.4) to (7.7). Only the local models are used. The test
    assumes that they have enough components; with too few, sources that are alike often fail it.

    Parameters
    ----------
    models : sequence of Mixture
        At least two local models over the same columns.
    components : int, default 3
        Components of the global model.
    rounds : int, default 39
        Simulated rounds of the test, at least 19.
    random_state : int or Generator, optional
        Makes the result repeatable.

    Returns
    -------
    GlobalMixture

    Examples
    --------
    >>> print(global_mixture([north, south]).summary())  # doctest: +SKIP
    """
    check("global_mixture", {"components": (Whole(1), ""), "rounds": (Whole(19), "")},
          {"components": components, "rounds": rounds})
    _check_models(models)
    rng = generator(seed_from(random_state), "global")
    sizes = np.array([model.records for model in models], np.float64)
    drawn = _average_sample(models, sizes, rng, DRAWS)
    total = int(sizes.sum())
    fitted = _fitted(drawn, models[0].features, components, total, rng)
    divergence = _divergence(models, sizes, rng)
    null = np.array([_simulated(drawn, models, sizes, rng) for _ in range(rounds)])
    p_value = (1 + int((null >= divergence).sum())) / (rounds + 1)
    return GlobalMixture(fitted, divergence, float(null.mean()), p_value, rounds)


def _check_models(models: Sequence[Mixture]) -> None:
    if len(models) < 2 or not all(isinstance(model, Mixture) for model in models):
        raise InputError("'models' must hold at least two mixtures and nothing else. Got "
                         f"{len(models)} models.")
    if len({model.features for model in models}) > 1:
        raise InputError("'models' must all be over the same columns. The first is over "
                         f"{list(models[0].features)}.")


def _average_sample(models: Sequence[Mixture], sizes: Floats, rng: np.random.Generator,
                    count: int) -> Floats:
    each = rng.multinomial(count, sizes / sizes.sum())
    return np.concatenate([m.sample(int(n), rng) for m, n in zip(models, each, strict=True)])


def _fitted(data: Floats, features: tuple[str, ...], components: int, records: int,
            rng: np.random.Generator) -> Mixture:
    mixture = em(data, components, rng)
    return Mixture(features, mixture.weights, mixture.means, mixture.covariances, records)


def _divergence(models: Sequence[Mixture], sizes: Floats, rng: np.random.Generator,
                draws: int = 500) -> float:
    """Estimate sum nu_i K(p_i; average) from draws of each model."""
    share = sizes / sizes.sum()
    total = 0.0
    for own, model in enumerate(models):
        data = model.sample(draws, rng)
        logs = np.array([other.log_density(data) for other in models])
        most = logs.max(axis=0)
        average = most + np.log(share @ np.exp(logs - most))
        total += float(share[own]) * float((logs[own] - average).mean())
    return total


def _simulated(average: Floats, models: Sequence[Mixture], sizes: Floats,
               rng: np.random.Generator) -> float:
    """Return the divergence of sources that are alike: same sizes, components and widening."""
    again = []
    for model, size in zip(models, sizes.astype(int).tolist(), strict=True):
        drawn = average[rng.integers(0, average.shape[0], max(size, 2 * model.components))]
        local = _fitted(drawn, model.features, model.components, size, rng)
        again.append(local.widened(_factor(model)))
    return _divergence(again, sizes, rng)


def _factor(model: Mixture) -> float:
    factor = model.facts.get("widened", 1.0)
    usable = isinstance(factor, int | float) and np.isfinite(factor) and factor >= 1
    return float(factor) if usable else 1.0
