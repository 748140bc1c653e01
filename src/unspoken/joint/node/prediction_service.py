"""Private prediction as a standing service: who may ask a model, and for how many records in all.

A node that has a model offers it to named peers. Each of them proposes a study of task `classify`:
records stay with the asker, the model stays here, and the asker alone learns the classes. Consent
comes from the service by itself, as long as the study is exactly what the service offers and the
asker's budget has room. Classes of many records give a model away; so the budget counts records:
the most that a study may classify (`most`, which the run enforces before the model is shared) times
its attempts, because an asker could bring other records to each.

  discloses: to the askers the names, categories and ranges of the model's columns, its classes and
    its depth, when they look at the catalogue. Classes and the number of records in each study.
  not counted: what several askers work out together; give each only what all may know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import StudyError
from unspoken.joint.mpc.engines.modes import MODE_NAMES
from unspoken.joint.node.proposal import Proposal
from unspoken.joint.node.standing_rules import above_zero
from unspoken.joint.session.study import Study
from unspoken.joint.session.study_fields import list_of_texts, one_of, only_keys, plain_parameters
from unspoken.joint.tasks.param_rules import is_number
from unspoken.joint.wire.credentials import check_name
from unspoken.models.categorical_tree import CategoricalTree
from unspoken.models.load_model import load_model
from unspoken.models.mixed_bayes import MixedBayes, Nominal

TASK = "classify"
_KNOWN = ("name", "model", "for", "records", "modes", "dealers", "attempts", "depth", "range")
_ME = "a service"
_OF_THE_STUDY = ("model", "asks", "most", "expected")


@dataclass(frozen=True)
class PredictionService:
    """One [[service]] of node.toml; `records` is what each asker may ask for in all."""

    name: str
    path: Path
    askers: tuple[str, ...]
    records: int
    modes: tuple[str, ...]
    dealers: tuple[str, ...] = ()
    attempts: int = 1
    depth: int | None = None
    ranges: Mapping[str, tuple[float, float]] | None = None

    @classmethod
    def of(cls, folder: Path, data: Any) -> PredictionService:
        """Read [[service]]; one that leaves open who may ask or for how much is refused."""
        only_keys("service", data, _KNOWN)
        name = check_name(data.get("name", ""), "A service's name")
        for key in ("model", "for", "records", "modes"):
            if not data.get(key):
                raise StudyError(f"Service '{name}' must say '{key}'.")
        modes = tuple(one_of("modes", mode, MODE_NAMES)
                      for mode in list_of_texts("modes", data["modes"]))
        return cls(name, folder / str(data["model"]), list_of_texts("for", data["for"]),
                   above_zero(data, "records", _ME), modes,
                   list_of_texts("dealers", data.get("dealers", [])),
                   above_zero({"attempts": 1, **data}, "attempts", _ME),
                   above_zero(data, "depth", _ME) if "depth" in data else None,
                   {column: _range(column, span) for column, span
                    in data.get("range", {}).items()})

    def words(self, asker: str) -> str:
        """Return under which words the service agrees and counts, for one asker."""
        return f"service {self.name} for {asker}"

    def parameters(self) -> dict[str, Any]:
        """Return what a study must say about the model: everything but its numbers."""
        model = load_model(self.path)
        if isinstance(model, MixedBayes):
            nominal = {one.name: list(one.values) for one in model.columns
                       if isinstance(one, Nominal)}
            return self._layout(model.target, model.classes, model.features, nominal)
        if isinstance(model, CategoricalTree) and self.depth is not None:
            nominal = {name: list(words) for name, words in model.categories.items()}
            asked = sorted({int(place) for place in model.feature if place >= 0})
            names = tuple(model.features[place] for place in asked)
            return {**self._layout("class", model.classes, names, nominal), "depth": self.depth}
        raise StudyError(f"Service '{self.name}' needs a model of naive Bayes, or a tree and "
                         "'depth', the levels of two answers that it has.")

    def _layout(self, target: str, classes: Any, names: tuple[str, ...],
                nominal: Mapping[str, list[Any]]) -> dict[str, Any]:
        plain: dict[str, Any] = {"target": target, "classes": [str(one) for one in classes],
                                 "columns": list(names)}
        for name in names:
            if name in nominal:
                plain[f"categories.{name}"] = ["" if w is None else w for w in nominal[name]]
            elif name in (self.ranges or {}):
                plain[f"range.{name}"] = list((self.ranges or {})[name])
            else:
                raise StudyError(f"Service '{self.name}' needs range.{name} = [LOWEST, HIGHEST], "
                                 "from public knowledge.")
        return plain

    def admits(self, proposal: Proposal, own: str, used: int) -> bool:
        """Return True if a study is what the service offers, within what its asker has left."""
        study = proposal.study
        most = study.parameters.get("most")
        if study.task != TASK or study.author not in self.askers or not isinstance(most, int) \
                or proposal.tables.get(own) != self.name or proposal.attempts > self.attempts:
            return False
        return (used + most * proposal.attempts <= self.records and self._safe(study)
                and self._as_offered(study, own))

    def _safe(self, study: Study) -> bool:
        """Return True for a mode and dealer of the service, where the asker alone learns."""
        return (study.mode in self.modes and study.having("receiver") == (study.author,)
                and (study.dealer is None or study.dealer in self.dealers)
                and len(study.having("owner")) == 2)

    def _as_offered(self, study: Study, own: str) -> bool:
        said = dict(study.parameters)
        sides = said.get("model"), said.get("asks")
        plain = {key: value for key, value in said.items() if key not in _OF_THE_STUDY}
        return sides == (own, study.author) and plain == self.parameters()

    def offer(self, left: int) -> dict[str, Any]:
        """Return what an asker sees."""
        return {"name": self.name, "parameters": self.parameters(), "modes": list(self.modes),
                "dealers": list(self.dealers), "attempts": self.attempts, "left": left}


@dataclass(frozen=True)
class Offer:
    """A service as an asker sees it."""

    name: str
    parameters: Mapping[str, Any]
    modes: tuple[str, ...]
    dealers: tuple[str, ...]
    attempts: int
    left: int

    @classmethod
    def from_json(cls, data: Any) -> Offer:
        """Check an offer of a peer; its parameters are checked with the study that uses them."""
        only_keys("service", data, ("name", "parameters", "modes", "dealers", "attempts", "left"))
        if not data.get("modes"):
            raise StudyError("A service of a peer has no modes.")
        numbers = [data.get(key) for key in ("attempts", "left")]
        if not all(isinstance(one, int) and not isinstance(one, bool) for one in numbers):
            raise StudyError("A service of a peer does not say how much is left.")
        parameters = plain_parameters(data.get("parameters"))
        list_of_texts("columns of a service", parameters.get("columns", []))
        return cls(check_name(data.get("name", ""), "A service's name"), parameters,
                   tuple(one_of("modes", mode, MODE_NAMES)
                         for mode in list_of_texts("modes", data["modes"])),
                   list_of_texts("dealers", data.get("dealers")), *numbers)

    def text(self) -> str:
        """Return the offer for people."""
        return (f"service {self.name}: predicts {self.parameters.get('target')} from "
                f"{', '.join(self.parameters.get('columns', ()))}; {self.left} records left, modes "
                f"{', '.join(self.modes)}")


def _range(name: str, span: Any) -> tuple[float, float]:
    if not (isinstance(span, list) and len(span) == 2 and all(map(is_number, span))
            and span[0] < span[1]):
        raise StudyError(explain(f"'range.{name}' of a service", "two increasing numbers", span))
    return span[0], span[1]
