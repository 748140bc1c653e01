"""What every tree and forest says first: its task, its features and its classes."""

from __future__ import annotations

from typing import Any

from unspoken.models.comparison import (
    Comparison,
    compare_scalars,
    compare_sequences,
    first_difference,
)
from unspoken.models.hostile_json import Fields, refuse
from unspoken.models.labels import Label, Task


def check_header(task: str, classes: tuple[Label, ...]) -> None:
    """Refuse a task that is none, and classes that do not go with it."""
    if task not in ("classification", "regression"):
        refuse("task", '"classification" or "regression"', task)
    if (task == "classification") != bool(classes):
        refuse("classes", "given for classification only", f"{len(classes)} for {task}")
    for label in classes:
        if type(label) not in (str, int, float, bool):
            refuse("classes", "texts, numbers or booleans", type(label).__name__)


def header_to_json(model: Any) -> dict[str, Any]:
    """Return what a tree and a forest share."""
    return {"task": model.task, "features": list(model.features), "classes": list(model.classes)}


def same_header(one: Any, other: Any) -> Comparison:
    """Compare what a tree and a forest share."""
    return first_difference(
        lambda: compare_scalars("task", one.task, other.task),
        lambda: compare_sequences("class", one.classes, other.classes),
        lambda: compare_sequences("feature name", one.features, other.features))


def header_from_json(fields: Fields) -> tuple[Task, tuple[str, ...], tuple[Label, ...]]:
    """Read what a tree and a forest share."""
    task: Any = fields.text("task")
    features = fields.texts("features", fields.limits.max_features)
    classes = tuple(fields.items("classes", fields.limits.max_classes))
    check_header(task, classes)
    if len(set(features)) != len(features):
        refuse(fields.at("features"), "all different", "one twice")
    _check_lengths(fields, features, classes)
    return task, features, classes


def _check_lengths(fields: Fields, *lists: tuple[Label, ...]) -> None:
    """Refuse names of columns and classes that are longer than texts may be."""
    for name, labels in zip(("features", "classes"), lists, strict=True):
        longest = max((len(label) for label in labels if isinstance(label, str)), default=0)
        fields.limits.check(fields.at(name), longest, fields.limits.max_text)
