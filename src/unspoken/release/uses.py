"""What a way of sharing is for: who gets it, what for, and what they may know.

Every release method declares its uses beside its parameters; `unspoken.advice` reads them. The
answers to the three questions are few and ordered, so that they can be compared and tested.
"""

from __future__ import annotations

from dataclasses import dataclass

RECIPIENTS = {
    "miner": "one company or researcher who mines the data for you",
    "public": "anybody: the data is published",
    "analysts": "analysts who ask for statistics and never hold the table",
    "owners": "other owners of data, who want one result with you",
    "collector": "whoever collects answers from people, who do not have to trust them",
}
PURPOSES = {
    "model": "a tree, a forest or boosted trees of your data",
    "prediction": "models that the recipients train themselves, of whatever kind",
    "clusters": "clusters or nearest neighbours, by distances between records",
    "statistics": "counts, means and distributions",
    "rules": "frequent itemsets and association rules of baskets",
    "anything": "questions that nobody has thought of yet",
}
KNOWLEDGE = {
    "nothing": "nothing about the people in the table, and nothing similar",
    "facts": "a few facts about people, such as age, postcode and sex",
    "records": "whole records of a few people in the table",
    "population": "similar data, such as a sample of the same population",
    "anything": "anything: everybody's records but one",
}
"""In this order: whoever withstands one withstands those before it."""
FIDELITIES = ("exactly", "nearly", "roughly")


@dataclass(frozen=True)
class Use:
    """One scenario that a way of sharing serves.

    Parameters
    ----------
    recipients, purposes : tuple of str
        Of RECIPIENTS and PURPOSES.
    withstands : str
        The most of KNOWLEDGE under which what it promises still protects people.
    keeps : str
        How well the purpose is served: "exactly", "nearly" or "roughly".
    breaks : str
        A whole sentence: what undoes it, in plain words.
    """

    recipients: tuple[str, ...]
    purposes: tuple[str, ...]
    withstands: str
    keeps: str
    breaks: str

    def __post_init__(self) -> None:
        for chosen, known in ((self.recipients, RECIPIENTS), (self.purposes, PURPOSES),
                              ((self.withstands,), KNOWLEDGE), ((self.keeps,), FIDELITIES)):
            for one in chosen:
                if one not in known:
                    raise ValueError(f"'{one}' is none of {', '.join(known)}.")

    def serves(self, recipient: str, purpose: str) -> bool:
        """Return True if it is for them and for that."""
        return recipient in self.recipients and purpose in self.purposes

    def protects_against(self, knowledge: str) -> bool:
        """Return True if it still protects people from somebody who knows this."""
        order = list(KNOWLEDGE)
        return order.index(knowledge) <= order.index(self.withstands)
