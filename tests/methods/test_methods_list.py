"""The list of methods is the whole truth: everything on it runs, and nothing runs beside it."""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import unspoken
from support.release_cases import marked
from support.rule_edges import edges
from unspoken import checks
from unspoken.cli.main import main, parser
from unspoken.cli.method_options import build, flagged
from unspoken.disclosure.adversary import Adversary
from unspoken.errors import InputError, UnspokenError
from unspoken.methods import FAMILIES
from unspoken.methods.distortion.known_laws import Product, law_of
from unspoken.methods.distortion.noise_laws import FAMILIES as NOISES
from unspoken.methods.distortion.noise_laws import LAWS, Noise, NoiseLaw, for_width
from unspoken.methods.distortion.reconstruct.unknown_noise_scale import estimate_scale
from unspoken.methods.rotation.jl_distortion import failure, projection
from unspoken.mine import fit
from unspoken.release.lazy_imports import resolve
from unspoken.release.method import (
    UNDECLARED,
    adversaries_in,
    adversary_classes,
    method_of,
    methods,
)
from unspoken.risk import audit

SRC = Path(unspoken.__file__).parent
FORMS = [(method.name, form) for method in methods().values() for form in method.forms or [None]]
PARAMETERS = [(name, form, parameter) for name, form in FORMS
              for parameter in methods()[name].form(form).parameters]


# --- What is declared ---

def test_every_place_that_a_method_names_is_there():
    for method in methods().values():
        for field, place in vars(method).items():
            places = place if isinstance(place, tuple) else (place,)
            assert not field.endswith("_at") or all(resolve(one) for one in places if one)
        assert method.summary.endswith(".")
        assert method.promise.endswith(".")


def test_every_family_folder_is_on_the_list():
    folders = {f"unspoken.methods.{path.parent.name}.method"
               for path in (SRC / "methods").glob("*/method.py")}
    assert folders == set(FAMILIES)


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_the_declared_parameters_are_those_of_the_class(name, form):
    method = methods()[name]
    declared, defaults = method.form(form).parameters, method.defaults(form)
    assert set(declared) == set(defaults)
    for parameter, one in declared.items():
        assert one.help
        assert one.rule.allowed()
        assert one.rule.admits(defaults[parameter]), parameter


def test_no_method_takes_a_seed_from_the_command_line():
    assert not [name for name, _, parameter in PARAMETERS if parameter == UNDECLARED]


@cache
def one_parser():
    """Return the parser of all verbs, built once: it takes longer than what is tried with it."""
    return parser()


def args_for(name, form, *words):
    method = methods()[name]
    chosen = ["--option", f"{method.chooser}={form}"] if form else []
    return one_parser().parse_args(["protect", "t.csv", "--out", "o", "--method", name, *chosen,
                                    *words])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form", "parameter"), PARAMETERS)
def test_parameters_are_taken_and_refused_at_their_edges_on_the_command_line(name, form,
                                                                             parameter):
    declared = methods()[name].form(form).parameters[parameter]
    inside, outside = edges(declared.rule)
    for value in inside:
        made = build(args_for(name, form, "--option", f"{parameter}={json.dumps(value)}"))
        assert getattr(made, parameter) == value
    for value in outside:
        with pytest.raises(InputError, match=parameter):
            build(args_for(name, form, "--option", f"{parameter}={json.dumps(value)}"))
        if declared.flag and declared.switch is None:
            with pytest.raises(InputError, match=declared.flag):
                build(args_for(name, form, declared.flag, json.dumps(value)))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form", "parameter"), PARAMETERS)
def test_the_class_refuses_what_the_command_line_refuses(name, form, parameter):
    method = methods()[name].form(form)
    kind = resolve(method.transformer)
    for value in edges(method.parameters[parameter].rule)[1]:
        with pytest.raises(InputError, match=parameter):
            methods()[name].build({**({methods()[name].chooser: form} if form else {}),
                                   parameter: value})
        if form is None:
            with pytest.raises(InputError, match=parameter):
                methods()[name].check(kind(**{parameter: value}))


