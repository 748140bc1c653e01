"""Control of what results give away, around every task: announced in the plan, or refused.

What a party can work out of another's data is computed from what a task opens
(`unspoken.joint.result_control`). The plan announces it, party by party. With
result_control=refuse a study is refused, by its plan and again before a run, unless it accepts by
name what always or usually follows. With `least_changes` every owner keeps, beside its file, keyed
digests of the records that it took part with, and refuses a run over data that differ from earlier
ones by fewer records: the difference of two results would be about these few.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unspoken.errors import DataError, UnspokenError
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.result_control.opened_forms import worked_out
from unspoken.joint.result_control.verdict import Certainty, Verdict, sentences, strongest
from unspoken.joint.session.dry_run import Answers
from unspoken.joint.session.study import Study
from unspoken.joint.tasks.common.earlier_results import compare_with_earlier
from unspoken.joint.tasks.common.study_parameters import everybody
from unspoken.joint.tasks.param_rules import Words
from unspoken.joint.tasks.task import Outlook, Task
from unspoken.joint.tasks.task_params import TaskSettings, agreed, declared
from unspoken.release.parameters import OneOf, Whole


@dataclass(frozen=True)
class ControlSettings(TaskSettings):
    """What a study says about what its results give away."""

    result_control: str = field(default="announce", metadata=agreed(
        OneOf(("announce", "refuse")), "whether what a party can work out of another's data is "
        "announced in the plan, or the study refused unless it accepts it",
        "'announce' is the default."))
    accepts: tuple[str, ...] = field(default=(), metadata=agreed(
        Words("a list of different quantities, in the words of the plan"),
        "what may be worked out although result_control is refuse"))
    least_changes: int | None = field(default=None, metadata=agreed(
        Whole(1), "a run is refused where an owner's records differ from those of an earlier run "
        "in fewer than this, but in some; counted in FILE.results"))

    def __post_init__(self) -> None:
        """Refuse acceptance that nothing asks for."""
        if self.accepts and self.result_control != "refuse":
            raise StudyError("Parameter 'accepts' belongs to result_control=refuse. Everything is "
                             "announced and accepted without it. Leave it out.")


CONTROL_PARAMS = declared(ControlSettings)
CONTROL_NAMES = tuple(param.name for param in CONTROL_PARAMS)


def verdicts_of(task: Task, study: Study, party: str) -> tuple[Verdict, ...]:
    """Return what a party of a study can work out of the owners, each quantity once."""
    opened = () if task.opens is None else task.opens(study)
    return strongest(worked_out(opened, party, study.having("owner")))


def controlled(task: Task) -> Task:
    """Return a task whose plan announces what follows from its result, and whose study obeys."""
    def fits(parameters: Mapping[str, Any]) -> None:
        ControlSettings.of(parameters)
        task.fits(_rest(parameters))

    def disclosures(study: Study) -> tuple[Disclosure, ...]:
        return task.disclosures(without_control(study))

    def outlook(study: Study) -> Outlook:
        inner = without_control(study)
        plain = task.outlook(inner)
        _refuse_unaccepted(task, study)
        shown = {name: sentences(verdicts_of(task, inner, name)) for name in everybody(study)}
        return replace(plain, determined={name: all_ for name, all_ in shown.items() if all_})

    def load(path: Path, study: Study) -> Any:
        data = _loaded(task, path, without_control(study))
        least = ControlSettings.of(study.parameters).least_changes
        if least is not None:
            compare_with_earlier(path, without_control(study), least)
        return data

    def program(study: Study) -> Any:
        _refuse_unaccepted(task, study)
        return task.program(without_control(study))

    def blank(study: Study, name: str, records: int) -> Any:
        return task.blank(without_control(study), name, records)

    def answers(study: Study, records: int, name: str) -> Answers:
        return task.answers(without_control(study), records, name)

    return replace(task, params=(*task.params, *CONTROL_PARAMS), fits=fits,
                   disclosures=disclosures, outlook=outlook, load=load, program=program,
                   blank=blank, answers=answers,
                   expected=lambda study: task.expected(without_control(study)),
                   having_columns=lambda study: task.having_columns(without_control(study)),
                   opens=lambda study: () if task.opens is None else task.opens(
                       without_control(study)))


def _loaded(task: Task, path: Path, study: Study) -> Any:
    """Return a party's data; an error that a library words may hold values, and is reworded."""
    try:
        return task.load(path, study)
    except (UnspokenError, OSError, MemoryError):
        raise
    except Exception as error:
        kind = type(error).__name__
    raise DataError(f"'{path.name}' does not fit task '{task.name}': reading it ended with a "
                    f"{kind}, which may name values and is not shown. Check that every column "
                    "holds what the study says.")


def without_control(study: Study) -> Study:
    """Return a study as its task sees it: without what is said about its results."""
    return replace(study, parameters=_rest(study.parameters))


def _rest(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in CONTROL_NAMES}


def _refuse_unaccepted(task: Task, study: Study) -> None:
    """Refuse a study that gives more away than it accepts."""
    settings, inner = ControlSettings.of(study.parameters), without_control(study)
    if settings.result_control != "refuse":
        return
    for party in everybody(study):
        for verdict in verdicts_of(task, inner, party):
            if verdict.certainty >= Certainty.USUALLY and verdict.name not in settings.accepts:
                raise StudyError(
                    f"The study refuses results from which data can be worked out. '{party}' could "
                    f"work out {verdict.text}. Find a third owner, open less, or accept it: "
                    f"--set 'accepts=[\"{verdict.name}\"]'.")
