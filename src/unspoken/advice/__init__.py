"""Which method serves whom: three questions, a recommendation, and "do not release" where none."""

from __future__ import annotations

from unspoken.advice.advise import Advice, Candidate, advise
from unspoken.advice.ways import Way, ways

__all__ = ["Advice", "Candidate", "Way", "advise", "ways"]
