"""What one party can work out of others: the quantity, how surely, and by which arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Certainty(IntEnum):
    """Of how many data sets a quantity takes one value, given what a party saw.

    A quantity is determined if it is the same in all data sets of the others that fit the result
    and the party's own data.
    """

    NEVER = 0
    SOMETIMES = 1
    USUALLY = 2
    ALWAYS = 3


WORDS = {Certainty.ALWAYS: "can work out", Certainty.USUALLY: "can usually work out",
         Certainty.SOMETIMES: "can in some cases work out"}


@dataclass(frozen=True)
class Verdict:
    """What a party can work out: `quantity` of the owners `about`, and why.

    `few`: how surely where the others have so few records that their data hold less than what is
    opened, and can be found by trying; as `certainty` where it makes no difference.
    """

    quantity: str
    about: tuple[str, ...]
    certainty: Certainty
    why: str = ""
    few: Certainty | None = None

    @property
    def name(self) -> str:
        """Return the words by which a study accepts it."""
        return f"{self.quantity} of {' and '.join(self.about)}"

    @property
    def text(self) -> str:
        """Return the words of a plan."""
        return f"{self.name} ({self.why})" if self.why else self.name


def strongest(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """Return one verdict for each quantity and whom it is about: the surest one."""
    best: dict[tuple[str, tuple[str, ...]], Verdict] = {}
    for verdict in verdicts:
        key = verdict.quantity, verdict.about
        if key not in best or verdict.certainty > best[key].certainty:
            best[key] = verdict
    return tuple(best.values())


def sentences(verdicts: Sequence[Verdict]) -> list[str]:
    """Return what a party can work out, the surest first; nothing where it never can."""
    lines = []
    for certainty, words in WORDS.items():
        chosen = [verdict for verdict in verdicts if verdict.certainty is certainty]
        whose = {v.quantity: tuple(o for o in chosen if (o.quantity, o.why) == (v.quantity, v.why))
                 for v in chosen}
        groups: dict[tuple[str, str], list[str]] = {}
        for quantity, same in whose.items():
            names = ", of ".join(" and ".join(each.about) for each in same)
            groups.setdefault((names, same[0].why), []).append(quantity)
        texts = [f"{', '.join(quantities)} of {names}{f' ({why})' if why else ''}"
                 for (names, why), quantities in groups.items()]
        lines += [f"{words}: {'; '.join(texts)}"] if texts else []
    return lines