@pytest.mark.slow
@pytest.mark.parametrize("name", methods())
def test_the_command_line_lists_every_method_with_all_that_it_takes(name, capsys):
    assert main(["methods", name, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {one["name"] for one in told["parameters"]} == set(methods()[name].parameters)
    assert {one["name"] for one in told["adversaries"]} == {
        one.name for one in methods()[name].adversaries}
    assert main(["methods", name]) == 0
    text = capsys.readouterr().out
    assert methods()[name].promise in text
    assert main(["methods"]) == 0
    assert methods()[name].summary in capsys.readouterr().out


def test_a_flag_that_the_method_does_not_have_is_refused():
    for flag, named in flagged().items():
        for parameter, users in named.items():
            strangers = [m for m in methods().values() if parameter not in m.parameters]
            if parameter == "shuffle_rows":
                assert not any(m.of_people for m in strangers)
                continue
            words = [flag] if users[0][1].switch is not None else [flag, "1"]
            with pytest.raises(InputError, match=f"'{strangers[0].name}' has no option '{flag}'"):
                build(args_for(strangers[0].name, None, *words))


# --- What runs ---

def people(rows=160, seed=3):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows)
    return {"age": age, "pay": (age * 100 + rng.normal(0, 300, rows)).round(),
            "size": rng.normal(170, 9, rows).round(1),
            "city": rng.choice(["Aachen", "Bonn", "Celle"], rows),
            "ill": rng.choice(["flu", "none", "cold"], rows),
            "outcome": np.where(age > 50, "a", "b")}


def table_of(*names, **roles):
    data = people()
    return unspoken.read(pa.table({name: data[name] for name in names}), target="outcome",
                         show=False, **roles)


NUMBERS = ("age", "pay", "size", "outcome")
ROLES = {"quasi": ["age", "pay", "city"], "sensitive": "ill"}
WHOLE = ("age", "pay", "city", "ill", "outcome")


def chosen_table():
    data = people()
    said = np.where(np.arange(160) % 3 == 0, "truth", "distort")
    return unspoken.read(pa.table({"age": data["age"], "pay": data["pay"], "said": said,
                                   "outcome": data["outcome"]}), target="outcome", show=False)


def labels_and_gaps():
    data = people()
    pay = np.where(np.arange(160) % 40 == 0, np.nan, data["pay"])
    return unspoken.read(pa.table({"age": data["age"], "pay": pay, "city": data["city"],
                                   "outcome": data["outcome"]}), target="outcome", show=False)


def quantity():
    """Return a table whose target is a number."""
    table = table_of(*NUMBERS)
    return unspoken.read(table.arrow(["age", "size", "pay"]), target="pay", show=False)


def baskets():
    rng = np.random.default_rng(1)
    return unspoken.Baskets.of([[item for item in "abcdefgh" if rng.random() < 0.3] or ["a"]
                                for _ in range(80)])


RELEASES = {
    "piecewise": [(lambda: table_of(*NUMBERS), {}),
                  (labels_and_gaps, {"categorical": "relabel", "neutral_names": True}),
                  (quantity, {})],
    "rotation": [(lambda: table_of(*NUMBERS), {})],
    "pairwise-rotation": [(lambda: table_of(*NUMBERS), {})],
    "random-projection": [(lambda: table_of(*NUMBERS), {})],
    "similarity-outsourcing": [(lambda: table_of(*NUMBERS), {})],
    "noise": [(lambda: table_of(*NUMBERS), {}),
              (chosen_table, {"choices": {"age": "said"}, "columns": ["age", "pay"]})],
    "multiplicative-noise": [(lambda: table_of(*NUMBERS), {})],
    "discretize": [(lambda: table_of(*NUMBERS), {})],
    "randomized-response": [(lambda: table_of("city", "ill", "outcome"), {})],
    "baskets": [(baskets, {"rho": 0.1, "keep": 0.7})],
    "tree-preserving": [(lambda: table_of(*WHOLE, **ROLES), {"k": 5})],
    "mondrian": [(lambda: table_of(*WHOLE, **ROLES), {"k": 5})],
    "generalize": [(lambda: table_of(*WHOLE, **ROLES), {"widths": {"age": 20, "pay": 2000}})],
    "optimal-recoding": [(lambda: table_of(*WHOLE, **ROLES), {"k": 3, "suppression": 0.1})],
    "top-bottom": [(lambda: table_of(*WHOLE, **ROLES), {"columns": ["age", "pay"],
                                                        "others": "drop"})],
    "suppress-cells": [(lambda: table_of(*WHOLE, **ROLES), {"k": 2, "suppression": 0.9})],
    "swap": [(lambda: table_of(*WHOLE, **ROLES), {"columns": ["age", "pay", "city"]})],
    "sample": [(lambda: table_of(*WHOLE, **ROLES), {"share": 0.5})],
    # Few cells: models of other shapes are compiled anew, for seconds each.
    "private-synthetic": [(lambda: table_of(*WHOLE, **ROLES), {"columns": ["age", "city"],
                                                               "bins": 4})],
    "microaggregation": [(lambda: table_of(*WHOLE, **ROLES), {})],
    "condensation": [(lambda: table_of(*WHOLE, **ROLES), {})],
    "isolation-guard": [(lambda: table_of("age", "pay", "ill", "outcome", quasi=["age", "pay"],
                                          sensitive="ill"), {})],
    "post-randomization": [(lambda: table_of(*WHOLE, **ROLES), {"columns": ["city", "age"],
                                                                "others": "keep"})],
    "anatomy": [(lambda: table_of(*WHOLE, **ROLES), {})],
}
NOT_TRIED: dict[str, dict[str, str]] = {}


def ran(name):
    """Return the adversaries that an audit of some release of a method ran."""
    found = set()
    for table, parameters in RELEASES[name]:
        data = table()
        release, key = methods()[name].build(parameters).protect(data)
        # Only a model of this method is decoded, and so can be shown.
        shown = fit(release, "tree").model if name == "piecewise" else None
        audited = audit(data, release, key, trials=2, random_state=0, shown=shown)
        found |= {row.adversary for row in audited.rows}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", methods())
def test_every_adversary_of_a_method_runs_in_its_audit(name):
    listed = {one.name for one in methods()[name].adversaries}
    assert listed
    assert listed - ran(name) == set(NOT_TRIED.get(name, {}))


def test_every_adversary_runs_somewhere():
    tried = {one.name for name, method in methods().items() for one in method.adversaries
             if one.name not in NOT_TRIED.get(name, {})}
    assert tried == set(adversary_classes())


def unlisted():
    """Return the adversaries under methods/ that no method lists; those with a name can run."""
    package = importlib.import_module("unspoken.methods")
    for module in pkgutil.walk_packages(package.__path__, "unspoken.methods."):
        if ".adversaries" in module.name:
            importlib.import_module(module.name)
    kinds, todo = set(), [Adversary]
    while todo:
        below = todo.pop().__subclasses__()
        kinds.update(below)
        todo += below
    listed = {one for method in methods().values() for one in method.adversaries}
    return {kind.__name__ for kind in kinds - listed
            if kind.name and kind.__module__.startswith("unspoken.methods.")}


def test_every_adversary_under_methods_is_listed():
    assert unlisted() == set()


@pytest.mark.slow
def test_a_planted_adversary_outside_the_folders_is_found():
    planted = type("Planted", (Adversary,), {"name": "planted", "__module__":
                                             "unspoken.methods.encoding.planted"})
    assert unlisted() == {"Planted"}
    del planted
    gc.collect()
    assert unlisted() == set()


PLANTED = """
from unspoken.disclosure.adversary import Adversary
class Planted(Adversary):
    name = "planted"
    gets = "does nothing"
    attacks = {attacks}
"""


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """Put one more file into the folder of adversaries against rotations, and take it out again."""
    folder = importlib.import_module("unspoken.methods.rotation.adversaries")
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])

    def put(attacks):
        (tmp_path / "planted.py").write_text(PLANTED.format(attacks=attacks))
        importlib.invalidate_caches()
        adversaries_in.cache_clear()

    yield put
    sys.modules.pop(f"{folder.__name__}.planted", None)
    vars(folder).pop("planted", None)
    adversaries_in.cache_clear()
    gc.collect()


