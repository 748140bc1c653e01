"""Identities and studies: read, refused field by field, and compared before anything is sent."""

from __future__ import annotations

import asyncio
import dataclasses
import pickle
import ssl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspoken.errors import InputError
from unspoken.joint.joint_errors import (
    FrameError,
    IdentityError,
    LedgerError,
    PartyError,
    PreflightError,
    StudyError,
)
from unspoken.joint.mpc.declared import Disclosure
from unspoken.joint.session.identity import (
    load_identity,
    make_identity,
    name_in,
    read_certificate,
)
from unspoken.joint.session.preflight import comparable, compare_studies
from unspoken.joint.session.study import Study, study_text
from unspoken.joint.tasks.task_list import task_of
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.ledger import Ledger
from unspoken.joint.wire.transports import memory_transports


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    return {name: make_identity(name, folder) for name in ("north", "south", "dora")}, folder


@pytest.fixture
def study(people):
    roles = {"north": ("owner", "holder", "receiver"), "south": ("owner", "holder"),
             "dora": ("dealer",)}
    members = tuple(Member(name, f"{name}.example:77{i}", roles[name], one.fingerprint,
                           one.certificate)
                    for i, (name, one) in enumerate(people[0].items()))
    return Study("flu", "sum", "dealer", members, {"columns": ["a", "b"], "scale": 8},
                 {"a": "numeric"}, "any one", (Disclosure("sum of each column", ("north",)),))


def test_a_key_is_private_and_never_replaced(people):
    identities, folder = people
    one = identities["north"]
    assert one.key_path.stat().st_mode & 0o777 == 0o600
    assert name_in(one.certificate) == "north"
    assert load_identity("north", folder) == one
    assert one.certificate == read_certificate(one.certificate_path)
    assert one.certificate == ssl.PEM_cert_to_DER_cert(one.certificate_path.read_text())
    with pytest.raises(InputError, match="exists already"):
        make_identity("north", folder)
    assert "PRIVATE" not in repr(one)


@pytest.mark.parametrize("name", ["", "North", "1st", "../x", "a" * 33, "a b", None])
def test_names_are_plain(name, tmp_path):
    with pytest.raises(InputError, match="a letter, then"):
        make_identity(name, tmp_path)


def test_identities_that_cannot_be_used(people, tmp_path):
    with pytest.raises(IdentityError, match="unspoken joint identity nobody"):
        load_identity("nobody", tmp_path)
    made = make_identity("open", tmp_path)
    made.key_path.chmod(0o644)
    with pytest.raises(IdentityError, match="chmod 600"):
        load_identity("open", tmp_path)
    (tmp_path / "x.crt").write_text("nothing")
    with pytest.raises(IdentityError, match="is not a certificate in PEM"):
        read_certificate(tmp_path / "x.crt")


def test_a_study_survives_its_file(study, tmp_path):
    path = tmp_path / "study.toml"
    study.save(path)
    assert Study.load(path) == study
    assert Study.load(path).hash() == study.hash()
    assert study.dealer == "dora"
    assert study.having("holder") == ("north", "south")


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.dictionaries(texts, st.one_of(texts, st.booleans(), st.integers(-2**62, 2**62),
                                        st.floats(allow_nan=False, allow_infinity=False),
                                        st.lists(texts, max_size=3)), max_size=4))
def test_what_is_written_is_read(parameters):
    import tomllib

    data = {"name": "x", "parameters": parameters}
    back = tomllib.loads(study_text(data))
    assert back.get("parameters", {}) == parameters


@pytest.mark.parametrize("name", ["nothing.toml", ""])
def test_a_study_or_ledger_that_cannot_be_read_is_named(tmp_path, name):
    with pytest.raises(StudyError, match=r"The study .* cannot be read"):
        Study.load(str(tmp_path / name))
    with pytest.raises(LedgerError, match=r"The ledger .* cannot be read"):
        Ledger.load(str(tmp_path / name))


def test_paths_may_be_texts(study, tmp_path):
    study.save(str(tmp_path / "study.toml"))
    assert Study.load(str(tmp_path / "study.toml")) == study


def change(study, **fields):
    return {**study.to_json(), **fields}


def party(study, **fields):
    data = study.to_json()
    data["party"][0] |= fields
    return data


