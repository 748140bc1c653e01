"""Two pages that are made of what the methods declare of themselves: nothing to forget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unspoken.advice import advise, ways
from unspoken.release.method import Method, methods
from unspoken.release.uses import KNOWLEDGE, PURPOSES, RECIPIENTS

MODES = (
    ("mode `authenticated`", "all holders but one, whatever they do",
     "the dealer together with one holder; all holders"),
    ("mode `dealer`", "all holders but one, if all follow the protocol",
     "the dealer together with one holder; a holder that deviates"),
    ("mode `three-party`", "any one of the three", "any two; a party that deviates"),
    ("mode `three-party-verified`", "any one of the three, whatever it does on shares", "any two"),
    ("mode `two-party`", "either of the two", "a holder that deviates"),
    ("mode `sums`", "m - 2 of m owners", "m - 1 owners, who subtract"),
)


def write_pages(folder: Path) -> None:
    """Write both pages; what is the same already is left alone, so that nothing is built twice."""
    folder.mkdir(exist_ok=True)
    for name, lines in (("which-method", which_method()), ("threats", threats())):
        text, path = "\n".join(lines) + "\n", folder / f"{name}.md"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def which_method() -> Iterator[str]:
    """Yield the page "which method do I need?": every answer to the three questions."""
    yield from (
        "# Which method do I need?", "",
        "Three questions decide: who gets it, what for, and what they might know. `unspoken "
        "advise --recipient R --purpose P --knowledge K` answers the same for one case, with "
        "the reasons against the others; `unspoken start DATA` asks, runs it and attacks it.", "",
        "\"Exactly\", \"nearly\" and \"roughly\" speak of the result that the recipient gets, not "
        "of the risk. What breaks a method stands in [the threat model](threats.md).", "")
    for recipient, name in RECIPIENTS.items():
        yield from (f"## {name[0].upper()}{name[1:]} (`{recipient}`)", "")
        yield "| what for | " + " | ".join(f"may know {key}" for key in KNOWLEDGE) + " |"
        yield "|" + " --- |" * (1 + len(KNOWLEDGE))
        for purpose, text in PURPOSES.items():
            cells = [_best(recipient, purpose, knowledge) for knowledge in KNOWLEDGE]
            yield f"| {text} (`{purpose}`) | " + " | ".join(cells) + " |"
        yield ""
    yield from ("What they may know:", "")
    yield from (f"- `{key}`: {text}" for key, text in KNOWLEDGE.items())


def _best(recipient: str, purpose: str, knowledge: str) -> str:
    best = advise(recipient, purpose, knowledge).best
    return "do not release" if best is None else f"`{best.way.name}`, {best.use.keeps}"


def threats() -> Iterator[str]:
    """Yield the page "the threat model in one table"."""
    yield from (
        "# The threat model in one table", "",
        "Every way of sharing, what it promises, and what is known to break it. The audit sends "
        "the adversaries of a method against your release; their number stands in the last "
        "column. What is protected from whom in a joint study, and what is out of reach, is in "
        "[the threat model in full](../concepts/threat-model.md).", "",
        "| way | promises | broken by | adversaries |", "| --- | --- | --- | ---: |")
    declared = methods()
    for way in ways():
        broken = "; ".join(dict.fromkeys(use.breaks.rstrip(".") for use in way.uses)) or "-"
        count = str(_adversaries(declared[way.name])) if way.name in declared else "-"
        yield f"| `{way.name}` | {_cell(way.promise)} | {_cell(broken)} | {count} |"
    shown = {way.name for way in ways()}
    for name, method in declared.items():
        if name not in shown:
            yield (f"| `{name}` | {_cell(method.promise)} | a part of other ways: audit it | "
                   f"{_adversaries(method)} |")
    for name, against, broken in MODES:
        yield f"| joint study, {name} | safe against {against} | {broken} | - |"


def _adversaries(method: Method) -> int:
    return len(method.adversaries)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
