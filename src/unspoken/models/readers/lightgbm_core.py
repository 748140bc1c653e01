"""The validated core of a LightGBM model: every line that was understood, and nothing else.

LightGBM's own loader trusts its files: `num_tree_per_iteration=-2147483649` ends the process. So a
text from outside is taken apart here, and a new one is written from the parts that were checked.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from unspoken.arrays import Floats
from unspoken.models.category_groups import (
    Groups,
    Remark,
    check_classes,
    names_of,
    read_remark,
    remark_of,
)
from unspoken.models.hostile_json import Limits, refuse
from unspoken.models.labels import Label
from unspoken.models.readers.lightgbm_objectives import Goal, read_goal
from unspoken.models.readers.lightgbm_parameters import read_parameters, written_parameters
from unspoken.models.readers.lightgbm_tree import Block, LeafwiseTree, read_leafwise
from unspoken.models.written_numbers import check_name, real_of, whole_of

END = "end of trees"
PANDAS = "pandas_categorical:"
MAX_PANDAS = 16 << 20
HEADER = ("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx",
          "objective", "feature_names", "monotone_constraints", "feature_infos", "tree_sizes",
          "unspoken")


@dataclass(frozen=True, eq=False)
class LightGBMCore:
    """Everything that is known of a LightGBM model."""

    version: str
    classes: int
    label_index: int
    goal: Goal
    averaged: bool
    names: tuple[str, ...]
    monotone: str | None
    infos: tuple[str, ...]
    trees: tuple[LeafwiseTree, ...]
    importances: tuple[tuple[int, int], ...] | None
    parameters: dict[str, str]
    pandas: str | None
    labels: tuple[Label, ...] = ()
    columns: tuple[str, ...] = ()
    """The names of the columns as they are: LightGBM's own have no blanks."""
    groups: Groups = field(default_factory=dict)


def read_core(text: str, limits: Limits) -> LightGBMCore:
    """Check LightGBM's model text, line by line."""
    top, blocks, tail = _blocks(text, limits)
    header = Block(_header(top[1:]), "header")
    classes = header.whole("num_class", 1, limits.max_classes)
    header.whole("num_tree_per_iteration", classes, classes)
    names = _names(header, limits)
    trees = _trees(blocks, len(names), limits)
    if len(trees) % classes:
        refuse("Tree", f"a multiple of {classes} trees, as num_class says", str(len(trees)))
    if header.text("version") not in ("v3", "v4"):
        refuse("header.version", "v3 or v4", header.text("version")[:40])
    remark = read_remark(header.fields.get("unspoken"), names, limits)
    check_classes(remark.classes, classes)
    infos = _infos(header, len(names))
    pandas = _pandas(tail)
    monotone = header.fields.get("monotone_constraints")
    if monotone is not None:
        header.ints("monotone_constraints", len(names), -1, 1)
    return LightGBMCore(
        header.text("version"), classes, header.whole("label_index", 0, limits.max_features),
        read_goal(header.fields.get("objective"), classes), "average_output" in top, names,
        monotone, infos, trees, _importances(tail, names),
        read_parameters(tail), pandas, remark.classes, remark.columns,
        remark.groups or _frame_groups(pandas, remark.columns or names, infos),
    )


def _blocks(text: str, limits: Limits) -> tuple[list[str], list[list[str]], list[str]]:
    """Return the lines of the header, of each tree and of what follows."""
    limits.check("lines", text.count("\n"), 64 * limits.max_trees + 100_000)
    lines = text.split("\n")
    if lines[0] != "tree" or END not in lines:
        refuse("file", "LightGBM's model text, complete", lines[0][:40])
    end = lines.index(END)
    starts = [i for i, line in enumerate(lines[:end]) if line.startswith("Tree=")]
    limits.check("Tree", len(starts), limits.max_trees)
    edges = [*starts, end]
    return lines[: edges[0]], [lines[a:b] for a, b in pairwise(edges)], lines[end + 1 :]


def _header(lines: Sequence[str]) -> dict[str, str]:
    """Return the known lines of the header; unknown ones are dropped."""
    fields = _fields([line for line in lines if line not in ("", "average_output")], "header")
    return {name: value for name, value in fields.items() if name in HEADER}


