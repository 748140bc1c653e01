"""Values that look like real people's, made at random: nobody's names, numbers or addresses."""

from __future__ import annotations

import datetime

import numpy as np

FIRST = ("Anna", "Peter", "Maria", "Hans", "Julia", "Thomas", "Sophie", "Jan", "Laura", "Paul")
LAST = ("Miller", "Schmidt", "Jansen", "Dupont", "García", "Rossi", "Nowak", "O'Brien",
        "van den Berg", "Müller-Lüdenscheidt")
DIAGNOSES = ("E11.9", "I10", "J45.0", "C50.9", "F32.1", "K21.0", "M54.5")
_NOTE = ("patient reports pain in the left knee since last winter after a fall on the stairs and "
         "takes tablets twice a day without much relief so far but sleeps well")
WORDS = _NOTE.split()


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def names(rows: int = 100) -> list[str]:
    draw = rng(1)
    return [f"{draw.choice(FIRST)} {draw.choice(LAST)}" for _ in range(rows)]


def emails(rows: int = 100) -> list[str]:
    return [f"user{i}.{name.split()[0].lower()}@example.org"
            for i, name in enumerate(names(rows))]


def sentences(rows: int = 100) -> list[str]:
    draw = rng(2)
    return [" ".join(draw.choice(WORDS, 12)) for _ in range(rows)]


def digits(rows: int, count: int, seed: int = 3) -> list[str]:
    return ["".join(map(str, row)) for row in rng(seed).integers(0, 10, (rows, count))]


def passing(check, bodies: list[str], tails: list[str]) -> list[str]:
    """Return each body with the first tail that makes the check digit right."""
    whole = [next((body + tail for tail in tails if check(body + tail)), None) for body in bodies]
    return [number for number in whole if number is not None]


def births(rows: int = 100) -> list[datetime.date]:
    start = datetime.date(1930, 1, 1)
    return [start + datetime.timedelta(days=int(d)) for d in rng(4).integers(0, 27_000, rows)]