def attacked_by_planted():
    return {name for name, method in methods().items()
            if "planted" in {one.name for one in method.adversaries}}


@pytest.mark.slow
def test_a_file_in_the_folder_is_all_that_an_adversary_needs(plant):
    plant(None)
    assert attacked_by_planted() == {"rotation", "pairwise-rotation", "random-projection",
                                     "similarity-outsourcing"}


@pytest.mark.slow
def test_an_adversary_may_name_the_methods_that_it_attacks(plant):
    plant('frozenset({"random-projection"})')
    assert attacked_by_planted() == {"random-projection"}


@pytest.mark.slow
def test_an_adversary_of_a_method_that_does_not_exist_is_refused(plant):
    plant('frozenset({"rotatoin"})')
    with pytest.raises(ValueError, match="'rotatoin', which is no method"):
        attacked_by_planted()


NOTHING_DRAWN = {"random_state_repeats_and_is_declared"}
CONTRACT = {
    "piecewise": {}, "noise": {}, "multiplicative-noise": {}, "discretize": {}, "swap": {},
    "mondrian": {}, "top-bottom": {}, "suppress-cells": {}, "tree-preserving": {},
    "rotation": {"missing": "blank"}, "pairwise-rotation": {"missing": "blank"},
    "random-projection": {"missing": "blank"}, "similarity-outsourcing": {"missing": "blank"},
    "randomized-response": {"columns": ["visits", "age"], "others": "drop"},
    "generalize": {"widths": {"age": 40, "dose": 50, "visits": 4}, "k": 2, "suppression": 0.5},
    "sample": {"share": 0.5}, "private-synthetic": {},
    "optimal-recoding": {"k": 2, "suppression": 0.1},
    "microaggregation": {}, "condensation": {}, "isolation-guard": {},
    "anatomy": {"sensitive": ["visits"]},
    "post-randomization": {"columns": ["visits"], "others": "keep"},
}
EXCEPTIONS = {
    "discretize": NOTHING_DRAWN, "top-bottom": NOTHING_DRAWN, "generalize": NOTHING_DRAWN,
    "mondrian": NOTHING_DRAWN | {"missing_stays_missing"},
    "optimal-recoding": NOTHING_DRAWN | {"missing_stays_missing"},
    "microaggregation": NOTHING_DRAWN | {"missing_stays_missing"},
    "condensation": {"missing_stays_missing"}, "isolation-guard": {"missing_stays_missing"},
    "suppress-cells": NOTHING_DRAWN | {"missing_stays_missing"},
    "tree-preserving": {"missing_stays_missing"}, "sample": {"missing_stays_missing"},
    # OpenDP's noise cannot be seeded, and synthetic rows are other rows.
    "private-synthetic": {"random_state_repeats_and_is_declared", "missing_stays_missing"},
}
"""The reasons stand beside the contract tests of each family."""


