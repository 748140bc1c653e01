"""What an earlier release and the next one disclose together, and how an audit counts it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unspoken.disclosure.audit_rows import TOGETHER, Row
from unspoken.release.register import Entry

ADVERSARY = "two-releases"
REGISTER = "(register)"


@dataclass(frozen=True)
class Added:
    """What one earlier release and the next one disclose together about one column.

    Attributes
    ----------
    column : str
        The column.
    earlier : str
        The fingerprint of the earlier release.
    to : str
        Its recipient.
    before, next_alone, together : float or None
        The share of codes whose rank is known exactly from the earlier release, the next one, and
        both; for a sensitive column of published tables the share of people whose value is guessed
        correctly. None if the earlier release could not be read.
    words : str
        The same in a sentence.
    """

    column: str
    earlier: str
    to: str
    before: float | None
    next_alone: float | None
    together: float | None
    words: str

    @property
    def gains(self) -> bool:
        """Return True if both together disclose more than the better of them alone."""
        return self.together is not None and \
            self.together > max(self.before or 0.0, self.next_alone or 0.0)


def counted(added: Iterable[Added]) -> tuple[list[Row], dict[str, str]]:
    """Return the rows of an audit, and why some of what went out before has no number."""
    rows, unscored = [], {}
    for one in added:
        if one.together is None:
            unscored[f"{one.column} with {_label(one.earlier)}"] = one.words
            continue
        alone = max(one.before or 0.0, one.next_alone or 0.0)
        rows.append(Row(ADVERSARY, _label(one.earlier), one.column, TOGETHER, one.together,
                        one.together, one.together, alone, 1))
    return rows, unscored


def _label(earlier: str) -> str:
    """Return a release by its fingerprint, anything else by what the register says of it."""
    return earlier[:40] if " " in earlier else f"release {earlier[:12]}"


def never_attacked(entries: Sequence[Entry]) -> dict[str, str]:
    """Return what of the same people went out before that cannot be read or attacked."""
    return _listed(entries, "this release")


def beside_a_file(entries: Sequence[Entry]) -> dict[str, str]:
    """Return that anything else of the same people went out, which no attack on a file takes in."""
    return _listed(entries, "this file")


def _listed(entries: Sequence[Entry], what: str) -> dict[str, str]:
    if not entries:
        return {}
    return {REGISTER: "of the same people went out before, and is not attacked together with "
                      f"{what}: {'; '.join(_named(one) for one in entries[:5])}"}


def _named(entry: Entry) -> str:
    return f"{entry.kind} '{entry.what[:40]}' to {entry.to or 'an unnamed recipient'}"
