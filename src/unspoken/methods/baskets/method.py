"""What the toolkit knows about randomised baskets (vcz2006 section 6.1): one method, five forms."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unspoken.release.lazy_imports import at
from unspoken.release.method import Form, Method
from unspoken.release.parameters import SHUFFLE, YES_NO, OneOf, OrNone, Parameter, Real, Whole
from unspoken.release.uses import Use

_HERE = "unspoken.methods.baskets"
SHARE = Real(0.0, 1.0)


@dataclass(frozen=True)
class SizeShares:
    """None, a list of probabilities, or one list for every size of basket."""

    def allowed(self) -> str:
        """Return what is allowed."""
        return "None, a list of probabilities, or a mapping from sizes to such lists"

    def admits(self, value: Any) -> bool:
        """Return True if a value is allowed; the law itself checks the sums."""
        lists = value.values() if isinstance(value, Mapping) else [value]
        return value is None or all(
            hasattr(one, "__len__") and not isinstance(one, str | Mapping)
            and all(isinstance(p, numbers.Real) for p in one) for one in lists)


@dataclass(frozen=True)
class Items:
    """None, or the list of all items."""

    def allowed(self) -> str:
        """Return what is allowed."""
        return "None or a non-empty list of items"

    def admits(self, value: Any) -> bool:
        """Return True if a value is allowed."""
        listed = isinstance(value, Sequence) and not isinstance(value, str)
        return value is None or (listed and len(value) > 0)


_ITEMS = Parameter(Items(), "the list of all items", "Leave it out for those of the baskets.")
_PUBLIC = Parameter(YES_NO, "declare the size of every basket public",
                    "True declares the size of every basket public.", "--public-sizes", True)
_LARGEST = Parameter(OrNone(Whole(1)), "the most items that a basket can hold",
                     "Declare how many items a basket can hold.")
_OUTSIDE = Parameter(OneOf(("clamp", "refuse")), "what happens to baskets beyond the declared size",
                     "Use 'clamp'.")
_BREACH = "with the other rho: design the operator so that nothing of probability RHO1 or less " \
          "becomes as likely as RHO2"

FORMS: Mapping[str, Form] = {
    "select-a-size": Form(f"{_HERE}.operators:SelectASize", {
        "rho": Parameter(OrNone(SHARE), "probability that an item is inserted",
                         "It is the probability that an item is inserted.", "--rho"),
        "sizes": Parameter(SizeShares(), "probabilities of keeping 0, 1, 2, ... items"),
        "keep": Parameter(OrNone(Real(-1e-12, 1 + 1e-12)), "probability that an item is kept, in "
                          "place of 'sizes'"),
        "rho1": Parameter(OrNone(SHARE), _BREACH, flag="--rho1"),
        "rho2": Parameter(OrNone(SHARE), _BREACH, flag="--rho2"),
        "design_for": Parameter(Whole(1), "the largest sets that a designed operator serves",
                                "Use 3 for sets of three items."),
        "public_sizes": _PUBLIC,
        "items": _ITEMS,
        "largest": _LARGEST,
        "outside": _OUTSIDE,
        "shuffle_rows": SHUFFLE,
    }),
    "cut-and-paste": Form(f"{_HERE}.operators:CutAndPaste", {
        "cutoff": Parameter(Whole(1), "the most items that are surely kept",
                            "Use 3 to keep up to three items."),
        "rho": Parameter(SHARE, "probability of every other item",
                         "It is the probability that an item is inserted.", "--rho"),
        "public_sizes": _PUBLIC,
        "items": _ITEMS,
        "largest": _LARGEST,
        "outside": _OUTSIDE,
        "shuffle_rows": SHUFFLE,
    }),
    "uniform": Form(f"{_HERE}.operators:UniformOperator", {
        "p": Parameter(SHARE, "probability that an item is replaced",
                       "It is the probability that an item is replaced."),
        "items": _ITEMS,
        "largest": _LARGEST,
        "outside": _OUTSIDE,
        "shuffle_rows": SHUFFLE,
    }),
    "mask": Form(f"{_HERE}.operators:Mask", {
        "p": Parameter(SHARE, "probability that a bit is kept",
                       "Use 0.9 to keep nine bits of ten."),
        "items": _ITEMS,
        "largest": _LARGEST,
        "outside": _OUTSIDE,
        "shuffle_rows": SHUFFLE,
    }),
    "guided": Form(f"{_HERE}.guided:GuidedPerturbation", {
        "rank": Parameter(Whole(1), "how many eigenvectors are handed out",
                          "Use 10 for ten eigenvectors."),
        "rho_t": Parameter(SHARE, "items whose projection reaches 1 - rho_t are sent",
                           "Items whose projection reaches 1 - rho_t are kept."),
        "rho_m": Parameter(SHARE, "probability that another item is added",
                           "It is the probability that another item is added."),
        "start": Parameter(Whole(1), "how many first baskets go without guidance",
                           "Use 1000: guidance needs some baskets first."),
        "every": Parameter(Whole(1), "after how many baskets the guidance is renewed",
                           "Use 1 to renew the guidance after every basket, as in the book."),
        "items": _ITEMS,
        "shuffle_rows": SHUFFLE,
    }),
}
BASKETS = Method(
    name="baskets",
    summary="Randomises baskets one by one: items are taken out and others put in.",
    promise="One basket changes the odds of any two originals by at most a stated factor, where "
            "there is one.",
    transformer_at=FORMS["select-a-size"].transformer,
    uses=(Use(("collector", "miner"), ("rules",), "anything", "roughly",
              "Baskets of one person that are randomised again and again, and operators that were "
              "designed for a weaker promise."),),
    parameters={
        "operator": Parameter(OneOf(tuple(FORMS)), "how baskets are randomised; the parameters "
                              "are those of the operator", flag="--operator"),
        **{name: one for form in reversed(tuple(FORMS.values()))
           for name, one in form.parameters.items()},
    },
    guarantees_at=at(f"{_HERE}.guarantee", "RandomisedBaskets"),
    adversaries_in=f"{_HERE}.adversaries",
    audit_at=f"{_HERE}.audit:audit_release",
    promise_at=f"{_HERE}.basket_promise:broken_baskets",
    takes_baskets=True,
    chooser="operator",
    forms=FORMS,
)
METHODS = (BASKETS,)