def test_every_method_of_tables_is_under_the_contract():
    assert set(CONTRACT) == {m.name for m in methods().values() if not m.takes_baskets}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONTRACT)
@pytest.mark.parametrize("check", checks.RELEASE_METHOD, ids=lambda check: check.__name__)
def test_contract(name, check):
    if check.__name__ not in EXCEPTIONS.get(name, ()):
        kind = methods()[name].transformer
        check(lambda **given: kind(**{**CONTRACT[name], **given}))


@pytest.mark.slow
@pytest.mark.parametrize("name", marked([*CONTRACT, "baskets"]))
def test_a_release_carries_the_name_and_a_guarantee_of_its_method(name):
    table, parameters = RELEASES[name][0]
    release, key = methods()[name].build(parameters).protect(table())
    assert release.mechanism["name"] == name
    assert type(release.guarantee) in methods()[name].guarantees
    assert key.mechanism == name
    assert release.mechanism["rows_shuffled"] is True


# --- What is misspelt ---

def test_a_misspelt_method_is_refused_everywhere(tmp_path, capsys):
    with pytest.raises(InputError, match=r"piecewise, rotation.*Did you mean 'piecewise'\?"):
        method_of("piecwise")
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    words = ["protect", str(tmp_path / "t.csv"), "--out", str(tmp_path / "o"), "--method", "nose"]
    assert main(words) == 2
    assert "Did you mean 'noise'?" in capsys.readouterr().err
    assert main(["methods", "nose"]) == 2
    table = table_of(*NUMBERS)
    release, key = methods()["noise"].build({}).protect(table)
    strange = type(release)(release.table, {**release.mechanism, "name": "nose"},
                            release.guarantee, release.release_id, release.details)
    with pytest.raises(InputError, match="Did you mean 'noise'"):
        audit(table, strange, key, trials=2)
    with pytest.raises(InputError, match="Did you mean 'noise'"):
        law_of(strange.mechanism, "age")


