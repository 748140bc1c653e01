"""Policies that would let one analyst pay for another, or take the service down, are refused."""

import math

import pytest

from support.service_people import TOKEN, policy_data, service
from unspoken.errors import PolicyError
from unspoken.methods.queries.service.analyst_access import hash_of
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.service_policy import ServicePolicy

HASH = hash_of("a token of bob")


@pytest.mark.parametrize(("analysts", "words"), [
    ({"bob": hash_of(TOKEN)}, "'alice' and 'bob' .* same token"),
    ({"n" * 201: HASH}, "200 printable characters"),
    ({"": HASH}, "200 printable characters"),
    ({"bob\n": HASH}, "200 printable characters"),
    ({"bob": "é" * 64}, "'bob' .* 64 digits"),
    ({"bob": HASH.upper()}, "'bob' .* 64 digits"),
    ({"bob": "z" * 64}, "'bob' .* 64 digits"),
    ({"bob": HASH + "\n"}, "'bob' .* 64 digits"),
])
def test_analysts_who_cannot_be_told_apart_or_booked_are_refused(tmp_path, analysts, words):
    data = policy_data()
    data["analysts"].update(analysts)
    with pytest.raises(PolicyError, match=words):
        ServicePolicy.parse(data, tmp_path)


@pytest.mark.parametrize("each", [5e-324, 1e-300, 9.9e-7, 100.5, float("nan"), True, "1"])
def test_an_epsilon_that_no_question_may_have_is_none_of_a_policy(tmp_path, each):
    with pytest.raises(PolicyError, match=r"'each' .* from 0\.000001 to 100"):
        ServicePolicy.parse(policy_data(each=each), tmp_path)


@pytest.mark.parametrize(("column", "words"), [
    ({"bounds": [0, 5e-324]}, "'bounds' .* apart"), ({"bounds": [0, 90], "step": 1e300}, "'step'"),
    ({"bounds": [-1e101, 0]}, "'bounds' .* within"), ({"step": 5e-324}, "'step'")])
def test_grids_whose_answers_no_number_holds_are_refused(tmp_path, column, words):
    with pytest.raises(PolicyError, match=words):
        ServicePolicy.parse(policy_data(columns={"age": column}), tmp_path)


@pytest.mark.parametrize("column", [{"bounds": [0, 2e-100]}, {"bounds": [-1e100, 1e100]},
                                    {"bounds": [0, 90], "step": 9e99}])
def test_answers_on_the_farthest_grids_are_numbers(tmp_path, column):
    one = service(tmp_path, columns={"age": column})
    for text in ("sum(age)", "mean(age)", "variance(age)", "quantile(age, 0.5)"):
        assert math.isfinite(one.ask("alice", question_of(f"select {text}"))["value"])


def test_the_smallest_epsilon_answers_every_kind_of_question(tmp_path):
    one = service(tmp_path, each=1e-6)
    for text in ("count()", "sum(income)", "mean(income)", "variance(income)",
                 "quantile(income, 0.5)", "histogram(age)", "mean(income) group by sex, work"):
        assert one.ask("n" * 200, question_of(f"select {text}"))["epsilon"] == 1e-6