def _fields(lines: Sequence[str], where: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for line in lines:
        name, mark, value = line.partition("=")
        if not mark:
            refuse(where, "lines of the form name=value", line[:40])
        if name in fields:
            refuse(f"{where}.{name[:40]}", "given once", "twice")
        fields[name] = value
    return fields


def _names(header: Block, limits: Limits) -> tuple[str, ...]:
    names = tuple(header.text("feature_names").split(" "))
    limits.check("feature_names", len(names), limits.max_features)
    for name in names:
        check_name("header.feature_names", name, limits)
    if len(set(names)) != len(names):
        refuse("header.feature_names", "all different", "one twice")
    header.whole("max_feature_idx", len(names) - 1, len(names) - 1)
    return names


def _infos(header: Block, features: int) -> tuple[str, ...]:
    infos = tuple(header.text("feature_infos").split(" "))
    if len(infos) != features:
        refuse("header.feature_infos", f"{features} long", f"{len(infos)}")
    for info in infos:
        if not _known_info(info):
            refuse("header.feature_infos", "none, [low:high] or categories", info[:40])
    return infos


def _known_info(info: str) -> bool:
    if info == "none":
        return True
    if info.startswith("[") and info.endswith("]"):
        ends = [real_of(word) for word in info[1:-1].split(":")]
        return len(ends) == 2 and None not in ends
    return all(whole_of(word) is not None for word in info.split(":"))


def _trees(
    blocks: Sequence[Sequence[str]], features: int, limits: Limits
) -> tuple[LeafwiseTree, ...]:
    trees, total = [], 0
    for number, block in enumerate(blocks):
        if block[0] != f"Tree={number}":
            refuse(f"Tree={number}", "the next tree", block[0][:40])
        fields = _fields([line for line in block[1:] if line], block[0])
        trees.append(read_leafwise(Block(fields, block[0]), features, limits))
        total += trees[-1].feature.size
        limits.check("Tree", total, limits.max_total_nodes)
    return tuple(trees)


def _importances(tail: Sequence[str], names: tuple[str, ...]) -> tuple[tuple[int, int], ...] | None:
    if "feature_importances:" not in tail:
        return None
    places = {name: place for place, name in enumerate(names)}
    start = tail.index("feature_importances:") + 1
    pairs: list[tuple[int, int]] = []
    for line in tail[start : start + len(names) + 1]:
        if line == "":
            return tuple(pairs)
        name, _, text = line.rpartition("=")
        count = whole_of(text)
        if name not in places or count is None or count < 0:
            refuse("feature_importances", "a whole number for a feature", line[:40])
        pairs.append((places[name], count))
    refuse("feature_importances", f"at most {len(names)} lines and an empty one", "more")


def _pandas(tail: Sequence[str]) -> str | None:
    """Return what the text says of a data frame's categories, if it is none or all texts."""
    lines = [line for line in tail if line.startswith(PANDAS)]
    if not lines or len(lines[-1]) > MAX_PANDAS:
        return None
    if lines[-1].endswith((":null", ":[]")):
        return lines[-1]
    listed = _lists(lines[-1])
    return None if listed is None else PANDAS + json.dumps(listed)


def frame_lists(core: LightGBMCore) -> list[list[str]]:
    """Return the categories of the columns of the data frame that a model was trained on."""
    return (None if core.pandas is None else _lists(core.pandas)) or []


def _lists(line: str) -> list[list[str]] | None:
    """Return the categories of each column of a data frame, None unless they are texts."""
    try:
        listed = json.loads(line.removeprefix(PANDAS))
    except (ValueError, RecursionError):
        return None
    whole = isinstance(listed, list) and all(isinstance(names, list) for names in listed)
    if not whole or not all(isinstance(name, str) for names in listed for name in names):
        return None
    return listed if all(len(set(names)) == len(names) for names in listed) else None


def _frame_groups(line: str | None, names: tuple[str, ...], infos: tuple[str, ...]) -> Groups:
    """Return the categories of a data frame's columns, where it is clear which those are."""
    listed = None if line is None else _lists(line)
    columns = [name for name, info in zip(names, infos, strict=True)
               if not info.startswith("[") and info != "none"]
    if not listed or len(listed) != len(columns):
        return {}
    return {name: tuple((text,) for text in texts)
            for name, texts in zip(columns, listed, strict=True)}


def settled(core: LightGBMCore) -> LightGBMCore:
    """Return a changed core as it would be read: the groups of a data frame count as its own."""
    groups = core.groups or _frame_groups(core.pandas, core.columns or core.names, core.infos)
    return replace(core, groups=groups)


def text_of(core: LightGBMCore) -> str:
    """Return LightGBM's model text, made from the core alone."""
    blocks = ["\n".join([f"Tree={number}", *(f"{name}={value}" for name, value in tree.lines),
                         "", "", ""]) for number, tree in enumerate(core.trees)]
    return "\n".join([*_top(core, blocks), "".join(blocks) + END, "", *_tail(core)])


def _top(core: LightGBMCore, blocks: Sequence[str]) -> list[str]:
    lines = ["tree", f"version={core.version}", f"num_class={core.classes}",
             f"num_tree_per_iteration={core.classes}", f"label_index={core.label_index}",
             f"max_feature_idx={len(core.names) - 1}"]
    lines += [f"objective={core.goal.line}"] if core.goal.line else []
    lines += ["average_output"] if core.averaged else []
    lines += [f"feature_names={' '.join(core.names)}"]
    lines += [f"monotone_constraints={core.monotone}"] if core.monotone is not None else []
    lines += [f"feature_infos={' '.join(core.infos)}"]
    remark = remark_of(Remark(core.labels, core.columns, core.groups))
    lines += [f"unspoken={remark}"] if remark else []
    sizes = " ".join(str(len(block.encode())) for block in blocks)
    return [*lines, *([f"tree_sizes={sizes}"] if blocks else []), ""]


def _tail(core: LightGBMCore) -> list[str]:
    lines = []
    if core.importances is not None:
        lines += ["feature_importances:",
                  *(f"{core.names[place]}={count}" for place, count in core.importances), ""]
    if core.parameters:
        lines += ["parameters:", *written_parameters(core.parameters), "", "end of parameters", ""]
    return [*lines, *([core.pandas] if core.pandas is not None else []), ""]


def frame_line(groups: Groups, columns: Sequence[str]) -> str:
    """Return the line by which LightGBM numbers the categories of a data frame."""
    names = [names_of(groups[column]) for column in columns if column in groups]
    return PANDAS + json.dumps(names)


def numbers_text(values: Floats) -> str:
    """Return numbers as LightGBM writes thresholds."""
    return " ".join(format(value, ".17g") for value in values.tolist())
