"""Several analysts at one service: nobody pays, is refused or loses the service for another."""

import json

import pytest

from support.service_people import TOKEN, people, policy_data, service
from support.service_web import Web
from unspoken.errors import InputError, QueryLogError
from unspoken.methods.queries.service import noisy_answers
from unspoken.methods.queries.service.analyst_access import hash_of
from unspoken.methods.queries.service.question_service import Asked, QueryService
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.release.budget import Budget

BOB = "a token of bob"


def shared(folder, **limits):
    """Return the service of alice and bob, an answer of which costs 0.1."""
    table, data = people(), policy_data()
    data["analysts"]["bob"] = hash_of(BOB)
    Budget.start(folder / "b", table, epsilon=1.0, recipients=limits)
    return QueryService(table, ServicePolicy.parse(data, folder))


def ask(one, analyst, text):
    return one.ask(analyst, question_of(f"select {text}"))


def together(one, text, *analysts):
    return one.ask_each([Asked(name, question_of(f"select {text}")) for name in analysts])


@pytest.mark.parametrize("order", [("bob", "alice"), ("alice", "bob"), ("bob", "bob", "alice")])
def test_who_has_no_room_does_not_have_the_question_of_another_refused(tmp_path, order):
    one = shared(tmp_path, bob=0.15)
    assert ask(one, "bob", "count()")["answered"]
    replies = dict(zip(order, together(one, "sum(age)", *order), strict=True))
    assert replies["alice"]["answered"]
    assert not replies["bob"]["answered"]
    assert one.budget.spent("alice") == pytest.approx(0.1)
    assert one.budget.spent("bob") == pytest.approx(0.1)
    assert one.budget.spent() == pytest.approx(0.2)
    assert not ask(one, "bob", "sum(age)")["answered"]


def test_one_of_several_pays_in_all_and_everybody_pays_for_their_own(tmp_path):
    one = shared(tmp_path, alice=0.5, bob=0.5)
    first, second = together(one, "count()", "alice", "bob")
    assert first == second
    assert [one.budget.spent(name) for name in (None, "alice", "bob")] \
        == pytest.approx([0.1, 0.1, 0.1])


def test_a_name_that_cannot_be_booked_is_the_matter_of_who_has_it(tmp_path):
    one = shared(tmp_path)
    refused, answered = together(one, "count()", "n" * 501, "alice")
    assert isinstance(refused, InputError)
    assert answered["answered"]


def test_noise_that_cannot_be_drawn_is_an_error_of_one_question(tmp_path, monkeypatch):
    one = shared(tmp_path)
    def none(*_):
        raise InputError("No such noise.")
    monkeypatch.setitem(noisy_answers._BY_KIND, "sum", none)
    replies = one.ask_each([Asked("alice", question_of(f"select {text}"))
                            for text in ("sum(age)", "count()")])
    assert isinstance(replies[0], InputError)
    assert replies[1]["answered"]


def test_an_error_of_one_question_leaves_the_service_to_the_others(tmp_path, monkeypatch):
    one = shared(tmp_path)
    really = one.ask_each
    def hostile(asked):
        if any(each.analyst == "bob" for each in asked):
            raise InputError("What bob asked is wrong.")
        return really(asked)
    monkeypatch.setattr(one, "ask_each", hostile)
    requests = [("/query", "select sum(age)", BOB), ("/query", "select count()", TOKEN)]
    assert [code for code, _ in Web(one)(*requests)] == [400, 200]
    assert [code for code, _ in Web(one).in_turn(*requests, *requests)] == [400, 200, 400, 200]


def shown(web, token):
    code, text = web(("/about", None, token))[0]
    assert code == 200
    about = json.loads(text)
    return about["epsilon"], about["left"]


def test_about_shows_what_is_left_to_whoever_asks(tmp_path):
    one = shared(tmp_path, bob=0.5, alice=0.8)
    web = Web(one)
    for age in range(4):
        ask(one, "alice", f"count() where age > {20 + age}")
    assert shown(web, BOB) == pytest.approx((0.5, 0.5))
    assert shown(web, TOKEN) == pytest.approx((0.8, 0.4))
    for age in range(3):
        ask(one, "alice", f"count() where age > {30 + age}")
    assert shown(web, BOB) == pytest.approx((0.5, 0.3))
    assert one.about()["left"] == pytest.approx(0.3)


@pytest.mark.parametrize(("error", "words"), [
    (QueryLogError("The log cannot be written."), "The log cannot be written."),
    (OSError(28, "No space left on device", "a.log"), "No space left on device"),
    (KeyError("4711 of Smith"), "KeyError in test_shared_service.py, line "),
])
def test_the_custodian_reads_why_nothing_is_answered_any_more(tmp_path, monkeypatch, capsys, error,
                                                              words):
    one = shared(tmp_path)
    def broken(*_):
        raise error
    monkeypatch.setattr(one, "ask_each", broken)
    assert Web(one)(("/query", "select count()"))[0][0] == 503
    printed = capsys.readouterr().err
    assert printed.startswith(f"unspoken: nothing is answered any more. {words}")
    assert "4711" not in printed


@pytest.mark.parametrize(("columns", "text", "words"), [
    ({"work": {"values": ["state"]}}, "mean(age)",
     "'age' cannot be summed before its bounds are declared. The custodian does that in "
     "[columns.age] of the policy."),
    ({"age": {"bounds": [0, 90], "step": 1e-12}}, "sum(age)", "The custodian declares a coarser"),
    ({"age": {"bounds": [1e15, 1e15 + 1], "step": 1e-3}}, "sum(age)",
     "The custodian declares a coarser"),
])
def test_what_the_policy_lacks_is_told_in_words_of_the_policy(tmp_path, columns, text, words):
    one = service(tmp_path, columns=columns)
    code, reply = Web(one)(("/query", f"select {text}"))[0]
    assert code == 400
    assert words in json.loads(reply)["error"]
    assert "QueryGuard" not in reply
    assert "bounds=" not in reply
