"""Every way of sharing: the release methods, and what answers without releasing records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unspoken.release.method import Method, methods
from unspoken.release.uses import Use


@dataclass(frozen=True)
class Way:
    """One way of sharing, with the commands that do it.

    `commands` may name {data}, {target}, {out}, and {private}, the options of a private result.
    `needs` says what a table must have: "target", "numbers", "categories", "baskets" or "quasi"
    (quasi-identifiers are declared). `parameters` are those that are advised, beside the defaults.
    """

    name: str
    summary: str
    promise: str
    uses: tuple[Use, ...]
    commands: tuple[str, ...]
    needs: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    method: Method | None = None


def ways() -> tuple[Way, ...]:
    """Return every way of sharing that serves a scenario by itself, release methods first."""
    return (*(_of_method(method) for method in methods().values() if method.uses), *_OTHERS)


def _of_method(method: Method) -> Way:
    options = " ".join(f"--option {name}={value}" for name, value in method.advised.items())
    protect = f"unspoken protect {{data}}{{target}} --method {method.name} {options}".rstrip()
    return Way(method.name, method.summary, method.promise, method.uses,
               (f"{protect} --out {{out}} --key {{out}}.key",
                "unspoken audit {out} --against {data} --key {out}.key --out report.html"),
               (*method.needs, *(("baskets",) if method.takes_baskets else ())),
               method.advised, method)


_OTHERS = (
    Way("joint", "Several owners compute one result together and show each other nothing else.",
        "Nobody learns more than the result and what the plan announces.",
        (Use(("owners",), ("model", "prediction", "clusters", "statistics", "rules"), "anything",
             "exactly", "Owners who act together against the others, as the plan says, and what "
             "the result itself tells."),),
        ("unspoken joint identity --help", "unspoken joint study --help",
         "unspoken joint plan --help", "unspoken joint join --help")),
    Way("serve", "Answers statistics over HTTP, each with noise and its error, out of one budget.",
        "Whatever one row says changes the odds of all answers by at most a stated factor.",
        (Use(("analysts",), ("statistics",), "anything", "nearly",
             "A budget that is set too high; it says how much all answers may tell together."),),
        ("unspoken serve {data} --policy policy.toml --help",)),
    Way("private", "Releases one measured result with noise instead of records.",
        "Whatever one row says changes the odds of the result by at most a stated factor.",
        (Use(("miner", "public", "analysts"), ("model", "statistics", "rules"), "anything",
             "roughly", "A budget that is set too high; small groups drown in the noise."),),
        ("unspoken private {data}{target}{private}",)),
)
