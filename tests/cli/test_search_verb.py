"""`unspoken search`: three steps over files give the answers of the plain data."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from unspoken.cli.main import main
from unspoken.errors import ForeignKeyError, InputError, ModelError, ReleaseError
from unspoken.methods.rotation.search_files import Question, Reply, answer, ask, read_answer
from unspoken.protect import SimilarityOutsourcing


def people(rows, seed):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(20, 80, rows), "dose": rng.integers(0, 30, rows),
                         "job": rng.choice(["nurse", "clerk"], rows)})


@pytest.fixture
def folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    people(90, 0).to_csv("people.csv", index=False)
    people(4, 1).to_csv("queries.csv", index=False)
    assert main(["protect", "people.csv", "--method", "similarity-outsourcing", "--categorical",
                 "embed", "--option", "category_weight=5", "--out", "stored", "--key", "k"]) == 0
    capsys.readouterr()
    return tmp_path


def searched(*wanted):
    assert main(["search", "ask", "queries.csv", "--key", "k", *wanted, "--out", "question"]) == 0
    assert main(["search", "answer", "stored", "question", "--out", "answer"]) == 0
    assert main(["search", "open", "queries.csv", "--key", "k", "--question", "question",
                 "--answer", "answer", "--out", "records.csv"]) == 0
    return pd.read_csv("records.csv")


def plain_distances():
    x, q = people(90, 0), people(4, 1)
    numbers = ((x[["age", "dose"]].to_numpy() - q[["age", "dose"]].to_numpy()[:, None]) ** 2).sum(2)
    return np.sqrt(numbers + 25 * (x.job.to_numpy() != q.job.to_numpy()[:, None]))


@pytest.mark.slow
def test_the_nearest_records_come_back_with_their_values(folder):
    records = searched("--nearest", "3")
    distances = plain_distances()
    assert len(records) == 12
    for number, part in records.groupby("query"):
        order = np.lexsort((np.arange(90), distances[number].round(9)))[:3]
        assert part.row.tolist() == order.tolist()
        pd.testing.assert_frame_equal(part[["age", "dose", "job"]].reset_index(drop=True),
                                      people(90, 0).iloc[order].reset_index(drop=True),
                                      check_dtype=False)
    sent = (folder / "question").read_text() + (folder / "answer").read_text()
    assert "nurse" not in sent
    assert oct((folder / "records.csv").stat().st_mode)[-3:] == "600"


@pytest.mark.slow
def test_all_within_a_radius(folder):
    records = searched("--within", "7.0")
    inside = plain_distances() <= 7.0
    assert [len(records[records["query"] == n]) for n in range(4)] == inside.sum(axis=1).tolist()


@pytest.mark.slow
def test_steps_that_do_not_belong_together_are_refused(folder, capsys):
    searched("--nearest", "2")
    people(90, 5).to_csv("other.csv", index=False)
    assert main(["protect", "other.csv", "--method", "similarity-outsourcing", "--categorical",
                 "embed", "--out", "stored2", "--key", "k2"]) == 0
    capsys.readouterr()
    assert main(["search", "answer", "stored2", "question", "--out", "x"]) == 2
    assert "another release" in capsys.readouterr().err
    assert main(["search", "open", "queries.csv", "--key", "k2", "--question", "question",
                 "--answer", "answer", "--out", "x.csv"]) == 2
    assert "of one release" in capsys.readouterr().err
    assert main(["search", "open", "people.csv", "--key", "k", "--question", "question",
                 "--answer", "answer", "--out", "x.csv"]) == 2
    assert "those of the question" in capsys.readouterr().err
    assert main(["search"]) == 2
    assert "ask, answer or open" in capsys.readouterr().err


def question_of(**changed):
    return {**Question("f", np.zeros((2, 3)), 1).to_json(), **changed}


@pytest.mark.parametrize("data", [
    question_of(format="other"), question_of(version=2), question_of(columns=4),
    question_of(queries=[]), question_of(count=0), question_of(count=None),
    question_of(radius=1.0), question_of(count=None, radius=-1.0),
    question_of(count=None, radius="1"), question_of(queries=["a"] * 6), [], {}])
def test_a_strange_question_is_refused_by_its_field(data):
    with pytest.raises(ModelError):
        Question.from_json(data)


@pytest.mark.parametrize("candidates", [
    [{"rows": [5], "records": [0.0, 0.0]}], [{"rows": [-1], "records": [0.0, 0.0]}],
    [{"rows": [0], "records": [0.0]}], [{"rows": [0]}], [3], 3])
def test_a_strange_answer_is_refused(candidates):
    with pytest.raises(ModelError):
        Reply.from_json({"format": "unspoken-search-answer", "version": 1, "release": "f",
                        "candidates": candidates}, 2, 5)


def test_the_library_asks_for_one_of_both_and_knows_its_release():
    import unspoken

    table = unspoken.read(people(20, 2)[["age", "dose"]], show=False)
    owner, other = SimilarityOutsourcing(), SimilarityOutsourcing()
    release, _ = owner.protect(table)
    other.protect(table)
    queries = table.numbers()[:2]
    for wanted in ({}, {"count": 1, "radius": 1.0}):
        with pytest.raises(InputError, match="not both"):
            ask(owner, queries, **wanted)
    question = ask(owner, queries, count=1)
    reply = answer(release, question)
    assert [one.rows.tolist() for one in read_answer(owner, queries, question, reply)] == [[0], [1]]
    with pytest.raises(ForeignKeyError):
        read_answer(other, queries, question, reply)
    with pytest.raises(ReleaseError):
        answer(release, ask(other, queries, count=1))
    assert json.loads(json.dumps(question.to_json()))["count"] == 1
