"""Table I: the paper's two trees, as they can be read from its K."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from unspoken.methods.anonymity.measures.equivalence_classes import k_of
from unspoken.methods.anonymity.tree_preserving.cells import Cells, classes_of, make_cells
from unspoken.methods.anonymity.tree_preserving.kept_trees import Question
from unspoken.methods.anonymity.tree_preserving.recoding_rules import Recoder
from unspoken.table.integer_columns import code_column
from unspoken_experiments.fu2010.data import Study
from unspoken_experiments.fu2010.figures import table

NAMES = ("relationship", "education-num", "capital-gain")
FIRST, SECOND = (5013, 5178), (6849, 7298)
PUBLISHED = {"Tree 1": ("154", "0.8052"), "Tree 2": ("120", "0.7471"),
             "both": ("64", "0.8052 and 0.7471")}


def cells_of(study: Study, *gains: tuple[int, int]) -> Cells:
    """Return the cells of {Husband, Wife} x education-num 12|13 x cuts of capital-gain."""
    rows = study.table.arrow()
    columns = {n: code_column(study.table.schema[n], rows[n], "two-way") for n in NAMES}
    married = np.array([label in ("Husband", "Wife") for label in columns["relationship"].labels])
    asked = [Question("relationship", None, False, married.astype(np.int16), ())]
    for name, pair in (("education-num", (12, 13)), *(("capital-gain", g) for g in gains)):
        values = columns[name].values
        assert values is not None
        cut = (int(np.searchsorted(values, pair[0])), int(np.searchsorted(values, pair[1])))
        asked.append(Question(name, cut, False, None, ()))
    return make_cells(columns, Recoder(columns, "min-block").recode(asked), study.table.rows)


def accuracies(study: Study, cells: Cells) -> npt.NDArray[np.int64]:
    """Return how many people every way of giving the cells a class puts right."""
    rich = study.table.arrow()["income"].to_numpy(zero_copy_only=False) == ">50K"
    ones = np.bincount(cells.of_row, rich, cells.count).astype(np.int64)
    both = np.stack([cells.sizes() - ones, ones])
    found = np.zeros(1, np.int64)
    for cell in both.T:
        found = (found[:, None] + cell).reshape(-1)
    return found


def table_i(study: Study) -> Iterator[str]:
    """Yield K and the best accuracy of the cells, the published numbers beside them."""
    rows, near = [], []
    for name, gains in (("Tree 1", (FIRST,)), ("Tree 2", (SECOND,)), ("both", (FIRST, SECOND))):
        cells = cells_of(study, *gains)
        k = k_of(classes_of(cells, NAMES, ()))
        right = accuracies(study, cells)
        rows.append((name, str(k), PUBLISHED[name][0], f"{right.max() / study.table.rows:.4f}",
                     PUBLISHED[name][1]))
        near += [int(np.abs(right - wanted).min()) for wanted in (24732, 22949)][:2]
    yield from table(("preserved", "K", "K, published", "largest accuracy of these cells",
                      "accuracy, published"), rows)
    yield (f"Nearest that any way of labelling the cells of tree 1 or 2 comes to the published "
           f"24,732 and 22,949 of 30,717: {min(near[0], near[2])} and {min(near[1], near[3])} "
           "people away.")
    yield ""