@pytest.mark.slow
@pytest.mark.parametrize("name", marked(methods()))
def test_a_misspelt_adversary_or_parameter_is_refused(name):
    table, parameters = RELEASES[name][0]
    data = table()
    release, key = methods()[name].build(parameters).protect(data)
    with pytest.raises(InputError, match="An adversary must be one of"):
        audit(data, release, key, trials=2, adversaries=["no such"])
    with pytest.raises(InputError, match="must be one of"):
        methods()[name].build({"no_such": 1})
    with pytest.raises(InputError, match="'--option no_such'"):
        build(args_for(name, None, "--option", "no_such=1"))


def test_a_law_of_noise_is_one_class_and_one_line():
    assert tuple(LAWS) == NOISES
    with pytest.raises(TypeError, match="abstract"):
        type("Half", (NoiseLaw,), {})()


@pytest.mark.parametrize("refused", [
    lambda: Noise("laplac", 1.0),
    lambda: for_width("laplac", 1.0),
    lambda: estimate_scale(np.zeros(9), "laplac", np.linspace(0, 1, 5)),
    lambda: methods()["noise"].transformer(family="laplac").protect(table_of(*NUMBERS)),
    lambda: law_of({"name": "noise", "columns": {"a": {
        "family": "laplac", "scale": 1.0, "low": 0, "high": 1}}}, "a"),
    lambda: Product("log", 0.1, 2.0, 0.0, 1.0),
    lambda: projection(2, 2, "signs", np.random.default_rng(0)),
    lambda: failure(0.1, 5, "signs"),
])
def test_a_misspelt_family_is_refused_everywhere(refused):
    with pytest.raises(UnspokenError, match=r"must be"):
        refused()


# --- What nobody asks but the list ---

NAME_OF_A_MECHANISM = re.compile(
    r"""mechanism(\.get\("name"|\["name"\])|\{\}\)\.get\("name"|key\.mechanism\s*(==|!=|in\b|not in)
    """, re.VERBOSE)


def test_only_a_family_and_the_list_ask_for_the_name_of_a_mechanism():
    families = {path.parent for path in (SRC / "methods").glob("*/method.py")}
    asking = [str(path.relative_to(SRC)) for path in sorted(SRC.rglob("*.py"))
              if path != SRC / "release" / "method.py"
              and not any(path.is_relative_to(family) for family in families)
              and NAME_OF_A_MECHANISM.search(path.read_text(encoding="utf-8"))]
    assert asking == []


def test_no_name_of_a_method_is_compared_outside_its_family():
    # An adversary knows a 'sample' too, and a query guard adds 'noise'.
    names = "|".join(sorted(set(methods()) - {"sample", "noise"}))
    compared = re.compile(rf"""(==|!=)\s*"({names})"|in \("({names})",""")
    asking = [str(path.relative_to(SRC)) for path in sorted(SRC.rglob("*.py"))
              if path.relative_to(SRC).parts[0] not in ("methods", "joint")
              and compared.search(path.read_text(encoding="utf-8"))]
    assert asking == []


def test_listing_the_methods_imports_nothing_heavy():
    code = ("import json, sys; from unspoken.release.method import methods; methods();"
            "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(SRC.parent)})
    heavy = {"numpy", "sklearn", "scipy", "pandas", "pyarrow", "duckdb"}
    assert heavy.isdisjoint(json.loads(done.stdout))
