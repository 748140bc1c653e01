"""The audit of a published model: membership, attributes, memorised values."""

from __future__ import annotations

from typing import Any

import numpy as np

from unspoken.audit.people.audit_people import as_read, people_rows
from unspoken.audit.people.control_group import outsiders
from unspoken.audit.published.memorised_values import memorised_rows
from unspoken.audit.published.model_attributes import attacked_inputs, model_attributes
from unspoken.audit.published.model_contents import model_contents
from unspoken.audit.published.model_losses import Published
from unspoken.audit.published.model_membership import model_membership
from unspoken.audit.published.named_categories import RARE, named_risk
from unspoken.audit.published.unread_parts import content_of
from unspoken.disclosure.audit_result import Audit
from unspoken.disclosure.people_risk import NO_CONTROL, PeopleAudit
from unspoken.models.load_model import load_model
from unspoken.models.model import Model, Predictor
from unspoken.models.readers import as_model, is_sklearn
from unspoken.numerics.random import replayed, seed_from
from unspoken.release.parameters import Whole, check

MODEL = "model"
WORDS = {
    "loss": "takes people for members about whom the model is hardly wrong",
    "loss ratio": "takes people for members about whom the model is less wrong than one learned "
                  "from outsiders",
    "distance": "takes people for members whose record lies near",
    "model inversion": "tries every value of an input and takes the one that explains the target "
                       "best",
    "thresholds": "reads the thresholds of the model, and the ends of columns that it states",
    "leaves": "reads the leaves that few people reach",
    RARE: "reads the categories that the model names and looks for people who have them",
    "numbers": "reads the numbers in the model",
}
_LIMITS = (
    "only the listed attacks were tried; a better one may exist",
    "numbers of a model can carry what no audit finds, in their last digits or their order: "
    "publish only what you know how it was trained",
    "who can train many models like this one (shadow models) recognises more people",
)


def audit_model(model: Any, table: Any, control: Any = None, *, k: int = 5,
                random_state: Any = None, name: str = "") -> Audit:
    """Measure what a published model tells about the people it was learned from.

    Parameters
    ----------
    model : path, model of unspoken, scikit-learn, XGBoost or LightGBM
        A file that `load_model` reads (unspoken's JSON, XGBoost's JSON, LightGBM's text; pickles
        are never read), or a model in memory.
    table : Table or anything that `read` takes
        The people it was learned from, with its target.
    control : Table or anything that `read` takes, default None
        People it was not learned from; without them every risk is an upper bound.
    k : int, default 5
        Values and leaves of fewer people than this count as memorised.
    random_state : int, default None
        The same seed gives the same audit.
    name : str, default ""
        What the model is called in the audit.

    Returns
    -------
    Audit
        Its `people` has membership and attribute inference, its rows the memorised values.

    Examples
    --------
    >>> audit_model("model.json", "patients.csv", "others.csv").summary()  # doctest: +SKIP
    """
    check("audit_model", {"k": (Whole(2), "Use 5.")}, {"k": k})
    original = as_read(table)
    outside, notes = outsiders(original, None if control is None else as_read(control))
    content = content_of(model)
    loaded = _loaded(model if content is None else content)
    contents = model_contents(loaded, content, original, k)
    rng = replayed(seed_from(random_state), "published model")
    risks = [*_risks(loaded, original, outside, rng),
             *named_risk(loaded, contents.texts, original, outside, k)]
    found = PeopleAudit(tuple(risks), None, {}, {})
    unscored = attacked_inputs(loaded.features, original)[1] if isinstance(loaded, Predictor) else {
        "(people)": f"a {loaded.kind} predicts nothing about a person; only memorised values were "
                    "looked for"}
    about = {"fingerprint": name or loaded.kind, "rows": original.rows,
             "mechanism": {"name": MODEL, "kind": loaded.kind}, "columns": {},
             "model": loaded.kind}
    limits = (*_LIMITS, *([] if outside is not None else [NO_CONTROL]), *notes)
    rows = (*people_rows(found), *memorised_rows(loaded, original, k), *contents.rows)
    return Audit(rows, 0.0, 1, about, WORDS, {**unscored, **contents.unscored}, limits=limits,
                 people=found, faults=contents.faults)


def _loaded(model: Any) -> Any:
    """Return a model of ours; trees of scikit-learn in memory are taken over."""
    if isinstance(model, Model):
        return model
    if isinstance(model, str | bytes) or hasattr(model, "__fspath__"):
        return load_model(model)
    if not is_sklearn(model):
        return as_model(model)
    from unspoken.models.forest import Forest
    from unspoken.models.tree import Tree

    single = type(model).__name__.startswith("DecisionTree")
    return Tree.from_sklearn(model) if single else Forest.from_sklearn(model)


def _risks(model: Any, table: Any, control: Any, rng: np.random.Generator) -> list[Any]:
    if not isinstance(model, Predictor):
        return []
    published = Published.of(model, table)
    return [*model_membership(published, table, control, rng),
            *model_attributes(published, table, control, rng)]
