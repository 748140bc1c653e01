"""Three owners of whom one may deviate: two hold shares with tags, the third deals and proves.

If a holder deviates, the third is an honest dealer, and tags end the run. If the third deviates,
both holders are honest; they take what it dealt only with a proof. Nobody has to be trusted by
name.
"""

from __future__ import annotations

from typing import Any

from unspoken.joint.mpc.authentic.auth_dealing import TagKeys
from unspoken.joint.mpc.authentic.auth_engine import TagEngine
from unspoken.joint.mpc.authentic.guarded import Guarded
from unspoken.joint.mpc.authentic.tag_check import TagCheck
from unspoken.joint.mpc.engines.dealt_engine import ThreeParties
from unspoken.joint.mpc.engines.engine import Engine
from unspoken.joint.mpc.party import Party
from unspoken.joint.mpc.verified.verified_sources import ProvedSource, ProverSource

ENGINE = ("unspoken's own engine with tags and proofs: any one of the three that deviates on "
          "shares ends the run; not reviewed by outside experts")
VERIFIED = ("unspoken's own engine is not vetted; tags and proofs of 40 bits and more end the run "
            "if any one of the three deviates; owners may still lie about their own data")


class ProvedCheck(TagCheck):
    """The check of a holder that trusts neither the other one nor who deals."""

    def __init__(self, party: Party, keys: TagKeys, source: ProvedSource) -> None:
        super().__init__(party, keys)
        self._source = source

    async def _shown(self, own: Any) -> list[tuple[str, bytes, Any]]:
        """Compare nothing before it is proved: a wrong tag would end only some runs here.

        Whoever dealt it would learn from where the run ends how a value lies to its mask.
        """
        if self._source.waits:
            raise RuntimeError("holders compare what has not been proved")
        return await super()._shown(own)

    async def toss(self) -> bytes:
        """Toss a coin after a check, which says who may have deviated."""
        await self.verify()
        return await super().toss()

    def _refuse(self) -> None:
        """Name who may have deviated, and the operations since the last check."""
        names = dict.fromkeys(label.partition(".")[0] for label in self._labels)
        suspects = [*self._others, str(self.party.roles.dealer)]
        self.party.refuse(" or ".join(suspects), "deviated: what was dealt, or the tags of what "
                          f"was opened ({', '.join(names)}), do not fit")


class ProvedEngine(TagEngine):
    """A party's side of operations on shares with tags that a third owner deals and proves."""

    totals_by_dealer = False

    async def open(self) -> None:
        """Send or receive the seeds of a run."""
        if self.party.name != self.party.roles.dealer:
            await super().open()
            return
        self.source = self._tagged = prover = ProverSource(self.party)
        self.party.ledger.engine = ENGINE
        self.guarded = Guarded(self, None)
        await prover.open()

    def begin_with(self, seed: bytes, own_seeds: tuple[bytes, bytes]) -> None:
        """Make a source that keeps what it draws, and the check that what is proved goes into."""
        source = ProvedSource(self.party, seed, own_seeds)
        self.source = self._tagged = source
        self.party.ledger.engine = ENGINE
        source.check = check = ProvedCheck(self.party, self._keys, source)
        self.guarded = Guarded(self, check)

    async def prove(self) -> None:
        """Prove, or have proved, what was dealt."""
        if isinstance(self._tagged, ProvedSource | ProverSource):
            await self._tagged.prove()


class VerifiedThree(ThreeParties):
    """As 'three-party', but whoever deviates, the run ends: shares have tags, dealing is proved."""

    name = "three-party-verified"
    finds_deviation = True
    own_ways = ("checks of tags", "proofs of what is dealt", "sums on shares")
    vetting = ("unspoken's own engine with tags and proofs computes on shares: not vetted.")

    def engine(self, party: Party) -> Engine:
        """Return an engine on randomness with tags that the third owner deals and proves."""
        return ProvedEngine(party)

    def safe_against(self, holders: int) -> str:
        """Return who may deviate: any one of the three."""
        return "any one of the three who compute, whatever it does"

    def notes(self, holders: int) -> tuple[str, ...]:
        """Return what tags and proofs are good for."""
        return (VERIFIED,)
