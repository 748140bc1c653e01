"""Surveys on disk: what is asked, and what came in, already randomised (`survey_answers`)."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unspoken.errors import InputError
from unspoken.studio.session_folder import read_description
from unspoken.studio.survey_answers import AnswerBook, book_of
from unspoken.studio.survey_laws import SurveyQuestion
from unspoken.table.atomic_files import write_file

ABOUT = "survey.json"
MOST_QUESTIONS = 20


@dataclass(frozen=True)
class Survey:
    """One survey: its folder, its title, its questions, and whether it is open."""

    place: Path
    title: str
    questions: tuple[SurveyQuestion, ...]
    is_open: bool = True

    @property
    def name(self) -> str:
        """Return the name in its address, which nobody can guess."""
        return self.place.name

    @cached_property
    def epsilon(self) -> float:
        """Return what one person's answers spend together."""
        return sum(one.stated for one in self.questions)

    def write(self) -> Survey:
        """Write what is asked."""
        about = {"title": self.title, "open": self.is_open,
                 "questions": [one.to_json() for one in self.questions]}
        write_file(self.place / ABOUT, json.dumps(about, indent=2).encode(), 0o600)
        return self

    @property
    def book(self) -> AnswerBook:
        """Return what came in."""
        return book_of(self.place, self.questions, self._fits)

    def add(self, reports: Any, once: str = "") -> None:
        """Keep the reports of one person, if the laws could have produced them.

        `once` is a random number of the page that sends them: what it sends again counts once.
        """
        with self.book.lock:
            # Read again: somebody may have closed it since.
            if not read_survey(self.place).is_open:
                raise InputError("This survey is closed.")
            if not self._fits(reports):
                raise InputError("These answers do not fit the survey. Load the page again.")
            self.book.add(reports, once)

    def close(self) -> None:
        """Take no more answers."""
        with self.book.lock:
            replace(self, is_open=False).write()

    def _fits(self, reports: Any) -> bool:
        return isinstance(reports, list) and len(reports) == len(self.questions) and all(
            one.accepts(report) for one, report in zip(self.questions, reports, strict=True))

    def reports(self) -> list[list[Any]]:
        """Return everybody's reports, without lines that are damaged."""
        return self.reports_and_damage()[0]

    def reports_and_damage(self) -> tuple[list[list[Any]], int]:
        """Return everybody's reports, and how many lines are damaged."""
        return self.book.reports()


def start_survey(folder: Path, title: str, questions: Sequence[SurveyQuestion]) -> Survey:
    """Start a survey under an address that nobody can guess."""
    if not title or len(title) > 200:
        raise InputError("A survey needs a title of at most 200 letters.")
    if not 1 <= len(questions) <= MOST_QUESTIONS:
        raise InputError(f"A survey needs 1 to {MOST_QUESTIONS} questions.")
    place = folder / secrets.token_urlsafe(16).replace("-", "a").replace("_", "b")
    part = place.with_name(f".{place.name}.part")
    part.mkdir(mode=0o700)
    Survey(part, title, tuple(questions)).write()
    # At once: a studio that is killed leaves no survey without its questions.
    part.rename(place)
    return Survey(place, title, tuple(questions))


def read_survey(place: Path) -> Survey:
    """Read a survey from its folder; one that was damaged is named."""
    about = read_description(place / ABOUT, "title", "questions", "open")
    try:
        questions = tuple(map(SurveyQuestion.from_json, about["questions"]))
    except (KeyError, TypeError, IndexError):
        raise InputError(f"The questions of the survey '{place.name}' are damaged. Restore a copy "
                         "of them.") from None
    return Survey(place, about["title"], questions, about["open"])


def _started(place: Path) -> float:
    about = place / ABOUT
    return about.stat().st_ctime if about.is_file() else 0.0


def surveys_in(folder: Path) -> tuple[list[Survey], list[str]]:
    """Return all surveys, the newest first, and what is wrong with those that are damaged."""
    places = [one for one in folder.iterdir() if one.is_dir() and not one.name.startswith(".")]
    surveys, damaged = [], []
    for place in sorted(places, key=_started, reverse=True):
        try:
            surveys.append(read_survey(place))
        except InputError as error:
            damaged.append(str(error))
    return surveys, damaged
