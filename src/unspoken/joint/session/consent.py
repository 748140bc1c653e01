"""What a person sees first when asked to agree: who the others are, and who could break it.

Names and roles in a study are claims; fingerprints are what people compare by telephone. Whoever
deals can break a study together with one holder, so the consent says in its first lines who deals,
from which address, and who made the study that names it.
"""

from __future__ import annotations

import json

from unspoken.joint.session.study import Study
from unspoken.joint.wire.credentials import Member
from unspoken.joint.wire.relay.relay_words import SCHEME

ALWAYS = ("key agreement (X25519)", "keyed digest of results")
ON_SHARES = ("shares and their openings",)
SETS = ("encrypted sets (ristretto255; between two owners with long lists an oblivious function)",)
LINKS = ("keyed encodings of records",)
DEALT = ("kinds and sizes of what is computed, with what follows from them as the plan says; "
         "nothing that is opened")


def consent(study: Study, name: str) -> str:
    """Return who takes part, who deals, who learns what, and what collusion breaks the study."""
    width = max(len(member.name) for member in study.members)
    lines = [f"Study '{study.name}', task {study.task}, mode {study.mode}. You are '{name}'.",
             f"Made by: {study.author or 'not named in the study; ask who made it'}",
             "Parties; compare the fingerprints by telephone, not by mail:"]
    for member in study.members:
        lines += [f"  {member.name:{width}}  {member.address}  {', '.join(member.roles)}",
                  f"  {'':{width}}  {spaced(member.fingerprint)}"]
    return "\n".join([*lines, *dealer_lines(study), *linker_lines(study),
                      *relay_lines(study), *parameter_lines(study), *_learned(study),
                      *broken_by(study), *engine_lines(study), f"study: {study.hash()}"])


def parameter_lines(study: Study) -> list[str]:
    """Return every parameter: columns, target and epsilon are part of what is agreed to."""
    return ["Parameters:" if study.parameters else "Parameters: none, all are the usual ones.",
            *(f"  {_escaped(name)} = {_escaped(json.dumps(value, ensure_ascii=False))}"
              for name, value in study.parameters.items())]


def _escaped(text: str) -> str:
    """Return a text in which signs that no screen shows are written as numbers."""
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


def spaced(fingerprint: str) -> str:
    """Return a fingerprint in groups that can be read aloud."""
    return " ".join(fingerprint[i:i + 8] for i in range(0, len(fingerprint), 8))


def dealer_lines(study: Study) -> list[str]:
    """Return who deals, and whether it stands beside somebody who should not be near it."""
    if study.dealer is None:
        return ["Nobody deals."]
    dealer = study.member(study.dealer)
    lines = [f"'{dealer.name}' at {dealer.address} deals the randomness under which values are "
             "masked. Make sure that no holder of shares, and nobody who works for one, runs it."]
    if study.author == dealer.name or _host_of_author(study) == _host(dealer):
        lines.append(f"WARNING: whoever made this study ('{study.author}') also runs its dealer "
                     f"'{dealer.name}'.")
    beside = [m.name for m in study.members if m is not dealer and _host(m) == _host(dealer)]
    if beside:
        lines.append(f"WARNING: the dealer has the same host as {', '.join(beside)}.")
    return lines


def linker_lines(study: Study) -> list[str]:
    """Return who links records, what it sees, and with whom it must not work."""
    lines = []
    for name in study.having("linker"):
        beside = [m.name for m in study.members
                  if m.name != name and _host(m) == _host(study.member(name))]
        lines += [f"'{name}' links records: it sees a keyed encoding of each, and which are the "
                  "same person. Together with any owner, who has the key, it could try names out; "
                  "make sure that nobody who works for an owner runs it. What it can guess alone "
                  "is measured by `unspoken measure linkage`.",
                  *([f"WARNING: '{name}' has the same host as {', '.join(beside)}."]
                    if beside else [])]
    return lines


def _host(member: Member) -> str:
    """Return where a party runs; who waits at a relay runs somewhere else, nobody knows where."""
    if member.address.startswith(SCHEME):
        return f"{member.name} behind {member.address}"
    return member.address.rpartition(":")[0]


def relay_lines(study: Study) -> list[str]:
    """Return who waits at a relay, and what it sees."""
    waiting: dict[str, list[str]] = {}
    for member in study.members:
        if member.address.startswith(SCHEME):
            waiting.setdefault(member.address, []).append(member.name)
    return [f"{', '.join(names)} can be reached over a relay ({address.rpartition('@')[2]}): it "
            "sees who meets whom, when and how much, and can cut the line; it can read nothing."
            for address, names in waiting.items()]


def _host_of_author(study: Study) -> str | None:
    return next((_host(m) for m in study.members if m.name == study.author), None)


def _learned(study: Study) -> list[str]:
    lines = []
    for name in study.names:
        learned = [d.because for d in study.disclosures if name in study.learning(d)]
        if name == study.outside_dealer:
            learned.append(DEALT)
        lines.append(f"'{name}' learns: {'; '.join(learned) or 'nothing'}")
    return lines


def broken_by(study: Study) -> list[str]:
    """Return which parties, if they worked together, would see everything."""
    holders, dealer = study.having("holder"), study.dealer
    if not study.facts.has_shares:
        owners = study.having("owner")
        return [f"Broken by: all owners but one together ({len(owners) - 1} of {len(owners)}), who "
                "learn the last one's values from the result."]
    groups = [" and ".join(holders)]
    if dealer is not None:
        groups = [f"{dealer} with any one of {', '.join(holders)}", *groups]
    if study.facts.any_two_break(len(holders)) and len(holders) > 2:
        groups = [f"any two of {', '.join(holders)}"]
    return ["Broken by: " + ", or ".join(groups) + ", who together see every value."]


def engine_lines(study: Study) -> list[str]:
    """Return which engine computes and which of our own primitives run, and that none is vetted."""
    return [f"Engine: {study.facts.vetting}",
            "unspoken's own primitives, not vetted: " + ", ".join(own_primitives(study)) + "."]


def own_primitives(study: Study) -> tuple[str, ...]:
    """Return which of our own primitives a study may run, in any mode."""
    sets = SETS if study.task == "intersection" or "ids" in study.parameters else ()
    links = LINKS if "link" in study.parameters else ()
    facts = study.facts
    return (*ALWAYS, *(ON_SHARES if facts.has_shares else ()), *facts.own_ways, *sets, *links)