@pytest.mark.parametrize(("broken", "words"), [
    (lambda s: change(s, colour=1), "no field 'colour'"),
    (lambda s: change(s, mod="x"), "Did you mean 'mode'"),
    (lambda s: change(s, mode="deeler"), "Did you mean 'dealer'"),
    (lambda s: change(s, name="No"), "a letter, then"),
    (lambda s: change(s, party=[]), "has no parties"),
    (lambda s: change(s, party={}), r"\[\[party\]\]"),
    (lambda s: change(s, parameters={"n_rows": 5}), "its own secret"),
    (lambda s: change(s, parameters={"Records": 5}), "its own secret"),
    (lambda s: change(s, parameters={"x": {}}), "text, a number or a list"),
    (lambda s: change(s, schema={"a": 1}), "'schema'"),
    (lambda s: change(s, coalitions="a\nb"), "one line"),
    (lambda s: change(s, disclosure=[{"to": []}]), "needs a 'because'"),
    (lambda s: change(s, disclosure=[{"because": "x", "to": ["nort"]}]), "Did you mean 'north'"),
    (lambda s: party(s, address="nowhere"), "HOST:PORT"),
    (lambda s: party(s, roles=["ownr"]), "Did you mean 'owner'"),
    (lambda s: party(s, roles="owner"), "a list of names"),
    (lambda s: party(s, fingerprint="0" * 64), "is not the SHA-256 of its certificate"),
    (lambda s: party(s, certificate="%%%"), "DER in base64"),
    (lambda s: party(s, name="south"), "'south' appears twice"),
    (lambda s: party(s, address="south.example:771"), "Every party needs its own address"),
    (lambda s: party(s, roles=["owner"]), "A single holder would see every value"),
    (lambda s: party(s, roles=["owner", "holder", "dealer"]), "exactly one dealer"),
])
def test_broken_studies_are_refused_with_a_hint(study, broken, words):
    with pytest.raises(StudyError, match=words):
        Study.from_json(broken(study))


def test_a_dealer_with_shares_is_refused(study):
    data = study.to_json()
    data["party"][2]["roles"] = ["dealer", "owner"]
    with pytest.raises(StudyError, match="must not hold shares or data"):
        Study.from_json(data)


def test_three_party_studies_have_two_holders_and_a_third_who_deals(study):
    data = study.to_json() | {"mode": "three-party"}
    data["party"][2]["roles"] = ["owner", "dealer"]
    assert Study.from_json(data).dealer == "dora"
    for roles in (["owner"], ["owner", "holder"], ["owner", "holder", "dealer"]):
        data["party"][2]["roles"] = roles
        with pytest.raises(StudyError, match="exactly three parties"):
            Study.from_json(data)


def test_other_files_are_no_studies(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text("not = [toml")
    with pytest.raises(StudyError, match="is not valid TOML"):
        Study.load(path)


@pytest.mark.slow
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from(["name", "task", "mode", "party", "roles",
                                                       "address", "parameters", "disclosure"]),
                                      inner, max_size=5), max_leaves=12))
@settings(max_examples=150)
def test_any_data_is_a_study_or_refused(data):
    with pytest.raises(StudyError):
        Study.from_json(data)


def preflight(ours, theirs):
    async def one(end, study):
        try:
            await compare_studies(end, study)
        except Exception as error:
            return error

    async def run():
        ends = memory_transports(("a", "b"))
        return await asyncio.gather(one(ends["a"], ours), one(ends["b"], theirs))

    return asyncio.run(run())


def test_equal_studies_pass(study):
    assert preflight(study, study) == [None, None]


@pytest.mark.parametrize(("fields", "path"), [
    ({"task": "mean"}, "task"), ({"mode": "sums"}, "mode"),
    ({"parameters": {"columns": ["a"], "scale": 8}}, "parameters.columns"),
    ({"disclosures": ()}, "disclosure"), ({"schema": {"a": "numeric", "b": "x"}}, "schema.b"),
])
def test_the_first_difference_is_named_on_both_sides(study, fields, path):
    errors = preflight(study, dataclasses.replace(study, **fields))
    assert any(isinstance(error, PreflightError) for error in errors)
    for error in errors:
        assert isinstance(error, PreflightError | PartyError)
        assert path in str(error)


def test_nothing_private_is_compared(study):
    fields = comparable(study)
    assert not any("row" in name or "record" in name for name in fields)
    assert {name.split("[")[0].split(".")[0] for name in fields} <= {
        "unspoken version", "wire version", "protocol code", "name", "task", "mode", "coalitions",
        "parameters", "schema", "party", "disclosure"}


def test_tasks_check_their_parameters(study):
    assert task_of(study).plan(study).learns["south"] == []
    for parameters in ({}, {"columns": []}, {"columns": ["a"], "scale": 99},
                       {"columns": ["a"], "colour": 1}):
        with pytest.raises(StudyError):
            task_of(dataclasses.replace(study, parameters=parameters))
    with pytest.raises(StudyError, match="one of sum"):
        task_of(dataclasses.replace(study, task="magic"))


@pytest.mark.parametrize("error", [FrameError("kind", "x"), PreflightError("mode", "x"),
                                   PartyError("a", "1 x", "was lost")])
def test_errors_survive_the_way_from_a_child_process(error):
    back = pickle.loads(pickle.dumps(error))
    assert (str(back), vars(back)) == (str(error), vars(error))
