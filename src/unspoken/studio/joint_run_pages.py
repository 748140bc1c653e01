"""A joint study that runs: by party as it goes, then its result and its ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unspoken.studio.desk import Desk
from unspoken.studio.desks import desk_of
from unspoken.studio.elements import el
from unspoken.studio.joint_desk import LEDGER, WORDS, read_ledger
from unspoken.studio.layout import fragment, html, job_box, table, verdict
from unspoken.studio.replies import off_the_loop
from unspoken.studio.session_folder import read_description

AGREED = "agreed.json"
COMPLETE = "complete"


def agreed(run: Path) -> dict[str, Any]:
    """Return what was agreed to, by whom."""
    return read_description(run / AGREED, "study", "as", "by")


def ended_words(run: Path) -> str:
    """Return how a run ended, by its ledger."""
    ledger = read_ledger(run / LEDGER)
    return "not begun" if ledger is None else str(ledger.status)


async def show(request: Any) -> Any:
    """GET /joint/runs/NAME: how far it is, then the result and the ledger."""
    desk: Desk = desk_of(request)
    place = desk.folder.known("runs", request.path_params["name"])
    job = desk.common.runs.get(place.name)
    runs = job is not None and job.state == "running"
    state = await off_the_loop(_running if runs else _ended, desk, place, job)
    about = agreed(place)
    return html(request, about["study"], *state, await off_the_loop(_ledger, place / LEDGER),
                lead=f"As {about['as']}, agreed to by {about['by']}.")


def _running(desk: Desk, place: Path, job: Any) -> list[Any]:
    """Return the progress for whoever agreed, and what goes between the parties for everybody."""
    own = job_box(job.name, job.words, f"/joint/runs/{place.name}") \
        if job in desk.jobs.running() else \
        verdict("calm", "The study runs", "Whoever agreed to it can end it.")
    parties = el("section", parties_markup(place), id="parties", aria_live="off",
                 data_refresh=f"/joint/runs/{place.name}/parties", data_every=1000)
    return [own, parties]


def _ended(desk: Desk, place: Path, job: Any) -> list[Any]:
    """Return how a run ended and its result; what an earlier studio ran is read from its files."""
    if job is not None and job.state != "done":
        return [verdict("unknown", "The study ended", job.error or "It was cancelled.")]
    ledger = read_ledger(place / LEDGER)
    if ledger is None or ledger.status != COMPLETE:
        return [verdict("unknown", "The study did not come to its end",
                        "It ended with the studio." if ledger is None
                        or ledger.status == "running" else str(ledger.status))]
    words = place / WORDS
    return [verdict("low", "The study is complete"),
            el("pre", words.read_text(encoding="utf-8")) if words.is_file() else None]


async def parties(request: Any) -> Any:
    """GET /joint/runs/NAME/parties: what went between the parties so far."""
    desk: Desk = desk_of(request)
    place = desk.folder.known("runs", request.path_params["name"])
    return fragment(await off_the_loop(parties_markup, place))


def parties_markup(place: Path) -> Any:
    """Return step and bytes of every party, as far as the ledger goes."""
    from unspoken.joint.wire.ledger import RECEIVED, SENT

    ledger = read_ledger(place / LEDGER)
    if ledger is None:
        return el("p", "Waiting for the other parties.", class_="help")
    rows = [[peer, f"{max((row.step for row in ledger.rows if row.peer == peer), default=0):,}",
             f"{ledger.bytes_with(peer, SENT):,}", f"{ledger.bytes_with(peer, RECEIVED):,}"]
            for peer in sorted({row.peer for row in ledger.rows})]
    return table(["party", "step", "bytes sent", "bytes received"], rows, "What went to whom",
                 [1, 2, 3])


def _ledger(path: Path) -> Any:
    """Show what this party learned, and what went to whom."""
    ledger = read_ledger(path)
    if ledger is None:
        return el("p", "The ledger cannot be read yet.", class_="help")
    learned = [[one.told, ", ".join(one.to), "×".join(map(str, one.shape)) or "one value"]
               for one in ledger.openings]
    return el("section", el("h2", "Ledger"), el("p", f"Status: {ledger.status}. Approved by "
              f"{ledger.approver}."), table(["because", "to", "how much"], learned,
                                            "What was opened"),
              None if ledger.status == "running" else parties_markup(path.parent),
              el("details", el("summary", "Every message"), el("pre", ledger.table())))
