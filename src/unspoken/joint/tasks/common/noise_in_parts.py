"""Noise that every owner of rows adds a part of, before anything is masked or shared.

The parts are discrete Gaussian. Nobody knows their sum, and `colluding` owners who subtract theirs
face what the others added, which alone keeps the stated epsilon and delta (Kairouz, Liu and Steinke
2021). Numbers are whole numbers of units, so that floating point gives nothing away.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from unspoken.arrays import Ints
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.mpc.engines.mode import UNVETTED
from unspoken.joint.mpc.ops.secure_sum import refuse_two, secure_sum
from unspoken.joint.mpc.ops.sharing import reveal, share_sum
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.shared import LIMIT
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.study_parameters import learns
from unspoken.joint.tasks.param_rules import AboveZero
from unspoken.joint.tasks.task import Outlook, notes_of, safe_against
from unspoken.joint.tasks.task_params import TaskSettings, agreed
from unspoken.joint.wire.hollow_arrays import is_dry
from unspoken.numerics.concentrated_loss import DELTA, part_scale, rho_of
from unspoken.release.parameters import Whole

_WIDEST = 2.0**50
"""The largest scale of noise, in units, of which many deviations still have room."""


@dataclass(frozen=True)
class PartedNoise:
    """The loss that a study states, and how many owners may pool what they know."""

    epsilon: float
    delta: float
    colluders: int

    def scale(self, reach: float, owners: int, numbers: int = 1, share: float = 1.0) -> float:
        """Return the scale of each owner's part, in units, for a share of the loss.

        One row that comes, goes or changes moves the `numbers` sums by `reach` units in all (root
        of squares).
        """
        if not self.colluders < owners:
            raise StudyError(f"'colluding' must be below the number of owners ({owners}). Got "
                             f"{self.colluders}.")
        rho = rho_of(self.epsilon, self.delta) * share
        if not 0 < reach / math.sqrt(2 * rho) <= _WIDEST:
            raise StudyError("The noise must have room in 62 bits. It has none here: a range is "
                             "too wide, or its unit too fine. Choose a smaller 'scale', a narrower "
                             "range, or a larger epsilon.")
        return part_scale(max(reach, 1.0), rho, owners - self.colluders, numbers)

    def notes(self, deviations: Mapping[str, float]) -> tuple[str, ...]:
        """Say what the noise protects against whom, and how far off the result will be."""
        far = ", ".join(f"{value:.4g} ({name})" for name, value in deviations.items())
        return (f"noise in parts: epsilon {self.epsilon:g} at delta {self.delta:g} for what one "
                f"row says, also against any {self.colluders} owners who pool their parts of the "
                "noise or add none; every owner books it in the budget of its table",
                f"standard deviation of the noise: {far}")


@dataclass(frozen=True, kw_only=True)
class NoiseSettings(TaskSettings):
    """What a study over rows says about noise: epsilon, delta and the collusion withstood."""

    epsilon: float | None = field(default=None, metadata=agreed(
        AboveZero(100.0), "with it every owner adds its part of noise, and every number needs a "
        "range or edges", split="rows"))
    delta: float | None = field(default=None, metadata=agreed(
        AboveZero(0.1), "the probability that the bound may fail, 1e-6 without it; needs epsilon",
        split="rows"))
    colluding: int | None = field(default=None, metadata=agreed(
        Whole(1), "how many owners may pool what they know, 1 without it; needs epsilon",
        "Every owner knows its own part of the noise.", split="rows"))

    def check_noise(self) -> None:
        """Refuse what belongs to noise where there is none."""
        if self.epsilon is None and (self.delta is not None or self.colluding is not None):
            raise StudyError("'delta' and 'colluding' belong to 'epsilon', which is missing.")

    @property
    def parted(self) -> PartedNoise:
        """Return the noise of a study that has some."""
        if self.epsilon is None:
            raise StudyError("This study has no 'epsilon'.")
        return PartedNoise(self.epsilon, DELTA if self.delta is None else self.delta,
                           1 if self.colluding is None else self.colluding)


def refuse_bare(bare: Sequence[str]) -> None:
    """Refuse noise over columns without a range."""
    if bare:
        raise StudyError(f"With 'epsilon' every column needs a range. Missing range.{bare[0]} "
                         "= [low, high], from public knowledge and never from the data.")


def draw_part(size: int, scale: float) -> Ints:
    """Draw one owner's part of the noise, in units; nobody else ever sees it."""
    from unspoken.numerics.private_noise import gaussian_part

    return np.array(gaussian_part(size, scale), np.int64)


def with_part(units: Ints, scale: float) -> Ints:
    """Return an owner's numbers with its part of the noise; a dry run has none."""
    return units if is_dry() else units + draw_part(units.size, scale).reshape(units.shape)


async def open_noisy(party: Party, units: Ints, bits: int, *, because: str,
                     to: Sequence[str]) -> Any:
    """Return to the receivers the sum of all owners' noisy numbers of units of 2^-bits.

    They travel as whole numbers: floating point would round them by how large they are.
    """
    bound = (LIMIT - 1) // len(party.roles.owners)
    # An error would say that a sum is large: it is clamped instead.
    values = np.clip(units, -bound, bound)
    if party.holders:
        own = values if party.name in party.roles.owners else None
        total = await share_sum(party, own, units.shape, -bound, bound)
        opened = await reveal(party, total, because=because, to=to)
    else:
        opened = await secure_sum(party, values, because=because, to=to)
    return None if opened is None else np.asarray(opened) / 2.0**bits


def noisy_outlook(study: Study, opened: Sequence[Disclosure], notes: Sequence[str],
                  sizes: str = "kinds and sizes of what is computed") -> Outlook:
    """Return the outlook of noisy sums, on shares or by masks."""
    learned, owners = learns(study, opened, sizes), study.having("owner")
    if study.facts.has_shares:
        return Outlook(learned, safe_against(study), (*notes_of(study), *notes))
    refuse_two(owners, study.having("receiver"))
    return Outlook(learned, f"any {max(0, len(owners) - 2)} of the {len(owners)} owners together",
                   (UNVETTED, *notes))
