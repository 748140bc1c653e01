"""What two nodes tell each other about the studies that they have in common.

Either side may call; both then say everything that the other lacks, so that a node behind a
firewall needs no connection from outside to agree on studies. Every item can be repeated without
harm. A proposal, a command about an attempt and the end come from the lead alone, a report from the
node that it is about, and a verdict from anybody, because it is signed. Everything else is refused
by name and logged.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from unspoken.errors import explain
from unspoken.joint.joint_errors import IdentityError, StateError, StudyError
from unspoken.joint.node.attempt_checks import hindrance, not_agreed, not_pinned
from unspoken.joint.node.node_config import NodeConfig
from unspoken.joint.node.node_log import NodeLog, words_of
from unspoken.joint.node.node_state import ACTIVE, Kept, NodeState, Report
from unspoken.joint.node.proposal import Proposal, Verdict, date_text, signed_verdict
from unspoken.joint.node.succession import Succession
from unspoken.joint.session.study_fields import line_of_text, one_of, only_keys
from unspoken.joint.wire.credentials import Identity

MOST_ITEMS = 5000
ROOM = 1 << 19
MOST_ACTIVE = 1000
MOST_ACTIVE_BYTES = 1 << 24
"""What has not ended is read again at each decision: a lead gets this much room."""
RESULTS = ("complete", "refused", "failed", "expired", "withdrawn")


class Exchange:
    """Both halves of a sync: what to say to a peer, and what to take from it."""

    def __init__(self, config: NodeConfig, identity: Identity, state: NodeState,
                 log: NodeLog) -> None:
        self.config = config
        self.identity = identity
        self.state = state
        self.log = log
        self._known: dict[str, set[str]] = {}
        self._take: dict[str, Callable[[str, Any], bool]] = {
            "proposal": self._proposal, "verdict": self._verdict, "attempt": self._attempt,
            "report": self._report, "end": self._end, "succession": self._succession,
            "confirmed": self._confirmed}

    def view_for(self, peer: str) -> dict[str, Any]:
        """Return everything about common studies that a peer may lack."""
        kept = {one.proposal.id: one for one in self.state.active() if self._between(peer, one)}
        items = self._identities(peer)
        items += [item for id_ in self._known.get(peer, set()) - set(kept)
                  for item in self._ended(peer, id_)]
        # What has no room now is said in one of the next syncs: the order is drawn each time.
        for one in random.sample(list(kept.values()), len(kept)):
            items += self._items(peer, one)
        return {"known": list(kept)[:MOST_ITEMS], "items": _fitting(items)}

    def shares(self, peer: str) -> bool:
        """Return True if a study, or a new identity, is between a peer and this node."""
        return bool(self._identities(peer)) or any(
            self._between(peer, one) for one in self.state.active())

    def concerns(self, peer: str) -> bool:
        """Return True if a peer may lack something that this node knows."""
        return bool(self._known.get(peer)) or self.shares(peer)

    def _identities(self, peer: str) -> list[dict[str, Any]]:
        """Return this node's new identity, until a peer confirms it, and what is confirmed here."""
        own, theirs = self.state.succession(self.config.name), self.state.newer(peer)
        items = list[dict[str, Any]]()
        if own is not None and peer not in self.state.confirmed_by(own.new):
            items.append({"succession": own.to_json()})
        if theirs is not None:
            items.append({"confirmed": theirs.member.fingerprint})
        return items

    def _between(self, peer: str, kept: Kept) -> bool:
        proposal = kept.proposal
        return peer in proposal.study.names and proposal.lead in (peer, self.config.name)

    def _items(self, peer: str, kept: Kept) -> list[dict[str, Any]]:
        proposal, own = kept.proposal, self.config.name
        id_, items = proposal.id, list[dict[str, Any]]()
        leads = proposal.lead == own
        if leads and id_ not in self._known.get(peer, set()):
            items.append({"proposal": proposal.to_json()})
        items += [{"verdict": verdict.to_json()} for name, verdict
                  in self.state.verdicts(id_).items()
                  if name != peer and (leads or (peer == proposal.lead and name == own))]
        n, command = self.state.latest(id_)
        if leads and n:
            items.append({"attempt": {"proposal": id_, "n": n, "command": command}})
        report = self.state.reports(id_, n).get(own)
        if proposal.lead == peer and report is not None:
            items.append({"report": {"proposal": id_, "n": n, "state": report.state,
                                     "story": report.story, "again": report.again}})
        return items

    def _ended(self, peer: str, id_: str) -> list[dict[str, Any]]:
        """Return the end of a study that a peer still takes for active, if this node led it."""
        try:
            kept = self.state.get(id_)
        except StudyError:
            return []
        if kept.state == ACTIVE or kept.proposal.lead != self.config.name \
                or peer not in kept.proposal.study.names:
            return []
        return [{"end": {"proposal": id_, "result": kept.result, "story": kept.story}}]

    def take(self, peer: str, view: Any) -> bool:
        """Take what a peer says; return True if anything here has changed."""
        only_keys("sync", view, ("known", "items"))
        known, items = view.get("known"), view.get("items")
        if not isinstance(known, list) or not isinstance(items, list) \
                or len(known) > MOST_ITEMS or len(items) > MOST_ITEMS:
            raise StudyError("A sync must have a list 'known' and a list 'items', both short.")
        self._known[peer] = {id_ for id_ in known if _is_number(id_)}
        changed = False
        for item in items:
            changed |= self._take_one(peer, item)
        return changed

    def _take_one(self, peer: str, item: Any) -> bool:
        try:
            if not isinstance(item, Mapping) or len(item) != 1:
                raise StudyError("An item of a sync must have one name.")
            [(name, body)] = item.items()
            if name not in self._take:
                raise StudyError(f"There is no item '{str(name)[:40]}' in a sync.")
            with self.state.together():
                return self._take[name](peer, body)
        except StateError:
            raise
        except Exception as error:
            # Whatever an item does to our code: it is refused, and the node goes on.
            self.log.refused(peer, words_of(error))
            return False

    def _proposal(self, peer: str, body: Any) -> bool:
        proposal = Proposal.from_json(body)
        self._must_lead(peer, proposal)
        if self.state.has(proposal.id):
            return False
        count, size = self.state.load_of(peer)
        if count >= MOST_ACTIVE or size > MOST_ACTIVE_BYTES:
            raise StudyError(f"'{peer}' has {count} proposals of {size} bytes that have not ended; "
                             f"a lead has room for {MOST_ACTIVE} and {MOST_ACTIVE_BYTES} bytes.")
        own = proposal.study.member(self.config.name)
        if own.fingerprint != self.identity.fingerprint:
            raise IdentityError(f"Study '{proposal.study.name}' names this node with another "
                                "certificate than its own.")
        self.state.keep(proposal)
        self.log.event("proposed", study=proposal.id[:16], peer=peer)
        self._answer_by_itself(proposal)
        return True

    def _answer_by_itself(self, proposal: Proposal) -> None:
        """Refuse what this node could not run, and agree where a standing consent says so."""
        reason = self._impossible(proposal)
        if reason:
            self.state.answer(signed_verdict(self.identity, proposal.id, False,
                                              f"the node of '{self.config.name}'", reason))
            return
        for rule in self.config.standing:
            if rule.admits(proposal, self.config.name, self.state.admitted_by(rule.words)):
                self.state.answer(
                    signed_verdict(self.identity, proposal.id, True, rule.words[:400]),
                    rule.words, json.dumps(rule.columns))
                self.log.event("agreed by rule", study=proposal.id[:16], peer=proposal.lead)
                return
        for service in self.config.services:
            words = service.words(proposal.lead)
            if service.admits(proposal, self.config.name, self.state.records_by(words)):
                self.state.answer(signed_verdict(self.identity, proposal.id, True, words), words)
                self.log.event("agreed by service", study=proposal.id[:16], peer=proposal.lead)
                return

    def _impossible(self, proposal: Proposal) -> str:
        for name in not_pinned(proposal, self.state, self.config.name):
            return f"it was not paired with the certificate that is there for {name}"
        table = proposal.tables.get(self.config.name)
        if table is not None and table not in [one.name for one in self.config.tables]:
            return f"it has no table {table}"
        here = int(time.time())
        return "" if here <= proposal.until else (
            f"the study's time is over: it ends at {date_text(proposal.until)}, and by the clock "
            f"of '{self.config.name}' it is {date_text(here)}")

    def _verdict(self, peer: str, body: Any) -> bool:
        verdict = Verdict.from_json(body)
        kept = self._common(peer, verdict.proposal)
        verdict.must_be_of(kept.proposal.study.member(verdict.node), kept.proposal.id)
        if verdict.node == self.config.name:
            return False
        return kept.state == ACTIVE and self.state.answer(verdict)

    def _attempt(self, peer: str, body: Any) -> bool:
        only_keys("attempt", body, ("proposal", "n", "command"))
        kept = self._common(peer, body.get("proposal"))
        self._must_lead(peer, kept.proposal)
        n, command = _attempt_number(kept.proposal, body), one_of(
            "command", body.get("command"), ("go", "stop"))
        if n < self.state.latest(kept.proposal.id)[0] or kept.state != ACTIVE:
            return False
        lacking = not_agreed(kept.proposal, self.state)
        if lacking:
            raise StudyError(f"'{peer}' began study {kept.proposal.id[:16]}, to which "
                             f"{', '.join(lacking)} did not agree.")
        reason = hindrance(kept.proposal, n, self.state, self.config.name)
        if reason and command == "go":
            raise StudyError(f"'{peer}' began attempt {n}: {reason}.")
        return self.state.command(kept.proposal.id, n, command)

    def _report(self, peer: str, body: Any) -> bool:
        only_keys("report", body, ("proposal", "n", "state", "story", "again"))
        kept = self._common(peer, body.get("proposal"))
        if kept.proposal.lead != self.config.name:
            raise StudyError(f"A report about study {kept.proposal.id[:16]} belongs to its lead.")
        report = Report(_attempt_number(kept.proposal, body), peer,
                        one_of("state", body.get("state"), ("running", "done", "failed")),
                        line_of_text("story", body.get("story")), bool(body.get("again")))
        return self.state.report(kept.proposal.id, report)

    def _end(self, peer: str, body: Any) -> bool:
        only_keys("end", body, ("proposal", "result", "story"))
        kept = self._common(peer, body.get("proposal"))
        self._must_lead(peer, kept.proposal)
        result = one_of("result", body.get("result"), RESULTS)
        return self.state.end(kept.proposal.id, result, line_of_text("story", body.get("story")))

    def _succession(self, peer: str, body: Any) -> bool:
        """Take a peer's new identity; nothing is trusted before people here have heard its code."""
        succession = Succession.from_json(body)
        known = next(one for one in self.state.peers() if one.name == peer)
        succession.must_follow(known.member)
        other = self.state.succession(peer)
        if other is not None and other.new != succession.new:
            raise IdentityError(f"'{peer}' announced two new identities. Somebody else may have "
                                "its key: call its people.")
        if self.state.keep_succession(succession):
            self.log.event("new identity", peer=peer)
            return True
        return False

    def _confirmed(self, peer: str, body: Any) -> bool:
        own = self.state.succession(self.config.name)
        if own is None and body == self.identity.fingerprint:
            return False  # The rotation is finished, and the peer has not seen it yet.
        if own is None or body != own.new:
            raise IdentityError(f"'{peer}' confirmed an identity that this node did not announce.")
        return self.state.keep_confirmation(peer, own.new)

    def _common(self, peer: str, id_: Any) -> Kept:
        """Return a study that this node has in common with a peer."""
        if not _is_number(id_):
            raise StudyError("A proposal is named by 64 hexadecimal digits.")
        kept = self.state.get(id_)
        if peer not in kept.proposal.study.names:
            raise StudyError(f"'{peer}' has no part in study {id_[:16]}.")
        return kept

    def _must_lead(self, peer: str, proposal: Proposal) -> None:
        if proposal.lead != peer:
            raise IdentityError(f"'{peer}' does not lead study {proposal.id[:16]}; "
                                f"'{proposal.lead[:40]}' does.")


def _fitting(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return as many items as one message has room for."""
    fitting, size = list[dict[str, Any]](), 0
    for item in items[:MOST_ITEMS]:
        size += len(json.dumps(item))
        if size > ROOM:
            break
        fitting.append(item)
    return fitting


def _is_number(id_: Any) -> bool:
    return isinstance(id_, str) and len(id_) == 64 and set(id_) <= set("0123456789abcdef")


def _attempt_number(proposal: Proposal, body: Mapping[str, Any]) -> int:
    n = body.get("n")
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= proposal.attempts:
        raise StudyError(explain("The number of an attempt", f"1 to {proposal.attempts}", n))
    return n
