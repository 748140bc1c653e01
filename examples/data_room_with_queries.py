"""A data room: analysts ask, nobody holds the table.

    python examples/data_room_with_queries.py

A company lets bidders ask about its customers before they buy it. They get counts, means and
quantiles with noise out of a budget, and no record. One of them tries to find out what a few
customers did by asking twice. The page shows answers beside the truth, the attempt, and how the
budget ends.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from story import bars, finish, options

import unspoken
from unspoken.methods.queries.service.analyst_access import hash_of
from unspoken.methods.queries.service.question_service import QueryService
from unspoken.methods.queries.service.question_text import question_of
from unspoken.methods.queries.service.service_policy import ServicePolicy
from unspoken.report import Page

PLANS = ["basic", "plus", "pro"]
REGIONS = ["north", "south"]
POLICY = {
    "service": {"budget": "room.budget", "log": "room.log", "head": "room.head", "each": 0.2,
                "rate": 1000.0},
    "columns": {"age": {"bounds": [18, 90], "step": 1}, "spend": {"bounds": [0, 500], "step": 1},
                "plan": {"values": PLANS}, "region": {"public": True}, "churned": {}},
    "analysts": {"bidder": hash_of("a token that was sent by another way")},
}
QUESTIONS = (
    "select count() where churned = true", "select mean(spend)", "select mean(age)",
    "select count() group by plan", "select mean(spend) group by region",
    "select quantile(spend, 0.5)", "select count() where age > 65 and plan = 'pro'",
)
FEW = "select count() where churned = true and plan = 'pro' and spend > 200"
ATTEMPT = (f"{FEW} and age <= 88", f"{FEW} and age <= 89")
"""Two questions whose answers differ in a handful of the oldest customers."""


def number(value: float | None) -> str:
    """Write a number with as many digits as it needs."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def customers(rows: int) -> pa.Table:
    """Make up customers."""
    rng = np.random.default_rng(3)
    plan = rng.choice(PLANS, rows, p=[0.5, 0.35, 0.15])
    spend = np.clip(rng.gamma(3, 20 + 20 * (plan == "pro"), rows), 0, 500).round()
    return pa.table({"age": rng.integers(18, 90, rows), "spend": spend, "plan": plan,
                     "region": rng.choice(REGIONS, rows),
                     "churned": rng.random(rows) < 0.18})


def truth(rows: pa.Table, text: str) -> float:
    """Return the exact answer of the simple questions, which only this script can know."""
    spend, age = rows["spend"].to_numpy(), rows["age"].to_numpy()
    plan = np.asarray(rows["plan"].to_pylist())
    few = rows["churned"].to_numpy(False) & (plan == "pro") & (spend > 200)
    return {"select count() where churned = true": float(rows["churned"].to_numpy(False).sum()),
            "select mean(spend)": float(spend.mean()), "select mean(age)": float(age.mean()),
            "select quantile(spend, 0.5)": float(np.median(spend)),
            **{text: float((few & (age <= most)).sum())
               for text, most in zip(ATTEMPT, (88, 89), strict=True)},
            "select count() where age > 65 and plan = 'pro'": float(
                ((age > 65) & (plan == "pro")).sum())}.get(text, float("nan"))


def main() -> None:
    """Tell the story."""
    chosen = options(__doc__, "data-room.html")
    rows = customers(chosen.rows(20_000, 4_000))
    table = unspoken.read(rows, show=False, keep=["spend"])
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        unspoken.risk.Budget.start(place / "room.budget", table, epsilon=3.0)
        room = QueryService(table, ServicePolicy.parse(POLICY, place))
        replies = {text: room.ask("bidder", question_of(text)) for text in QUESTIONS}
        *attempts, error = attack(room)
        refused, asked = spend_all(room)
        left = room.budget.left()
        room.close()

    apart = truth(rows, ATTEMPT[1]) - truth(rows, ATTEMPT[0])
    page = Page("A data room with a query service", f"{rows.num_rows:,} customers, none shown.")
    page.box([f"{len(QUESTIONS)} questions were answered with noise, and no single "
              "customer's record decides an answer.",
              f"Two questions that differ in a few customers, {apart:.0f} of whom had left, gave "
              f"{number(attempts[0])} and {number(attempts[1])}, each with a standard error of "
              f"{error:.1f}: the noise hides so few. After {asked} more questions the "
              "budget was spent, and the room closed by itself."])
    page.section("Answers")
    single = [(text, reply) for text, reply in replies.items() if reply.get("value") is not None]
    page.table(["question", "answer", "standard error", "truth", "epsilon"],
               [[text, number(reply["value"]), number(reply["error"]), number(truth(rows, text)),
                 reply["epsilon"]] for text, reply in single], align="lrrrr")
    for text, reply in replies.items():
        if reply.get("groups"):
            groups = [one for one in reply["groups"] if one["group"][0] in (*PLANS, *REGIONS)]
            page.figure(bars([str(one["group"][0]) for one in groups],
                             {"answer": [one["value"] for one in groups]}, text, 2.0),
                        f"{text}: one answer per group, each with noise.")
    page.section("An attempt on a few customers")
    page.text("The bidder asks about customers of at most 88 years, then of at most 89, to learn "
              "whether the oldest ones have left. Without noise the difference would tell.")
    page.table(["question", "answer", "truth"],
               [[text, number(said), number(truth(rows, text))]
                for text, said in zip(ATTEMPT, attempts, strict=True)], align="lrr")
    page.section("The end of the budget")
    page.text(f"Epsilon 3 was declared, {3 - left:.2f} was spent. The last answer was: {refused}")
    finish(page, chosen)


def attack(room: QueryService) -> tuple[float, float, float]:
    """Ask twice, for sets that differ in the oldest customers only; also return the error."""
    first, second = (room.ask("bidder", question_of(text)) for text in ATTEMPT)
    return float(first["value"]), float(second["value"]), float(first["error"])


def spend_all(room: QueryService) -> tuple[str, int]:
    """Go on asking until the budget refuses; return what it says, and after how many."""
    for number in range(200):
        reply = room.ask("bidder", question_of(f"select count() where age > {20 + number}"))
        if not reply["answered"]:
            return str(reply["reason"]), number
    return "nothing was refused", 200


if __name__ == "__main__":
    main()
