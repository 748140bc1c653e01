"""A hospital outsources a decision tree.

    python examples/hospital_outsources_a_tree.py

A hospital wants a company to find out which tumours are malignant. The company may not see the
measurements. It gets codes, grows a tree and a forest, and sends them back; the hospital decodes
them and checks that they are the very models that its own table would have given. Then its privacy
officer asks what the company could have learned. (Data: breast cancer, ships with scikit-learn.)
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from story import bars, finish, options, verdicts

import unspoken
from unspoken.release.method import method_of
from unspoken.report import Page

COLUMNS = 8
SHOWN = {"line": "knows a few values, draws a line", "ranks": "knows a few values, uses ranks",
         "rank": "knows minimum and maximum", "quantile": "has a 1% sample",
         "frequency": "knows how often values occur"}


def main() -> None:
    """Tell the story."""
    chosen = options(__doc__, "hospital.html")
    data = load_breast_cancer()
    names = [str(name).replace("mean ", "") for name in data.feature_names[:COLUMNS]]
    columns = {name: data.data[:, i] for i, name in enumerate(names)}
    diagnosis = data.target_names[data.target]
    table = unspoken.read({**columns, "diagnosis": diagnosis}, target="diagnosis", show=False)

    with tempfile.TemporaryDirectory() as folder:
        sent = Path(folder) / "release"
        release, key = unspoken.protect.PiecewiseEncoder(mode="strict").protect(table)
        release.save(sent)
        received = unspoken.Release.load(sent)          # all that the company gets
    trees = chosen.rows(50, 10)
    mined = {"tree": unspoken.mine.fit(received, "tree", max_depth=3),
             "forest": unspoken.mine.fit(received, "forest", n_estimators=trees)}
    decoded = {name: unspoken.protect.decode(one.model, key, table)
               for name, one in mined.items()}
    ordered = method_of(key.mechanism).in_released_order(key, table)
    direct = {"tree": unspoken.mine.fit(ordered, "tree", max_depth=3),
              "forest": unspoken.mine.fit(ordered, "forest", n_estimators=trees)}
    checks = {name: unspoken.verify(direct[name].model, model) for name, model in decoded.items()}
    audit = unspoken.risk.audit(table, release, key, trials=chosen.rows(40, 8), random_state=1)

    page = Page("A hospital outsources a tree",
                f"{table.rows} patients, {COLUMNS} measurements, malignant or benign.")
    page.box(["The company saw no measurement, and the hospital decoded its models exactly.",
              "But order is in the codes: with similar data the company could read most of them. "
              "This is a way to share only with somebody who has none."])
    page.section("What came back")
    page.table(["model", "identical to the original's", "patients classified correctly"],
               [[name, "yes, bit for bit" if checks[name] else checks[name].difference,
                 f"{(model.predict(table) == table.labels()).mean():.1%}"]
                for name, model in decoded.items()])
    page.text("The tree as the company saw it, and as the hospital reads it:")
    page.code(mined["tree"].model.to_text())
    page.code(decoded["tree"].to_text())
    page.section("What the company could have learned")
    best = {name: max((row for row in audit.rows if row.adversary == name
                       and row.measure == "records"), key=lambda row: row.value, default=None)
            for name in SHOWN}
    rows = {name: row for name, row in best.items() if row is not None}
    page.figure(bars([SHOWN[name] for name in rows],
                     {"with the release": [100 * row.value for row in rows.values()],
                      "same knowledge without it": [100 * row.baseline for row in rows.values()]},
                     "% of patients whose value in the worst column is guessed within 2%"),
                "Each line is somebody who knows something; the second bar needs no release.")
    page.table(["column", "read by the best attacker", "same knowledge without the release"],
               [[row.column, f"{row.value:.0%}", f"{row.baseline:.0%}"]
                for row in audit.ranking("records")],
               "Share of patients whose value is guessed within 2% of the column's range.")
    page.section("What the audit says")
    verdicts(page, {"codes for a miner": audit})
    finish(page, chosen)


if __name__ == "__main__":
    main()
