"""A policy for results: what may go back to a miner, as a TOML file that is enforced.

    forms = ["predictions", "rules"]   # nothing else goes back
    max_depth = 4                      # of rules
    min_rounding = 0.05                # thresholds of rules, as a share of the range of a column
    min_leaf = 10                      # training records in every leaf that goes back
    max_recovered = 0.30               # people whose value in some column can then be read ...
    max_exact = 0.05                   # ... and read exactly
    radius = 0.02                      # how near counts as read

What is not limited is allowed. A limit that cannot be checked is not kept: the result stays.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from unspoken.disclosure.policy_rules import Share, admit, known_names
from unspoken.errors import PolicyError, reason
from unspoken.methods.encoding.results.result_forms import FORMS, Form
from unspoken.methods.encoding.results.shown_disclosure import Shown
from unspoken.models.histogram_nodes import HistogramTree
from unspoken.models.tree import Tree
from unspoken.release.parameters import Rule, Whole
from unspoken.table.atomic_files import named_path


@dataclass(frozen=True)
class _Forms:
    """A list of forms."""

    def allowed(self) -> str:
        """Return what is allowed, in words."""
        return f"a list of some of {', '.join(FORMS)}"

    def admits(self, value: Any) -> bool:
        """Return True if the value is allowed."""
        return isinstance(value, list) and bool(value) and all(one in FORMS for one in value)


_RULES: Mapping[str, Rule] = {
    "forms": _Forms(), "max_depth": Whole(1), "min_rounding": Share(1e-9), "min_leaf": Whole(1),
    "max_recovered": Share(), "max_exact": Share(), "radius": Share(1e-9),
}


@dataclass(frozen=True)
class ResultPolicy:
    """What may go back to a miner; `ResultPolicy.load(path)` reads it.

    Attributes
    ----------
    forms : tuple of {"predictions", "rules", "full"}
        The forms that may go back.
    max_depth : int or None
        The largest depth of trees that go back.
    min_rounding : float or None
        How coarse thresholds must be at least, as a share of the range of their column.
    min_leaf : int or None
        The fewest training records of a leaf that goes back.
    max_recovered, max_exact : float or None
        The largest share of people whose value in any column can be read, within the radius and
        exactly, by whoever has the release, the mined model and the result.
    radius : float, default 0.02
        How near a guess must be to count as read, as a share of the range.

    Examples
    --------
    >>> ResultPolicy.parse('forms = ["rules"]').forms
    ('rules',)
    """

    forms: tuple[str, ...] = FORMS
    max_depth: int | None = None
    min_rounding: float | None = None
    min_leaf: int | None = None
    max_recovered: float | None = None
    max_exact: float | None = None
    radius: float = 0.02

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ResultPolicy:
        """Read a policy file."""
        try:
            text = named_path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise PolicyError(f"'{path}' must be a readable policy file. {reason(error)}") from None
        return cls.parse(text, str(path))

    @classmethod
    def parse(cls, text: str, source: str = "result policy") -> ResultPolicy:
        """Read the text of a policy; unknown names are refused with the closest known one."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"'{source}' must be TOML. {reason(error)}") from None
        known_names(f"{source}:", data, [each.name for each in fields(cls)])
        if not set(data) - {"radius"}:
            raise PolicyError(f"'{source}' must limit something. Write forms = [\"rules\"] and "
                              "max_depth = 4, or other limits.")
        for name, value in data.items():
            admit(f"{source}: '{name}'", _RULES[name], value)
        return cls(**{**data, **({"forms": tuple(data["forms"])} if "forms" in data else {})})

    def reasons(self, form: Form, result: Any, shown: Sequence[Shown]) -> tuple[str, ...]:
        """Return why a result may not go back; none if it may."""
        return (*self._about_form(form, result), *self._about_people(shown))

    def enforce(self, form: Form, result: Any, shown: Sequence[Shown]) -> None:
        """Refuse a result that breaks the policy."""
        reasons = self.reasons(form, result, shown)
        if reasons:
            raise PolicyError("The result policy does not let this result go back: "
                              + "; ".join(reasons) + ". Nothing was written. Choose a coarser "
                              "form: fewer levels, larger rounding, or predictions.")

    def _about_form(self, form: Form, result: Any) -> Iterator[str]:
        if form.name not in self.forms:
            yield f"the form '{form.name}' is not one of {', '.join(self.forms)}"
        if form.name == "predictions":
            return
        if self.max_depth is not None and depth_of(result) > self.max_depth:
            yield f"it is {depth_of(result)} levels deep, at most {self.max_depth} are allowed"
        if self.min_rounding is not None and (form.rounding or 0.0) < self.min_rounding:
            yield (f"thresholds are rounded to {form.rounding or 0.0:g} of the range, at least "
                   f"{self.min_rounding:g} is required")
        if self.min_leaf is not None and (least := smallest_leaf(result)) < self.min_leaf:
            yield f"a leaf has {least} training records, at least {self.min_leaf} are required"

    def _about_people(self, shown: Sequence[Shown]) -> Iterator[str]:
        limits = (("max_recovered", "records", "read"), ("max_exact", "exact", "read exactly"))
        for name, field, words in limits:
            limit = getattr(self, name)
            worst = max(shown, key=lambda one: getattr(one, field), default=None)
            if limit is not None and worst is not None and getattr(worst, field) > limit:
                yield (f"{getattr(worst, field):.1%} of the people can be {words} in column "
                       f"'{worst.column}', at most {limit:.1%} may be")


def depth_of(model: Any) -> int:
    """Return the depth of the deepest tree of a model."""
    if isinstance(model, Tree):
        return model.depth
    shapes = [getattr(tree, "shape", None) for tree in getattr(model, "trees", ())]
    if not shapes:
        return 2**31
    return max((int(shape.depth.max()) for shape in shapes if shape is not None), default=0)


def smallest_leaf(model: Any) -> int:
    """Return the training records of the smallest leaf; 0 where a model does not say."""
    trees = (model,) if isinstance(model, Tree) else getattr(model, "trees", ())
    return min((_smallest(tree) for tree in trees), default=0)


def _smallest(tree: Any) -> int:
    """Return the records of a tree's smallest leaf; XGBoost's trees do not tell them."""
    if isinstance(tree, Tree):
        return int(tree.n_samples[tree.shape.leaves].min())
    if isinstance(tree, HistogramTree):
        return int(tree.count[tree.shape.leaves].min())
    counts = getattr(tree, "leaf_count", None)
    return 0 if counts is None or not counts.size else int(counts.min())
